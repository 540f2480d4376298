"""When the next time comes: gaps between sittings, ups and downs of weeks, spells without any, what follows soon after.

A person's sittings are a renewal process in operational time, the time in which their rate is constant: gaps are
log-normal, with a spread that differs between people (regular ones have small spreads, bursty ones large). Operational
time runs with the weekday, with the person's ups and downs (an AR(1) of weeks) and stands still in dormant spells (a
two-state Markov chain of weeks). Each sitting can be followed by more, soon or later. Few parameters, each with one
effect on what is measured: gaps, burstiness, memory, activity per week, dormancy. Renewal processes in operational time:
Cox & Lewis, The Statistical Analysis of Series of Events (1966); trains: Karsai, Kaski, Barabasi & Kertesz, Scientific
Reports 2 (2012) 397. All functions are pure; ``normal`` are standard normal deviates, ``uniform`` lie in [0, 1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
WIDEST = 2.0
"""Largest spread of the log of somebody's gaps."""
SURE = 0.97
"""No follow-up is likelier than this."""


def gap_spreads(median: float, between: float, normal: F64) -> F64:
    """(people,) standard deviation of the log of each person's gaps."""
    return np.asarray(np.clip(np.round(median * np.exp(between * normal), 6), 0.0, WIDEST))


def gaps(spread: F64, normal: F64) -> F64:
    """(n,) gaps of mean 1."""
    return np.asarray(np.exp(spread * normal - spread * spread / 2))


def first_gaps(spread: F64, normal: F64, uniform: F64) -> F64:
    """(people,) what is left of the gap under way when the record begins: of a length-biased gap a uniform part."""
    return np.asarray(np.exp(spread * normal + spread * spread / 2) * uniform)


def ups_and_downs(normal: F64, sway: float, memory: float) -> F64:
    """(people, weeks) what multiplies each week's activity, mean 1: the exponential of an AR(1)."""
    level = np.empty_like(normal)
    level[:, 0] = normal[:, 0]
    fresh = np.sqrt(1 - memory * memory)
    for week in range(1, normal.shape[1]):
        level[:, week] = memory * level[:, week - 1] + fresh * normal[:, week]
    return np.asarray(np.exp(sway * level - sway * sway / 2))


def dormant(uniform: F64, share: float, weeks: float) -> Mask:
    """(people, weeks) whether somebody does nothing that week: a share of all weeks, in spells of ``weeks`` on average."""
    wakes = 1 / max(weeks, 1.0)
    falls_asleep = min(1.0, share * wakes / max(1 - share, 1e-9))
    asleep = np.empty(uniform.shape, bool)
    asleep[:, 0] = uniform[:, 0] < share
    for week in range(1, uniform.shape[1]):
        asleep[:, week] = np.where(asleep[:, week - 1], uniform[:, week] >= wakes, uniform[:, week] < falls_asleep)
    return asleep


def again_probabilities(median: float, between: float, normal: F64) -> F64:
    """(people,) probability that each sitting is followed by one more; ``between`` is the spread of its log-odds."""
    if median <= 0:
        return np.zeros(normal.size)
    odds = median / (1 - median) * np.exp(between * normal)
    return np.asarray(np.round(np.minimum(odds / (1 + odds), SURE), 6))


def follow_up_hours(is_later: Mask, soon: tuple[float, float], later: tuple[float, float], normal: F64) -> F64:
    """(n,) hours until the one that follows: log-normal by (median hours, spread of the log), soon or later."""
    median = np.where(is_later, later[0], soon[0])
    spread = np.where(is_later, later[1], soon[1])
    return np.asarray(median * np.exp(spread * normal))
