"""What people come back to: repeats, favourites, popularity, and how well the next thing can be foretold.

All functions take plain arrays, sorted by user and time: `user` (events,), `at_us` (events,) microseconds, and `unit`
(events,), the number of what was chosen: an item, a category, or a value of a dimension.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from validation.fidelity.keyed import permutation
from validation.fidelity.rhythm import HOUR_US, events_per_user, starts_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

HISTORY_AT_LEAST = 10
"""Events of a user from which a repeat share is told."""
RANKS = 10
RANKED_AT_LEAST = 20
"""Events of a user from which favourites are told."""
LAG_EDGES_DAYS = (1, 2, 3, 7, 14, 21, 30, 60, 90, 180, 365)
LAG_NAMES = (
    "<1d",
    "1-2d",
    "2-3d",
    "3-7d",
    "7-14d",
    "14-21d",
    "21-30d",
    "30-60d",
    "60-90d",
    "90-180d",
    "180-365d",
    ">=365d",
)
ZIPF_RANKS, ZIPF_POINTS = 1000, 20


def previous(user: I64, unit: I64) -> I64:
    """(events,) place of the same user's last event about the same unit; -1 where there is none."""
    key = user * (int(unit.max(initial=0)) + 1) + unit
    order = np.argsort(key, kind="stable")
    same = key[order][1:] == key[order][:-1]
    found = np.full(user.size, -1, np.int64)
    found[order[1:][same]] = order[:-1][same]
    return found


def once_per_session(session: I64, unit: I64) -> npt.NDArray[np.bool_]:
    """(events,) whether it is the first event of its session about its unit."""
    chosen = np.zeros(session.size, np.bool_)
    if session.size:
        order = np.lexsort((np.arange(session.size), unit, session))
        new = (session[order][1:] != session[order][:-1]) | (unit[order][1:] != unit[order][:-1])
        chosen[order[np.r_[True, new]]] = True
    return chosen


