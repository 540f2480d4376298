"""Tables that pass between stages and never leave the run folder."""

from __future__ import annotations

import dataclasses

import pyarrow as pa

from schemas.tables.core import Field, Table
from schemas.tables.fields import FIELDS, TEXT, pick
from schemas.tables.sealed import ANSWERS, CONSTRAINTS, EVENT_TRUTH, INJECTIONS, POSTERIORS, REJECTS
from schemas.tables.visible import EVENTS, ITEM_ATTRIBUTES, ITEMS, SESSIONS, TASKS, TOOL_STATE

STANCE = Field(
    TEXT,
    "What a statement claims: a usual preference, one for the moment, or that the moment is over.",
    values=("usual", "for_now", "back_to_usual"),
)
CLEAN_SESSIONS = dataclasses.replace(SESSIONS, name="clean_sessions", layer="internal", references={}, minimum_rows=0)
CLEAN_EVENTS = dataclasses.replace(
    EVENTS,
    name="clean_events",
    layer="internal",
    references={},
    minimum_rows=0,
    doc="The log before any disturbance, without words.",
)
CLEAN_TRUTH = dataclasses.replace(
    EVENT_TRUTH,
    name="clean_truth",
    layer="internal",
    references={},
    minimum_rows=0,
    doc="Actor and dispositions behind each clean line.",
)
DRIFT = dataclasses.replace(
    INJECTIONS,
    name="drift",
    layer="internal",
    references={},
    doc="Ledger rows of drift and states, which act inside the simulation.",
)
STATEMENTS = Table(
    name="statements",
    layer="internal",
    key=("user_id", "event_id"),
    doc="What each `say` means, in symbols. `dimension` and `value` are null where the talk is about nothing in particular.",
    columns={**pick("event_id", "user_id", "at", "domain", "dimension", "value"), "stance": STANCE},
    optional=frozenset({"dimension", "value", "stance"}),
)
SYMBOLIC_SESSIONS = dataclasses.replace(
    SESSIONS, name="symbolic_sessions", layer="internal", references={}, minimum_rows=0
)
SYMBOLIC_EVENTS = dataclasses.replace(
    EVENTS,
    name="symbolic_events",
    layer="internal",
    references={},
    minimum_rows=0,
    doc="The disturbed log, without words.",
)
SYMBOLIC_TRUTH = dataclasses.replace(
    EVENT_TRUTH, name="symbolic_truth", layer="internal", references={}, minimum_rows=0
)
SYMBOLIC_LEDGER = dataclasses.replace(INJECTIONS, name="symbolic_ledger", layer="internal", references={})
SPOKEN_EVENTS = dataclasses.replace(
    EVENTS,
    name="spoken_events",
    layer="internal",
    references={},
    minimum_rows=0,
    doc="The disturbed log with its words, before typos.",
)
SPOKEN_TRUTH = dataclasses.replace(EVENT_TRUTH, name="spoken_truth", layer="internal", references={}, minimum_rows=0)
CANDIDATES = Table(
    name="candidates",
    layer="internal",
    key=("user_id", "candidate_id", "dimension"),
    doc="What could be asked of a user at a time, one row a dimension, with the truth and the observer's belief.",
    columns={
        **pick("candidate_id", "user_id", "domain", "asked_at", "utc_offset_min", "dimension", "value"),
        "status": FIELDS["status"],
        "policy": FIELDS["policy"],
        "is_contested": FIELDS["is_contested"],
        "stale_value": Field(TEXT, "The value that held at the start of the window."),
        "claimed_value": Field(TEXT, "The value of the last false claim before the task; null where there is none."),
        "belief": Field(
            pa.list_(pa.float64()), "The observer's probability of each value, in the order of the domain file."
        ),
        "p_prior": FIELDS["p_prior"],
        "noise_nearby": Field(pa.float64(), "Share of noise among the evidence.", low=0, high=1),
        "last_change_days": Field(
            pa.float64(), "Days since the value last changed, or since the window began.", unit="days"
        ),
        "history_events": Field(pa.int32(), "Lines of the log before the task.", unit="events", low=0),
        "disposition_ids": FIELDS["disposition_ids"],
        "max_log_ratio": Field(pa.float64(), "Largest single log likelihood ratio for the value.", unit="nats"),
        "effective_evidence": FIELDS["effective_evidence"],
    },
    optional=frozenset({"policy", "stale_value", "claimed_value", "max_log_ratio", "effective_evidence"}),
)
CODED_ITEMS = Table(
    name="coded_items",
    layer="internal",
    key=("item_id",),
    doc="The catalogue in numbers: what `items` and `item_attributes` say, in the order of the domain files; and popularity.",
    columns={
        **pick("item_id", "domain", "price_cents"),
        "category_code": Field(pa.int8(), "Place of the category in the domain file.", low=0),
        "value_codes": Field(pa.list_(pa.int8()), "For every dimension the place of the value in the domain file."),
        "weight": Field(pa.float64(), "How often it is on show, relative to others of its domain. Exogenous.", low=0),
    },
)
PERSONAL_ITEMS = dataclasses.replace(
    ITEMS,
    name="personal_items",
    layer="internal",
    references={},
    minimum_rows=0,
    doc="What users have of their own, with the columns of `items`. `category` is the kind.",
)
PERSONAL_ATTRIBUTES = dataclasses.replace(
    ITEM_ATTRIBUTES,
    name="personal_attributes",
    layer="internal",
    references={},
    minimum_rows=0,
    doc="What each of these things is. A dimension is called `<domain>.<kind>_<attribute>`.",
)
CLEAN_STATEMENTS = dataclasses.replace(
    STATEMENTS, name="clean_statements", doc="Meaning of each `say` of the clean timeline."
)
DRAFT_TASKS = dataclasses.replace(
    TASKS, name="draft_tasks", layer="internal", references={}, doc="Selected tasks, before words."
)
DRAFT_STATES = dataclasses.replace(TOOL_STATE, name="draft_states", layer="internal", references={})
DRAFT_CONSTRAINTS = dataclasses.replace(CONSTRAINTS, name="draft_constraints", layer="internal", references={})
DRAFT_ANSWERS = dataclasses.replace(ANSWERS, name="draft_answers", layer="internal", references={})
DRAFT_POSTERIORS = dataclasses.replace(POSTERIORS, name="draft_posteriors", layer="internal", references={})
DRAFT_REJECTS = dataclasses.replace(REJECTS, name="draft_rejects", layer="internal", references={})
WORDED_TASKS = dataclasses.replace(
    TASKS, name="worded_tasks", layer="internal", references={}, doc="Selected tasks with their requests."
)
CERTIFIED = dataclasses.replace(
    POSTERIORS,
    name="certified",
    layer="internal",
    references={},
    doc="What the observer believes of each task from the words of the release.",
)
EVIDENCE = Table(
    name="evidence",
    layer="internal",
    key=("task_id", "constraint_id"),
    doc="The lines of the released log that bear on each constraint.",
    columns=pick("task_id", "user_id", "constraint_id", "evidence_event_ids"),
)
MENUS = Table(
    name="menus",
    layer="internal",
    key=("task_id", "option_id", "dimension"),
    doc="The contested values of each option of each task.",
    columns={
        **pick("task_id", "user_id"),
        "option_id": Field(TEXT, "The option."),
        **pick("dimension", "value"),
    },
)
