"""When the next time comes: equations alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.common.draws import Draws, normal
from schemas.behaviour.rhythm import (
    SURE,
    WIDEST,
    again_probabilities,
    dormant,
    first_gaps,
    follow_up_hours,
    gap_spreads,
    gaps,
    ups_and_downs,
)

DRAWS = Draws(11, "rhythm")
MANY = np.arange(60_000)


def normals(aspect: str) -> np.ndarray:
    return normal(DRAWS.uniform(aspect, MANY))


@pytest.mark.parametrize("spread", [0.0, 0.4, 0.83, 1.2])
def test_gaps_have_mean_one_and_the_variation_of_their_spread(spread: float) -> None:
    found = gaps(np.full(MANY.size, spread), normals("gap"))
    assert abs(found.mean() - 1) < 0.02
    assert abs(found.std() - np.sqrt(np.exp(spread**2) - 1)) < 0.12


@pytest.mark.parametrize("spread", [0.0, 0.4, 0.83])
def test_the_first_gap_is_what_is_left_of_a_gap_met_at_random(spread: float) -> None:
    """Mean of the forward recurrence time: (1 + cv^2) / 2 of the mean gap (Cox & Lewis 1966)."""
    left = first_gaps(np.full(MANY.size, spread), normals("first"), DRAWS.uniform("part", MANY))
    assert abs(left.mean() - np.exp(spread**2) / 2) < 0.02


def test_ups_and_downs_have_mean_one_and_remember() -> None:
    level = ups_and_downs(normal(DRAWS.uniform("ups", np.arange(20_000)[:, None], np.arange(12)[None, :])), 0.6, 0.7)
    logs = np.log(level)
    assert abs(level.mean() - 1) < 0.01 and abs(logs.std() - 0.6) < 0.01
    assert abs(np.corrcoef(logs[:, 4], logs[:, 5])[0, 1] - 0.7) < 0.02
    assert abs(np.corrcoef(logs[:, 4], logs[:, 7])[0, 1] - 0.7**3) < 0.03


@given(share=st.floats(0, 0.7), weeks=st.floats(1, 8))
def test_the_share_of_dormant_weeks_is_the_one_asked_for(share: float, weeks: float) -> None:
    if share / (1 - share) / weeks > 1:
        return  # so short spells cannot fill so many weeks
    asleep = dormant(DRAWS.uniform("dormant", np.arange(2_000)[:, None], np.arange(10)[None, :]), share, weeks)
    assert abs(asleep.mean() - share) < 0.05


def test_who_goes_on_differs_between_people_within_bounds() -> None:
    found = again_probabilities(0.3, 0.8, normals("again"))
    assert abs(np.median(found) - 0.3) < 0.01 and found.min() > 0 and found.max() <= SURE
    assert np.quantile(found, 0.9) > 0.5
    assert not again_probabilities(0.0, 0.8, normals("again")).any()


def test_spreads_differ_between_people_and_are_never_too_wide() -> None:
    found = gap_spreads(0.8, 0.5, normals("spread"))
    assert abs(np.median(found) - 0.8) < 0.01 and found.max() <= WIDEST and abs(np.log(found).std() - 0.5) < 0.05
    assert not gap_spreads(0.0, 0.5, normals("spread")).any()


def test_what_follows_comes_soon_or_later() -> None:
    is_later = MANY % 2 == 1
    hours = follow_up_hours(is_later, (0.5, 1.0), (12.0, 0.5), normals("wait"))
    assert abs(np.median(hours[~is_later]) - 0.5) < 0.02 and abs(np.median(hours[is_later]) - 12) < 0.2
    assert abs(np.log(hours[is_later]).std() - 0.5) < 0.01
