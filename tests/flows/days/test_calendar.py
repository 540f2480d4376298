"""The tables `days` and `holidays`: what everybody in a place shares, and what timelines are told of it too."""

from __future__ import annotations

import socket
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest

from flows.common.clock import microseconds
from flows.common.weather import weather_of
from flows.days.calendar import local_days
from schemas.tables.core import sort_rows
from schemas.tables.fields import WEATHERS
from schemas.tables.visible import DAYS, HOLIDAYS, USERS
from tests.flows.lives import Tables, frame, run, same_rows, small_config

DATA = small_config(5, weeks=3, start=datetime(2025, 10, 1, tzinfo=UTC))
HOMES = [
    ("en_US", "America/Chicago"),
    ("de_DE", "Europe/Berlin"),
    ("en_US", "America/Chicago"),
    ("ar_AA", "Pacific/Kiritimati"),
]


def days_of(*homes: tuple[str, str]) -> Tables:
    rows = [
        {
            "user_id": f"u{n:06d}",
            "locale": locale,
            "week_start": "mon",
            "time_zone": zone,
            "signed_up_at": DATA.window.start,
        }
        for n, (locale, zone) in enumerate(homes)
    ]
    return run("days", DATA, {"users": pa.Table.from_pylist(rows, schema=USERS.schema())})


@pytest.fixture(scope="module")
def made() -> Tables:
    return days_of(*HOMES)


def test_every_zone_has_the_local_days_of_the_window(made: Tables) -> None:
    """It is from 1 October 2025, 00:00 UTC, to the 22nd: evening of 30 September in Chicago, 1 October in Kiritimati."""
    found = frame(made["days"]).group_by("time_zone").agg(first="date", last="date", n="date")
    told = {row["time_zone"]: (min(row["first"]), max(row["last"]), len(row["n"])) for row in found.to_dicts()}
    assert told == {
        "America/Chicago": (date(2025, 9, 30), date(2025, 10, 21), 22),
        "Europe/Berlin": (date(2025, 10, 1), date(2025, 10, 22), 22),
        "Pacific/Kiritimati": (date(2025, 10, 1), date(2025, 10, 22), 22),
    }


def test_an_hour_more_or_less_is_a_day_where_it_crosses_midnight() -> None:
    start, end = (
        datetime(2025, 10, 1, 4, tzinfo=UTC),
        datetime(2025, 10, 8, 5, tzinfo=UTC),
    )  # midnight in Chicago is at 5
    first, last = local_days(["America/Chicago", "UTC"], microseconds(start), microseconds(end))
    assert first.astype("datetime64[D]").astype(str).tolist() == ["2025-09-30", "2025-10-01"]
    assert last.astype("datetime64[D]").astype(str).tolist() == ["2025-10-07", "2025-10-08"]


def test_holidays_are_those_of_the_users_locales(made: Tables) -> None:
    assert frame(made["holidays"]).rows() == [
        ("de_DE", date(2025, 10, 3), "German Unity Day"),
        ("en_US", date(2025, 10, 13), "Columbus Day"),
    ]


def test_rows_are_as_declared_and_in_the_order_of_their_keys(made: Tables) -> None:
    for declared in (DAYS, HOLIDAYS):
        table = declared.conform(made[declared.name])
        assert same_rows(table, sort_rows(table, declared)), declared.name


def test_more_users_add_places_and_change_none(made: Tables) -> None:
    fewer = days_of(*HOMES[:1])
    both = frame(made["days"]).filter(time_zone="America/Chicago")
    assert frame(fewer["days"]).equals(both)
    assert frame(fewer["holidays"]).equals(frame(made["holidays"]).filter(locale="en_US"))


def test_the_table_tells_the_weather_that_timelines_are_told(made: Tables) -> None:
    berlin = frame(made["days"]).filter(time_zone="Europe/Berlin")
    days = berlin["date"].to_numpy().astype("datetime64[D]").astype(np.int64)
    told = weather_of(["Europe/Berlin"], days, DATA.seed)
    assert berlin["weather"].to_list() == [WEATHERS[code] for code in told.codes[0]]
    assert berlin["temperature_c"].to_list() == told.highest_c[0].tolist()


def test_nothing_is_asked_of_a_network(monkeypatch: pytest.MonkeyPatch, made: Tables) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    again = days_of(("sv_SE", "Europe/Stockholm"), *HOMES)
    assert (
        frame(again["days"])
        .filter(time_zone="Europe/Berlin")
        .equals(frame(made["days"]).filter(time_zone="Europe/Berlin"))
    )
