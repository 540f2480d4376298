"""Claims about wall clocks. The yardstick is the standard library's `zoneinfo`, over the same zone files."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from importlib import resources
from pathlib import Path
from zoneinfo import ZoneInfo, reset_tzpath

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flows.common.clock import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    WEEK,
    locked_zone,
    microseconds,
    offset_us,
    to_utc,
    weekday_of,
    zone_changes,
)
from flows.common.draws import Draws

ZONES = [
    "America/Chicago",
    "America/Los_Angeles",
    "America/Phoenix",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Europe/Madrid",
    "Europe/Dublin",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Pacific/Apia",
    "UTC",
]
SPAN = (microseconds(datetime(2009, 1, 1, tzinfo=UTC)), microseconds(datetime(2031, 1, 1, tzinfo=UTC)))
INSTANT = st.integers(SPAN[0] + 2 * DAY, SPAN[1] - 2 * DAY)
ZONE = st.sampled_from(ZONES)
calm = settings(deadline=None)
"""Machines can be busy."""


def utc_of(zone: str, *wall: int) -> datetime:
    """What the code makes of one reading of a wall clock."""
    local = microseconds(datetime(*wall, tzinfo=UTC))  # type: ignore[misc,arg-type]
    return moment(int(to_utc(np.array([local]), np.array([0]), [zone], SPAN)[0]))


def moment(us: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)


def offset_at(zone: str, us: int) -> int:
    return int(offset_us(np.array([us]), np.array([0]), [zone], SPAN)[0])


GAPS = [  # a reading that does not exist, and the reading it becomes
    ("America/Chicago", (2024, 3, 10, 2, 30), (2024, 3, 10, 3, 30)),
    ("America/Chicago", (2024, 3, 10, 2, 0), (2024, 3, 10, 3, 0)),
    ("Europe/Madrid", (2024, 3, 31, 2, 59, 59), (2024, 3, 31, 3, 59, 59)),
    ("Australia/Lord_Howe", (2024, 10, 6, 2, 15), (2024, 10, 6, 2, 45)),
    ("Asia/Kathmandu", (1986, 1, 1, 0, 5), (1986, 1, 1, 0, 20)),
    ("Pacific/Apia", (2011, 12, 30, 12, 0), (2011, 12, 31, 12, 0)),
]
OVERLAPS = [  # a reading that comes twice, and the offset in minutes of the first
    ("America/Chicago", (2024, 11, 3, 1, 30), -300),
    ("Europe/Madrid", (2023, 10, 29, 2, 15), 120),
    ("Australia/Lord_Howe", (2024, 4, 7, 1, 45), 660),
]


@pytest.mark.parametrize(("zone", "reading", "becomes"), GAPS)
def test_a_reading_that_does_not_exist_moves_forward_by_the_gap(
    zone: str, reading: tuple[int, ...], becomes: tuple[int, ...]
) -> None:
    span = (microseconds(datetime(1985, 1, 1, tzinfo=UTC)), microseconds(datetime(2025, 1, 1, tzinfo=UTC)))
    local = np.array([microseconds(datetime(*parts, tzinfo=UTC)) for parts in (reading, becomes)])  # type: ignore[misc,arg-type]
    utc = to_utc(local, np.zeros(2, np.int64), [zone], span)
    assert utc[0] == utc[1]
    assert utc[0] + offset_us(utc, np.zeros(2, np.int64), [zone], span)[0] == local[1]


@pytest.mark.parametrize(("zone", "reading", "minutes"), OVERLAPS)
def test_a_reading_that_comes_twice_is_the_first_of_the_two(zone: str, reading: tuple[int, ...], minutes: int) -> None:
    first = utc_of(zone, *reading)
    assert first == datetime(*reading, tzinfo=UTC) - timedelta(minutes=minutes)  # type: ignore[misc,arg-type]
    assert offset_at(zone, microseconds(first)) == minutes * MINUTE


def test_both_ends_of_gap_and_overlap_are_where_they_belong() -> None:
    assert utc_of("America/Chicago", 2024, 3, 10, 1, 59, 59) == datetime(2024, 3, 10, 7, 59, 59, tzinfo=UTC)
    assert utc_of("America/Chicago", 2024, 3, 10, 3, 0) == datetime(2024, 3, 10, 8, 0, tzinfo=UTC)
    assert utc_of("America/Chicago", 2024, 11, 3, 0, 59, 59) == datetime(2024, 11, 3, 5, 59, 59, tzinfo=UTC)
    assert utc_of("America/Chicago", 2024, 11, 3, 1, 59, 59) == datetime(2024, 11, 3, 6, 59, 59, tzinfo=UTC)
    assert utc_of("America/Chicago", 2024, 11, 3, 2, 0) == datetime(2024, 11, 3, 8, 0, tzinfo=UTC)


def test_no_event_of_a_daily_habit_falls_into_the_missing_hour() -> None:
    """Case G2-S01: 02:30 every day over the change in Chicago."""
    first = microseconds(datetime(2024, 3, 9, 2, 30, tzinfo=UTC))
    utc = to_utc(first + np.arange(3) * DAY, np.zeros(3, np.int64), ["America/Chicago"], SPAN)
    local = utc + offset_us(utc, np.zeros(3, np.int64), ["America/Chicago"], SPAN)
    readings = [moment(int(at)).strftime("%d %H:%M") for at in local]
    assert readings == ["09 02:30", "10 03:30", "11 02:30"]
    assert (to_utc(local, np.zeros(3, np.int64), ["America/Chicago"], SPAN) == utc).all()


def test_the_hour_that_comes_twice_is_told_apart_by_its_offset() -> None:
    """Case G2-S02: a line each quarter of an hour of real time over the change in Madrid."""
    start = microseconds(datetime(2023, 10, 28, 23, 30, tzinfo=UTC))
    utc = start + np.arange(13) * 15 * MINUTE
    offset = offset_us(utc, np.zeros(13, np.int64), ["Europe/Madrid"], SPAN)
    readings = [moment(int(at)).strftime("%H:%M") for at in utc + offset]
    assert (readings[0], readings[-1]) == ("01:30", "03:30")
    twice = [int(shift) // HOUR for reading, shift in zip(readings, offset, strict=True) if reading == "02:15"]
    assert twice == [2, 1]


@calm
@given(INSTANT, ZONE)
@example(microseconds(datetime(2024, 3, 10, 8, 0, tzinfo=UTC)), "America/Chicago")
@example(microseconds(datetime(2024, 3, 10, 7, 59, 59, 999_999, tzinfo=UTC)), "America/Chicago")
def test_the_offset_at_an_instant_is_that_of_the_zone(us: int, zone: str) -> None:
    shift = moment(us).astimezone(locked_zone(zone)).utcoffset()
    assert offset_at(zone, us) == (shift or timedelta()) // timedelta(microseconds=1)


@calm
@given(INSTANT, ZONE)
def test_a_reading_becomes_the_instant_that_the_standard_library_gives(local: int, zone: str) -> None:
    """`fold=0` of PEP 495 is the written rule."""
    reading = moment(local).replace(tzinfo=locked_zone(zone), fold=0)
    assert int(to_utc(np.array([local]), np.array([0]), [zone], SPAN)[0]) == microseconds(reading.astimezone(UTC))


@calm
@given(INSTANT, ZONE)
def test_an_instant_comes_back_from_its_wall_clock_unless_its_reading_came_before(us: int, zone: str) -> None:
    offset = offset_at(zone, us)
    back = int(to_utc(np.array([us + offset]), np.array([0]), [zone], SPAN)[0])
    if back != us:  # the second time round
        assert back < us and back + offset_at(zone, back) == us + offset
        assert us - back <= DAY


def test_thousands_of_instants_at_and_between_the_changes_have_the_right_offset() -> None:
    draws = Draws(1, "test")
    for zone in ZONES:
        changes = zone_changes(zone, *SPAN)
        place = locked_zone(zone)
        near = [int(since) + step for since in changes.since_us[1:] for step in (-SECOND, -1, 0, 1, SECOND)]
        spread = SPAN[0] + np.floor(draws.uniform(zone, np.arange(500)) * (SPAN[1] - SPAN[0])).astype(np.int64)
        at = np.array([*near, *spread.tolist()], np.int64)
        found = offset_us(at, np.zeros(at.size, np.int64), [zone], SPAN)
        for us, offset in zip(at.tolist(), found.tolist(), strict=True):
            assert moment(us).astimezone(place).utcoffset() == timedelta(microseconds=offset), (zone, moment(us))


@pytest.mark.parametrize("zone", ["America/Chicago", "Africa/Casablanca", "Australia/Lord_Howe", "Asia/Kathmandu"])
def test_every_change_is_found_to_the_second_from_whatever_start(zone: str) -> None:
    whole = zone_changes(zone, *SPAN)
    for shift in (0, 1, 12 * HOUR + 34 * MINUTE, DAY - SECOND):
        part = zone_changes(zone, SPAN[0] + shift, SPAN[1])
        assert part.since_us.tolist() == whole.since_us.tolist()
        assert part.offset_us.tolist() == whole.offset_us.tolist()
    assert (whole.offset_us[1:] != whole.offset_us[:-1]).all()
    assert {"America/Chicago": 44, "Asia/Kathmandu": 0}.get(zone, whole.since_us.size - 1) == whole.since_us.size - 1


def test_zones_of_a_crowd_are_told_row_by_row() -> None:
    zones = ["America/Chicago", "Europe/Madrid", "UTC"]
    at = np.full(6, microseconds(datetime(2024, 7, 1, tzinfo=UTC)))
    which = np.array([2, 0, 1, 0, 2, 1])
    assert (offset_us(at, which, zones, SPAN) // HOUR).tolist() == [0, -5, 2, -5, 0, 2]
    assert ((to_utc(at, which, zones, SPAN) - at) // HOUR).tolist() == [0, 5, -2, 5, 0, -2]
    nobody = np.empty(0, np.int64)
    assert offset_us(nobody, nobody, zones, SPAN).shape == to_utc(nobody, nobody, zones, SPAN).shape == (0,)


def test_zones_come_from_the_locked_package_and_not_from_the_machine(tmp_path: Path) -> None:
    """A machine whose own files say that Madrid keeps the time of Kathmandu."""
    (tmp_path / "Europe").mkdir()
    kathmandu = resources.files("tzdata").joinpath("zoneinfo", "Asia", "Kathmandu").read_bytes()
    (tmp_path / "Europe" / "Madrid").write_bytes(kathmandu)
    noon = datetime(2024, 7, 1, 12, tzinfo=UTC)
    reset_tzpath([str(tmp_path)])
    try:
        assert noon.astimezone(ZoneInfo.no_cache("Europe/Madrid")).hour == 17
        assert noon.astimezone(locked_zone.__wrapped__("Europe/Madrid")).hour == 14
    finally:
        reset_tzpath()


def test_a_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(FileNotFoundError):
        locked_zone("Europe/Atlantis")


@calm
@given(st.dates(date(1800, 1, 1), date(2300, 1, 1)))
@example(date(1969, 12, 31))
@example(date(2024, 2, 29))
def test_weekdays_are_those_of_the_calendar(day: date) -> None:
    assert int(weekday_of(np.array([(day - date(1970, 1, 1)).days]))[0]) == day.weekday()


@calm
@given(st.integers(-(10**15), 10**16), st.integers(-14 * 60, 14 * 60))
def test_microseconds_are_exact_and_know_offsets(us: int, minutes: int) -> None:
    assert microseconds(moment(us).astimezone(timezone(timedelta(minutes=minutes)))) == us


def test_units_are_what_they_are_called() -> None:
    names = ("seconds", "minutes", "hours", "days", "weeks")
    assert [timedelta(**{name: 1}) // timedelta(microseconds=1) for name in names] == [SECOND, MINUTE, HOUR, DAY, WEEK]
