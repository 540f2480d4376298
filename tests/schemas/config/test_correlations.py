"""Claims about correlations in a config: which can hold together, and what follows for pairs that are not named."""

from __future__ import annotations

import numpy as np
import pytest

from schemas.config.core import Section
from schemas.config.correlations import Correlation, Correlations, completed, groups_of
from schemas.source import judge, read_text


class Holder(Section):
    correlations: Correlations


def refused(*pairs: str) -> dict[str, tuple[str, str]]:
    text = "".join(f"\n- {{{pair}}}" for pair in pairs)
    model, violations = judge(Holder, read_text(f"correlations:{text}", "people.yaml"))
    assert model is None
    return {violation.field: (violation.rule, violation.fix) for violation in violations}


def pair(a: str, b: str, value: float = 0.5) -> Correlation:
    return Correlation(between=[a, b], spearman=value)


def test_an_impossible_matrix_names_its_attributes_and_the_smallest_eigenvalue() -> None:
    found = refused(
        "between: [age, income], spearman: 0.9",
        "between: [age, health], spearman: 0.9",
        "between: [income, health], spearman: -0.9",
        "between: [height, weight], spearman: 0.4",
    )
    [(rule, fix)] = found.values()
    assert "`age`, `income`, `health` cannot hold together: smallest eigenvalue -0.8" in rule
    assert "height" not in rule
    assert fix == "bring some of them nearer to 0, or change a sign"


@pytest.mark.parametrize(
    ("given", "field", "rule"),
    [
        (["between: [a, a], spearman: 0.1"], "correlations[0].between", "not correlated with itself"),
        (["between: [a, b], spearman: 0.1", "between: [b, a], spearman: 0.1"], "correlations[1].between", "at [0]"),
        (["between: [a, b], spearman: 1"], "correlations[0].spearman", "above -1 and below 1"),
        (["between: [a, b, c], spearman: 0.1"], "correlations[0].between", "at most 2 entries"),
        (["between: [a, b], pearson: 0.1"], "correlations[0].pearson", "there is no such key"),
    ],
)
def test_a_pair_is_two_attributes_once(given: list[str], field: str, rule: str) -> None:
    assert rule in refused(*given)[field][0]


def test_pairs_that_are_not_named_follow_from_those_that_join_them() -> None:
    matrix, smallest = completed(3, {(0, 1): 0.9, (1, 2): 0.9})
    assert matrix[0, 2] == pytest.approx(0.81, abs=1e-8)
    assert smallest > 0
    square, smallest = completed(4, {(0, 1): 0.5, (1, 2): 0.5, (2, 3): 0.5, (0, 3): -0.4})
    inverse = np.linalg.inv(square)
    assert smallest > 0
    assert abs(inverse[0, 2]) < 1e-6 and abs(inverse[1, 3]) < 1e-6, "the completion of largest determinant"
    assert completed(4, {(0, 1): 0.9, (1, 2): 0.9, (2, 3): 0.9, (0, 3): -0.9})[1] < 0


def test_groups_are_joined_by_whatever_names_both() -> None:
    assert groups_of(["ab", "cd", "ef", "bc"]) == [
        ["e", "f"],
        ["a", "b", "c", "d"],
    ]
