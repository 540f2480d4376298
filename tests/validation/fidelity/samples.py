"""People whose ways are known, made from keyed draws: what the metrics must tell from the naive model."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws, normal
from validation.fidelity.occurrences import Occurrences

I64 = npt.NDArray[np.int64]
DAY_US = 86_400_000_000
MONDAY_US = 20_094 * DAY_US  # 2025-01-06
WEEKS = 26


@cache
def lively(seed: int, users: int = 1_000) -> Occurrences:
    """People who differ in rate, act in bursts with slow ups and downs, and have favourites that drift."""
    draws = Draws(seed, "test")
    person = np.arange(users)
    rate = np.exp(3.4 + 0.6 * normal(draws.uniform("rate", person)))
    count = np.maximum(2, np.rint(rate)).astype(np.int64)
    user = np.repeat(person, count)
    place = np.arange(user.size) - np.repeat(np.cumsum(count) - count, count)
    burst = (-np.log1p(-draws.uniform("gap", user, place))) ** 1.5
    swing = np.exp(1.1 * np.sin(place * 0.3 + 6 * draws.uniform("phase", user)))
    gap = burst * swing
    total = np.bincount(user, gap)
    begun = np.r_[0.0, np.cumsum(total)[:-1]]
    passed = np.cumsum(gap) - begun[user] - gap * draws.uniform("within", user, place)
    day = np.clip(passed / total[user], 0, 0.999) * (WEEKS * 7 - 3)
    weekday = np.floor(day) % 7
    day = np.where((weekday < 2) & (draws.uniform("late", user, place) < 0.6), day + 3, day)
    hour = 8 + 14 * (day % 1) ** 0.6
    at = MONDAY_US + (np.floor(day) * DAY_US + hour * 3_600_000_000).astype(np.int64)
    rank = np.floor(20 ** draws.uniform("rank", user, place)).astype(np.int64) - 1
    favourite = (user * 37 + (rank + (day / 25).astype(np.int64)) * 101) % 400
    fresh = draws.uniform("fresh", user, place) < 0.15
    unit = np.where(fresh, (draws.uniform("new", user, place) ** 3 * 400).astype(np.int64), favourite)
    order = np.lexsort((at, user))
    return Occurrences(user[order], at[order], np.zeros(user.size, np.int64), unit=unit[order])
