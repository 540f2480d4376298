"""Faults of public reports about wall clocks, days and ages. Each test names its case."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest

from flows.common.clock import DAY, HOUR, MINUTE, microseconds, offset_us, to_utc, weekday_of
from tests.flows.lives import Lives, live, small_config


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
