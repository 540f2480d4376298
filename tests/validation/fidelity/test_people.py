"""Counts of people, what chance does to them, and what a config asks for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import contingency, spearmanr

from flows.common.draws import Draws, categorical
from validation.fidelity.distances import total_variation
from validation.fidelity.people import (
    by_chance,
    conditional,
    edges_for,
    labelled,
    margin,
    natural,
    together,
)

DRAWS = Draws(7, "test")


def column(*values: Any) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


def test_a_margin_counts_those_who_have_a_value_by_their_weight() -> None:
    found = margin(pa.array(["b", "a", None, "a"]), np.array([2.0, 1.0, 5.0, 1.0]))
    assert found.labels == ("a", "b") and found.people.tolist() == [2, 1]
    assert found.shares.tolist() == [0.5, 0.5]
    assert found.worth == pytest.approx(16 / 6)


def test_numbers_are_cut_into_bands_where_there_are_many() -> None:
    ages = column(17, 18, 24, 25, 75, 90, None)
    assert labelled(ages, edges_for("age_years", [ages])).to_pylist() == [
        *("< 18", "18-24", "18-24", "25-34", "75+", "75+", None)
    ]
    few = column(1, 2, 10)
    assert edges_for("cats", [few]) is None and margin(labelled(few, None), np.ones(3)).labels == ("1", "2", "10")
    many = column(*range(200))
    names = margin(labelled(many, edges_for("height", [many])), np.ones(200)).labels
    assert names[:2] == ("< 20", "20-39") and names[-1] == "180+" and len(names) == 10
    halves = column(*(number / 40 for number in range(200)))
    assert margin(labelled(halves, edges_for("x", [halves])), np.ones(200)).labels[1] == "0.5-1"


def test_bands_and_numbers_stand_in_their_order() -> None:
    assert sorted(["75+", "100-200", "< 18", "9", "dog", "18-24"], key=natural) == [
        *("9", "< 18", "18-24", "75+", "100-200", "dog")
    ]


def test_a_conditional_table_has_rows_that_sum_to_one() -> None:
    parents, children, shares, people = conditional(
        pa.array(["x", "y", "x", None]), pa.array(["a", "a", "b", "b"]), np.array([3.0, 1.0, 1.0, 1.0])
    )
    assert (parents, children, people.tolist()) == (("a", "b"), ("x", "y"), [2, 1])
    assert shares.tolist() == [[0.75, 0.25], [1.0, 0.0]]


def test_correlations_are_those_of_scipy() -> None:
    numbers = np.arange(600, dtype=np.uint64)
    one = np.floor(DRAWS.uniform("one", numbers) * 10)
    two = np.floor(one + DRAWS.uniform("two", numbers) * 8)
    kind = np.where(two > 8, "high", "low")
    table = pa.table(
        {"one": one, "two": two, "kind": kind, "noise": categorical(DRAWS.uniform("n", numbers), [0.5, 0.5])}
    )
    found = together(table, ["one", "two", "kind"])
    assert found[0, 1] == found[1, 0] == pytest.approx(spearmanr(one, two).statistic, abs=1e-12)
    counts = contingency.crosstab(one, kind).count
    biased = contingency.association(counts, method="cramer")
    assert biased - 0.02 < found[0, 2] < biased
    assert together(table, ["kind", "noise"])[0, 1] < 0.08
    assert math.isnan(together(pa.table({"a": [1, 1], "b": [1, 2]}), ["a", "b"])[0, 1])


@pytest.mark.parametrize("people", [200, 5000])
def test_chance_stays_within_its_bounds_and_a_shift_does_not(people: int) -> None:
    shares = np.array([0.5, 0.3, 0.15, 0.049, 0.001])
    limit = by_chance(shares, people)
    distances = 0
    for trial in range(400):
        drawn = categorical(DRAWS.uniform("chance", np.arange(people, dtype=np.uint64), trial), shares)
        found = np.bincount(drawn, minlength=5) / people
        distances += total_variation(found, shares) > limit
    assert distances <= 1
    shifted = shares + np.array([-1, 1, 0, 0, 0]) * 3 / math.sqrt(people)
    assert total_variation(shifted, shares) > limit
