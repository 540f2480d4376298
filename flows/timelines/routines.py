"""Routines: something done at the same times of the day, nearly every day, to a thing of one's own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.away import instants_of, is_away
from flows.common.clock import DAY, HOUR, SECOND, weekday_of
from flows.common.draws import categorical, normal
from flows.timelines.day_plan import DayPlans, hour_allowance
from flows.timelines.parts import ARRIVE, Content, Part, blank, of_one_line, step_before
from flows.timelines.rhythm import has_weekday, is_within
from flows.timelines.setting import Doing, People, Setting
from schemas.activities import RoutineActivity
from schemas.behaviour.day_plan import WORK
from schemas.behaviour.volume import by_quantiles, slots_kept
from validation.references.profile import profile_of

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
SLOTS = 32
"""Habitual times of one activity and person at the most."""


def plan(doing: Doing, activity: RoutineActivity, setting: Setting) -> Part:
    """A session of one line each time that a habitual time is kept, give or take some minutes."""
    aspect, draws, people, span = doing.aspect, setting.draws, setting.people, setting.span
    person, day, slot, clock = (_at_work if activity.at == "work" else _at_habits)(doing, activity, setting)
    key = (day * SLOTS + slot).astype(np.uint64)
    who = people.numbers[person]
    late_s = np.round(60 * activity.jitter_minutes * normal(draws.uniform(f"{aspect} jitter", who, key)))
    clock = day * DAY + clock + late_s.astype(np.int64) * SECOND
    start = instants_of(people.away, clock, person, people.zone[person], people.zones, span.around)
    step = step_before(aspect, activity.action, doing.domain, who, key, draws)
    if activity.action == ARRIVE:
        start = start - step  # the habit is when one arrives
    inside = is_within(start, person, people, span)
    if people.away is not None:
        inside &= ~is_away(people.away, person, start, start + step)
    return of_one_line(aspect, doing.place, person[inside], key[inside], start[inside], step[inside])


def _at_habits(doing: Doing, activity: RoutineActivity, setting: Setting) -> tuple[I64, I64, I64, I64]:
    """Who, on which day, which of their times, and at what time of the day: habitual times that are kept."""
    people, span = setting.people, setting.span
    share = _shares_kept(doing, activity, setting)
    slots = share.shape[1]
    days = span.days[has_weekday(span.days, doing.own)]
    keys = (days[:, None] * SLOTS + np.arange(slots)).reshape(1, -1)
    kept = setting.draws.uniform(f"{doing.aspect} kept", people.numbers[:, None], keys)
    person, cell = np.nonzero(kept < np.tile(share, (1, days.size)))
    day, slot = days[cell // slots], cell % slots
    habit = _habits(doing, activity, slots, setting)[_is_rest(people, person, day), person, slot]
    if activity.by == "self" and people.plans is not None:
        awake = hour_allowance(people.plans, person, day, dict(activity.during.factors()))
        chance = awake[np.arange(person.size), habit // HOUR]
        key = (day * SLOTS + slot).astype(np.uint64)
        goes = setting.draws.uniform(f"{doing.aspect} awake", people.numbers[person], key) < chance
        person, day, slot, habit = person[goes], day[goes], slot[goes], habit[goes]
    return person, day, slot, habit


def _is_rest(people: People, person: I64, day: I64) -> I64:
    """(n,) 1 for the person's days off, 0 for working days."""
    if people.plans is None:
        return (weekday_of(day) >= 5).astype(np.int64)
    return people.plans.is_rest[person, day - people.plans.first_day].astype(np.int64)


