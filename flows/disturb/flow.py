"""The stages `disturb`, on symbols, and `corrupt`, on words."""

from __future__ import annotations

from flows.common.stage import Context, Stage, Tables
from flows.disturb.corrupt import corrupt
from flows.disturb.overlay import disturb
from schemas.tables.internal import STATEMENTS, SYMBOLIC_EVENTS, SYMBOLIC_LEDGER, SYMBOLIC_SESSIONS, SYMBOLIC_TRUTH
from schemas.tables.sealed import EVENT_TRUTH, INJECTIONS
from schemas.tables.visible import EVENTS

DISTURB_STAGE = Stage(
    "disturb",
    disturb,
    reads={
        "users": "personas",
        "personas": "personas",
        "actors": "personas",
        "dispositions": "dispositions",
        "drift": "dispositions",
        "participation": "dispositions",
        "coded_items": "catalogue",
        "clean_sessions": "timelines",
        "clean_events": "timelines",
        "clean_truth": "timelines",
        "clean_statements": "timelines",
    },
    writes=(SYMBOLIC_SESSIONS, SYMBOLIC_EVENTS, SYMBOLIC_TRUTH, SYMBOLIC_LEDGER, STATEMENTS),
)


def corrupt_tables(context: Context, tables: Tables) -> Tables:
    """`events`, `event_truth` and `injections` as they are released."""
    events, truth, ledger = corrupt(
        tables["spoken_events"],
        tables["spoken_truth"],
        tables["symbolic_ledger"],
        context.data.disturb.noise.corrupt,
        context.draws,
    )
    return {"events": events, "event_truth": truth, "injections": ledger}


CORRUPT_STAGE = Stage(
    "corrupt",
    corrupt_tables,
    reads={"spoken_events": "language", "spoken_truth": "language", "symbolic_ledger": "disturb"},
    writes=(EVENTS, EVENT_TRUTH, INJECTIONS),
)
