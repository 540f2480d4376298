"""When and how much people do something: gaps, bursts, heavy and light users, and the days between.

All functions take plain arrays, sorted by user and time: `user` (events,) numbers, `at_us` (events,) microseconds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

HOUR_US = 3_600_000_000
WEEK_US = 168 * HOUR_US
GAPS_AT_LEAST = 10
"""Gaps of a user from which burstiness and memory are told."""
WEEKS_AT_LEAST = 4
"""Span of a user from which a weekly rate is told."""


def starts_of(user: I64) -> I64:
    """(users,) where each user's events begin."""
    return np.flatnonzero(np.r_[True, user[1:] != user[:-1]]) if user.size else np.empty(0, np.int64)


def events_per_user(user: I64) -> I64:
    """(users,) events of everybody who has any."""
    return np.diff(np.r_[starts_of(user), user.size])


def gaps_in_order(user: I64, at_us: I64) -> tuple[I64, F64]:
    """(gaps,) users numbered from 0 in their order, and hours between consecutive events of one user, as they follow."""
    same = user[1:] == user[:-1]
    number = np.cumsum(np.r_[True, user[1:] != user[:-1]]) - 1 if user.size else np.empty(0, np.int64)
    return number[1:][same], np.diff(at_us)[same] / HOUR_US


def gaps_h(user: I64, at_us: I64) -> F64:
    """(gaps,) hours between consecutive events of one user, pooled over users and sorted."""
    return np.sort(gaps_in_order(user, at_us)[1])


def events_per_active_week(user: I64, at_us: I64) -> F64:
    """(users,) events / (last - first event in weeks), of users whose span is 4 weeks or more."""
    begin = starts_of(user)
    if not begin.size:
        return np.empty(0)
    count = events_per_user(user)
    span = at_us[begin + count - 1] - at_us[begin]
    long = span >= WEEKS_AT_LEAST * WEEK_US
    return count[long] / (span[long] / WEEK_US)


def top_share(counts: I64, share: float = 0.1) -> float:
    """Share of all events made by the most active tenth of users; a fraction of a user is rounded to the nearest whole."""
    if not counts.size:
        return float("nan")
    most = max(1, round(share * counts.size))
    return float(np.sort(counts)[::-1][:most].sum() / counts.sum())


def gini(counts: I64) -> float:
    """Gini coefficient of events per user: 2 sum(i x_i) / (n sum(x)) - (n + 1) / n, x rising, i from 1."""
    n = counts.size
    if not n:
        return float("nan")
    rising = np.sort(counts)
    return float(2 * (np.arange(1, n + 1) * rising).sum() / (n * rising.sum()) - (n + 1) / n)


def _by_user(number: I64, values: F64, at_least: int) -> tuple[I64, F64, F64, F64]:
    """Users with enough values: their numbers, and n, mean and standard deviation (over n) of their values."""
    n = np.bincount(number)
    mean = np.bincount(number, values) / np.maximum(n, 1)
    spread = np.sqrt(np.bincount(number, (values - mean[number]) ** 2) / np.maximum(n, 1))
    kept = np.flatnonzero((n >= at_least) & (mean > 0))
    return kept, n[kept].astype(np.float64), mean[kept], spread[kept]


def burstiness(user: I64, at_us: I64) -> F64:
    """(users,) B = (sd - mean) / (sd + mean) of a user's gaps (Goh & Barabasi 2008), of users with 10 gaps or more.

    -1 for a clock, 0 for a Poisson process of endless length, 1 for the most bursty.
    """
    number, gaps = gaps_in_order(user, at_us)
    if not number.size:
        return np.empty(0)
    _, _, mean, spread = _by_user(number, gaps, GAPS_AT_LEAST)
    return (spread - mean) / (spread + mean)


def burstiness_finite(user: I64, at_us: I64) -> F64:
    """(users,) Bn = (sqrt(n+1) r - sqrt(n-1)) / ((sqrt(n+1) - 2) r + sqrt(n-1)), r = sd / mean of a user's n gaps.

    Kim & Jo 2016: 1 for the most bursty row of n gaps, 0 for a Poisson process of that length. Users with 10 gaps or more.
    """
    number, gaps = gaps_in_order(user, at_us)
    if not number.size:
        return np.empty(0)
    _, n, mean, spread = _by_user(number, gaps, GAPS_AT_LEAST)
    r, more, less = spread / mean, np.sqrt(n + 1), np.sqrt(n - 1)
    return (more * r - less) / ((more - 2) * r + less)


