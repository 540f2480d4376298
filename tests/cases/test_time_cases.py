"""Faults of public reports about wall clocks, days and ages. Each test names its case."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.cli.validate import validate
from flows.common.clock import DAY, HOUR, MINUTE, locked_zone, microseconds, offset_us, to_utc, weekday_of
from tests.flows.lives import Lives, live, small_config
from tests.validation.conftest import Tiny


@pytest.fixture(scope="module")
def lived() -> Lives:
    data = small_config(24, 4)
    return Lives(data, live(data, last="corrupt"))


def local(*reading: int) -> int:
    """Microseconds of a wall-clock reading: year, month, day, hour, minute."""
    year, month, day, hour, minute = reading
    return microseconds(datetime(year, month, day, hour, minute, tzinfo=UTC))


def test_g2_s01_a_local_time_that_does_not_exist_moves_forward_by_the_gap() -> None:
    zones, zone = ["America/Chicago"], np.zeros(3, np.int64)
    wanted = np.array([local(2024, 3, day, 2, 30) for day in (9, 10, 11)])
    span = (int(wanted[0]) - 2 * DAY, int(wanted[-1]) + 2 * DAY)
    at = to_utc(wanted, zone, zones, span)
    shown = [f"{datetime.fromtimestamp(int(us) / 1e6, ZoneInfo(zones[0])):%d %H:%M}" for us in at]
    assert shown == ["09 02:30", "10 03:30", "11 02:30"]
    back = to_utc(at + offset_us(at, zone, zones, span), zone, zones, span)
    assert (back == at).all()


INSTANTS = st.integers(631_152_000, 2_114_380_800).map(
    lambda second: datetime.fromtimestamp(second, UTC)
)  # 1990 to 2036
ZONES = st.sampled_from(sorted(available_timezones()))


@settings(max_examples=60)
@given(INSTANTS, ZONES)
def test_g2_s01_no_instant_has_a_local_time_that_does_not_exist(instant: datetime, name: str) -> None:
    """In any zone, wherever a wall clock is set: it becomes an instant that survives UTC to local to UTC unchanged."""
    wanted = microseconds(instant) + HOUR * np.arange(-24, 25) // 2
    zone, zones, span = np.zeros(wanted.size, np.int64), [name], (int(wanted[0]) - 2 * DAY, int(wanted[-1]) + 2 * DAY)
    at = to_utc(wanted, zone, zones, span)
    reads = at + offset_us(at, zone, zones, span)
    assert (to_utc(reads, zone, zones, span) == at).all()
    moved = reads - wanted
    assert ((moved == 0) | (moved > 0) & (to_utc(reads, zone, zones, span) == at)).all()
    exists = [_exists(int(us), name) for us in reads]
    assert all(exists) and [us == 0 for us in moved] == [_exists(int(us), name) for us in wanted]


def _exists(reading_us: int, name: str) -> bool:
    """Whether the wall clock of the zone ever shows the reading, by Python's own zones."""
    place = locked_zone(name)
    naive = datetime.fromtimestamp(reading_us / 1e6, UTC).replace(tzinfo=None)
    offsets = [naive.replace(tzinfo=place, fold=fold) for fold in (0, 1)]
    return any(one.astimezone(UTC).astimezone(place).replace(tzinfo=None) == naive for one in offsets)


