"""Who somebody stays: how far a person's months lie from each other, and from the months of others.

A month is 30 days from the first day of the sample. All functions take plain arrays, sorted by user and time: `user`
(events,), `month` (events,) from 0, and `unit` (events,), the number of what was chosen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from validation.fidelity.keyed import uniforms

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

DAYS_A_MONTH = 30
OTHERS = 20
PAIRS_AT_MOST = 4_000
"""Pairs of months that are compared with those of others; of more, these, by digest."""


class Months(NamedTuple):
    """What everybody chose in every month: (months,) user, month and events; (entries,) the place of the month, unit and how many times."""

    user: I64
    month: I64
    events: I64
    owner: I64
    unit: I64
    times: I64


class Drift(NamedTuple):
    """Means over pairs of months, in bits, and how many pairs and users there were."""

    observed: float
    null: float
    pairs: int
    users: int

    @property
    def excess(self) -> float:
        return self.observed - self.null


class Recognition(NamedTuple):
    """(pairs,) what each pair of consecutive months showed; bits, and shares of others."""

    within: F64
    between: F64
    recognised: F64
    users: int


def month_of(at_us: I64, offset_min: I64) -> I64:
    """(events,) months of 30 local days from the first day of the sample."""
    day = (at_us // 60_000_000 + offset_min) // 1440
    return (day - day.min()) // DAYS_A_MONTH if day.size else day


def by_month(user: I64, month: I64, unit: I64) -> Months:
    """The units of every user and month, counted."""
    months, wide = int(month.max(initial=0)) + 1, int(unit.max(initial=0)) + 1
    key = np.sort((user * months + month) * wide + unit)
    entry = np.flatnonzero(_changes(key))
    owner = key // wide
    begin = np.flatnonzero(_changes(owner))
    return Months(
        user=owner[begin] // months,
        month=owner[begin] % months,
        events=np.diff(np.r_[begin, key.size]),
        owner=np.cumsum(_changes(owner))[entry] - 1,
        unit=key[entry] % wide,
        times=np.diff(np.r_[entry, key.size]),
    )


def _changes(column: I64) -> npt.NDArray[np.bool_]:
    changed = np.ones(column.size, np.bool_)
    changed[1:] = column[1:] != column[:-1]
    return changed


def month_pairs(months: Months, lag: int, at_least: int) -> tuple[I64, I64]:
    """(pairs,) places of months with enough events whose user has enough in the month ``lag`` later too, and of those."""
    wide = int(months.month.max(initial=0)) + lag + 1
    key = months.user * wide + months.month
    then = np.searchsorted(key, key + lag)
    found = then < key.size
    found[found] = key[then[found]] == key[found] + lag
    found[found] = (months.events[found] >= at_least) & (months.events[then[found]] >= at_least)
    return np.flatnonzero(found), then[found]


def jensen_shannon(months: Months, left: I64, right: I64) -> F64:
    """(pairs,) bits between months at the places ``left`` and ``right``: the entropy of the mean less the mean entropy.

    Only shared units need be visited: 1 + 1/2 sum over them of p log2(p / (p+q)) + q log2(q / (p+q)).
    """
    wide = int(months.unit.max(initial=0)) + 1
    key = months.owner * wide + months.unit
    begin = np.searchsorted(months.owner, np.arange(months.user.size + 1))
    size = (begin[1:] - begin[:-1])[left]
    pair = np.repeat(np.arange(left.size), size)
    entry = np.arange(pair.size) - np.repeat(np.cumsum(size) - size, size) + begin[left][pair]
    wanted = right[pair] * wide + months.unit[entry]
    at = np.searchsorted(key, wanted)
    at[at == key.size] = 0
    shared = key[at] == wanted if key.size else np.zeros(0, np.bool_)
    pair, entry, at = pair[shared], entry[shared], at[shared]
    p, q = months.times[entry] / months.events[left[pair]], months.times[at] / months.events[right[pair]]
    terms = p * np.log2(p / (p + q)) + q * np.log2(q / (p + q))
    return np.clip(1 + np.bincount(pair, terms, minlength=left.size) / 2, 0.0, 1.0)


def drift(user: I64, month: I64, unit: I64, lag: int, at_least: int) -> Drift:
    """Mean divergence of one user's mixes ``lag`` months apart, and what chance alone would give.

    JS(month m, month m + lag), both with ``at_least`` events; the null is the same after each pair's events were
    permuted between its two months, each month keeping its number.
    """
    months = by_month(user, month, unit)
    left, right = month_pairs(months, lag, at_least)
    if not left.size:
        return Drift(math.nan, math.nan, 0, 0)
    observed = jensen_shannon(months, left, right)
    null = _permuted(months, left, right, f"drift {lag}")
    return Drift(float(observed.mean()), float(null.mean()), left.size, int(np.unique(months.user[left]).size))


def _permuted(months: Months, left: I64, right: I64, label: str) -> F64:
    """(pairs,) divergences after each pair's events were permuted between its months."""
    line_unit = np.repeat(months.unit, months.times)
    begin = np.cumsum(months.events) - months.events
    size = months.events[left] + months.events[right]
    pair = np.repeat(np.arange(left.size), size)
    place = np.arange(pair.size) - np.repeat(np.cumsum(size) - size, size)
    first = months.events[left][pair]
    line = np.where(place < first, begin[left][pair] + place, begin[right][pair] + place - first)
    order = np.argsort(pair + uniforms(label, pair.size), kind="stable")
    unit = line_unit[line[order]]  # of each pair, in a new order
    shuffled = by_month(pair, (place >= first).astype(np.int64), unit)
    ends = np.arange(left.size)
    return jensen_shannon(shuffled, 2 * ends, 2 * ends + 1)


