"""Claims about order, count and end of sessions: they follow from the lines and from nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.presentation import presented
from schemas.tables import TableError
from schemas.tables.visible import EVENTS, SESSIONS

LINES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), min_size=1, max_size=15)
"""Session and second of each line."""


def event(number: int, session: int, second: int) -> dict[str, Any]:
    user = f"u{session % 2:06d}"
    return {
        "event_id": f"e{number:03d}",
        "user_id": user,
        "session_id": f"s{session}",
        "seq": 99,
        "at": second * 1_000_000,
        "logged_at": second * 1_000_000,
        "utc_offset_min": 0,
        "domain": "food",
        "app": "a",
        "action": "view",
        "source": "self",
    }


def session(number: int, started: int = 0) -> dict[str, Any]:
    return {
        "session_id": f"s{number}",
        "user_id": f"u{number % 2:06d}",
        "domain": "food",
        "app": "a",
        "device": "phone",
        "started_at": started,
        "ended_at": 0,
        "utc_offset_min": 0,
        "event_count": 1,
    }


def shown(
    sessions: list[dict[str, Any]], events: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    both = (
        pa.Table.from_pylist(sessions, schema=SESSIONS.schema()),
        pa.Table.from_pylist(events, schema=EVENTS.schema()),
    )
    made = presented(*both, SESSIONS, EVENTS)
    assert made[0].schema == SESSIONS.schema() and made[1].schema == EVENTS.schema()
    return made[0].to_pylist(), made[1].to_pylist()


@settings(deadline=None)
@given(LINES)
def test_order_count_and_end_are_those_of_the_lines(lines: list[tuple[int, int]]) -> None:
    events = [event(number, *line) for number, line in enumerate(lines)]
    sessions, ordered = shown([session(number) for number in range(4)], events)
    by_session: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(events, key=lambda row: (row["at"], row["event_id"])):
        by_session.setdefault(row["session_id"], []).append(row)
    assert {row["event_id"]: row["seq"] for row in ordered} == {
        row["event_id"]: place for rows in by_session.values() for place, row in enumerate(rows)
    }
    assert {row["session_id"]: row["event_count"] for row in sessions} == {
        name: len(rows) for name, rows in by_session.items()
    }
    last = {name: rows[-1]["at"] // 1_000_000 for name, rows in by_session.items()}
    assert {row["session_id"]: row["ended_at"].minute * 60 + row["ended_at"].second for row in sessions} == last
    keys = [(row["user_id"], row["at"], row["event_id"]) for row in ordered]
    assert keys == sorted(keys)


@settings(deadline=None)
@given(LINES, st.randoms(use_true_random=False))
def test_the_order_in_which_rows_come_changes_nothing(lines: list[tuple[int, int]], chance: Any) -> None:
    events = [event(number, *line) for number, line in enumerate(lines)]
    sessions = [session(number, started=number % 3) for number in range(4)]
    straight = shown(sessions, events)
    chance.shuffle(events)
    chance.shuffle(sessions)
    assert shown(sessions, events) == straight


def test_sessions_without_a_line_are_dropped_and_the_rest_are_sorted() -> None:
    lines = [event(0, 2, 1), event(1, 0, 9), event(2, 1, 3)]
    sessions, _ = shown([session(3), session(2), session(1), session(0, started=5)], lines)
    assert [row["session_id"] for row in sessions] == ["s2", "s0", "s1"]


def test_no_lines_make_no_sessions() -> None:
    assert shown([session(0)], []) == ([], [])
    assert shown([], []) == ([], [])


def test_what_does_not_follow_from_the_lines_stays_as_it_was() -> None:
    [made], [line] = shown([session(0, started=7)], [event(0, 0, 9)])
    before = pa.Table.from_pylist([session(0, started=7)], schema=SESSIONS.schema()).to_pylist()[0]
    assert {name: value for name, value in made.items() if name not in ("ended_at", "event_count")} == {
        name: value for name, value in before.items() if name not in ("ended_at", "event_count")
    }
    assert line["seq"] == 0 and made["event_count"] == 1


def test_a_line_twice_is_refused() -> None:
    with pytest.raises(TableError, match="key user_id, at, event_id repeats"):
        shown([session(0)], [event(0, 0, 9), event(0, 0, 9)])


def test_lines_of_many_chunks_count_as_one_table() -> None:
    rows = [event(number, number % 3, number) for number in range(30)]
    tables = [pa.Table.from_pylist([row], schema=EVENTS.schema()) for row in rows]
    sessions = pa.Table.from_pylist([session(number) for number in range(3)], schema=SESSIONS.schema())
    events = pa.concat_tables(tables)
    cut, whole = (presented(sessions, table, SESSIONS, EVENTS) for table in (events, events.combine_chunks()))
    assert cut[0].equals(whole[0]) and cut[1].equals(whole[1])
    assert np.array_equal(np.bincount(cut[1]["seq"].to_numpy()), np.full(10, 3))
