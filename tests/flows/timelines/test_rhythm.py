"""When people sit down: how often, on which days, at which hours."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from flows.common.clock import DAY, HOUR, SECOND, WEEK, weekday_of
from flows.timelines.rhythm import Sittings, has_weekday, is_on, rates, sittings
from flows.timelines.setting import Doing
from schemas.activities import SessionActivity
from schemas.config.data import WEEKDAYS, DomainTimeline
from tests.flows.lives import fits, is_likely
from tests.flows.timelines.shard import DRAWS, SPAN, START, doing, people
from validation.references.profile import profile

ACTIVITIES = (
    ("food", "meal"),
    ("groceries", "shop"),
    ("media", "play"),
    ("mobility", "outing"),
    ("planning", "messages"),
)


def sit(one: Doing, count: int = 300, zones: tuple[str, ...] = ("UTC",)) -> Sittings:
    assert one.activity.mechanism in ("session", "trip", "reply")
    return sittings(one, one.activity, people(count, zones), SPAN, DRAWS)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=ACTIVITIES, ids=" ".join)
def sat(request: pytest.FixtureRequest) -> tuple[Doing, Sittings]:
    """An activity and the sittings of 1,500 people whose wall clock shows UTC."""
    one = doing(*request.param)
    return one, sit(one, 1_500)


@pytest.mark.parametrize(("domain", "activity"), ACTIVITIES)
def test_rates_have_the_quantiles_of_the_domain_file(domain: str, activity: str) -> None:
    quantiles = doing(domain, activity).activity.per_week  # type: ignore[union-attr]
    rate = rates("some", quantiles, np.arange(20_000, dtype=np.uint64), DRAWS)
    for quantile, value in quantiles.items():
        if quantile not in ("q0.01", "q0.99"):  # the outermost also stand for all beyond
            assert is_likely(int((rate < value).sum()), rate.size, float(quantile[1:])), quantile
    known = list(quantiles.values())
    assert known[0] - 1e-4 <= rate.min() and rate.max() <= known[-1] + 1e-4


def test_people_sit_down_as_often_as_their_rates_say(sat: tuple[Doing, Sittings]) -> None:
    one, some = sat
    quantiles = one.activity.per_week  # type: ignore[union-attr]
    expected = rates(one.aspect, quantiles, np.arange(1_500, dtype=np.uint64), DRAWS).sum() * 8
    assert abs(some.key.size - expected) < 4 * expected**0.5


def test_the_hours_are_those_of_the_reference_for_working_days_and_weekends(sat: tuple[Doing, Sittings]) -> None:
    one, some = sat
    assert isinstance(one.activity, SessionActivity) or one.activity.mechanism in ("trip", "reply")
    when = profile(one.activity.reference, one.activity.hours_of)
    weekend = weekday_of(some.start_us // DAY) >= 5
    for shares, here in ((when.working_hours, ~weekend), (when.resting_hours, weekend)):
        assert fits(np.bincount(some.start_us[here] % DAY // HOUR, minlength=24), shares)


def test_the_weekdays_are_those_of_the_reference(sat: tuple[Doing, Sittings]) -> None:
    one, some = sat
    week = profile(one.activity.reference, one.activity.hours_of).week
    assert fits(np.bincount(weekday_of(some.start_us // DAY), minlength=7), week)


def test_the_hour_is_that_of_the_wall_clock_where_the_person_lives() -> None:
    far, near = sit(doing("food", "meal"), zones=("Asia/Tokyo",)), sit(doing("food", "meal"))
    both = set(zip(far.person.tolist(), far.key.tolist(), strict=True)) & set(
        zip(near.person.tolist(), near.key.tolist(), strict=True)
    )
    at = [{(p, k): s for p, k, s in zip(*(c.tolist() for c in some), strict=True)} for some in (far, near)]
    assert len(both) > 1_000
    assert {at[1][key] - at[0][key] for key in both} == {9 * HOUR}


def test_a_factor_on_the_rate_multiplies_the_sittings() -> None:
    once, thrice = (sit(doing("food", "meal", DomainTimeline(rate_factor=f)), 400).key.size for f in (1.0, 3.0))
    assert abs(thrice / once - 3) < 0.1


def test_only_the_days_of_the_config_have_sittings() -> None:
    some = sit(doing("groceries", "shop", DomainTimeline(weekdays=["tue"])))
    assert set(weekday_of(some.start_us // DAY).tolist()) == {1}
    days = np.arange(20_094, 20_101)  # a week from Monday on
    assert has_weekday(days, DomainTimeline(weekdays=["tue", "sun"])).nonzero()[0].tolist() == [1, 6]
    assert has_weekday(days, DomainTimeline()).all()


def test_two_activities_of_one_domain_are_independent() -> None:
    """One whose figures are those of another does not do the same at the same times."""
    play = doing("media", "play")
    other = Doing(play.domain, 0, "buy", play.activity, play.own)
    one, two = (set(zip(*(c.tolist() for c in (s.person, s.start_us)), strict=True)) for s in (sit(play), sit(other)))
    assert len(one) > 5_000 and len(one & two) < 0.01 * len(one)
    rate = [rates(d.aspect, play.activity.per_week, people(300).numbers, DRAWS) for d in (play, other)]  # type: ignore[union-attr]
    assert abs(np.corrcoef(*rate)[0, 1]) < 0.2


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
    one = doing("food", "meal", DomainTimeline(rate_factor=5))
    assert isinstance(one.activity, SessionActivity)
    some = sittings(one, one.activity, people(2)._replace(signed_up_us=signed_up), SPAN, DRAWS)
    first = np.array([some.start_us[some.person == person].min() for person in (0, 1)])
    assert (first >= np.maximum(signed_up, SPAN.start)).all()
    assert SPAN.end - DAY < some.start_us.max() < SPAN.end and (some.start_us % SECOND == 0).all()