def _at_work(doing: Doing, activity: RoutineActivity, setting: Setting) -> tuple[I64, I64, I64, I64]:
    """The same for the beginnings of work: the first half hour of a day at work that comes after one elsewhere."""
    people, span, none = setting.people, setting.span, np.empty(0, np.int64)
    if people.plans is None:
        return none, none, none, none
    at_work = (people.plans.state == WORK).reshape(people.numbers.size, -1)
    begins = at_work.copy()
    begins[:, 1:] &= ~at_work[:, :-1]
    begins = begins.reshape(people.plans.state.shape)
    person, column = np.nonzero(begins.any(axis=2))
    day = people.plans.first_day + column
    share = np.minimum(1.0, activity.kept * people.habit_factor(doing.place) * doing.own.rate_factor)
    share = share * (setting.things.own[doing.domain.name, activity.on].has > 0)
    kept = setting.draws.uniform(f"{doing.aspect} kept", people.numbers[person], day.astype(np.uint64)) < share[person]
    kept &= has_weekday(day, doing.own) & np.isin(day, span.days)
    person, column, day = person[kept], column[kept], day[kept]
    half_hour = begins[person, column].argmax(axis=1).astype(np.int64)
    return person, day, np.zeros(person.size, np.int64), half_hour * (HOUR // 2)


def fill(part: Part, doing: Doing, activity: RoutineActivity, setting: Setting) -> Content:
    """Content of the lines: each habitual time has a thing of its own."""
    content = blank(part.person.size, activity.action, "self" if activity.by == "self" else "import")
    slot = part.key % np.uint64(SLOTS)
    uniform = setting.draws.uniform(f"{doing.aspect} {activity.on}", setting.people.numbers[part.person], slot)
    content.item[:] = setting.things.own[doing.domain.name, activity.on].taken(part.person, uniform)
    return content


def _shares_kept(doing: Doing, activity: RoutineActivity, setting: Setting) -> F64:
    """(people, slots) share of days on which each keeps each habitual time; without a thing to do it to, none."""
    uniform = setting.draws.uniform(f"{doing.aspect} habits", setting.people.numbers)
    habits = np.rint(by_quantiles(activity.per_day, uniform)) * doing.own.rate_factor
    kept = np.minimum(1.0, activity.kept * setting.people.habit_factor(doing.place))
    share = kept[:, None] * slots_kept(np.minimum(habits, SLOTS), SLOTS)
    share *= setting.things.own[doing.domain.name, activity.on].has[:, None] > 0
    return share[:, : max(1, int(share.any(axis=0).sum()))]


def _habits(doing: Doing, activity: RoutineActivity, slots: int, setting: Setting) -> I64:
    """(2, people, slots) microseconds since local midnight, on working days and on days off."""
    aspect, people, draws, hours = doing.aspect, setting.people, setting.draws, profile_of(activity)
    who, slot = people.numbers[:, None], np.arange(slots)[None, :]
    uniform = draws.uniform(f"{aspect} habit", who, slot)
    second = np.floor(draws.uniform(f"{aspect} habit second", who, slot) * 3600).astype(np.int64)
    found = []
    for is_rest, shares in enumerate((hours.working_hours, hours.resting_hours)):
        weight = np.broadcast_to(shares, (people.numbers.size, 24))
        if activity.by == "self" and people.plans is not None:
            weight = weight * _usual_allowance(people.plans, activity, bool(is_rest))
        found.append(categorical(uniform, np.repeat(weight[:, None, :], slots, axis=1)) * HOUR + second * SECOND)
    return np.stack(found)


def _usual_allowance(plans: DayPlans, activity: RoutineActivity, is_rest: bool) -> F64:
    """(people, 24) how much each person's first two weeks leave room in each hour, on working days or days off."""
    people, days = plans.is_rest.shape
    some = min(days, 14)
    person, column = np.repeat(np.arange(people), some), np.tile(np.arange(some), people)
    allowance = hour_allowance(plans, person, plans.first_day + column, dict(activity.during.factors()))
    allowance = allowance.reshape(people, some, 24) * (plans.is_rest[:, :some] == is_rest)[:, :, None]
    return np.asarray(np.round(allowance.sum(axis=1) + 1e-3, 9))
