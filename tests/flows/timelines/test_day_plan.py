"""The days that people plan: like those of the reference, one's own, and a function of the person alone."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from flows.common.clock import DAY, HOUR
from flows.common.draws import Draws
from flows.common.stage import Shard
from flows.timelines.day_models import day_model
from flows.timelines.day_plan import (
    DayPlans,
    Dwellers,
    dwellers_of,
    hour_allowance,
    hour_base,
    plan_days,
)
from flows.timelines.hours import When, bases, time_of_day
from schemas.behaviour.day_plan import EDUCATION, PLACES, SLEEP, WORK
from schemas.behaviour.volume import AT_WORK
from tests.flows.lives import run, small_config
from validation.fidelity.time_use import time_use
from validation.references.profile import profile
from validation.references.reader import load_reference

PEOPLE = 1_000
DRAWS = Draws(7, "timelines")
DAYS = np.arange(20_000, 20_028)
"""Four weeks from Thursday, 4 October 2024 on."""
FACTORS = {"asleep": 0.02, "at_work": 0.4}


@cache
def dwellers() -> Dwellers:
    """People of the population `us`."""
    data = small_config(PEOPLE, 4)
    tables = run("population", data, {})
    personas = run("personas", data, tables, Shard(0, PEOPLE))["personas"]
    return dwellers_of(np.arange(PEOPLE, dtype=np.uint64), personas)


@cache
def plans() -> DayPlans:
    return plan_days(dwellers(), DAYS, DRAWS)


def some(who: Dwellers, first: int, last: int) -> Dwellers:
    part = slice(first, last)
    return Dwellers(who.numbers[part], who.stratum[part], who.chronotype[part], who.status[part])


@pytest.mark.parametrize("stratum", ["weekday", "weekday|employed", "weekday|not employed"])
def test_at_each_hour_of_a_weekday_people_do_what_the_reference_says(stratum: str) -> None:
    employed = dwellers().status < 2
    chosen = {"weekday": np.ones(PEOPLE, bool), "weekday|employed": employed, "weekday|not employed": ~employed}[
        stratum
    ]
    judged = time_use(plans().state, ~plans().is_rest & chosen[:, None], stratum)
    assert judged.value <= 0.05
    assert judged.passed
    assert judged.naive > 4 * judged.limit


def test_a_weekday_has_as_many_episodes_as_in_the_reference() -> None:
    days = plans().state[~plans().is_rest]
    episodes = (days[:, 1:] != days[:, :-1]).sum(axis=1) + 1
    known = load_reference("timeuse_atus_clock_weekday").shares("episodes_per_day_quantile", "weekday")
    assert abs(episodes.mean() - known.pop("mean")) < 0.5
    for name, value in known.items():
        assert abs(np.quantile(episodes, float(name[1:])) - value) <= 1


def test_days_of_rest_have_more_sleep_and_less_work() -> None:
    here = plans()
    week, rest = (here.state[here.is_rest == is_rest] for is_rest in (False, True))

    def hours(days: np.ndarray, what: int) -> float:
        return float((days == what).mean() * 24)

    assert 0.4 < hours(rest, SLEEP) - hours(week, SLEEP) < 1.3
    assert hours(rest, WORK) < 0.4 * hours(week, WORK)
    assert hours(rest, EDUCATION) < 0.5 * hours(week, EDUCATION)


def test_days_of_rest_beside_weekends_are_taken_as_told() -> None:
    who = some(dwellers(), 0, 300)
    off = np.zeros((300, 5), bool)
    off[:, 2] = True
    days = np.arange(20_003, 20_008)  # Sunday to Thursday
    told = plan_days(who, days, DRAWS, off)
    assert told.is_rest[:, 2].all()
    at_work = (told.state == WORK).mean(axis=(0, 2))
    assert at_work[2] < 0.5 * at_work[1]


def test_people_know_their_own_days_again() -> None:
    state = plans().state
    first, second = state[:, :14], state[:, 14:]

    def usual(days: np.ndarray) -> np.ndarray:
        return np.concatenate([(days == what).mean(axis=1) for what in (SLEEP, WORK)], axis=1)

    one, other = usual(first)[:200], usual(second)[:200]
    apart = ((one[:, None] - other[None]) ** 2).sum(axis=-1)
    assert (apart.argmin(axis=1) == np.arange(200)).mean() > 0.5  # by chance 0.005


def test_bedtimes_follow_the_chronotype() -> None:
    awake_late = (plans().state[:, :, 46:] != SLEEP).mean(axis=(1, 2))
    by_type = [awake_late[dwellers().chronotype == which].mean() for which in range(3)]
    assert by_type[0] + 0.1 < by_type[1] < by_type[2] - 0.1


def test_the_employed_work_on_most_weekdays_and_some_of_them_at_night() -> None:
    here, at_work = plans(), dwellers().status == 0
    is_weekday = ~here.is_rest[0]
    works = ((here.state == WORK).sum(axis=2) >= 4)[:, is_weekday].mean(axis=1)
    assert np.median(works[at_work]) > 0.75
    at_night = (here.state[:, is_weekday, 2:8] == WORK).mean(axis=(1, 2))
    assert 0.005 < (at_night[at_work] > 0.5).mean() < 0.06
    asleep_by_day = (here.state[:, is_weekday, 22:28] == SLEEP).mean(axis=(1, 2))
    assert asleep_by_day[at_work & (at_night > 0.5)].mean() > 0.5
    assert (here.state[dwellers().status == 2] == WORK).mean() < 0.03
    at_work = here.state == WORK
    begins = at_work[:, :, 1:] & ~at_work[:, :, :-1]
    assert abs(begins.any(axis=2).mean() / AT_WORK - 1) < 0.1  # of which the arithmetic on volumes makes commutes


def test_a_plan_is_a_function_of_the_person_and_the_day() -> None:
    whole = plans()
    part = plan_days(some(dwellers(), 300, 420), DAYS[5:12], DRAWS)
    assert np.array_equal(part.state, whole.state[300:420, 5:12])
    again = plan_days(some(dwellers(), 300, 420), DAYS[5:12], Draws(8, "timelines"))
    assert not np.array_equal(again.state, part.state)


def test_an_allowance_is_the_mean_over_the_hour() -> None:
    here = plans()
    person, day = np.array([3, 500]), DAYS[[0, 20]]
    found = hour_allowance(here, person, day, FACTORS)
    place = here.place()[person, day - DAYS[0]]
    factor = np.array([0.02, 0.4, 1.0, 1.0])[place]
    assert np.allclose(found, factor.reshape(2, 24, 2).mean(axis=2))


@pytest.mark.parametrize(
    ("reference", "in_sleep"),
    [("grocery_dunnhumby_cj", 0.02), ("food_takeaway_london", 0.02), ("mobility_foursquare_nyc", 0.015)],
)
def test_hours_keep_their_profile_and_leave_sleep_alone(reference: str, in_sleep: float) -> None:
    factors = {"asleep": in_sleep, "at_work": 0.4}
    here, when, asleep = plans(), profile(reference), 0.0
    for is_rest, hours in ((False, when.working_hours), (True, when.resting_hours)):
        person, day = np.nonzero(here.is_rest == is_rest)
        base = hour_base(hours, factors, is_rest=is_rest)
        weight = base * hour_allowance(here, person, day + here.first_day, factors)
        total = weight.sum(axis=1, keepdims=True)
        assert np.abs((weight / total).mean(axis=0) - hours).sum() / 2 <= 0.03
        sleeping = (here.state[person, day].reshape(-1, 24, 2) == SLEEP).mean(axis=2) * in_sleep * base
        asleep += (sleeping / total).sum(axis=1).mean() * (2 if is_rest else 5) / 7
    assert asleep < 0.03


@pytest.mark.parametrize("only", ["out", "at_work", "asleep"])
def test_where_a_day_has_no_hour_for_it_the_hours_of_all_are_taken(only: str) -> None:
    factors = tuple((place, float(place == only)) for place in PLACES)
    here, hours = plans(), profile("grocery_dunnhumby_cj")
    person, day = np.repeat(np.arange(PEOPLE), 2), np.tile(DAYS[:2], PEOPLE)
    key = np.arange(person.size, dtype=np.uint64)
    allowance = hour_allowance(here, person, day, dict(factors))
    at = time_of_day("shop", When(hours, factors), here, person, day, person.astype(np.uint64), key, DRAWS)
    hour, never = at // HOUR, allowance.sum(axis=1) == 0
    assert ((at >= 0) & (at < DAY)).all() and np.isfinite(bases(When(hours, factors))).all()
    possible = (allowance * bases(When(hours, factors))[here.is_rest[person, day - here.first_day].astype(int)]) > 0
    fits = possible.any(axis=1)
    assert fits.sum() > 500 and possible[fits, hour[fits]].all() and (~fits)[never].all() and (~fits).any()
    assert np.unique(hour[~fits]).size > 3


@pytest.mark.parametrize("is_rest", [False, True])
def test_hours_that_hardly_anybodys_day_allows_do_not_take_all(is_rest: bool) -> None:
    out = {"asleep": 0.0, "at_work": 0.0, "at_home": 0.0, "out": 1.0}
    base = hour_base(np.full(24, 1 / 24), out, is_rest=is_rest)
    assert abs(base.sum() - 1) < 1e-6 and base.max() < 0.3 and (base > 0).all()
    assert np.allclose(hour_base(np.full(24, 1 / 24), out | {"out": 0.0}, is_rest=is_rest), 1 / 24)


def test_working_and_sleeping_slots_are_in_order() -> None:
    slots = day_model().slots[:, 1]  # by day: waking, beginning, ending, bed
    assert (slots[:, 1] < slots[:, 2].min(axis=-1, keepdims=True)).all()
    assert (slots[:, 0].astype(int) - slots[:, 1]).mean() < -1
