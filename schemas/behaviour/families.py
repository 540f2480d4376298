"""The numeric families: what share of people lies at or below a value, and back. Pure equations.

Parameters are numbers, or arrays with one number a person. Truncation and rounding are laid over these, in
`schemas/behaviour/measured.py`.

| family | parameters | values |
|---|---|---|
| normal | mean, sd | all |
| lognormal | median, spread (the sd of the logarithm) | above 0 |
| beta | a, b, low, high (its ends) | low to high |
| gamma | shape, scale; the mean is their product | above 0 |
| poisson | mean | whole numbers from 0 |
| empirical | quantiles by place, `q0` and `q1` among them; straight lines between | q0 to q1 |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincinv, gammainc, gammaincinv, ndtr, ndtri, pdtr

F64 = npt.NDArray[np.float64]
Parameters = Mapping[str, Any]
FINE = 2.0**40
"""Shares of counts are compared as whole numbers on this grid."""


def share_below(family: str, p: Parameters, value: npt.ArrayLike) -> F64:
    """The share of people at or below the value, before truncation and rounding. Shape of ``value``."""
    x = np.asarray(value, dtype=np.float64)
    if family == "normal":
        return np.asarray(ndtr((x - p["mean"]) / p["sd"]))
    if family == "lognormal":
        with np.errstate(divide="ignore"):
            return np.asarray(ndtr(np.log(np.maximum(x, 0.0) / p["median"]) / p["spread"]))
    if family == "beta":
        return np.asarray(betainc(p["a"], p["b"], np.clip((x - p["low"]) / (p["high"] - p["low"]), 0.0, 1.0)))
    if family == "gamma":
        return np.asarray(gammainc(p["shape"], np.maximum(x, 0.0) / p["scale"]))
    if family == "poisson":
        return np.where(x < 0, 0.0, pdtr(np.maximum(np.floor(x), 0.0), p["mean"]))
    return _below_quantiles(p["quantiles"], x)


def value_at(family: str, p: Parameters, share: npt.ArrayLike) -> F64:
    """The value with that share of people at or below it; ``share`` above 0 and below 1. Shape of ``share``.

    For `poisson` and `empirical` the parameters are those of one row, not one a person.
    """
    u = np.asarray(share, dtype=np.float64)
    if family == "normal":
        return np.asarray(p["mean"] + p["sd"] * ndtri(u))
    if family == "lognormal":
        return np.asarray(p["median"] * np.exp(p["spread"] * ndtri(u)))
    if family == "beta":
        return np.asarray(p["low"] + (p["high"] - p["low"]) * betaincinv(p["a"], p["b"], u))
    if family == "gamma":
        return np.asarray(p["scale"] * gammaincinv(p["shape"], u))
    if family == "poisson":
        upto = np.rint(pdtr(np.arange(_counts_for(p["mean"]), dtype=np.float64), p["mean"]) * FINE)
        return np.searchsorted(upto, np.floor(u * FINE), side="right").astype(np.float64)
    places, values = knots(p["quantiles"])
    return np.asarray(np.interp(u, places, values))


def width(family: str, p: Parameters) -> float:
    """How wide the bulk of the values lies: about one standard deviation."""
    if family == "normal":
        return float(p["sd"])
    if family == "lognormal":
        return float(p["median"]) * min(float(p["spread"]), 1.0)
    if family == "beta":
        return float(p["high"] - p["low"])
    if family == "gamma":
        return float(p["scale"]) * float(p["shape"]) ** 0.5
    if family == "poisson":
        return max(1.0, float(p["mean"]) ** 0.5)
    _, values = knots(p["quantiles"])
    return float(values[-1] - values[0])


def knots(quantiles: Mapping[str, float]) -> tuple[F64, F64]:
    """Places from 0 to 1, rising, and the values there, not falling."""
    pairs = sorted((place_of(name), float(value)) for name, value in quantiles.items())
    return np.array([place for place, _ in pairs]), np.array([value for _, value in pairs])


def place_of(name: str) -> float:
    """`q0.05` → 0.05. Raises ValueError for what is no quantile from 0 to 1."""
    place = float(name.removeprefix("q"))
    if not (name.startswith("q") and name[1:2] in "0123456789." and 0 <= place <= 1):
        raise ValueError(name)
    return place


def _counts_for(mean: float) -> int:
    """So many counts from 0 that what lies beyond is nothing on the grid."""
    return int(mean + 10 * mean**0.5 + 30)


def _below_quantiles(quantiles: Mapping[str, float], x: F64) -> F64:
    places, values = knots(quantiles)
    right = np.searchsorted(values, x, side="right")
    at = np.clip(right, 1, values.size - 1)
    gap = values[at] - values[at - 1]
    part = np.clip((x - values[at - 1]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
    inside = places[at - 1] + part * (places[at] - places[at - 1])
    return np.where(right == 0, 0.0, np.where(right == values.size, 1.0, inside))
