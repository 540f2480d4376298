"""When people sit down: a renewal process in each person's own time, hours of the day, and what follows soon or later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.away import instants_of
from flows.common.clock import DAY, SECOND, weekday_of
from flows.common.draws import Draws, normal
from flows.common.rates import rate_uniform
from flows.timelines.hours import When, time_of_day
from flows.timelines.setting import Doing, People, Span, local_us
from schemas.activities import ReplyActivity, Rhythm, SessionActivity, TripActivity
from schemas.behaviour.rhythm import (
    again_probabilities,
    dormant,
    first_gaps,
    follow_up_hours,
    gap_spreads,
    gaps,
    ups_and_downs,
)
from schemas.behaviour.volume import by_quantiles
from schemas.config.data import WEEKDAYS, DomainTimeline
from validation.references.profile import profile_of

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Weekly = SessionActivity | TripActivity | ReplyActivity
"""What is done some times a week, at the hours and on the weekdays of a reference."""
TRAIN = 512
"""Sittings of one train at the most. The key of a sitting is its lead's number times this, plus its place in the train."""
GRID = 2**20
"""Operational time is counted in whole parts of the mean gap, so that no last bit of an exponential decides."""


class Sittings(NamedTuple):
    """Beginnings before anything happens: who, which (a key within person and activity), from when."""

    person: I64
    key: U64
    start_us: I64

    def where(self, kept: Mask | I64) -> Sittings:
        """Those marked, or of those rows."""
        return Sittings(self.person[kept], self.key[kept], self.start_us[kept])


class Leads(NamedTuple):
    """Sittings that follow no other: who, how many of theirs came before, and on which local day."""

    person: I64
    nth: I64
    day: I64


