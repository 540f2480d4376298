"""Iterative proportional fitting: it reaches what can be reached, keeps proportions, and names what cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.personas.fitting import Margin, NoFit, fitted

ROWS, COLUMNS = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])


def margins(rows: list[float], columns: list[float]) -> list[Margin]:
    return [
        Margin("rows", ROWS, np.array(rows), ("r0", "r1")),
        Margin("columns", COLUMNS, np.array(columns), ("c0", "c1", "c2")),
    ]


weights = st.lists(st.floats(0.1, 10), min_size=6, max_size=6)


@given(weights, st.floats(0.1, 0.9), st.floats(0.1, 0.4))
def test_sums_are_met_and_odds_ratios_kept(seed: list[float], row: float, column: float) -> None:
    start = np.array(seed)
    made = fitted(start, margins([row, 1 - row], [column, 0.5, 0.5 - column]))
    assert made[:3].sum() == pytest.approx(row, abs=1e-9) and made[[0, 3]].sum() == pytest.approx(column, abs=1e-9)
    ratio, was = made[0] * made[4] / made[1] / made[3], start[0] * start[4] / start[1] / start[3]
    assert ratio == pytest.approx(was, rel=1e-6)


def test_what_is_zero_stays_zero() -> None:
    made = fitted(np.array([0.0, 1, 1, 1, 1, 1]), margins([0.5, 0.5], [0.2, 0.3, 0.5]))
    assert made[0] == 0 and made[3] == pytest.approx(0.2)


def test_an_empty_cell_is_named() -> None:
    with pytest.raises(NoFit, match="columns c0: nobody can be there") as caught:
        fitted(np.array([0.0, 1, 1, 0, 1, 1]), margins([0.5, 0.5], [0.2, 0.3, 0.5]))
    assert (caught.value.margin, caught.value.label) == ("columns", "c0")


def test_sums_that_no_weights_have_are_named() -> None:
    only_left = np.array([1.0, 0, 0, 0, 1, 1])  # the first row is in the first column alone, and the other way round
    with pytest.raises(NoFit, match="no population has all these shares"):
        fitted(only_left, margins([0.5, 0.5], [0.2, 0.3, 0.5]))