def repeat_share_by_user(user: I64, unit: I64) -> tuple[I64, I64]:
    """(users,) repeats and events in the second half of each history, of users with 10 events or more.

    A repeat is an event about something the same user chose before; the second half begins at event n // 2 of n.
    """
    count, begin = events_per_user(user), starts_of(user)
    number = np.repeat(np.arange(count.size), count)
    place = np.arange(user.size) - begin[number] if user.size else number
    late = (place >= (count // 2)[number]) & (count >= HISTORY_AT_LEAST)[number]
    repeats = np.bincount(number[late & (previous(user, unit) >= 0)], minlength=count.size)
    events = np.bincount(number[late], minlength=count.size)
    return repeats[events > 0], events[events > 0]


def repeat_share(user: I64, unit: I64) -> float:
    """Share of events in the second half of each history (users with 10 events or more) about what was chosen before."""
    repeats, events = repeat_share_by_user(user, unit)
    return float(repeats.sum() / events.sum()) if events.size else math.nan


def repeat_lag_counts(user: I64, at_us: I64, unit: I64) -> I64:
    """(12,) repeat events by time since the user last chose the same unit, in the bins LAG_NAMES."""
    before = previous(user, unit)
    again = before >= 0
    hours = (at_us[again] - at_us[before[again]]) // HOUR_US
    return np.bincount(np.searchsorted(np.array(LAG_EDGES_DAYS) * 24, hours, side="right"), minlength=len(LAG_NAMES))


def counts_by_user(user: I64, unit: I64) -> tuple[I64, I64, I64]:
    """(pairs,) users, units and events of every user with every unit they chose, sorted by user and unit."""
    wide = int(unit.max(initial=0)) + 1
    key = np.sort(user * wide + unit)
    begin = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if key.size else key
    return key[begin] // wide, key[begin] % wide, np.diff(np.r_[begin, key.size])


def rank_shares(user: I64, unit: I64) -> tuple[F64, int]:
    """(11,) mean over users with 20 events or more of the share of their r-th most frequent unit; last, all below the tenth.

    With it, the number of such users.
    """
    who, _, count = counts_by_user(user, unit)
    order = np.lexsort((-count, who))
    who, count = who[order], count[order]
    begin = starts_of(who)
    units = np.diff(np.r_[begin, who.size])
    number = np.repeat(np.arange(units.size), units)
    rank = np.arange(who.size) - begin[number] if who.size else number
    total = np.bincount(number, count, minlength=units.size)
    kept = (total >= RANKED_AT_LEAST)[number]
    users = int((total >= RANKED_AT_LEAST).sum())
    if not users:
        return np.full(RANKS + 1, math.nan), 0
    share = np.bincount(np.minimum(rank[kept], RANKS), count[kept] / total[number[kept]], minlength=RANKS + 1)
    return share / users, users


def zipf_slope(counts: npt.ArrayLike) -> float:
    """Minus the slope of a least-squares line through log count over log rank, at 20 log-spaced ranks from 1 to 1000.

    Ranks are rounded to whole ones and each taken once; they end with the last unit that was chosen at all. So done,
    the slope of the published shares of `apps_lsapp_published` is reproduced.
    """
    falling = np.sort(np.asarray(counts, dtype=np.float64))[::-1]
    falling = falling[falling > 0][:ZIPF_RANKS]
    if falling.size < 3:
        return math.nan
    rank = np.unique(np.rint(np.geomspace(1, falling.size, ZIPF_POINTS)).astype(np.int64))
    return -_slope(np.log(rank), np.log(falling[rank - 1]))


def rank_slope(shares: npt.ArrayLike) -> float:
    """Minus the slope of log mean share over log rank, at all of the ranks 1 to 10."""
    share = np.asarray(shares, dtype=np.float64)[:RANKS]
    return -_slope(np.log(np.arange(1, share.size + 1)), np.log(share)) if (share > 0).all() else math.nan


def _slope(x: F64, y: F64) -> float:
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def second_order_excess(user: I64, unit: I64) -> float:
    """Bits by which the choice before last tells the next one beyond the last one, over what chance would give.

    The conditional mutual information of next and before last, given the last, pooled over users, minus the same after
    the choices before last were permuted among the places with equal last choices.
    """
    follows = (user[2:] == user[1:-1]) & (user[1:-1] == user[:-2])
    if not follows.any():
        return math.nan
    unit = np.unique(unit, return_inverse=True)[1]  # small numbers, of which three fit into one key
    first, second, third = unit[:-2][follows], unit[1:-1][follows], unit[2:][follows]
    by_last = np.argsort(second, kind="stable")
    mixed = permutation("second order", first.size)
    mixed = mixed[np.argsort(second[mixed], kind="stable")]
    shuffled = np.empty_like(first)
    shuffled[by_last] = first[mixed]
    return _conditional_bits(first, second, third) - _conditional_bits(shuffled, second, third)


def _conditional_bits(first: I64, second: I64, third: I64) -> float:
    """I(third; first | second) in bits: H(1,2) + H(2,3) - H(1,2,3) - H(2)."""
    wide = int(max(column.max() for column in (first, second, third))) + 1
    pair = second * wide + third
    return _bits(first * wide + second) + _bits(pair) - _bits(first * wide**2 + pair) - _bits(second)


def _bits(key: I64) -> float:
    """Entropy of the shares of equal numbers."""
    ordered = np.sort(key)
    share = np.diff(np.r_[0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, ordered.size]) / ordered.size
    return float(-(share * np.log2(share)).sum())


def entropy_rates(user: I64, unit: I64, length: int = 64) -> F64:
    """(users,) bits a choice of each user's first ``length`` choices, by the Lempel-Ziv estimate; longer ones only.

    S = length log2(length) / sum of L_i, where L_i is the length of the shortest run from i that does not occur within
    the choices before i (Kontoyiannis et al. 1998, as Song et al. 2010 use it); a run that reaches the end counts as one
    longer than what is left.
    """
    count, begin = events_per_user(user), starts_of(user)
    long = begin[count >= length]
    row = unit[long[:, None] + np.arange(length)]
    if not long.size:
        return np.empty(0)
    place = np.arange(length)
    common = np.zeros((long.size, length + 1), np.int64)  # of i and j: how long the runs from i and from j are alike
    total = np.zeros(long.size, np.int64)
    for i in range(length - 1, -1, -1):
        common[:, :length] = np.where(row == row[:, i : i + 1], 1 + common[:, 1:], 0)
        inside = np.minimum(common[:, :i], i - place[:i])
        total += inside.max(axis=1, initial=0) + 1
    return length * math.log2(length) / total


def predictability(bits: F64, units: npt.ArrayLike) -> F64:
    """(users,) the share of choices that could at best be foretold, by Fano's inequality (Song et al. 2010).

    The root p of S = H(p) + (1 - p) log2(N - 1), H the binary entropy, N the units a user chose among; by 60 halvings.
    """
    n = np.maximum(np.asarray(units, dtype=np.float64), 2.0)
    low, high = 1 / n, np.full(bits.shape, 1 - 1e-12)
    for _ in range(60):
        middle = (low + high) / 2
        fano = (
            -middle * np.log2(middle)
            - (1 - middle) * np.log2(1 - middle)
            + (1 - middle) * np.log2(np.maximum(n - 1, 1))
        )
        low, high = np.where(fano > bits, middle, low), np.where(fano > bits, high, middle)
    return np.asarray((low + high) / 2)