def memory(user: I64, at_us: I64) -> F64:
    """(users,) M: Pearson's correlation of a user's gaps with the next ones, of users with 10 gaps or more."""
    number, gaps = gaps_in_order(user, at_us)
    if not number.size:
        return np.empty(0)
    many = np.bincount(number)[number] >= GAPS_AT_LEAST
    number, gaps = number[many], gaps[many]
    follows = number[1:] == number[:-1]
    return _correlations(number[1:][follows], gaps[:-1][follows], gaps[1:][follows])


def _correlations(number: I64, left: F64, right: F64) -> F64:
    """(users,) Pearson's correlation within each user; users whose values do not vary are left out."""
    if not number.size:
        return np.empty(0)
    n = np.maximum(np.bincount(number), 1)
    from_left = left - (np.bincount(number, left) / n)[number]
    from_right = right - (np.bincount(number, right) / n)[number]
    along = np.bincount(number, from_left * from_right)
    spread = np.bincount(number, from_left**2) * np.bincount(number, from_right**2)
    kept = spread > 0
    return along[kept] / np.sqrt(spread[kept])


def autocorrelation(user: I64, day: I64, value: F64, lag: int, days_at_least: int = 10) -> F64:
    """(users,) Pearson's correlation of the values of days that lie ``lag`` days apart, of users with enough days.

    One value a user and day, sorted. Days without a value are no zeros: give them a value where they are.
    """
    if not user.size:
        return np.empty(0)
    number = np.cumsum(np.r_[True, user[1:] != user[:-1]]) - 1
    many = np.bincount(number)[number] >= days_at_least
    number, day, value = number[many], day[many], value[many]
    if not number.size:
        return np.empty(0)
    wide = int(day.max() - day.min()) + lag + 1
    key = number * wide + (day - day.min())
    at = np.searchsorted(key, key + lag)
    found = at < key.size
    found[found] = key[at[found]] == key[found] + lag
    return _correlations(number[found], value[found], value[at[found]])


def daily_counts(user: I64, day: I64, first: int, last: int) -> tuple[I64, I64, F64]:
    """Users, days and events of every day from ``first`` to ``last``, the empty ones too: (users x days,) each."""
    if not user.size:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    number = np.cumsum(np.r_[True, user[1:] != user[:-1]]) - 1
    days = last - first + 1
    counts = np.bincount(number * days + (day - first), minlength=(int(number[-1]) + 1) * days)
    users = np.repeat(np.arange(int(number[-1]) + 1), days)
    return users, np.tile(np.arange(first, last + 1), int(number[-1]) + 1), counts.astype(np.float64)


def dormant_share(user: I64, at_us: I64, days: float = 14.0) -> float:
    """Share of users with two events or more who pause for ``days`` or longer between two of them."""
    number, gaps = gaps_in_order(user, at_us)
    if not number.size:
        return float("nan")
    longest = np.zeros(int(number[-1]) + 1)
    np.maximum.at(longest, number, gaps)
    return float((longest[np.unique(number)] >= days * 24).mean())


def gap_quantiles_by_user(user: I64, at_us: I64, p: npt.ArrayLike) -> F64:
    """(k,) hours: the median over users with 10 gaps or more of each user's own quantiles, by the nearest rank."""
    number, gaps = gaps_in_order(user, at_us)
    if not number.size:
        return np.full(np.shape(p), np.nan)
    order = np.lexsort((gaps, number))
    number, gaps = number[order], gaps[order]
    n = np.bincount(number)
    begin = np.cumsum(n) - n
    kept = np.flatnonzero(n >= GAPS_AT_LEAST)
    if not kept.size:
        return np.full(np.shape(p), np.nan)
    rank = np.rint(np.asarray(p, dtype=np.float64)[:, None] * (n[kept] - 1)).astype(np.int64)
    return np.asarray(np.median(gaps[begin[kept] + rank], axis=1))


def mean_hours_by_user(user: I64, hour: I64) -> F64:
    """(24,) mean over users of the share of their events by hour: users weighted equally."""
    if not user.size:
        return np.full(24, np.nan)
    number = np.cumsum(np.r_[True, user[1:] != user[:-1]]) - 1
    weight = 1.0 / np.bincount(number)[number]
    return np.bincount(hour, weight, minlength=24) / (int(number[-1]) + 1)
