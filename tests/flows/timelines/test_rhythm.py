"""When people sit down: how often, on which days, at which hours, and never in two places at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.common.clock import DAY, HOUR, SECOND, WEEK, weekday_of
from flows.common.draws import Draws
from flows.timelines.rhythm import People, Sittings, Span, is_on, rates, sittings, without_overlap
from schemas.config.data import WEEKDAYS, DomainTimeline
from schemas.domain import Domain
from schemas.load import load_domain
from tests.flows.lives import fits, is_likely
from validation.references.reader import load_reference

I64 = npt.NDArray[np.int64]
START = 20_094 * DAY  # Monday, 2025-01-06
SPAN = Span(START, START + 8 * WEEK)
DRAWS = Draws(7, "timelines")
DOMAINS = ("food", "groceries")


def people(count: int, zones: tuple[str, ...] = ("UTC",)) -> People:
    return People(
        np.arange(count, dtype=np.uint64), np.arange(count) % len(zones), list(zones), np.full(count, START - DAY)
    )


@pytest.fixture(scope="module", params=DOMAINS)
def sat(request: pytest.FixtureRequest) -> tuple[Domain, Sittings]:
    """A domain and the sessions of 1,500 people whose wall clock shows UTC."""
    domain = load_domain(request.param)
    return domain, sittings(domain, DomainTimeline(), people(1_500), SPAN, DRAWS)


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


def test_company_moves_no_session_of_a_person() -> None:
    person, start, length = np.array([0, 0, 1, 1, 2]), np.array([5, 6, 0, 900, 3]), np.array([10, 10, 10, 10, 10])
    alone = without_overlap(np.zeros(2, np.int64), start[2:4], length[2:4], 3)
    assert without_overlap(person, start, length, 3)[2:4].tolist() == alone.tolist()


def test_too_many_people_for_whole_numbers_are_refused() -> None:
    person, start = np.array([0, 2**40]), np.array([0, 2**40])
    with pytest.raises(ValueError, match="shard_users"):
        without_overlap(person, start, np.ones(2, np.int64), 1)


@pytest.mark.parametrize("name", DOMAINS)
def test_rates_have_the_quantiles_of_the_domain_file(name: str) -> None:
    domain = load_domain(name)
    rate = rates(domain, np.arange(20_000, dtype=np.uint64), DRAWS)
    for quantile, value in domain.rhythm.sessions_per_week.items():
        if quantile not in ("q0.01", "q0.99"):  # the outermost also stand for all beyond
            assert is_likely(int((rate < value).sum()), rate.size, float(quantile[1:])), quantile
    known = list(domain.rhythm.sessions_per_week.values())
    assert known[0] <= rate.min() and rate.max() <= known[-1]


def test_people_have_as_many_sessions_as_their_rates_say(sat: tuple[Domain, Sittings]) -> None:
    domain, some = sat
    expected = rates(domain, np.arange(1_500, dtype=np.uint64), DRAWS).sum() * 8
    first = int((some.key < np.uint64(1 << 40)).sum())
    assert abs(first - expected) < 4 * expected**0.5
    assert is_likely(some.key.size - first, first, domain.rhythm.again_soon)


def test_the_hours_are_those_of_the_reference_for_working_days_and_weekends(sat: tuple[Domain, Sittings]) -> None:
    domain, some = sat
    start = some.start_us[some.key < np.uint64(1 << 40)]
    reference = load_reference(domain.rhythm.reference)
    weekend = weekday_of(start // DAY) >= 5
    for stratum, here in (("weekday", ~weekend), ("weekend", weekend)):
        shares = reference.shares("hour_of_day_share", stratum)
        counts = np.bincount(start[here] % DAY // HOUR, minlength=24)
        assert fits(counts, [shares[str(hour)] for hour in range(24)]), stratum


def test_the_weekdays_are_those_of_the_reference(sat: tuple[Domain, Sittings]) -> None:
    domain, some = sat
    shares = load_reference(domain.rhythm.reference).shares("day_of_week_share")
    counts = np.bincount(weekday_of(some.start_us[some.key < np.uint64(1 << 40)] // DAY), minlength=7)
    assert fits(counts, [shares[day.capitalize()] for day in WEEKDAYS])


def test_the_hour_is_that_of_the_wall_clock_where_the_person_lives() -> None:
    domain = load_domain("food")
    far = sittings(domain, DomainTimeline(), people(300, ("Asia/Tokyo",)), SPAN, DRAWS)
    near = sittings(domain, DomainTimeline(), people(300), SPAN, DRAWS)
    both = set(zip(far.person.tolist(), far.key.tolist(), strict=True)) & set(
        zip(near.person.tolist(), near.key.tolist(), strict=True)
    )
    at = [{(p, k): s for p, k, s in zip(*(c.tolist() for c in some), strict=True)} for some in (far, near)]
    assert len(both) > 1_000
    assert {at[1][key] - at[0][key] for key in both} == {9 * HOUR}


def test_a_factor_on_the_rate_multiplies_the_sessions() -> None:
    domain = load_domain("food")
    once, thrice = (
        sittings(domain, DomainTimeline(rate_factor=f), people(400), SPAN, DRAWS).key.size for f in (1.0, 3.0)
    )
    assert abs(thrice / once - 3) < 0.1


def test_only_the_days_of_the_config_have_sessions() -> None:
    some = sittings(load_domain("groceries"), DomainTimeline(weekdays=["tue"]), people(300), SPAN, DRAWS)
    on = is_on(["tue", "wed"], some.start_us, some.person, people(300), SPAN)
    first = some.key < np.uint64(1 << 40)
    assert set(weekday_of(some.start_us[first] // DAY).tolist()) == {1}
    assert on.all()  # one that follows another within minutes can pass midnight


@pytest.mark.parametrize(("zone", "hour"), list(product(("Pacific/Honolulu", "Asia/Tokyo"), (0, 12, 23))))
def test_the_day_of_the_week_is_the_persons_own(zone: str, hour: int) -> None:
    own = people(1, (zone,))
    at = np.array([START + 5 * DAY + hour * HOUR])  # Saturday in London
    shift = -10 if zone == "Pacific/Honolulu" else 9
    day = WEEKDAYS[(5 + (hour + shift) // 24) % 7]
    assert is_on([day], at, np.array([0]), own, SPAN).all()
    assert not is_on([d for d in WEEKDAYS if d != day], at, np.array([0]), own, SPAN).any()


def test_nobody_sits_down_before_signing_up_or_outside_the_window() -> None:
    signed_up = np.array([START - DAY, START + 3 * WEEK])
    some = sittings(
        load_domain("food"), DomainTimeline(rate_factor=5), people(2)._replace(signed_up_us=signed_up), SPAN, DRAWS
    )
    first = np.array([some.start_us[some.person == person].min() for person in (0, 1)])
    assert (first >= np.maximum(signed_up, SPAN.start)).all()
    assert SPAN.end - DAY < some.start_us.max() < SPAN.end and (some.start_us % SECOND == 0).all()