def sittings(doing: Doing, activity: Weekly, people: People, span: Span, draws: Draws) -> Sittings:
    """Of one activity: leads by a renewal process, each with its train, in order of person and lead."""
    aspect, hours = doing.aspect, profile_of(activity)
    again = again_probabilities(
        activity.rhythm.again,
        activity.rhythm.again_between,
        normal(draws.uniform(f"{aspect} again share", people.numbers)),
    )
    rate = rates(aspect, activity.per_week, people.numbers, draws) * doing.own.rate_factor
    rate = rate * people.rate_factor(doing.place) * (1 - again)
    days = span.days
    amount = rate[:, None] * _week(hours.week, doing.own)[weekday_of(days)][None, :]
    if people.weather is not None and not isinstance(activity, ReplyActivity):
        amount = amount * people.weather.factors(
            {str(name): factor for name, factor in activity.weather.items()}, people.zone
        )
    steps = operational_time(aspect, activity.rhythm, amount, people, draws)
    leads = renewals(aspect, activity.rhythm, steps, days, people.numbers, draws)
    when = When(hours, activity.during.factors())
    person, key, clock = trains(aspect, activity.rhythm, when, leads, again, people, draws)
    start = instants_of(people.away, clock, person, people.zone[person], people.zones, span.around)
    some = Sittings(person, key, start).where(
        has_weekday(clock // DAY, doing.own)
    )  # what follows may fall on other days
    return within(some, people, span)


def operational_time(aspect: str, rhythm: Rhythm, amount: F64, people: People, draws: Draws) -> I64:
    """(people, days) sittings that each person leads up to the end of each day, if their gaps were even; in ``GRID`` parts.

    ``amount`` (people, days) sittings a day, before anybody's own ups and downs.
    """
    week = np.arange(amount.shape[1]) // 7
    who, which = people.numbers[:, None], np.arange(week[-1] + 1, dtype=np.uint64)[None, :]
    activity = ups_and_downs(normal(draws.uniform(f"{aspect} ups", who, which)), rhythm.sway, rhythm.sway_memory)
    asleep = dormant(draws.uniform(f"{aspect} dormant", who, which), rhythm.dormant_share, rhythm.dormant_weeks)
    activity = np.where(asleep, 0.0, activity / (1 - rhythm.dormant_share))
    return np.cumsum(np.rint(amount * activity[:, week] * GRID).astype(np.int64), axis=1)


def renewals(aspect: str, rhythm: Rhythm, upto: I64, days: I64, numbers: U64, draws: Draws) -> Leads:
    """The leads of everybody: gaps are laid end to end until the person's operational time is used up."""
    spread = gap_spreads(
        rhythm.gap_spread, rhythm.gap_spread_between, normal(draws.uniform(f"{aspect} gap spread", numbers))
    )
    total = upto[:, -1]
    pending = np.flatnonzero(total > 0)
    mean = total / GRID
    wanted = np.ceil(1.3 * mean + 4 * np.sqrt(mean) + 6).astype(np.int64)
    found: list[tuple[I64, I64, I64]] = []
    while pending.size:
        count = wanted[pending]
        first = np.cumsum(count) - count
        row = np.repeat(np.arange(pending.size), count)
        nth = np.arange(row.size) - first[row]
        who = pending[row]
        step = gaps(spread[who], normal(draws.uniform(f"{aspect} gap", numbers[who], nth.astype(np.uint64))))
        step[first] = first_gaps(
            spread[pending],
            normal(draws.uniform(f"{aspect} first gap", numbers[pending])),
            draws.uniform(f"{aspect} part of first gap", numbers[pending]),
        )
        at = np.cumsum(np.maximum(1, np.rint(step * GRID)).astype(np.int64))
        at -= np.concatenate([[0], at])[first][row]
        is_done = at[first + count - 1] >= total[pending]
        keep = is_done[row] & (at < total[who])
        found.append((who[keep], nth[keep], at[keep]))
        pending = pending[~is_done]
        wanted *= 2
    person, nth, at = (np.concatenate(column) for column in zip(*found, strict=True)) if found else _no_leads()
    order = np.argsort(person, kind="stable")
    person, nth, at = person[order], nth[order], at[order]
    before = np.concatenate([[0], np.cumsum(total)[:-1]])
    day = np.searchsorted((upto + before[:, None]).ravel(), at + before[person], side="right") - person * days.size
    return Leads(person, nth, days[day])


def _no_leads() -> tuple[I64, I64, I64]:
    none = np.empty(0, np.int64)
    return none, none, none


def trains(
    aspect: str, rhythm: Rhythm, when: When, leads: Leads, again: F64, people: People, draws: Draws
) -> tuple[I64, U64, I64]:
    """Who, keys and wall clocks of the leads and of what follows them, in order of person, lead and place in the train.

    What follows on a later day, after a night, happens at an hour of its own; what follows soon keeps its distance.
    """
    plans, numbers = people.plans, people.numbers
    who = numbers[leads.person]
    uniform, p = draws.uniform(f"{aspect} again", who, leads.nth.astype(np.uint64)), again[leads.person]
    odds = np.log(np.maximum(p, 1e-9))
    more = np.floor(np.round(np.log(np.maximum(uniform, 2.0**-53)) / odds, 9)).astype(np.int64)
    size = 1 + np.minimum(more, TRAIN - 1)
    lead = np.repeat(np.arange(size.size), size)
    place = np.arange(lead.size) - (np.cumsum(size) - size)[lead]
    person, key = leads.person[lead], (leads.nth[lead] * TRAIN + place).astype(np.uint64)
    who = numbers[person]
    is_later = draws.uniform(f"{aspect} later", who, key) < rhythm.later_share
    hours = follow_up_hours(
        is_later,
        (rhythm.soon_minutes / 60, rhythm.soon_spread),
        (rhythm.later_hours, rhythm.later_spread),
        normal(draws.uniform(f"{aspect} wait", who, key)),
    )
    wait = np.where(place == 0, 0, np.maximum(1, np.rint(np.minimum(hours, 24.0 * 366) * 3600)).astype(np.int64))
    since = np.cumsum(wait)
    since = (since - since[(np.cumsum(size) - size)[lead]]) * SECOND
    first = np.cumsum(size) - size
    own_time = np.zeros(lead.size, np.int64)
    own_time[first] = time_of_day(aspect, when, plans, leads.person, leads.day, who[first], key[first], draws)
    clock = leads.day[lead] * DAY + own_time[first][lead] + since
    day = clock // DAY
    after_a_night = np.flatnonzero(is_later & (place > 0) & (np.diff(day, prepend=-1) > 0))
    some = (person[after_a_night], day[after_a_night], who[after_a_night], key[after_a_night])
    own_time[after_a_night] = time_of_day(aspect, when, plans, *some, draws)
    is_anchor = place == 0
    is_anchor[after_a_night] = True
    anchor = np.flatnonzero(is_anchor)[np.cumsum(is_anchor) - 1]
    return person, key, day[anchor] * DAY + own_time[anchor] + since - since[anchor]


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
    return by_quantiles(per_week, rate_uniform(draws.seed, aspect, numbers))


def _days(weekdays: Sequence[str]) -> list[int]:
    return [WEEKDAYS.index(day) for day in weekdays]


def _week(shares: F64, own: DomainTimeline) -> F64:
    """(7,) share of the week on each day, Monday first; only the days of the config, if it names any."""
    week = np.where(has_weekday(np.arange(4, 11), own), shares, 0.0)  # days 4 to 10 of 1970 are a week from Monday on
    return np.asarray(week / week.sum())
