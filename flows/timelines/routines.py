"""Routines: something done at the same times of the day, nearly every day, to a thing of one's own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR, SECOND, to_utc, weekday_of
from flows.common.draws import Draws, categorical, normal
from flows.timelines.parts import ARRIVE, Content, Part, blank, of_one_line, step_before
from flows.timelines.rhythm import has_weekday, is_within
from flows.timelines.setting import Doing, People, Setting
from schemas.activities import RoutineActivity
from schemas.behaviour.volume import by_quantiles, slots_kept
from validation.references.profile import profile

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
SLOTS = 32
"""Habitual times of one activity and person at the most."""


def plan(doing: Doing, activity: RoutineActivity, setting: Setting) -> Part:
    """A session of one line each time that a habitual time is kept, give or take some minutes."""
    aspect, draws, people, span = doing.aspect, setting.draws, setting.people, setting.span
    share = _shares_kept(doing, activity, setting)
    slots = share.shape[1]
    days = span.days[has_weekday(span.days, doing.own)]
    keys = (days[:, None] * SLOTS + np.arange(slots)).reshape(1, -1)
    person, cell = np.nonzero(
        draws.uniform(f"{aspect} kept", people.numbers[:, None], keys) < np.tile(share, (1, days.size))
    )
    key, day, slot = keys[0, cell].astype(np.uint64), days[cell // slots], cell % slots
    who = people.numbers[person]
    habit = _habits(aspect, activity, slots, people, draws)[(weekday_of(day) >= 5).astype(np.int64), person, slot]
    late_s = np.round(60 * activity.jitter_minutes * normal(draws.uniform(f"{aspect} jitter", who, key)))
    clock = day * DAY + habit + late_s.astype(np.int64) * SECOND
    start = to_utc(clock, people.zone[person], people.zones, span.around)
    step = step_before(aspect, activity.action, doing.domain, who, key, draws)
    if activity.action == ARRIVE:
        start = start - step  # the habit is when one arrives
    inside = is_within(start, person, people, span)
    return of_one_line(aspect, doing.place, person[inside], key[inside], start[inside], step[inside])


def fill(part: Part, doing: Doing, activity: RoutineActivity, setting: Setting) -> Content:
    """Content of the lines: each habitual time has a thing of its own."""
    content = blank(part.person.size, activity.action)
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


def _habits(aspect: str, activity: RoutineActivity, slots: int, people: People, draws: Draws) -> I64:
    """(2, people, slots) microseconds since local midnight, on working days and on Saturdays and Sundays."""
    when = profile(activity.reference, activity.hours_of)
    who, slot = people.numbers[:, None], np.arange(slots)[None, :]
    uniform = draws.uniform(f"{aspect} habit", who, slot).ravel()
    hours = np.stack([categorical(uniform, shares) for shares in (when.working_hours, when.resting_hours)])
    second = np.floor(draws.uniform(f"{aspect} habit second", who, slot) * 3600).astype(np.int64)
    return hours.reshape(2, people.numbers.size, slots) * HOUR + second * SECOND
