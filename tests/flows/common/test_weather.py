"""The weather of zones: a function of seed, zone and day, with the shares that the climate says."""

from __future__ import annotations

import numpy as np
import pytest

from flows.common.weather import weather_of
from schemas.behaviour.weather import HEAT, RAIN, SNOW
from schemas.tables.fields import WEATHERS
from schemas.zones import NO_PLACE, latitude_of

ZONES = ["America/Chicago", "Europe/Berlin", "Australia/Sydney", "Pacific/Honolulu", "Europe/Helsinki"]
DAYS = np.arange(20_089, 20_089 + 364)


def test_latitudes_are_those_of_the_zones_places() -> None:
    assert latitude_of("America/Chicago") == pytest.approx(41.85)
    assert latitude_of("America/Los_Angeles") == pytest.approx(34 + 3 / 60 + 8 / 3600)
    assert latitude_of("Australia/Sydney") == pytest.approx(-33 - 52 / 60)
    assert latitude_of("US/Eastern") == latitude_of("America/New_York")
    assert latitude_of("Australia/ACT") == latitude_of("Australia/Sydney") < 0
    assert latitude_of("Etc/UTC") == NO_PLACE


def test_other_zones_and_other_windows_change_no_day() -> None:
    whole = weather_of(ZONES, DAYS, 7)
    for zones, days in ((slice(1, 3), slice(77, 90)), (slice(4, 5), slice(31, 32)), (slice(0, 5), slice(0, 1))):
        part = weather_of(ZONES[zones], DAYS[days], 7)
        for one, other in zip(part, whole, strict=True):
            assert (one == other[zones, days]).all()


def test_a_day_hangs_on_nothing_but_itself_wherever_the_window_begins() -> None:
    whole = weather_of(ZONES, DAYS, 7)
    alone = [weather_of(ZONES, DAYS[day : day + 1], 7) for day in range(64)]
    assert (np.concatenate([one.codes for one in alone], axis=1) == whole.codes[:, :64]).all()
    assert (np.concatenate([one.highest_c for one in alone], axis=1) == whole.highest_c[:, :64]).all()


def test_zones_and_seeds_differ() -> None:
    here = weather_of(ZONES[:2], DAYS, 7)
    assert (here.codes[0] != here.codes[1]).mean() > 0.2
    assert (weather_of(ZONES[:1], DAYS, 8).codes != here.codes[:1]).mean() > 0.2


def test_days_before_1970_have_weather_too() -> None:
    assert weather_of(["Europe/Berlin"], np.arange(-400, -390), 7).codes.shape == (1, 10)


def test_shares_over_many_years_are_those_that_the_climate_says() -> None:
    days = np.arange(20_089, 20_089 + 60 * 365)
    found = weather_of(ZONES, days, 7)
    counted = np.stack([(found.codes == code).mean(axis=1) for code in range(len(WEATHERS))], axis=1)
    assert np.abs(counted - found.shares.mean(axis=1)).max() < 0.02


def test_seasons_are_half_a_year_apart_across_the_equator() -> None:
    days = np.arange(20_089, 20_089 + 4 * 365)
    found = weather_of(["Europe/Madrid", "Australia/Hobart"], days, 7)
    month = days.astype("datetime64[D]").astype("datetime64[M]").astype(int) % 12 + 1
    july, january = found.highest_c[:, month == 7].mean(axis=1), found.highest_c[:, month == 1].mean(axis=1)
    assert july[0] > january[0] + 15 and january[1] > july[1] + 15
    assert not (found.codes[0, month == 1] == HEAT).any() and not (found.codes[0, month == 7] == SNOW).any()


def test_factors_of_people_are_those_of_their_zones_and_one_on_average() -> None:
    days = np.arange(20_089, 20_089 + 20 * 364)
    weather, zone = weather_of(ZONES, days, 7), np.array([2, 0, 2])
    found = weather.factors({"rain": 0.5}, zone)
    assert found.shape == (3, days.size) and (found[0] == found[2]).all() and (found[0] != found[1]).any()
    rainy = weather.codes[zone] == RAIN
    assert found[rainy].max() < 0.65 and found[~rainy].min() > 1.0
    assert np.abs(found.mean(axis=1) - 1).max() < 0.01
    assert (weather.factors({}, zone) == 1).all()
