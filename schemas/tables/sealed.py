"""The truth: the tables of `sealed/`. No agent reads them."""

from __future__ import annotations

from schemas.tables.core import Table
from schemas.tables.fields import ANSWER_OPTIONS, LEDGER_FAMILY, STRATA, pick

PERSONAS = Table(
    name="personas", layer="sealed", key=("user_id",), minimum_rows=1,
    doc="One row a person, at the start of the window. Attributes of the config's own stand after the built-in ones.",
    columns=pick(
        "user_id", "sample_weight", "given_name", "family_name", "birth_date", "age_years", "sex", "education",
        "income_usd", "occupation", "labour_status", "household_size", "marital_status", "region", "home_type",
        "locale", "time_zone",
    ),
    optional=frozenset({"occupation"}),
    references={"user_id": "users.user_id"},
)
ACTORS = Table(
    name="actors", layer="sealed", key=("user_id", "actor_id"), minimum_rows=1,
    doc="The user and the people around them.",
    columns=pick("actor_id", "user_id", "relation", "attributes"),
    references={"user_id": "users.user_id"},
)
DISPOSITIONS = Table(
    name="dispositions", layer="sealed", key=("user_id", "disposition_id"), minimum_rows=1,
    doc="What each actor is inclined to, from when to when. State goes over habit, habit over trait.",
    columns=pick(
        "disposition_id", "user_id", "actor_id", "dimension", "value", "weights", "strength", "clock", "valid_from",
        "valid_to", "condition", "cause", "is_sensitive",
    ),
    optional=frozenset({"valid_to", "condition", "cause"}),
    references={"user_id": "users.user_id", "actor_id": "actors.actor_id"},
)
INJECTIONS = Table(
    name="injections", layer="sealed", key=("user_id", "injection_id"),
    doc="The ledger: every noise, drift and contradiction.",
    columns=pick(
        "injection_id", "user_id", "family", "kind", "policy", "is_contested", "dimension", "event_ids", "before",
        "after", "onset_at", "ended_at", "cause", "parameters", family=LEDGER_FAMILY,
    ),
    optional=frozenset({"dimension", "before", "after", "ended_at", "cause"}),
    references={"user_id": "users.user_id", "event_ids": "events.event_id"},
)
EVENT_TRUTH = Table(
    name="event_truth", layer="sealed", key=("user_id", "event_id"), minimum_rows=1,
    doc="What stands behind each line of the log, one row an event.",
    columns=pick(
        "event_id", "user_id", "actor_id", "is_noise", "noise_kind", "injection_ids", "driver_disposition_ids",
        "speaker", "alt_text",
    ),
    optional=frozenset({"noise_kind", "speaker", "alt_text"}),
    references={"event_id": "events.event_id", "actor_id": "actors.actor_id"},
)
CONSTRAINTS = Table(
    name="constraints", layer="sealed", key=("task_id", "constraint_id"),
    doc="What a task's answer must meet.",
    columns=pick(
        "constraint_id", "task_id", "user_id", "dimension", "operator", "value", "hardness", "weight", "status",
        "policy", "implicitness_intended", "implicitness_measured", "evidence_event_ids", "window_event_ids",
        "necessary_event_ids", "effective_evidence", "disposition_ids",
    ),
    optional=frozenset(
        {
            "policy", "implicitness_intended", "implicitness_measured", "window_event_ids", "necessary_event_ids",
            "effective_evidence",
        }
    ),
    references={
        "task_id": "tasks.task_id", "user_id": "users.user_id", "evidence_event_ids": "events.event_id",
        "disposition_ids": "dispositions.disposition_id",
    },
)
ANSWERS = Table(
    name="answers", layer="sealed", key=("task_id",),
    doc="What is right, what each option means, and how the task is counted.",
    columns=pick(
        "task_id", "user_id", "group_id", "twin_id", "family_true", "parent_task_id", "proof", "is_hard", "strata",
        "gold", "options", "decoy_trajectories", strata=STRATA, options=ANSWER_OPTIONS,
    ),
    optional=frozenset({"twin_id", "parent_task_id", "proof", "is_hard", "decoy_trajectories"}),
    references={"task_id": "tasks.task_id", "parent_task_id": "tasks.task_id", "twin_id": "tasks.task_id"},
)
POSTERIORS = Table(
    name="posteriors", layer="sealed", key=("task_id", "constraint_id"),
    doc="What the ideal observer believes at the task's time: one row a task, and one for each of its constraints.",
    columns=pick(
        "task_id", "user_id", "constraint_id", "p_decision", "p_true", "top_value", "p_top", "p_window_only",
        "p_without_evidence", "p_prior",
    ),
    optional=frozenset(
        {"constraint_id", "p_decision", "p_true", "top_value", "p_top", "p_window_only", "p_without_evidence", "p_prior"}
    ),
    references={"task_id": "tasks.task_id", "constraint_id": "constraints.constraint_id"},
)
REJECTS = Table(
    name="rejects", layer="sealed", key=("candidate_id", "reason"),
    doc="Candidates that did not ship, and why.",
    columns=pick("candidate_id", "user_id", "family", "reason", "figures"),
    references={"user_id": "users.user_id"},
)
