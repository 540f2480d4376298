"""When people sit down: how often, on which days, at which hours."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from flows.common.clock import DAY, HOUR, MINUTE, SECOND, WEEK, weekday_of
from flows.timelines.rhythm import TRAIN, Sittings, has_weekday, is_on, rates, sittings
from flows.timelines.setting import Doing, Span
from schemas.activities import Rhythm, SessionActivity
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
    alone = one.activity.rhythm.model_copy(update={"again": 0.0})  # type: ignore[union-attr]
    one = doing(*request.param, rhythm=alone)
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


@pytest.mark.parametrize(("domain", "activity"), ACTIVITIES)
def test_people_sit_down_as_often_as_their_rates_say(domain: str, activity: str) -> None:
    one = doing(domain, activity, rhythm=Rhythm(gap_spread=0.8, sway=0, dormant_share=0, again=0))
    expected = rates(one.aspect, one.activity.per_week, people(1_500).numbers, DRAWS).sum() * 8  # type: ignore[union-attr]
    assert abs(sit(one, 1_500).key.size - expected) < 4 * expected**0.5


def test_ups_and_downs_dormancy_and_what_follows_leave_the_mean_as_it_is() -> None:
    changes = {"sway": 0.6, "dormant_share": 0.2, "again": 0.4, "again_between": 0.7, "later_share": 0.3}
    one = doing("food", "meal", rhythm=Rhythm(gap_spread=1.1, **changes))
    expected = rates(one.aspect, one.activity.per_week, people(4_000).numbers, DRAWS).sum() * 8  # type: ignore[union-attr]
    assert abs(sit(one, 4_000).key.size / expected - 1) < 0.03  # what follows the last lead may fall after the window


def test_gaps_are_as_even_as_their_spread_says() -> None:
    """Burstiness (sd - mean) / (sd + mean) over people: the more the gaps spread, the higher; clockwork is at -1."""
    found = []
    for spread in (0.0, 0.3, 0.83, 1.4):
        still = Rhythm(gap_spread=spread, gap_spread_between=0, sway=0, dormant_share=0, again=0)
        some = sit(doing("food", "meal", per_week={"q0.0": 2.0, "q1.0": 2.0}, rhythm=still), 700)
        gap = np.diff(some.start_us)[np.diff(some.person) == 0]
        found.append((gap.std() - gap.mean()) / (gap.std() + gap.mean()))
    assert found == sorted(found) and found[0] < -0.5 and found[-1] > 0.1
    assert abs(found[2]) < 0.12  # about as uneven as chance


def test_dormant_weeks_have_nothing_and_come_in_spells() -> None:
    rhythm = Rhythm(gap_spread=0.2, sway=0, dormant_share=0.3, dormant_weeks=3, again=0)
    one = doing("food", "meal", per_week={"q0.0": 20.0, "q1.0": 20.0}, rhythm=rhythm)
    some = sittings(one, one.activity, people(400), Span(START, START + 20 * WEEK), DRAWS)  # type: ignore[arg-type]
    week = (some.start_us - START + DAY) // WEEK
    busy = np.zeros((400, 21), bool)
    busy[some.person, week] = True
    idle = ~busy[:, 1:20]
    assert abs(idle.mean() - 0.3) < 0.03
    falls_asleep, wakes = (~idle[:, :-1] & idle[:, 1:]).sum(), (idle[:, :-1] & ~idle[:, 1:]).sum()
    assert abs(idle[:, :-1].sum() / wakes - 3) < 0.4 and falls_asleep > 100


def test_what_follows_later_has_an_hour_of_its_own_and_what_follows_soon_its_distance() -> None:
    rhythm = Rhythm(
        again=0.6, again_between=0, soon_minutes=5, soon_spread=0, later_share=0.4, later_hours=30, later_spread=0
    )
    one = doing("food", "meal", rhythm=rhythm)
    some = sit(one, 400)
    follows = np.flatnonzero(some.key % np.uint64(TRAIN) > 0)
    wait = some.start_us[follows] - some.start_us[follows - 1]
    is_soon = wait == 5 * MINUTE
    assert abs(is_soon.mean() - 0.6) < 0.03
    later = some.start_us[follows[~is_soon]]
    when = profile(one.activity.reference, one.activity.hours_of)  # type: ignore[union-attr]
    working = later[weekday_of(later // DAY) < 5]
    assert fits(np.bincount(working % DAY // HOUR, minlength=24), when.working_hours)
    days = later // DAY - some.start_us[follows[~is_soon] - 1] // DAY
    assert np.median(days) in (1, 2)


def test_slices_of_people_sit_down_alike() -> None:
    one = doing("mobility", "outing")
    all_of_them, few = sit(one, 300), sit(one, 40)
    first = all_of_them.person < 40
    assert all(np.array_equal(a[first], b) for a, b in zip(all_of_them, few, strict=True))


def test_keys_are_unique_within_a_person(sat: tuple[Doing, Sittings]) -> None:
    _, some = sat
    assert np.unique(np.stack([some.person.astype(np.uint64), some.key]), axis=1).shape[1] == some.key.size


def test_the_hours_are_those_of_the_reference_for_working_days_and_weekends(sat: tuple[Doing, Sittings]) -> None:
    one, some = sat
    assert isinstance(one.activity, SessionActivity) or one.activity.mechanism in ("trip", "reply")
    when = profile(one.activity.reference, one.activity.hours_of)
    weekend = weekday_of(some.start_us // DAY) >= 5
    for shares, here in ((when.working_hours, ~weekend), (when.resting_hours, weekend)):
        assert fits(np.bincount(some.start_us[here] % DAY // HOUR, minlength=24), shares)


def test_the_weekdays_are_those_of_the_reference(sat: tuple[Doing, Sittings]) -> None:
    """Within what the even gaps of regular people, and whole days, leave to chance."""
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
    once, thrice = (sit(doing("food", "meal", DomainTimeline(rate_factor=f)), 1_000).key.size for f in (1.0, 3.0))
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
    one = doing("food", "meal", DomainTimeline(rate_factor=20), rhythm=Rhythm(dormant_share=0))
    assert isinstance(one.activity, SessionActivity)
    some = sittings(one, one.activity, people(2)._replace(signed_up_us=signed_up), SPAN, DRAWS)
    first = np.array([some.start_us[some.person == person].min() for person in (0, 1)])
    assert (first >= np.maximum(signed_up, SPAN.start)).all()
    assert SPAN.end - DAY < some.start_us.max() < SPAN.end and (some.start_us % SECOND == 0).all()
