"""How far a sample lies from a reference, how near it could lie at best, and how near it has to lie."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Verdict = Literal["indistinguishable", "close", "distinguishable", "insufficient", "not computable", "assumed"]
"""`insufficient`: the sample, or the reference, cannot tell; `assumed`: no reference says anything about it."""

SHORTEST_GAP_H = 1 / 3600
"""Gaps below one second count as one second where their logarithm is taken."""


def total_variation(sample: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """Share of the mass that lies in the wrong bin: half the sum of absolute differences. NaN if a side has no mass."""
    left, right = np.asarray(sample, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if left.shape != right.shape or left.sum() <= 0 or right.sum() <= 0:
        return math.nan
    return float(np.abs(left / left.sum() - right / right.sum()).sum() / 2)


def ks_at_quantiles(share_below: npt.ArrayLike, probabilities: npt.ArrayLike) -> float:
    """Largest |F(q_p) - p| over the listed quantiles q_p of the reference: a lower bound of Kolmogorov-Smirnov.

    ``share_below`` (k,) is the sample's F at those quantiles.
    """
    return float(np.abs(np.asarray(share_below, dtype=np.float64) - np.asarray(probabilities, dtype=np.float64)).max())


def share_at_or_below(sample_sorted: F64, points: npt.ArrayLike) -> F64:
    """(k,) empirical distribution function of a sorted sample at the points; NaN if the sample is empty."""
    if sample_sorted.size == 0:
        return np.full(np.shape(points), math.nan)
    return np.asarray(np.searchsorted(sample_sorted, np.asarray(points), side="right") / sample_sorted.size)


def ks_of_sample(sample: npt.ArrayLike, quantiles: npt.ArrayLike, probabilities: npt.ArrayLike) -> float:
    """The least Kolmogorov-Smirnov distance that the listed quantiles q_p of the reference allow; NaN of no sample.

    That q_p is a quantile says F(q_p) >= p >= F(q_p-) of the reference. So for values that many share, such as counts,
    only p - F(q_p) and F(q_p-) - p of the sample count, where they are positive; for others it is `ks_at_quantiles`.
    """
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    if ordered.size == 0:
        return math.nan
    q, p = np.asarray(quantiles, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    below = np.searchsorted(ordered, q, side="left") / ordered.size
    at_or_below = np.searchsorted(ordered, q, side="right") / ordered.size
    return float(max(0.0, (p - at_or_below).max(), (below - p).max()))


def wasserstein(sample_quantiles: npt.ArrayLike, quantiles: npt.ArrayLike, probabilities: npt.ArrayLike) -> float:
    """First Wasserstein distance between the outermost listed quantiles, in the unit of the quantiles.

    The integral of |Q_sample(p) - Q_reference(p)| over p by the trapezoid rule at the listed p, divided by their span.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    difference = np.abs(np.asarray(sample_quantiles, dtype=np.float64) - np.asarray(quantiles, dtype=np.float64))
    return float(((difference[1:] + difference[:-1]) / 2 * np.diff(p)).sum() / (p[-1] - p[0]))


def circular_wasserstein(sample: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """First Wasserstein distance on a circle of bins, in bins: hours of the clock. NaN if a side has no mass.

    The sum of |D - median(D)|, D the difference of the running sums (Rabin, Delon & Gousseau 2011): mass moved past
    midnight is moved an hour, not a day.
    """
    left, right = np.asarray(sample, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    if left.shape != right.shape or left.sum() <= 0 or right.sum() <= 0:
        return math.nan
    difference = np.cumsum(left / left.sum() - right / right.sum())
    return float(np.abs(difference - np.median(difference)).sum())


def wasserstein_log10(sample_quantiles: npt.ArrayLike, quantiles: npt.ArrayLike, probabilities: npt.ArrayLike) -> float:
    """First Wasserstein distance of log10 hours between the outermost listed quantiles.

    The integral of |Q_sample(p) - Q_reference(p)| over p by the trapezoid rule at the listed p, divided by their span.
    """
    return wasserstein(_log10_hours(sample_quantiles), _log10_hours(quantiles), probabilities)


def _log10_hours(hours: npt.ArrayLike) -> F64:
    return np.asarray(np.log10(np.maximum(np.asarray(hours, dtype=np.float64), SHORTEST_GAP_H)))


def floor(m: float, n: float, self_distance: float) -> float:
    """What a perfect sample of ``m`` units would show against ``n`` real ones.

    ``self_distance`` is measured between two halves of the n; distances of this kind shrink as the root of
    1/m + 1/n, which is 4/n between halves.
    """
    return self_distance * math.sqrt((1 / m + 1 / n) * n / 4)


def limit(absolute: float, m: float, n: float, self_p95: float) -> float:
    """The largest distance that passes: the absolute limit, or twice the floor's 95th percentile if that is more."""
    return max(absolute, 2 * floor(m, n, self_p95))


def floor_and_limit(absolute: float, m: float, n: float, mean: float, p95: float) -> tuple[float, float]:
    """What ``m`` people as real as the ``n`` would show, and the most that passes, at this sample size.

    ``mean`` and ``p95`` are those of the distance between two halves of the n; where the reference has none they are
    NaN, no floor is known, and the absolute limit counts alone.
    """
    if not (math.isfinite(mean) and math.isfinite(p95)):
        return math.nan, absolute
    return floor(m, n, mean), limit(absolute, m, n, p95)


def verdict(ratio: float) -> Verdict:
    """What the ratio of distance to floor says."""
    if not math.isfinite(ratio):
        return "not computable"
    if ratio <= 2:
        return "indistinguishable"
    return "close" if ratio <= 4 else "distinguishable"
