"""When people sit down: counts per local day, hours of the day, wall clock to UTC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR, SECOND, to_utc, weekday_of
from flows.common.draws import Draws, categorical, poisson
from flows.timelines.setting import Doing, People, Span, local_us
from schemas.activities import ReplyActivity, SessionActivity, TripActivity
from schemas.behaviour.volume import by_quantiles
from schemas.config.data import WEEKDAYS, DomainTimeline
from validation.references.profile import Profile, profile

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Weekly = SessionActivity | TripActivity | ReplyActivity
"""What is done some times a week, at the hours and on the weekdays of a reference."""
PER_DAY = 64
"""Sittings of one activity, person and day at the most."""


class Sittings(NamedTuple):
    """Beginnings before anything happens: who, which (a key within person and activity), from when."""

    person: I64
    key: U64
    start_us: I64

    def where(self, kept: Mask) -> Sittings:
        """Those marked."""
        return Sittings(self.person[kept], self.key[kept], self.start_us[kept])


def sittings(doing: Doing, activity: Weekly, people: People, span: Span, draws: Draws) -> Sittings:
    """Of one activity. The count of a day is Poisson about the person's rate and the weekday's share."""
    aspect = doing.aspect
    when = profile(activity.reference, activity.hours_of)
    rate = rates(aspect, activity.per_week, people.numbers, draws)
    rate = rate * doing.own.rate_factor * people.rate_factor(doing.place)
    days = span.days
    weekday = weekday_of(days)
    mean = rate[:, None] * _week(when.week, doing.own)[weekday][None, :]
    count = poisson(draws.uniform(f"{aspect} sessions", people.numbers[:, None], days.astype(np.uint64)[None, :]), mean)
    count = np.minimum(count, PER_DAY)
    person, column = np.nonzero(count)
    repeats = count[person, column]
    first = np.repeat(np.cumsum(repeats) - repeats, repeats)
    nth = np.arange(repeats.sum()) - first
    person, column = np.repeat(person, repeats), np.repeat(column, repeats)
    key = (days[column] * PER_DAY + nth).astype(np.uint64)
    clock = days[column] * DAY + _time_of_day(aspect, when, weekday[column], people.numbers[person], key, draws)
    return within(Sittings(person, key, to_utc(clock, people.zone[person], people.zones, span.around)), people, span)


def within(some: Sittings, people: People, span: Span) -> Sittings:
    """Those that begin inside the window and the life of the account."""
    return some.where(is_within(some.start_us, some.person, people, span))


def is_within(start_us: I64, person: I64, people: People, span: Span) -> Mask:
    """(n,) whether the window and the account of the person have begun, and the window has not ended."""
    return (start_us >= np.maximum(span.start, people.signed_up_us[person])) & (start_us < span.end)


def is_on(weekdays: Sequence[str], at_us: I64, person: I64, people: People, span: Span) -> Mask:
    """(n,) whether each instant falls on one of these days of the week where the person lives."""
    return np.isin(weekday_of(local_us(at_us, person, people, span) // DAY), _days(weekdays))


def has_weekday(days: I64, own: DomainTimeline) -> Mask:
    """(n,) whether the domain is lived on each of these local days."""
    return np.isin(weekday_of(days), _days(own.weekdays if own.weekdays is not None else WEEKDAYS))


def rates(aspect: str, per_week: Mapping[str, float], numbers: U64, draws: Draws) -> F64:
    """(people,) times a week, by the quantiles of the domain file."""
    return by_quantiles(per_week, draws.uniform(f"{aspect} rate", numbers))


def _days(weekdays: Sequence[str]) -> list[int]:
    return [WEEKDAYS.index(day) for day in weekdays]


def _week(shares: F64, own: DomainTimeline) -> F64:
    """(7,) share of the week on each day, Monday first; only the days of the config, if it names any."""
    week = np.where(has_weekday(np.arange(4, 11), own), shares, 0.0)  # days 4 to 10 of 1970 are a week from Monday on
    return np.asarray(week / week.sum())


def _time_of_day(aspect: str, when: Profile, weekday: I64, who: U64, key: U64, draws: Draws) -> I64:
    """(n,) microseconds since local midnight: the hour by the reference's day type, evenly within the hour."""
    uniform, hour = draws.uniform(f"{aspect} hour", who, key), np.empty(key.size, np.int64)
    for shares, here in ((when.working_hours, weekday < 5), (when.resting_hours, weekday >= 5)):
        hour[here] = categorical(uniform[here], shares)
    second = np.floor(draws.uniform(f"{aspect} second", who, key) * 3600).astype(np.int64)
    return hour * HOUR + second * SECOND
