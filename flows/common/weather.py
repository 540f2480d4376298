"""The weather of zones on local days: drawn by zone and day, and so the same for all users and whoever they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws, keys_of, normal
from schemas.behaviour.weather import (
    LOOKS_BACK,
    climate_at,
    deviations,
    highest_c,
    weather_codes,
    weather_factors,
    weather_shares,
    wet_days,
)
from schemas.zones import latitude_of

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
_DAY_ONE = 719_163
"""What `date.toordinal` says of 1970-01-01, so that days before it can be drawn for."""


class Weather(NamedTuple):
    """The weather of some zones on some days that follow each other."""

    codes: I64
    """(zones, days) codes of WEATHERS."""
    highest_c: I64
    """(zones, days) highest temperature, in °C."""
    shares: F64
    """(zones, days, weathers) how probable each weather was."""

    def factors(self, effects: Mapping[str, float], zone: I64) -> F64:
        """(people, days) what the weather multiplies where people live in these zones; 1 on average.

        ``effects`` by weather, as the `weather` of an activity; ``zone`` (people,) places among the zones.
        """
        if not effects:
            return np.ones((zone.size, self.codes.shape[1]))
        return np.asarray(weather_factors(effects, self.codes, self.shares)[zone])


def weather_of(zones: Sequence[str], days: I64, seed: int) -> Weather:
    """The weather of these zones on ``days``, which follow each other, counted from 1970-01-01."""
    draws, keys = Draws(seed, "weather"), keys_of(list(zones))[:, None]
    drawn = np.arange(int(days[0]) - LOOKS_BACK, int(days[-1]) + 1)
    index = (drawn + _DAY_ONE)[None, :]
    deviation = deviations(normal(draws.uniform("temperature", keys, index)))
    u_wet, u_renewed = draws.uniform("wet", keys, index), draws.uniform("renewed", keys, index)
    latitudes = [latitude_of(name) for name in zones]
    wet = np.array([climate_at(latitude).wet for latitude in latitudes])[:, None]
    is_wet = wet_days(u_wet, u_renewed, drawn, wet)[:, LOOKS_BACK:]
    highest = np.stack([highest_c(here, days, own) for here, own in zip(latitudes, deviation, strict=True)])
    shares = np.stack([weather_shares(here, days) for here in latitudes])
    return Weather(weather_codes(is_wet, highest), highest, shares)