@settings(max_examples=60)
@given(INSTANTS, ZONES)
def test_g2_s02_instants_that_rise_are_told_apart_by_reading_and_offset(instant: datetime, name: str) -> None:
    """Every 15 minutes of two days, in any zone: what the clock shows less the offset is the instant again."""
    at = microseconds(instant) + 15 * MINUTE * np.arange(192)
    zone, zones, span = np.zeros(at.size, np.int64), [name], (int(at[0]) - 2 * DAY, int(at[-1]) + 2 * DAY)
    offset = offset_us(at, zone, zones, span)
    assert len({*zip((at + offset).tolist(), offset.tolist(), strict=True)}) == at.size
    shown = [datetime.fromtimestamp(us // 1_000_000, locked_zone(name)).utcoffset() for us in at.tolist()]
    assert (offset // 1_000_000).tolist() == [int(one.total_seconds()) for one in shown if one is not None]
    first = to_utc(at + offset, zone, zones, span)
    assert (first <= at).all() and (first + offset_us(first, zone, zones, span) == at + offset).all()


def test_g2_s02_a_local_hour_that_happens_twice_is_told_apart_by_the_offset() -> None:
    begin = microseconds(datetime(2023, 10, 28, 23, 30, tzinfo=UTC))  # 01:30 in Madrid
    at = begin + 15 * MINUTE * np.arange(13)  # to 03:30 after the change
    zone, zones, span = np.zeros(13, np.int64), ["Europe/Madrid"], (begin - DAY, begin + DAY)
    offset = offset_us(at, zone, zones, span)
    reads = at + offset
    assert (np.diff(at) > 0).all() and reads[-1] == local(2023, 10, 29, 3, 30)
    twice = np.flatnonzero(reads == local(2023, 10, 29, 2, 15))
    assert [datetime.fromtimestamp(int(us) / 1e6, UTC).strftime("%H:%M") for us in at[twice]] == ["00:15", "01:15"]
    assert offset[twice].tolist() == [2 * HOUR, HOUR]
    assert to_utc(reads[twice], zone[twice], zones, span).tolist() == [at[twice[0]]] * 2  # the first of the two


def test_g2_s03_no_session_made_is_negative_or_at_odds_with_its_lines(lived: Lives) -> None:
    sessions = lived["symbolic_sessions"]
    ends = (
        lived["events"].group_by("session_id").agg(pl.col("at").max().alias("last"), pl.col("at").min().alias("first"))
    )
    both = sessions.join(ends, on="session_id", how="left")
    assert both.select(
        ((pl.col("started_at") <= pl.col("first")) & (pl.col("last") == pl.col("ended_at"))).all()
    ).item()


@pytest.mark.slow
def test_g2_s03_and_s04_validate_names_what_ends_before_it_begins_and_what_was_before_the_account(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`habitus validate` of a release with four rows planted: it lists ids, fields, rules and both instants."""
    tiny, minute = Tiny(), timedelta(minutes=1)
    first, other = tiny.rows["sessions"]
    first["ended_at"] = first["started_at"] - minute
    other["ended_at"] = other["started_at"] + timedelta(seconds=171_720)
    tiny.rows["users"][0]["signed_up_at"] = tiny.rows["events"][0]["at"] + timedelta(seconds=1)
    tiny.rows["personas"][1]["birth_date"] = date(2025, 1, 7)
    tiny.write(tmp_path)
    tiny.write_manifest(tmp_path)
    assert validate(tmp_path, json=False) == 1
    told = " ".join(capsys.readouterr().out.split())
    begin, signed_up = "2025-01-08 00:00:00.000000Z", "2025-01-08 00:00:01.000000Z"
    for line in (
        f"sessions.ended_at: is not before `started_at` (1): u000000-s1 ended_at 2025-01-07 23:59:00.000000Z started_at {begin}",
        "sessions.ended_at: is the `at` of the last line of the session (2): u000000-s1 ended_at "
        "2025-01-07 23:59:00.000000Z last 2025-01-08 00:02:00.000000Z, u000001-s1 ended_at "
        "2025-01-09 23:42:00.000000Z last 2025-01-08 00:02:00.000000Z",
        f"events.at: is not before the user's `signed_up_at` (1): u000000-e0 at {begin} signed_up_at {signed_up}",
        "personas.birth_date: is before the user's `signed_up_at` (1): u000001 birth_date 2025-01-07 signed_up_at "
        "2024-12-07 00:00:00.000000Z",
    ):
        assert line in told, told


def test_g2_s04_nothing_made_lies_outside_the_life_of_the_account(lived: Lives) -> None:
    window = lived.data.window
    events = lived["events"].join(lived["users"], on="user_id")
    assert events.select((pl.col("at") >= pl.col("signed_up_at")).all()).item()
    assert events.select(pl.col("at").is_between(window.start, window.end, closed="left").all()).item()
    people = lived["personas"].join(lived["users"], on="user_id")
    assert people.select((pl.col("birth_date") < pl.col("signed_up_at").dt.date()).all()).item()


def test_g2_s05_and_s06_ages_are_right_to_the_day_on_a_leap_day_and_about_birthdays() -> None:
    ages = [str(age) for age in range(18, 66)]
    start = datetime(2024, 2, 29, tzinfo=UTC)
    data = small_config(2_000, 2, start, personas={"attributes": {"age_years": {"values": ages}}})
    people = Lives(data, live(data, last="personas"))["personas"]
    for born, age in people.select("birth_date", "age_years").iter_rows():
        assert age == 2024 - born.year - ((born.month, born.day) > (2, 29))
    assert set(people["age_years"]) == set(range(18, 66))
    leap = people.filter(pl.col("birth_date").dt.month() == 2, pl.col("birth_date").dt.day() == 29)
    assert all(born.year % 4 == 0 for born in leap["birth_date"])


def test_g2_s06_the_day_before_a_birthday_is_not_the_birthday() -> None:
    data = small_config(
        4_000, 2, datetime(2025, 5, 31, tzinfo=UTC), personas={"attributes": {"age_years": {"values": ["64"]}}}
    )
    born = Lives(data, live(data, last="personas"))["personas"]["birth_date"]
    assert born.min() == date(1960, 6, 1) and born.max() == date(1961, 5, 31)
    assert (date(2025, 5, 31) - date(1960, 6, 1)).days // 365 == 65  # what dividing days would give


def test_g2_s07_a_domain_of_weekends_has_all_its_events_on_weekends_of_the_users_own_date() -> None:
    own = {"domains": {"groceries": {"weekdays": ["sat", "sun"], "rate_factor": 3.0}}}
    zones = {"time_zone": {"values": ["Pacific/Honolulu", "America/New_York", "Asia/Tokyo", "Pacific/Auckland"]}}
    data = small_config(60, 6, datetime(2024, 3, 4, tzinfo=UTC), timelines=own, personas={"attributes": zones})
    lives = Lives(data, live(data, last="disturb"))
    zone = {user: ZoneInfo(name) for user, name in lives["users"].select("user_id", "time_zone").iter_rows()}
    days = {
        name: [at.astimezone(zone[user]).weekday() for user, at in _of(lives, name)] for name in ("food", "groceries")
    }
    assert len(days["groceries"]) > 10_000 and set(days["groceries"]) == {5, 6}
    assert set(days["food"]) == set(range(7))


def _of(lives: Lives, domain: str) -> list[tuple[str, datetime]]:
    lines = lives["symbolic_events"].filter(pl.col("domain") == domain, pl.col("app") != "assistant")
    return lines.select("user_id", "at").rows()


def test_g2_s07_our_weekdays_are_those_of_the_calendar() -> None:
    days = [date(1960, 1, 1) + timedelta(days=step) for step in range(0, 40_000, 17)]
    number = np.array([(day - date(1970, 1, 1)).days for day in days])
    assert weekday_of(number).tolist() == [day.weekday() for day in days]


def test_fault_27_every_session_and_line_has_an_instant_with_a_zone(lived: Lives) -> None:
    for name, columns in (("symbolic_sessions", ("started_at", "ended_at")), ("events", ("at", "logged_at"))):
        table = lived[name].select(*columns, "utc_offset_min")
        assert table.height > 200 and table.null_count().row(0) == (0,) * table.width
        assert {table.schema[column] for column in columns} == {pl.Datetime("us", "UTC")}


def test_part_d_people_come_back_on_the_same_day(lived: Lives) -> None:
    """LoCoMo's dialogues are at least 1.17 days apart: here people return within hours, and also after days."""
    gaps = (
        lived["symbolic_sessions"]
        .sort("user_id", "started_at")
        .select(gap=pl.col("started_at").diff().over("user_id"))["gap"]
        .drop_nulls()
    )
    hours = gaps.dt.total_seconds().to_numpy() / 3600
    assert np.mean(hours < 12) > 0.1 and hours.min() < 1 and np.mean(hours > 28) > 0.1


def test_part_d_ages_agree_with_the_window_and_ids_neither_dangle_nor_repeat(lived: Lives) -> None:
    """LifeBench gives ages of another year than its timeline's, repeats ids and names events that are not there."""
    day = lived.data.window.start.date()
    for born, age in lived["personas"].select("birth_date", "age_years").iter_rows():
        assert age == day.year - born.year - ((born.month, born.day) > (day.month, day.day))
    ids = {name: lived[name][key] for name, key in (("events", "event_id"), ("symbolic_sessions", "session_id"))}
    assert all(column.n_unique() == len(column) for column in ids.values())
    assert set(lived["events"]["session_id"]) == set(ids["symbolic_sessions"])
    named = lived["injections"].explode("event_ids")["event_ids"].drop_nulls()
    assert len(named) > 20 and set(named) <= set(ids["events"])
    assert lived["injections"]["injection_id"].n_unique() == lived["injections"].height


def test_part_d_some_are_awake_at_night_and_few(lived: Lives) -> None:
    """PersonaBench has no session between 00:00 and 06:00; people have some, fewer than that quarter of the day."""
    local = pl.col("started_at").dt.replace_time_zone(None) + pl.duration(minutes="utc_offset_min")
    night = lived["symbolic_sessions"].select((local.dt.hour() < 6).mean()).item()
    assert 0 < float(night) < 0.1
