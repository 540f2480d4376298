"""People abroad: whatever later stages add to a log bears the clock of the stay, as the lines of the timeline do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from flows.common.away import away_by_events, offsets_at
from flows.common.clock import DAY, MINUTE, microseconds
from flows.common.household import rows_of, zones_of
from schemas.tables.core import replaced
from tests.flows.lives import QUIET, Lives, live, run, small_config

TOKYO = 540
"""Minutes ahead of UTC in every season. All homes are in America."""


def booked(lives: Lives, begins: timedelta, ends: timedelta) -> pa.Table:
    """The clean lines, of which the first of every user books a stay in Tokyo from so long after the start to then."""
    clean, start = lives["clean_events"], lives.data.window.start
    is_first = clean["user_id"].is_first_distinct()
    columns: dict[str, Any] = {"place_time_zone": "Asia/Tokyo", "starts_at": start + begins, "ends_at": start + ends}
    made = clean.select(
        pl.when(is_first).then(pl.lit(value)).otherwise(pl.lit(None)).alias(name) for name, value in columns.items()
    )
    table = lives.tables["clean_events"]
    return replaced(table, {name: made[name].to_arrow().cast(table.schema.field(name).type) for name in columns})


@pytest.fixture(scope="module")
def abroad() -> Lives:
    """Twelve people who are in Tokyo from the third day on but for the last four, of whom all is claimed that can be."""
    claims = {"contradictions": {"stated_vs_done": 1.0, "temporary_state": 1.0, "state_days": 5}}
    data = small_config(12, 4, disturb=QUIET | claims)
    lives = Lives(data, live(data, last="timelines"))
    tables = lives.tables | {"clean_events": booked(lives, timedelta(days=2), timedelta(days=24))}
    tables |= run("disturb", data, tables)
    return Lives(data, tables | run("candidates", data, tables))


def is_away(lives: Lives, at: str) -> pl.Expr:
    start = lives.data.window.start
    return (pl.col(at) >= start + timedelta(days=2)) & (pl.col(at) < start + timedelta(days=24))


def test_talks_that_are_added_bear_the_clock_of_the_stay_and_are_held_while_people_are_awake_there(
    abroad: Lives,
) -> None:
    old = abroad["clean_sessions"]["session_id"].to_list()
    added = abroad["symbolic_events"].filter(~pl.col("session_id").is_in(old))
    sessions = abroad["symbolic_sessions"].filter(~pl.col("session_id").is_in(old))
    for rows, at in ((added, "at"), (sessions, "started_at")):
        there, home = rows.filter(is_away(abroad, at)), rows.filter(~is_away(abroad, at))
        assert there.height > 30 and set(there["utc_offset_min"]) == {TOKYO}
        assert home.height > 3 and home["utc_offset_min"].to_numpy().max() < 0
    first_days = abroad.data.window.start + timedelta(days=3)  # in which a reading of the clock of home can fall
    usual = abroad["statements"].join(added.select("event_id"), on="event_id").filter(stance="usual")
    hours = usual.filter(is_away(abroad, "at"), pl.col("at") > first_days)["at"]
    assert len(hours) > 20 and hours.dt.convert_time_zone("Asia/Tokyo").dt.hour().is_between(8, 22).all()


def test_what_is_asked_during_a_stay_bears_its_clock(abroad: Lives) -> None:
    asked = abroad["candidates"]
    there, home = asked.filter(is_away(abroad, "asked_at")), asked.filter(~is_away(abroad, "asked_at"))
    assert there.height > 30 and set(there["utc_offset_min"]) == {TOKYO}
    assert home.height > 30 and home["utc_offset_min"].to_numpy().max() < 0


def test_the_bookings_of_a_log_tell_the_clock_of_every_line_in_it(world: Lives) -> None:
    """Of the timeline, where stays overlap, as of what was added; and they tell the same before and after that."""
    users, window = world.tables["users"], world.data.window
    around = microseconds(window.start) - 2 * DAY, microseconds(window.end) + 2 * DAY
    zone, zones = zones_of(users)
    logs = [world.tables[name] for name in ("clean_events", "symbolic_events")]
    stays = [away_by_events(log, users, around) for log in logs]
    assert stays[0].zones[: len(zones)] == zones and stays[0].person.size > 100
    for name in ("person", "starts_us", "ends_us", "zone"):
        assert np.array_equal(*(getattr(some, name) for some in stays)), name
    for log in logs:
        person, at = rows_of(log["user_id"], users), log["at"].cast(pa.int64()).to_numpy()
        told = offsets_at(stays[0], at, person, zone[person], zones, around) // MINUTE
        assert (told == log["utc_offset_min"].to_numpy()).all()
        assert (told != offsets_at(None, at, person, zone[person], zones, around) // MINUTE).sum() > 500
