"""The stages of tasks: `candidates`, `selection`, `certify` and `settle`."""

from __future__ import annotations

from flows.common.stage import Stage
from flows.tasks.candidates import find_candidates
from flows.tasks.certify import certify
from flows.tasks.select import select_tasks
from flows.tasks.settle import settle
from schemas.tables.internal import (
    CANDIDATES,
    CERTIFIED,
    DRAFT_ANSWERS,
    DRAFT_CONSTRAINTS,
    DRAFT_POSTERIORS,
    DRAFT_REJECTS,
    DRAFT_STATES,
    DRAFT_TASKS,
    EVIDENCE,
    MENUS,
)
from schemas.tables.sealed import ANSWERS, CONSTRAINTS, POSTERIORS, REJECTS
from schemas.tables.visible import TASKS, TOOL_STATE

CATALOGUE = {"coded_items": "catalogue"}
CANDIDATES_STAGE = Stage(
    "candidates",
    find_candidates,
    reads={
        "users": "personas",
        "actors": "personas",
        "dispositions": "dispositions",
        "symbolic_events": "disturb",
        "symbolic_truth": "disturb",
        "symbolic_ledger": "disturb",
        "statements": "disturb",
        **CATALOGUE,
    },
    writes=(CANDIDATES,),
)
SELECTION_STAGE = Stage(
    "selection",
    select_tasks,
    reads={"candidates": "candidates*", "items": "catalogue", **CATALOGUE},
    writes=(DRAFT_TASKS, DRAFT_STATES, DRAFT_CONSTRAINTS, DRAFT_ANSWERS, DRAFT_POSTERIORS, MENUS, DRAFT_REJECTS),
)
CERTIFY_STAGE = Stage(
    "certify",
    certify,
    reads={
        "users": "personas",
        "events": "corrupt",
        "draft_tasks": "selection",
        "draft_constraints": "selection",
        "draft_answers": "selection",
        "menus": "selection",
        **CATALOGUE,
    },
    writes=(CERTIFIED, EVIDENCE),
)
SETTLE_STAGE = Stage(
    "settle",
    settle,
    reads={
        "certified": "certify*",
        "evidence": "certify*",
        "worded_tasks": "requests",
        "draft_states": "selection",
        "draft_constraints": "selection",
        "draft_answers": "selection",
        "draft_rejects": "selection",
    },
    writes=(TASKS, TOOL_STATE, CONSTRAINTS, ANSWERS, POSTERIORS, REJECTS),
)
