"""The equations of the weather: seasons, shares, and what they do to habits on average."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from flows.common.draws import Draws, normal
from schemas.activities import Weather
from schemas.behaviour.weather import (
    COLD,
    COLD_C,
    DRY,
    HEAT,
    HEAT_C,
    HOTTEST_DAY,
    LOOKS_BACK,
    RAIN,
    SNOW,
    WARM_MEMORY,
    WET_MEMORY,
    climate_at,
    deviations,
    usual_c,
    weather_codes,
    weather_factors,
    weather_shares,
    wet_days,
)
from schemas.tables.fields import WEATHERS

YEAR = np.arange(20_089, 20_089 + 365)
"""The days of 2025."""
DRAWS = Draws(7, "weather")


def test_domain_files_and_tables_name_the_same_weathers() -> None:
    assert get_args(Weather) == WEATHERS
    assert [WEATHERS[code] for code in (DRY, RAIN, SNOW, HEAT, COLD)] == ["dry", "rain", "snow", "heat", "cold"]


@pytest.mark.parametrize(("latitude", "hottest"), [(45.0, 7), (-45.0, 1)])
def test_it_is_hottest_in_july_in_the_north_and_in_january_in_the_south(latitude: float, hottest: int) -> None:
    warmth = usual_c(latitude, YEAR)
    month = YEAR.astype("datetime64[D]").astype("datetime64[M]").astype(int) % 12 + 1
    assert month[warmth.argmax()] == hottest and month[warmth.argmin()] == 8 - hottest
    assert abs(warmth.mean() - climate_at(latitude).mean_c) < 0.2
    assert YEAR[warmth.argmax()] - YEAR[0] == pytest.approx(HOTTEST_DAY if latitude > 0 else HOTTEST_DAY - 182.6, abs=2)


def test_days_are_called_by_whether_they_are_wet_and_how_warm() -> None:
    warm, limits = np.array([HEAT_C, HEAT_C - 1, COLD_C + 1, COLD_C]), np.zeros(4, bool)
    assert weather_codes(limits, warm).tolist() == [HEAT, DRY, DRY, COLD]
    assert weather_codes(~limits, warm).tolist() == [RAIN, RAIN, RAIN, SNOW]


def test_deviations_have_the_declared_variance_and_memory() -> None:
    noise = normal(DRAWS.uniform("noise", np.arange(40)[:, None], np.arange(LOOKS_BACK + 2_000)[None, :]))
    found = deviations(noise)
    assert found.shape == (40, 2_000)
    assert found.std() == pytest.approx(1.0, abs=0.02)
    assert np.mean(found[:, 1:] * found[:, :-1]) == pytest.approx(WARM_MEMORY, abs=0.02)
    assert np.mean(found[:, 3:] * found[:, :-3]) == pytest.approx(WARM_MEMORY**3, abs=0.03)


def test_wet_days_are_a_chain_with_the_declared_share_and_memory() -> None:
    days = np.arange(64 * 60)
    who = np.arange(20)[:, None]
    found = wet_days(DRAWS.uniform("a", who, days[None, :]), DRAWS.uniform("b", who, days[None, :]), days, 0.3)
    later, before = found[:, 1:], found[:, :-1]
    assert found.mean() == pytest.approx(0.3, abs=0.01)
    kept = WET_MEMORY * (1 - 1 / LOOKS_BACK)
    assert later[before].mean() == pytest.approx(kept + (1 - kept) * 0.3, abs=0.015)
    assert later[~before].mean() == pytest.approx((1 - kept) * 0.3, abs=0.01)


@pytest.mark.parametrize("latitude", [-80.0, -33.9, 0.0, 21.3, 35.0, 41.9, 60.2])
def test_shares_of_every_day_are_probabilities(latitude: float) -> None:
    shares = weather_shares(latitude, YEAR)
    assert shares.shape == (365, len(WEATHERS)) and shares.min() >= 0
    assert np.abs(shares.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(shares[:, RAIN] + shares[:, SNOW] - climate_at(latitude).wet).max() < 1e-12


def test_effects_are_one_on_average_over_what_the_weather_of_any_day_can_be() -> None:
    shares = weather_shares(52.5, YEAR)
    effects = {"rain": 0.7, "snow": 0.5, "heat": 1.4}
    each = np.stack([weather_factors(effects, np.full(365, code), shares) for code in range(5)], axis=1)
    assert np.abs((each * shares).sum(axis=1) - 1).max() < 1e-8
    assert np.abs(each[:, RAIN] / each[:, DRY] - 0.7).max() < 1e-8
    assert (each[:, COLD] == each[:, DRY]).all()
