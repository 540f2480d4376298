"""Time over a window with both changes of the clock in four zones: nothing on the clean timeline that cannot be."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from schemas.invariants import ONE_LINE, ONE_SESSION, breakers
from tests.flows.lives import Lives, live, small_config
from validation.structure.cross import ACT_RULES, SESSION_RULES, check_rules
from validation.structure.folder import connect
from validation.structure.time_rules import add_offsets, time_rules

ZONES = ("America/Chicago", "Europe/Madrid", "Australia/Sydney", "Asia/Kolkata")
CLEAN = ("clean_sessions", "clean_events", "")
DISTURBED = ("symbolic_sessions", "symbolic_events", "symbolic_ledger")


@pytest.fixture(scope="module")
def lived() -> Lives:
    """Nine months from 1 March of people in four zones, who often lose lines, change apps and stay elsewhere."""
    data = small_config(
        12,
        37,
        datetime(2024, 3, 1, tzinfo=UTC),
        domains=["mobility", "travel", "food"],
        personas={"attributes": {"time_zone": {"values": list(ZONES)}}},
        timelines={"outages_per_year": 3.0, "app_changes_per_year": 1.0, "stays_elsewhere": 0.6},
        disturb={"contradictions": {"stated_vs_done": 0.5, "temporary_state": 0.5}},
    )
    return Lives(data, live(data, last="disturb"))


def broken(lived: Lives, sessions: str, events: str, ledger: str) -> list[str]:
    """Every rule about time and acts that the log breaks; without a ledger no row is excused."""
    window = lived.data.window.start, lived.data.window.end
    with connect() as database:
        for name, source in (("sessions", sessions), ("events", events), ("users", "users"), ("items", "items")):
            database.register(name, lived.tables[source])
        database.register("personas", lived.tables["personas"])
        rows = lived.tables["symbolic_ledger"]
        database.register("injections", rows if ledger else rows.slice(0, 0))
        database.execute(
            "CREATE TABLE tasks (task_id TEXT, user_id TEXT, asked_at TIMESTAMPTZ, utc_offset_min SMALLINT)"
        )
        add_offsets(database, window)
        found = check_rules(database, [*time_rules(window), *ACT_RULES, *SESSION_RULES])
    return [str(violation) for violations in found.values() for violation in violations]


def test_the_window_has_both_changes_where_there_are_any(lived: Lives) -> None:
    offsets = lived["clean_events"].join(lived["users"].select("user_id", "time_zone"), on="user_id")
    seen = dict(offsets.group_by("time_zone").agg(pl.col("utc_offset_min").unique()).iter_rows())
    both = {
        "America/Chicago": {-360, -300},
        "Europe/Madrid": {60, 120},
        "Australia/Sydney": {600, 660},
        "Asia/Kolkata": {330},
    }
    assert all(both[zone] <= set(seen[zone]) for zone in ZONES)


def test_nothing_on_the_clean_timeline_is_out_of_time(lived: Lives) -> None:
    assert lived["clean_events"].height > 4_000
    assert broken(lived, *CLEAN) == []


def test_after_disturbance_only_rows_of_kinds_that_declare_it_are(lived: Lives) -> None:
    assert broken(lived, *DISTURBED) == []
    unexcused = broken(lived, *DISTURBED[:2], "")
    declared = {"on the same device": breakers(ONE_SESSION), "arrival before": breakers(ONE_LINE)}
    assert {told for told in declared for line in unexcused if told in line} == set(declared)
    assert all(any(told in line for told in declared) for line in unexcused)
