"""Stays away from home: which hold, whose clock people live by, and how a reading of it becomes an instant."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.away import JOURNEY, Away, away_of, instants_of, is_away, offsets_at
from flows.common.clock import DAY, HOUR, MINUTE, microseconds, offset_us
from flows.timelines.booked import Stays, line_key
from flows.timelines.parts import of_one_line
from flows.timelines.stays import DESTINATIONS, SAME_AREA, destinations, period, still_booked
from tests.flows.timelines.shard import DRAWS, SPAN, START

ZONES = ["America/Chicago", "Asia/Tokyo", "Europe/Madrid"]
CHICAGO, TOKYO, MADRID = range(3)


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def away(*stays: tuple[int, int, float, float, int]) -> Away:
    """From rows of person, when booked, first and last day since the start, zone."""
    person, booked, first, last, zone = (np.array(column) for column in zip(*stays, strict=True))
    begins, ends = (START + np.rint(days * DAY).astype(np.int64) for days in (first, last))
    return away_of(person, booked, begins, ends, zone, ZONES, SPAN.around)


def test_of_stays_that_overlap_the_earlier_booking_holds() -> None:
    """The second gives way to the first; the third, which only the second touches, holds; so does another person's."""
    found = away((0, 1, 5, 9, TOKYO), (0, 2, 8, 12, MADRID), (0, 3, 11, 13, TOKYO), (1, 9, 6, 8, MADRID))
    assert ((found.starts_us - START) // DAY).tolist() == [5, 11, 6]
    assert found.person.tolist() == [0, 0, 1]
    assert ((away((0, 2, 5, 9, 1), (0, 1, 8, 12, 1)).starts_us - START) // DAY).tolist() == [8]
    assert away((0, 1, 5, 9, 1), (0, 2, 9, 10, 1)).person.size == 2  # the day of going on


def test_people_are_away_from_the_journey_there_to_the_journey_back() -> None:
    found = away((1, 1, 5, 9, TOKYO))
    begins, ends = START + 5 * DAY, START + 9 * DAY
    at = ints(begins - JOURNEY - 1, begins - JOURNEY, begins, ends, ends + JOURNEY - 1, ends + JOURNEY)
    assert is_away(found, np.ones(6, np.int64), at).tolist() == [False, True, True, True, True, False]
    assert not is_away(found, np.zeros(6, np.int64), at).any()
    assert is_away(found, ints(1, 1), ints(START, START), ints(begins - JOURNEY - 1, begins)).tolist() == [False, True]
    assert found.stay_at(np.ones(4, np.int64), ints(begins - 1, begins, ends - 1, ends)).tolist() == [-1, 0, 0, -1]


def test_the_clock_is_that_of_the_stay_while_it_lasts() -> None:
    found = away((0, 1, 5, 9, TOKYO))
    at = ints(START + 5 * DAY - 1, START + 5 * DAY, START + 9 * DAY - 1, START + 9 * DAY, START + 6 * DAY)
    who = ints(0, 0, 0, 0, 1)
    home = ints(CHICAGO, CHICAGO, CHICAGO, CHICAGO, MADRID)
    assert (offsets_at(found, at, who, home, ZONES, SPAN.around) // HOUR).tolist() == [-6, 9, 9, -6, 1]
    assert (offsets_at(None, at, who, home, ZONES, SPAN.around) // HOUR).tolist() == [-6, -6, -6, -6, 1]


def test_a_reading_is_one_of_the_clock_at_hand() -> None:
    """Noon of every day: in Tokyo while the stay lasts there, else in Chicago."""
    found = away((0, 1, 5, 9, TOKYO), (0, 2, 9.25, 12, MADRID))
    noon = START + np.arange(3, 15) * DAY + 12 * HOUR
    who, home = np.zeros(12, np.int64), np.full(12, CHICAGO)
    at = instants_of(found, noon, who, home, ZONES, SPAN.around)
    assert ((at - START) % DAY // HOUR).tolist() == [18, 18, *[3] * 4, *[11] * 3, *[18] * 3]
    elsewhere = instants_of(found, noon, who + 1, home, ZONES, SPAN.around)
    assert ((elsewhere - START) % DAY // HOUR).tolist() == [18] * 12


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9), st.integers(0, 2)), max_size=6), st.integers(0, 2))
def test_what_a_clock_shows_at_an_instant_gives_back_an_instant_at_which_it_shows_it(
    stays: list[tuple[int, int, int]], at_home: int
) -> None:
    """Whatever is booked: the instant itself, or where a clock goes back another at which it shows the same."""
    rows = [(0, n, first, first + last - 1 / 6, zone) for n, (first, last, zone) in enumerate(stays)]
    found = away(*rows) if rows else None
    at = START + np.arange(0, 55 * 24 * 60, 97) * MINUTE
    who, home = np.zeros(at.size, np.int64), np.full(at.size, at_home)
    shown = at + offsets_at(found, at, who, home, ZONES, SPAN.around)
    back = instants_of(found, shown, who, home, ZONES, SPAN.around)
    assert (back + offsets_at(found, back, who, home, ZONES, SPAN.around) == shown).all()


def test_check_in_is_at_three_and_check_out_at_eleven_where_the_stay_is_and_never_before_the_booking() -> None:
    """In Chicago at 20:00 of 7 January, with a day or none to go: in Tokyo it is the 8th already, 11:00."""
    booked = np.full(4, microseconds(datetime(2025, 1, 8, 2, tzinfo=UTC)))
    day, zone = ints(0, 1, 0, 60) + START // DAY + 1, ints(TOKYO, TOKYO, CHICAGO, MADRID)
    begins, ends = period(day, ints(1, 2, 1, 30), booked, zone, ZONES, SPAN)
    reads = [us + offset_us(us, zone, ZONES, (SPAN.start, SPAN.end + 400 * DAY)) for us in (begins, ends)]
    assert (reads[0] % DAY == 15 * HOUR).all() and (reads[1] % DAY == 11 * HOUR).all()
    assert (reads[0] // DAY - START // DAY).tolist() == [2, 2, 2, 61] and (begins > booked).all()
    assert ((reads[1] - reads[0]) // DAY + 1).tolist() == [1, 2, 1, 30]


def test_stays_elsewhere_are_mostly_near_and_a_greater_share_brings_none_back() -> None:
    zones = ["America/Chicago", "UTC", *(f"{area}/{town}" for area, towns in DESTINATIONS.items() for town in towns)]
    zones = list(dict.fromkeys(zones))
    elsewhere, where = (DRAWS.uniform(name, np.arange(8_000)) for name in ("elsewhere", "where"))
    few, many = (destinations(np.zeros(8_000, np.int64), elsewhere, where, zones, share) for share in (0.2, 0.6))
    assert abs((few > 0).mean() - 0.2) < 0.02 and abs((many > 0).mean() - 0.6) < 0.02
    assert (few[few > 0] == many[few > 0]).all()
    near = np.array([zone.startswith("America/") for zone in zones])[many[many > 0]]
    assert abs(near.mean() - SAME_AREA) < 0.02 and set(many) >= set(range(2, len(zones)))
    assert (destinations(np.zeros(9, np.int64), np.zeros(9), np.zeros(9), zones, 0.0) == 0).all()
    assert set(destinations(np.ones(8_000, np.int64), elsewhere, where, zones, 1.0)) == set(range(len(zones))) - {1}


def test_a_booking_is_found_by_person_and_key() -> None:
    key = np.array([7, 2**63, 7], np.uint64)
    some = Stays(ints(0, 0, 1), key, ints(0, 0, 0), ints(1, 2, 3), ints(4, 5, 6), ints(0, 1, 2), ZONES)
    asked = some.rows_of(ints(1, 0, 0, 2, 0), np.array([7, 2**63, 8, 7, 7], np.uint64))
    assert asked.tolist() == [2, 1, -1, -1, 0]


def test_a_booking_that_went_leaves_no_stay_and_one_that_moved_past_its_beginning_is_put_off_by_days() -> None:
    begins = START + 15 * HOUR + 6 * HOUR
    some = Stays(
        ints(0, 0, 1),
        line_key("trip", np.array([1, 2, 1], np.uint64), ints(0, 0, 0)),
        ints(START, START, START),
        ints(begins, begins, begins),
        ints(begins, begins, begins) + 2 * DAY - 4 * HOUR,
        ints(CHICAGO, CHICAGO, CHICAGO),
        ZONES,
    )
    late = of_one_line("trip", 0, ints(0, 1), np.array([2, 1], np.uint64), ints(begins + 1, begins - HOUR), ints(0, 0))
    left = still_booked(some, [late], SPAN)
    assert left.person.tolist() == [0, 1] and (left.starts_us - begins).tolist() == [DAY, 0]
    assert (left.ends_us - left.starts_us).tolist() == [2 * DAY - 4 * HOUR] * 2
