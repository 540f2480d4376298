"""Which options are dominated, and how many may be taken."""

from __future__ import annotations

import numpy as np
import pytest

from flows.common.draws import Draws
from validation.validity.dominance import Dominance, dominance, dominated, hopeless

DRAWS = Draws(2, "test of dominance")


def test_an_option_is_dominated_by_one_above_that_is_no_dearer_and_suits_better() -> None:
    match = np.array([[[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.0]]])
    same = np.full((1, 5), 100)
    assert dominated(match, same).tolist() == [[False, True, True, False, True]]
    assert dominated(match, np.array([[200, 100, 300, 100, 150]])).tolist() == [[False, False, True, False, True]]
    assert not dominated(match[:, ::-1], same)[0, :2].any()  # what is better stands further down
    assert not dominated(match, np.array([[500, 400, 300, 200, 100]])).any()
    assert not dominated(np.ones((1, 5, 2)), same).any()  # as good is not better


def test_hopeless_is_what_is_far_behind_the_best() -> None:
    utility = np.array([[0.0, -5.0, -2.0], [1.0, 1.0, -4.0]])
    assert hopeless(utility, 5.0).tolist() == [[False, True, False], [False, False, True]]


@pytest.mark.parametrize(("rate", "is_declared"), [(0.05, True), (0.10, False), (0.01, False)])
def test_a_count_is_judged_by_the_chances_that_the_model_gives(rate: float, is_declared: bool) -> None:
    count = 2_000
    options = np.tile([False, True], (count, 1))
    shares = np.tile([0.95, 0.05], (count, 1))
    taken = (DRAWS.uniform("taken", np.arange(count)) < rate).astype(np.int64)
    found = dominance(options, shares, taken)
    assert found.choices == count and found.expected == pytest.approx(100) and found.found == taken.sum()
    assert found.spread == pytest.approx(np.sqrt(count * 0.05 * 0.95)) and found.is_as_declared == is_declared
    assert not Dominance(10, 7, 0.0, 0.0).is_as_declared
