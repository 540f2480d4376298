from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.draws import Draws, categorical
from schemas.behaviour.choice import match_table
from validation.observer.decision import (
    best_options,
    decision_probability,
    gold_options,
)

DRAWS = Draws(11, "test")
MENU = np.array([[0, 0, 1], [0, 2, 0], [3, 0, 0], [3, 2, 1]])
MATCH = [match_table("categorical", 4), match_table("ordinal", 3), match_table("categorical", 2)]
STRENGTHS = [1.8, 2.4, 1.2]


def beliefs_of(users: int, *, aspect: str = "belief") -> list[np.ndarray]:
    beliefs = []
    for place, table in enumerate(MATCH):
        weight = DRAWS.uniform(f"{aspect} {place}", np.arange(users)[:, None], np.arange(table.shape[0])) ** 3
        beliefs.append(weight / weight.sum(axis=1, keepdims=True))
    return beliefs


def utility_of(liked: np.ndarray) -> np.ndarray:
    """(n, options) by the equation, one menu entry at a time."""
    columns = [
        sum(STRENGTHS[d] * MATCH[d][liked[:, d], option[d]] for d in range(len(STRENGTHS))) for option in MENU.tolist()
    ]
    return np.stack(columns, axis=1)


def test_the_probability_of_each_option_is_that_of_a_monte_carlo_over_the_joint() -> None:
    users, samples = 5, 40_000
    beliefs = beliefs_of(users)
    exact = decision_probability(MENU, beliefs, MATCH, STRENGTHS)
    for user in range(users):
        columns = [
            categorical(DRAWS.uniform(f"liked {place}", np.arange(samples), user), belief[user])
            for place, belief in enumerate(beliefs)
        ]
        liked = np.stack(columns, axis=1)
        utility = np.round(utility_of(liked), 6)
        ranked = np.sort(utility, axis=1)
        clear = (ranked[:, -1] - ranked[:, -2]) * 10 >= ranked[:, -1] - ranked[:, 0] - 1e-9
        clear &= ranked[:, -1] > ranked[:, -2]
        counted = np.bincount(utility.argmax(axis=1)[clear], minlength=4) / samples
        assert np.abs(counted - exact[user]).max() < 4 * 0.5 / np.sqrt(samples)


def test_certain_users_get_the_option_with_their_values_for_sure() -> None:
    beliefs = [np.eye(4)[MENU[:, 0]], np.eye(3)[MENU[:, 1]], np.eye(2)[MENU[:, 2]]]
    assert np.array_equal(decision_probability(MENU, beliefs, MATCH, STRENGTHS), np.eye(4))
    assert np.array_equal(gold_options(MENU, MENU), np.eye(4, dtype=bool))


def test_ties_count_for_no_option() -> None:
    two_alike = np.array([[0], [0], [1]])
    table = [match_table("categorical", 3)]
    assert best_options(two_alike, table, [2.0]).tolist() == [-1, 2, -1]
    assert decision_probability(two_alike, [np.array([[0.5, 0.3, 0.2]])], table, [2.0]).tolist() == [[0.0, 0.0, 0.3]]


def test_a_lead_below_a_tenth_of_the_range_is_no_lead() -> None:
    menu = np.array([[0, 0], [0, 1], [1, 1]])
    tables = [match_table("categorical", 2), match_table("categorical", 2)]
    assert best_options(menu, tables, [2.0, 0.2])[0, 0] == -1
    assert best_options(menu, tables, [2.0, 0.25])[0, 0] == 0


def test_gold_needs_every_contested_value() -> None:
    true = np.array([[3, 2, 1], [3, 2, 0], [1, 2, 1]])
    assert gold_options(MENU, true).tolist() == [[False, False, False, True], [False] * 4, [False] * 4]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 39), st.integers(1, 40))
def test_a_slice_of_users_gets_the_very_same_numbers(first: int, size: int) -> None:
    beliefs = beliefs_of(40)
    whole = decision_probability(MENU, beliefs, MATCH, STRENGTHS)
    part = decision_probability(MENU, [belief[first : first + size] for belief in beliefs], MATCH, STRENGTHS)
    assert np.array_equal(part, whole[first : first + size])
    assert (whole.sum(axis=1) <= 1.00001).all()


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 match tables"):
        decision_probability(MENU, beliefs_of(2)[:2], MATCH[:2], STRENGTHS[:2])
    with pytest.raises(ValueError, match=r"\[4, 3, 3\] values"):
        decision_probability(MENU, [*beliefs_of(2)[:2], np.ones((2, 3)) / 3], MATCH, STRENGTHS)
    with pytest.raises(ValueError, match="two options"):
        best_options(MENU[:1], MATCH, STRENGTHS)
