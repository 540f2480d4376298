"""The equations of choice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from schemas.behaviour.choice import choice_shares, match_table, position_cost, value_weights

UTILITIES = hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(2, 8)), elements=st.floats(-20, 20, width=32))


def test_a_category_matches_itself_only() -> None:
    assert np.array_equal(match_table("categorical", 4), np.eye(4))


@pytest.mark.parametrize("kind", ["ordinal", "numeric"])
def test_neighbours_of_an_ordered_value_match_by_half(kind: str) -> None:
    expected = [[1, 0.5, 0, 0], [0.5, 1, 0.5, 0], [0, 0.5, 1, 0.5], [0, 0, 0.5, 1]]
    assert np.array_equal(match_table(kind, 4), expected)  # type: ignore[arg-type]


@given(UTILITIES, st.floats(0, 1))
def test_shares_sum_to_one_and_none_falls_below_exploration(utility: np.ndarray, exploration: float) -> None:
    shares = choice_shares(utility, exploration)
    assert np.allclose(shares.sum(axis=-1), 1)
    assert (shares >= exploration / utility.shape[-1] - 1e-12).all()


@given(UTILITIES)
def test_shares_follow_the_order_of_utilities(utility: np.ndarray) -> None:
    shares = choice_shares(utility, 0.05)
    order = np.argsort(utility, axis=-1, kind="stable")
    assert (np.diff(np.take_along_axis(shares, order, axis=-1), axis=-1) >= 0).all()


@given(UTILITIES, st.integers(-8, 8))
def test_a_constant_added_to_every_utility_changes_nothing(utility: np.ndarray, constant: int) -> None:
    whole = np.round(utility * 16) / 16  # sums of sixteenths are exact
    assert np.array_equal(choice_shares(whole, 0.1), choice_shares(whole + constant, 0.1))


def test_shares_are_the_logit() -> None:
    utility = np.array([[0.0, np.log(2.0), np.log(5.0)]])
    assert np.allclose(choice_shares(utility, 0.0), [[1 / 8, 2 / 8, 5 / 8]], atol=2e-6)


def test_each_place_further_down_costs_the_same() -> None:
    assert np.allclose(position_cost(4, 0.2), [0, 0.2, 0.4, 0.6])


def test_weights_of_values_are_the_shares_of_choices_that_they_would_get() -> None:
    match = match_table("ordinal", 3)
    weights = value_weights(np.array([0, 2]), np.array([2.0, 0.0]), match)
    raw = np.exp(2.0 * (match[0] - 1))
    assert np.allclose(weights[0], raw / raw.sum(), atol=1e-6)
    assert np.allclose(weights[1], 1 / 3, atol=1e-6)
