"""Summaries: one line a local day, written by a device, with a value for every hour."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.away import instants_of
from flows.common.clock import DAY, HOUR, MINUTE, weekday_of
from flows.common.draws import normal
from flows.timelines.parts import Content, Part, blank, of_one_line
from flows.timelines.rhythm import has_weekday
from flows.timelines.setting import Doing, Setting, local_us
from schemas.activities import SummaryActivity
from schemas.behaviour.volume import by_quantiles
from schemas.hours import HOURS
from validation.references.profile import profile_of

I64 = npt.NDArray[np.int64]
WRITTEN = 23 * HOUR + 59 * MINUTE
"""Local time at which a day's line is written."""
HOUR_SPREAD = 0.6
"""Standard deviation of the log of an hour's share about the profile: assumed."""


def plan(doing: Doing, activity: SummaryActivity, setting: Setting) -> Part:
    """A session of one line for each worn day that lies whole within the window and the account."""
    people, span = setting.people, setting.span
    days = span.days[has_weekday(span.days, doing.own)]
    uniform = setting.draws.uniform(f"{doing.aspect} worn", people.numbers[:, None], days[None, :])
    worn = activity.worn * doing.own.rate_factor * people.habit_factor(doing.place)
    person, column = np.nonzero(uniform < worn[:, None])
    day = days[column]
    midnight, next_midnight, written = (
        instants_of(people.away, clock, person, people.zone[person], people.zones, span.around)
        for clock in (day * DAY, (day + 1) * DAY, day * DAY + WRITTEN)
    )
    whole = (midnight >= np.maximum(span.start, people.signed_up_us[person])) & (next_midnight <= span.end)
    whole &= local_us(written, person, people, span) == day * DAY + WRITTEN  # the clocks of a journey may skip it
    person, key, start = person[whole], day[whole].astype(np.uint64), written[whole]
    return of_one_line(doing.aspect, doing.place, person, key, start, np.zeros_like(start))._replace(is_pinned=True)


def fill(part: Part, doing: Doing, activity: SummaryActivity, setting: Setting) -> Content:
    """Content of the lines: the day's total, spread over its hours."""
    aspect, draws, who = doing.aspect, setting.draws, setting.people.numbers[part.person]
    mean = by_quantiles(activity.per_day, draws.uniform(f"{aspect} mean", setting.people.numbers))[part.person]
    deviation = activity.day_spread * normal(draws.uniform(f"{aspect} total", who, part.key))
    total = np.rint(mean * np.exp(deviation - activity.day_spread**2 / 2)).astype(np.int64)
    when = profile_of(activity)
    is_weekend = weekday_of(part.key.astype(np.int64)) >= 5
    shares = np.where(is_weekend[:, None], when.resting_hours[None, :], when.working_hours[None, :])
    cells = part.key[:, None] * np.uint64(HOURS) + np.arange(HOURS, dtype=np.uint64)[None, :]
    shares = shares * np.exp(HOUR_SPREAD * normal(draws.uniform(f"{aspect} hours", who[:, None], cells)))
    every = np.arange(part.person.size)
    return blank(every.size, activity.action, "import", counted=every, series=spread_over(total, shares))


def spread_over(total: I64, shares: npt.NDArray[np.float64]) -> I64:
    """(n, hours) whole numbers in proportion to the shares, adding up to the totals. In whole numbers from 2**-20 on."""
    whole = np.rint(shares / shares.max(axis=1, keepdims=True) * 2.0**20).astype(np.int64)
    upto = np.cumsum(whole, axis=1)
    return np.asarray(np.diff(upto * total[:, None] // upto[:, -1:], axis=1, prepend=0))
