"""One thing at a time: who gives way, by how much, and what is cut."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.common.clock import DAY, HOUR, MINUTE
from flows.timelines.parts import Part, of_one_line
from flows.timelines.settle import PAUSE, Busy, earlier_gap, settled, without_overlap
from tests.flows.timelines.shard import SPAN, START, people

I64 = npt.NDArray[np.int64]
sessions = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 120), st.integers(0, 40)), max_size=25)


def one_by_one(person: I64, start: I64, length: I64, pause: int) -> list[int]:
    """Each session as early as it may be, in the order in which they would begin."""
    out = [0] * person.size
    free: dict[int, int] = {}
    for row in sorted(range(person.size), key=lambda r: (start[r], r)):
        who = int(person[row])
        out[row] = max(int(start[row]), free.get(who, int(start[row])))
        free[who] = out[row] + int(length[row]) + pause
    return out


@given(sessions, st.integers(0, 10), st.integers(-(10**15), 10**15))
def test_sessions_are_moved_just_enough_not_to_overlap(
    rows: list[tuple[int, int, int]], pause: int, origin: int
) -> None:
    person, start, length = (np.array([row[n] for row in rows], np.int64) for n in range(3))
    moved = without_overlap(person, start + origin, length, pause)
    assert moved.tolist() == one_by_one(person, start + origin, length, pause)


@given(sessions, st.lists(st.tuples(st.integers(0, 4), st.integers(0, 150)), max_size=8), st.integers(0, 10))
def test_what_a_device_writes_is_moved_back_just_enough_to_disturb_nobody(
    rows: list[tuple[int, int, int]], written: list[tuple[int, int]], pause: int
) -> None:
    person, start, length = (np.array([row[n] for row in rows], np.int64) for n in range(3))
    start = without_overlap(person, start, length, pause)
    who, at = (np.array([row[n] for row in written], np.int64) for n in range(2))
    found = earlier_gap(who, at, Busy(person, start, start + length), pause)
    for one, wanted, moment in zip(who.tolist(), at.tolist(), found.tolist(), strict=True):
        mine = [(s, s + n) for p, s, n in zip(person, start, length, strict=True) if p == one]
        free = [t for t in range(-50, wanted + 1) if all(t + pause <= s or e + pause <= t for s, e in mine)]
        assert moment == max(free)


def test_company_moves_no_session_of_a_person() -> None:
    person, start, length = np.array([0, 0, 1, 1, 2]), np.array([5, 6, 0, 900, 3]), np.array([10, 10, 10, 10, 10])
    alone = without_overlap(np.zeros(2, np.int64), start[2:4], length[2:4], 3)
    assert without_overlap(person, start, length, 3)[2:4].tolist() == alone.tolist()


def test_too_many_people_for_whole_numbers_are_refused() -> None:
    person, start = np.array([0, 2**40]), np.array([0, 2**40])
    with pytest.raises(ValueError, match="shard_users"):
        without_overlap(person, start, np.ones(2, np.int64), 1)
    busy = Busy(person, start, start + 1)
    with pytest.raises(ValueError, match="shard_users"):
        earlier_gap(person, start, busy, 1)


def lines(name: str, start: list[int], step: int, *, pinned: bool = False) -> Part:
    """Sessions of one person, each with one line after a step."""
    size = len(start)
    at, keys = np.array(start, np.int64), np.arange(size, dtype=np.uint64)
    made = of_one_line(name, 0, np.zeros(size, np.int64), keys, at, np.full(size, step))
    return made._replace(is_pinned=pinned)


def test_people_move_on_devices_move_back_and_what_does_not_fit_is_cut() -> None:
    noon = START + 12 * HOUR
    long = lines("long", [noon, SPAN.end - HOUR], 2 * HOUR)
    short = lines("short", [noon + HOUR, SPAN.start - MINUTE], MINUTE)
    device = lines("device", [noon + 30 * MINUTE, START + 1, noon + 5 * HOUR], 0, pinned=True)
    (device, long, short), kept = settled([device, long, short], {}, people(1), SPAN)
    assert long.start_us.tolist() == [noon] and short.start_us.tolist() == [noon + 2 * HOUR + PAUSE]
    assert device.start_us.tolist() == [noon - PAUSE, START + 1, noon + 5 * HOUR]
    assert [mask.tolist() for mask in kept] == [[True] * 3, [True, False], [True, False]]


def test_a_device_that_finds_no_room_in_its_hour_writes_nothing() -> None:
    night = START + 23 * HOUR + 59 * MINUTE
    for length, written in ((30 * MINUTE, [night - 29 * MINUTE - PAUSE]), (2 * HOUR, [])):
        busy = lines("busy", [night - length + MINUTE], length)
        (_, device), _ = settled([busy, lines("device", [night], 0, pinned=True)], {}, people(1), SPAN)
        assert device.start_us.tolist() == written


def test_sessions_stay_in_the_days_of_their_domain_and_lines_go_with_their_sessions() -> None:
    monday, tuesday = START + 23 * HOUR, START + DAY + HOUR
    some = lines("some", [monday, tuesday, monday + HOUR - MINUTE], 5 * MINUTE)
    (some,), (kept,) = settled([some], {0: ["mon"]}, people(1), SPAN)
    assert kept.tolist() == [True, False, False] and some.lines.session.tolist() == [0]
    (elsewhere,), _ = settled([lines("some", [tuesday], MINUTE)], {1: ["mon"]}, people(1), SPAN)
    assert elsewhere.person.size == 1
