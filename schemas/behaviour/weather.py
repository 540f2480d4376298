"""The weather of a place, day by day: its climate by latitude, what a day is called, and what weather does to habits.

Wet days are a Markov chain of first order and temperatures an autoregression about the season, as in the weather
generator of Richardson, "Stochastic simulation of daily precipitation, temperature, and solar radiation", Water
Resources Research 17 (1981). Both are stationary about the season and independent of each other, so that the expected
share of every weather is known in closed form. All figures are assumed: round ones, of no particular town.

Days count from 1970-01-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from schemas.tables.fields import WEATHERS

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

DRY, RAIN, SNOW, HEAT, COLD = range(5)
"""Codes of weathers: their places in WEATHERS."""
HEAT_C = 30
"""The day's highest temperature from which a dry day is hot."""
COLD_C = 2
"""The day's highest temperature up to which a dry day is cold, and a wet day brings snow."""
WET_MEMORY = 0.3
"""Probability that a day is wet or dry because the day before was. With 1 less this, it is drawn anew."""
WARM_MEMORY = 0.7
"""Correlation of the deviations from the season's temperature, from one day to the next."""
LOOKS_BACK = 32
"""Days after which nothing is left of a day: ``WARM_MEMORY ** LOOKS_BACK`` is 1e-5."""
HOTTEST_DAY = 200
"""Day of the year, from 0, on which it is hottest north of the equator; half a year later south of it."""
YEAR_DAYS = 365.2425


class Climate(NamedTuple):
    """The usual weather of a belt of latitudes. Temperatures are the highest of a day, in °C."""

    up_to: float
    """Degrees from the equator at which the belt ends."""
    mean_c: float
    """Mean over the year."""
    swing_c: float
    """By how much the hottest time of the year is above it, and the coldest below."""
    spread_c: float
    """Standard deviation of days about the season."""
    wet: float
    """Share of days with rain or snow."""


CLIMATES = (
    Climate(up_to=23.5, mean_c=30, swing_c=2, spread_c=2, wet=0.4),
    Climate(up_to=35, mean_c=25, swing_c=8, spread_c=4, wet=0.2),
    Climate(up_to=55, mean_c=16, swing_c=11, spread_c=5, wet=0.3),
    Climate(up_to=90, mean_c=8, swing_c=13, spread_c=5, wet=0.35),
)
"""From the equator to the poles."""


def climate_at(latitude: float) -> Climate:
    """The climate at a latitude in degrees, negative south of the equator."""
    return next(climate for climate in CLIMATES if abs(latitude) <= climate.up_to)


def usual_c(latitude: float, days: I64) -> F64:
    """(days,) highest temperature that is usual on each day, in °C."""
    climate = climate_at(latitude)
    season = np.cos(2 * np.pi * ((days - HOTTEST_DAY) / YEAR_DAYS))
    return np.asarray(climate.mean_c + climate.swing_c * (season if latitude >= 0 else -season))


def deviations(noise: F64) -> F64:
    """(..., days) of variance 1 from (..., LOOKS_BACK + days) independent ones; each hangs on LOOKS_BACK before it."""
    days = noise.shape[-1] - LOOKS_BACK
    total, scale = np.zeros((*noise.shape[:-1], days)), 0.0
    for back in range(LOOKS_BACK + 1):
        weight = WARM_MEMORY**back
        total += weight * noise[..., LOOKS_BACK - back : LOOKS_BACK - back + days]
        scale += weight * weight
    return np.asarray(total / np.sqrt(scale))


def highest_c(latitude: float, days: I64, deviation: F64) -> I64:
    """(days,) highest temperature of each day, in whole °C."""
    exact = usual_c(latitude, days) + climate_at(latitude).spread_c * deviation
    return np.rint(np.round(exact, 6)).astype(np.int64)


def wet_days(u_wet: F64, u_renewed: F64, days: I64, wet: float | F64) -> Mask:
    """(..., days) whether each of these days, one after another, is wet: a Markov chain that is wet at ``wet`` of days.

    A day takes after the one before, unless it is drawn anew, as every day is whose number is a multiple of
    ``LOOKS_BACK``: only what the first ``LOOKS_BACK`` days are like can hang on where the days begin.
    """
    is_new = (u_renewed >= WET_MEMORY) | (days % LOOKS_BACK == 0)
    last_new = np.maximum.accumulate(np.where(is_new, np.arange(days.size), 0), axis=-1)
    return np.take_along_axis(u_wet < wet, last_new, axis=-1)


def weather_codes(is_wet: Mask, highest: I64) -> I64:
    """(...,) what days are called, as codes of WEATHERS. Wet ones are rain, or snow where it is cold."""
    dry = np.where(highest >= HEAT_C, HEAT, np.where(highest <= COLD_C, COLD, DRY))
    return np.where(is_wet, np.where(highest <= COLD_C, SNOW, RAIN), dry)


def weather_shares(latitude: float, days: I64) -> F64:
    """(days, weathers) probability of each weather on each day, in the order of WEATHERS."""
    climate, usual = climate_at(latitude), usual_c(latitude, days)
    cold = ndtr((COLD_C + 0.5 - usual) / climate.spread_c)  # whole degrees: what is below 2.5 is 2 at the most
    heat = ndtr((usual - (HEAT_C - 0.5)) / climate.spread_c)
    dry, wet = 1 - climate.wet, climate.wet
    return np.stack([dry * (1 - cold - heat), wet * (1 - cold), wet * cold, dry * heat, dry * cold], axis=-1)


def weather_factors(effects: Mapping[str, float], codes: I64, shares: F64) -> F64:
    """(...,) what multiplies how often something is done on days of these weathers; 1 on average over what can be.

    ``effects`` multiplies by weather, 1 for others. ``shares`` (..., weathers) are the probabilities of the weathers of
    each day: dividing by what they make of the effects keeps the mean of every day of the year where it was.
    """
    effect = np.array([effects.get(name, 1.0) for name in WEATHERS])
    usual = sum(effect[place] * shares[..., place] for place in range(effect.size))
    return np.asarray(np.round(effect[codes] / usual, 9))
