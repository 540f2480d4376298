"""The stage `timelines`."""

from __future__ import annotations

from flows.common.stage import Stage
from flows.timelines.simulate import simulate
from schemas.tables.internal import CLEAN_EVENTS, CLEAN_SESSIONS, CLEAN_STATEMENTS, CLEAN_TRUTH

TIMELINES_STAGE = Stage(
    "timelines",
    simulate,
    reads={
        "users": "personas",
        "personas": "personas",
        "actors": "personas",
        "dispositions": "dispositions",
        "participation": "dispositions",
        "coded_items": "catalogue",
        "personal_items": "belongings",
    },
    writes=(CLEAN_SESSIONS, CLEAN_EVENTS, CLEAN_TRUTH, CLEAN_STATEMENTS),
)
