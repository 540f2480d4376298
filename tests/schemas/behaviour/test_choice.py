"""Claims about the equations of choice."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from schemas.behaviour.choice import GRID, choice_shares, match_table, position_cost, value_weights

Kind = Literal["categorical", "ordinal", "numeric"]
F64 = npt.NDArray[np.float64]
calm = settings(deadline=None)
UTILITY = arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 8)), elements=st.floats(-30, 30))
SHARE = st.floats(0, 1)
PERSON_LISTS = st.lists(st.tuples(st.integers(0, 4), st.floats(0, 8)), min_size=1, max_size=5)
"""The value each person likes, and how strongly."""
STEP = 8 / GRID
"""How far the rounding of the weights moves a share, at the most, among eight options."""


def test_a_category_matches_itself_and_nothing_else() -> None:
    assert match_table("categorical", 4).tolist() == np.eye(4).tolist()


@pytest.mark.parametrize("kind", ["ordinal", "numeric"])
def test_neighbours_in_rank_match_by_half(kind: Kind) -> None:
    assert match_table(kind, 4).tolist() == [[1, 0.5, 0, 0], [0.5, 1, 0.5, 0], [0, 0.5, 1, 0.5], [0, 0, 0.5, 1]]


@pytest.mark.parametrize("kind", ["categorical", "ordinal", "numeric"])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_matches_are_symmetric_shares_that_are_whole_on_the_liked_value_alone(kind: Kind, size: int) -> None:
    table = match_table(kind, size)
    assert table.shape == (size, size) and (table == table.T).all()
    assert table.min() >= 0 and (table == 1).sum() == size and (np.diag(table) == 1).all()


def test_each_place_costs_the_same_more_than_the_one_before() -> None:
    assert position_cost(4, 0.25).tolist() == [0, 0.25, 0.5, 0.75]
    assert position_cost(1, 0.25).tolist() == [0]


@calm
@given(UTILITY, SHARE)
def test_shares_sum_to_one_and_none_falls_below_exploration(utility: F64, exploration: float) -> None:
    shares = choice_shares(utility, exploration)
    assert shares.shape == utility.shape
    assert np.abs(shares.sum(axis=-1) - 1).max() < 1e-12
    assert shares.min() >= exploration / utility.shape[-1] - 1e-15


@calm
@given(UTILITY, SHARE)
def test_a_better_option_is_never_chosen_less_often(utility: F64, exploration: float) -> None:
    shares = choice_shares(utility, exploration)
    for row, share in zip(utility, shares, strict=True):
        assert (np.diff(share[np.argsort(row, kind="stable")]) >= -1e-15).all()


@calm
@given(UTILITY, SHARE, st.floats(-100, 100))
def test_a_constant_for_all_options_changes_nothing(utility: F64, exploration: float, constant: float) -> None:
    assert np.abs(choice_shares(utility + constant, exploration) - choice_shares(utility, exploration)).max() < STEP


@calm
@given(UTILITY, SHARE)
def test_shares_are_those_of_the_logit_up_to_the_grid(utility: F64, exploration: float) -> None:
    for row, share in zip(utility, choice_shares(utility, exploration), strict=True):
        weight = [float(np.exp(value - max(row))) for value in row]
        expected = [(1 - exploration) * part / sum(weight) + exploration / len(row) for part in weight]
        assert np.abs(share - expected).max() < STEP


@calm
@given(UTILITY)
def test_the_last_bit_of_a_utility_moves_no_share_beyond_the_grid(utility: F64) -> None:
    assert np.abs(choice_shares(np.nextafter(utility, 99), 0.1) - choice_shares(utility, 0.1)).max() < STEP


def test_equal_options_share_equally_and_without_exploration_the_hopeless_get_nothing() -> None:
    assert choice_shares(np.zeros((1, 4)), 0.3).tolist() == [[0.25] * 4]
    assert choice_shares(np.array([[40.0, 0.0]]), 0.0).tolist() == [[1.0, 0.0]]
    assert choice_shares(np.array([[40.0, 0.0]]), 1.0).tolist() == [[0.5, 0.5]]


def test_odds_between_two_options_are_the_exponential_of_their_difference() -> None:
    shares = choice_shares(np.array([[1.8, 0.0, -0.5]]), 0.0)[0]
    assert np.log(shares[0] / shares[1]) == pytest.approx(1.8, abs=1e-5)
    assert np.log(shares[1] / shares[2]) == pytest.approx(0.5, abs=1e-5)


@calm
@given(PERSON_LISTS, st.sampled_from(["categorical", "ordinal"]))
def test_weights_of_values_are_shares_that_favour_what_is_liked(people: list[tuple[int, float]], kind: Kind) -> None:
    liked, strength = np.array([value for value, _ in people]), np.array([s for _, s in people])
    match = match_table(kind, 5)
    weights = value_weights(liked, strength, match)
    assert weights.shape == (len(people), 5)
    assert (np.round(weights, 6) == weights).all()
    assert np.abs(weights.sum(axis=1) - 1).max() <= 5 * 0.5e-6 + 1e-12
    for row, (value, power) in zip(weights, people, strict=True):
        assert row[value] == row.max()
        expected = np.exp(power * match[value])
        assert np.abs(row - expected / expected.sum()).max() <= 0.5e-6 + 1e-12
        assert (np.diff(row[np.argsort(match[value], kind="stable")]) >= 0).all()


def test_without_strength_every_value_weighs_the_same_and_with_more_the_liked_one_weighs_more() -> None:
    match = match_table("categorical", 4)
    liked = np.array([2, 2, 2])
    assert value_weights(liked[:1], np.array([0.0]), match).tolist() == [[0.25] * 4]
    assert (np.diff(value_weights(liked, np.array([0.5, 1.0, 2.0]), match)[:, 2]) > 0).all()
