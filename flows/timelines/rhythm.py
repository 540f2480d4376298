"""When people sit down with an app: counts per local day, hours of the day, wall clock to UTC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR, MINUTE, SECOND, offset_us, to_utc, weekday_of
from flows.common.draws import Draws, categorical, normal, poisson
from schemas.config.data import WEEKDAYS, DomainTimeline
from schemas.domain import Domain
from validation.references.reader import Reference, load_reference

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
PER_DAY = 16
"""Sessions of one domain, person and day at the most."""
AGAIN = np.uint64(1 << 40)
"""Added to the key of a session that follows another within minutes."""


class People(NamedTuple):
    """The users of a shard: their numbers, their zones, and what the zones are."""

    numbers: U64
    zone: I64
    zones: list[str]
    signed_up_us: I64


class Span(NamedTuple):
    """The window in microseconds UTC, the end excluded."""

    start: int
    end: int

    @property
    def around(self) -> tuple[int, int]:
        """The window with two days on either side, for wall clocks that differ from UTC."""
        return self.start - 2 * DAY, self.end + 2 * DAY


class Sittings(NamedTuple):
    """Sessions before anything happens in them: who, which (a key within person and domain), from when."""

    person: I64
    key: U64
    start_us: I64


def sittings(domain: Domain, own: DomainTimeline, people: People, span: Span, draws: Draws) -> Sittings:
    """Sessions of one domain. The count of a day is Poisson about the person's rate and the weekday's share."""
    name = domain.name
    reference = load_reference(domain.rhythm.reference)
    rate = rates(domain, people.numbers, draws) * own.rate_factor
    days = np.arange(span.start // DAY - 1, span.end // DAY + 2, dtype=np.int64)
    weekday = weekday_of(days)
    mean = rate[:, None] * _weekday_shares(reference.shares("day_of_week_share"), own)[weekday][None, :]
    count = poisson(draws.uniform(f"{name} sessions", people.numbers[:, None], days.astype(np.uint64)[None, :]), mean)
    count = np.minimum(count, PER_DAY)
    person, column = np.nonzero(count)
    repeats = count[person, column]
    first = np.repeat(np.cumsum(repeats) - repeats, repeats)
    nth = np.arange(repeats.sum()) - first
    person, column = np.repeat(person, repeats), np.repeat(column, repeats)
    key = (days[column] * PER_DAY + nth).astype(np.uint64)
    who = people.numbers[person]
    local = days[column] * DAY + _time_of_day(name, reference, weekday[column] >= 5, who, key, draws)
    start = to_utc(local, people.zone[person], people.zones, span.around)
    again = np.flatnonzero(draws.uniform(f"{name} again", who, key) < domain.rhythm.again_soon)
    wait = (
        np.exp(1.0 * normal(draws.uniform(f"{name} again after", who[again], key[again]))) * domain.rhythm.again_minutes
    )
    person = np.concatenate([person, person[again]])
    key = np.concatenate([key, key[again] + AGAIN])
    start = np.concatenate([start, start[again] + np.round(wait * 60).astype(np.int64) * SECOND + 2 * MINUTE])
    return within(Sittings(person, key, start), people, span)


def within(some: Sittings, people: People, span: Span) -> Sittings:
    """Those that begin inside the window and the life of the account."""
    inside = (some.start_us >= np.maximum(span.start, people.signed_up_us[some.person])) & (some.start_us < span.end)
    return Sittings(some.person[inside], some.key[inside], some.start_us[inside])


def is_on(weekdays: Sequence[str], at_us: I64, person: I64, people: People, span: Span) -> npt.NDArray[np.bool_]:
    """(n,) whether each instant falls on one of these days of the week where the person lives."""
    local = at_us + offset_us(at_us, people.zone[person], people.zones, span.around)
    return np.isin(weekday_of(local // DAY), [WEEKDAYS.index(day) for day in weekdays])


def rates(domain: Domain, numbers: U64, draws: Draws) -> F64:
    """(people,) sessions in a week, by the quantiles of the domain file, linear in the logarithm between them."""
    quantiles = domain.rhythm.sessions_per_week
    at = np.array([float(name[1:]) for name in quantiles])
    log_rate = np.interp(draws.uniform(f"{domain.name} rate", numbers), at, np.log(np.array(list(quantiles.values()))))
    return np.asarray(np.round(np.exp(log_rate), 4))


def _weekday_shares(shares: dict[str, float], own: DomainTimeline) -> F64:
    """(7,) share of the week's sessions on each day, Monday first; only the days of the config, if it names any."""
    week = np.array([shares[day.capitalize()] for day in WEEKDAYS])
    if own.weekdays is not None:
        week = np.where(np.isin(WEEKDAYS, own.weekdays), week, 0.0)
    return np.asarray(week / week.sum())


def _time_of_day(
    name: str, reference: Reference, is_weekend: npt.NDArray[np.bool_], who: U64, key: U64, draws: Draws
) -> I64:
    """(n,) microseconds since local midnight: the hour by the reference's day type, evenly within the hour."""
    hour = np.zeros(who.size, np.int64)
    uniform = draws.uniform(f"{name} hour", who, key)
    for stratum, here in (("weekday", ~is_weekend), ("weekend", is_weekend)):
        table = reference.shares("hour_of_day_share", stratum)
        hour[here] = categorical(uniform[here], [table[str(h)] for h in range(24)])
    second = np.floor(draws.uniform(f"{name} second", who, key) * 3600).astype(np.int64)
    return hour * HOUR + second * SECOND


def without_overlap(person: I64, start_us: I64, length_us: I64, pause_us: int) -> I64:
    """Start times, each moved later just enough that no two sessions of a person overlap. Rows in any order.

    With c the running sum of lengths and pauses, start' − c is the running maximum of start − c.
    """
    if person.size == 0:
        return start_us.copy()
    order = np.lexsort((start_us, person))
    who, begin, length = person[order], start_us[order], length_us[order] + pause_us
    total = np.cumsum(length) - length
    total -= total[np.searchsorted(who, who, side="left")]
    free = begin - total
    free_from = int(free.min())
    # One running maximum for all people: each stands on a step of its own, higher than anything below it.
    step = int(free.max()) - free_from + 1
    if step * (int(who.max()) + 1) >= 2**62:
        raise ValueError("too many people in one shard for whole-number times; lower execution.shard_users")
    moved = np.maximum.accumulate(free - free_from + who * step) - who * step + free_from
    out = np.empty_like(start_us)
    out[order] = moved + total
    return out