def thinned(events: int, share: float, label: str = "thinned") -> npt.NDArray[np.bool_]:
    """(events,) which events remain where each is kept with that probability."""
    return uniforms(label, events) < share


def recognition(user: I64, month: I64, unit: I64, at_least: int, others: int = OTHERS) -> Recognition:
    """Divergence from the own next month and from that of ``others`` other users, by digest, in that same month.

    ``recognised`` is the share of the others who lie further away than the own next month, those as far counted half: 0.5
    for people whom nothing tells apart. Pairs of consecutive months with ``at_least`` events each; others need as many.
    """
    months = by_month(user, month, unit)
    left, right = month_pairs(months, 1, at_least)
    if left.size > PAIRS_AT_MOST:
        chosen = np.sort(np.argsort(uniforms("pairs", left.size), kind="stable")[:PAIRS_AT_MOST])
        left, right = left[chosen], right[chosen]
    ready = np.flatnonzero(months.events >= at_least)
    ready = ready[np.argsort(months.month[ready], kind="stable")]
    begin = np.searchsorted(months.month[ready], months.month[right], side="left")
    pool = np.searchsorted(months.month[ready], months.month[right], side="right") - begin
    alone = pool < 2
    left, right, begin, pool = left[~alone], right[~alone], begin[~alone], pool[~alone]
    if not left.size:
        return Recognition(np.empty(0), np.empty(0), np.empty(0), 0)
    draw = uniforms("others", left.size * others).reshape(left.size, others)
    place = (draw * (pool - 1)[:, None]).astype(np.int64)
    own = _place_in(ready, months, right) - begin
    place += place >= own[:, None]
    other = ready[begin[:, None] + place]
    within = jensen_shannon(months, left, right)
    between = jensen_shannon(months, np.repeat(left, others), other.ravel()).reshape(left.size, others)
    difference = np.sign(np.round(between, 9) - np.round(within, 9)[:, None])
    further = (1 + difference) / 2
    users = int(np.unique(months.user[left]).size)
    return Recognition(within, between.mean(axis=1), further.mean(axis=1), users)


def _place_in(ready: I64, months: Months, wanted: I64) -> I64:
    """(pairs,) where the wanted months stand in ``ready``."""
    where = np.full(months.user.size, -1, np.int64)
    where[ready] = np.arange(ready.size)
    return where[wanted]
