"""Things done by habit: how many times a day, when, how regularly, and to what."""

from __future__ import annotations

import numpy as np

from flows.common.clock import DAY, HOUR, MINUTE, weekday_of
from flows.timelines import routines
from flows.timelines.day_plan import Dwellers, plan_days
from flows.timelines.parts import Part, with_ways
from flows.timelines.setting import Doing
from schemas.activities import RoutineActivity
from schemas.behaviour.day_plan import WORK
from schemas.config.data import DomainTimeline
from tests.flows.lives import fits, is_likely
from tests.flows.timelines.shard import DRAWS, SPAN, doing, people, setting
from validation.references.profile import profile

COUNT, DAYS = 600, 56
ONE = {"q0.0": 1.0, "q1.0": 1.0}


def planned(one: Doing, things: list[int] | None = None) -> Part:
    assert isinstance(one.activity, RoutineActivity)
    own = {(one.domain.name, one.activity.on): [1] * COUNT if things is None else things}
    return routines.plan(one, one.activity, setting(people(COUNT), own))


def test_a_habit_is_kept_on_as_many_days_as_declared() -> None:
    for kept in (0.2, 0.9):
        part = planned(doing("home", "warmth", per_day=ONE, kept=kept))
        assert abs(part.person.size / COUNT / DAYS - kept) < 0.01
        assert np.unique(part.person * 2**32 + part.key.astype(np.int64)).size == part.person.size


def test_people_have_as_many_habits_as_the_quantiles_say() -> None:
    part = planned(doing("home", "lamps", per_day={"q0.0": 0.3, "q0.25": 0.3, "q0.2501": 2.4, "q1.0": 2.4}, kept=1.0))
    slots = [np.unique(part.key[part.person == person] % np.uint64(routines.SLOTS)).size for person in range(COUNT)]
    assert set(slots) == {0, 2} and is_likely(slots.count(0), COUNT, 0.25)


def test_habitual_times_lie_as_the_reference_says_and_scatter_little_about_themselves() -> None:
    one = doing("home", "warmth", reference="mobility_foursquare_nyc", per_day=ONE, kept=1.0, jitter_minutes=1.0)
    part = planned(one)
    when = profile("mobility_foursquare_nyc")
    weekend = weekday_of(part.start_us // DAY) >= 5
    for shares, here in ((when.working_hours, ~weekend), (when.resting_hours, weekend)):
        clock = part.start_us[here] % DAY
        first = np.unique(part.person[here], return_index=True)[1]
        assert fits(np.bincount(clock[first] // HOUR, minlength=24), shares)
        mine = [clock[part.person[here] == person] for person in range(50)]
        assert sum(np.ptp(times) < 8 * MINUTE for times in mine) > 45  # some fall on both sides of midnight


def test_the_scatter_is_the_declared_one() -> None:
    part = planned(doing("home", "warmth", per_day=ONE, kept=1.0, jitter_minutes=30.0))
    weekday = weekday_of(part.start_us // DAY) < 5
    noon = [
        (times - np.median(times)) / MINUTE
        for person in range(COUNT)
        if 4 * HOUR < np.median(times := (part.start_us % DAY)[weekday & (part.person == person)]) < 20 * HOUR
    ]
    assert abs(np.concatenate(noon).std() - 30) < 1


def test_who_has_nothing_to_do_it_to_does_not_do_it_and_each_habit_has_one_thing() -> None:
    one = doing("home", "lamps", per_day={"q0.0": 3.0, "q1.0": 3.0})
    things = [0, 1, 4] * (COUNT // 3)
    part = planned(one, things)
    assert set((part.person % 3).tolist()) == {1, 2}
    assert isinstance(one.activity, RoutineActivity)
    content = routines.fill(part, one, one.activity, setting(people(COUNT), {("home", "lamp"): things}))
    owner = np.repeat(np.arange(COUNT), things)
    assert (owner[content.item] == part.person).all()
    slot = part.person * routines.SLOTS + (part.key % np.uint64(routines.SLOTS)).astype(np.int64)
    assert len(set(zip(slot.tolist(), content.item.tolist(), strict=True))) == np.unique(slot).size
    nth = (content.item - (np.cumsum(things) - things)[part.person])[part.person % 3 == 2]
    assert set(nth.tolist()) == {0, 1, 2, 3}


def test_a_factor_adds_habits_and_keeps_the_others_where_they_are() -> None:
    once, more = (
        planned(doing("home", "warmth", DomainTimeline(rate_factor=f), per_day=ONE, kept=0.5)) for f in (1.0, 1.5)
    )
    assert abs(more.person.size / once.person.size - 1.5) < 0.03
    first = more.key % np.uint64(routines.SLOTS) == 0
    assert np.array_equal(more.start_us[first], once.start_us)


def test_only_the_days_of_the_config_have_habits() -> None:
    part = planned(doing("home", "warmth", DomainTimeline(weekdays=["fri"]), per_day=ONE, jitter_minutes=1.0))
    day = part.key.astype(np.int64) // routines.SLOTS
    assert set(weekday_of(day).tolist()) == {4} and part.person.size > 1_000


def test_who_works_arrives_when_work_begins_and_was_under_way_before() -> None:
    one = doing("mobility", "commute", jitter_minutes=1.0, kept=0.85)
    some, things = people(COUNT), {("mobility", "workplace"): [1] * COUNT}
    who = Dwellers(some.numbers, *(np.arange(COUNT) % count for count in (1, 3, 3)))
    plans = plan_days(who, SPAN.days, DRAWS)
    there = setting(some._replace(plans=plans), things)
    assert isinstance(one.activity, RoutineActivity)
    part = routines.plan(one, one.activity, there)
    content = with_ways(part, routines.fill(part, one, one.activity, there))
    assert (content.ends_us == part.at_us).all() and (content.starts_us == part.start_us).all()
    minutes = (content.ends_us - content.starts_us) / MINUTE
    assert abs(np.median(minutes) - 18) < 0.5 and minutes.min() > 0
    works = (plans.state == WORK).reshape(COUNT, -1)
    begins = works & ~np.concatenate([np.zeros((COUNT, 1), bool), works[:, :-1]], axis=1)
    half_hour = np.rint(part.at_us / (HOUR // 2)).astype(np.int64)
    assert (np.abs(part.at_us - half_hour * (HOUR // 2)) < 6 * MINUTE).all()
    assert begins[part.person, half_hour - plans.first_day * 48].all()
    inside = slice(3, -3)  # days that lie in the window, whatever the jitter
    possible = begins.reshape(COUNT, -1, 48).any(axis=2)[:, inside].sum()
    day = part.key.astype(np.int64) // routines.SLOTS
    assert is_likely(int(np.isin(day, SPAN.days[inside]).sum()), int(possible), 0.85)
    assert np.unique(part.person * 100_000 + day).size == day.size  # the first time of a day only
