"""Claims about correlated attributes: the correlation asked for is the one of the final values, margins stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scipy import stats

from flows.common.draws import Draws, categorical
from flows.personas import copula
from flows.personas.copula import CorrelationError, Solved, Values, correlated_uniforms, lower_root, spearman
from schemas.behaviour.measured import inverse, share_at_most
from schemas.config.correlations import Correlation
from schemas.config.numeric import AnyNumeric, NumericSpec

READ: TypeAdapter[AnyNumeric] = TypeAdapter(NumericSpec)
PEOPLE = 20_000
calm = settings(deadline=None, max_examples=10, derandomize=True)
AGE = READ.validate_python({"family": "normal", "mean": 45, "sd": 17, "low": 18, "high": 90, "step": 1})
INCOME = READ.validate_python({"family": "lognormal", "median": 42_000, "spread": 0.7, "high": 4e5, "step": 1000})
TWELVE = np.array([0.02, 0.3, 0.1, 0.05, 0.03, 0.1, 0.2, 0.05, 0.05, 0.04, 0.03, 0.03])
BY_SCHOOL = READ.validate_python(
    {
        "family": "lognormal",
        "spread": 0.7,
        "step": 1000,
        "by": {f"level {level}": {"median": 20_000 * 1.15**level} for level in range(12)},
    }
)


class Margin(NamedTuple):
    """How one attribute follows from its uniform and from those drawn before it."""

    name: str
    values: Callable[[Any, Mapping[str, Any]], Any]
    parents: tuple[str, ...] = ()


def solve(asked: Sequence[Correlation], margins: Sequence[Margin]) -> Solved:
    """Solved for people who are drawn margin by margin."""
    needs: dict[str, set[str]] = {}
    for margin in margins:
        needs[margin.name] = {margin.name}.union(*(needs[parent] for parent in margin.parents))

    def values_of(wanted: Collection[str]) -> Values:
        def values(uniforms: Mapping[str, Any]) -> dict[str, Any]:
            drawn: dict[str, Any] = {}
            for margin in margins:
                if margin.name in set().union(*(needs[name] for name in wanted)):
                    drawn[margin.name] = margin.values(uniforms[margin.name], drawn)
            return drawn

        return values

    return copula.solve(asked, needs, values_of)


def numeric(name: str, spec: AnyNumeric) -> Margin:
    return Margin(name, lambda uniform, drawn: inverse(spec, uniform))


def school(name: str = "school", weights: npt.NDArray[np.float64] = TWELVE) -> Margin:
    return Margin(name, lambda uniform, drawn: categorical(uniform, weights))


AGES, INCOMES = numeric("age", AGE), numeric("income", INCOME)
INCOMES_BY_SCHOOL = Margin("income", lambda uniform, drawn: inverse(BY_SCHOOL, uniform, drawn["school"]), ("school",))


def pair(a: str, b: str, value: float) -> Correlation:
    return Correlation(between=[a, b], spearman=value)


def people(solved: Solved, margins: Sequence[Margin], seed: int = 7, count: int = PEOPLE) -> dict[str, Any]:
    """Values of every attribute, as the engine draws them."""
    draws, numbers = Draws(seed, "personas"), np.arange(count, dtype=np.uint64)
    uniforms = correlated_uniforms(draws, numbers, solved.names, solved.matrix)
    drawn: dict[str, Any] = {}
    for margin in margins:
        uniform = uniforms[margin.name] if margin.name in uniforms else draws.uniform(margin.name, numbers)
        drawn[margin.name] = margin.values(uniform, drawn)
    return drawn


CASES: dict[str, tuple[list[Correlation], list[Margin]]] = {
    "age and income, rounded to 1,000": ([pair("age", "income", 0.6)], [AGES, INCOMES]),
    "twelve values each": (
        [pair("school", "other", -0.5)],
        [school(), school("other", np.roll(TWELVE, 5))],
    ),
    "three at once": (
        [pair("school", "income", 0.4), pair("age", "income", 0.5), pair("school", "age", -0.2)],
        [AGES, school(), INCOMES],
    ),
    "a conditional table under one of the pair": ([pair("age", "income", 0.4)], [AGES, school(), INCOMES_BY_SCHOOL]),
    "against what the table does": (
        [pair("age", "income", 0.4), pair("school", "age", -0.2), pair("school", "income", 0.6)],
        [AGES, school(), INCOMES_BY_SCHOOL],
    ),
}


@pytest.mark.parametrize("case", list(CASES))
def test_the_final_values_have_the_correlation_asked_for(case: str) -> None:
    asked, margins = CASES[case]
    solved = solve(asked, margins)
    drawn = people(solved, margins)
    for one in asked:
        realised = spearman(*(drawn[name] for name in one.between))
        assert abs(realised - one.spearman) < 0.02
        assert realised == pytest.approx(stats.spearmanr(*(drawn[name] for name in one.between)).statistic)


def test_over_many_seeds_the_correlation_is_met_on_average() -> None:
    asked, margins = CASES["age and income, rounded to 1,000"]
    solved = solve(asked, margins)
    found = [spearman(*people(solved, margins, seed).values()) for seed in range(30)]
    assert abs(np.mean(found) - 0.6) < 4 * 0.0049 / np.sqrt(30)
    assert all(0.58 < value < 0.62 for value in found)


def test_margins_stay_as_they_are() -> None:
    asked, margins = CASES["three at once"]
    solved = solve(asked, margins)
    drawn = people(solved, margins)
    for name, spec in (("age", AGE), ("income", INCOME)):
        distinct, count = np.unique(drawn[name], return_counts=True)
        gap = np.abs(np.cumsum(count) / PEOPLE - share_at_most(spec, distinct)).max()
        assert gap < 1.95 / np.sqrt(PEOPLE)
    assert stats.chisquare(np.bincount(drawn["school"], minlength=12), TWELVE * PEOPLE).pvalue > 1e-4
    for uniform in correlated_uniforms(Draws(7, "personas"), np.arange(PEOPLE), solved.names, solved.matrix).values():
        assert uniform.min() > 0 and uniform.max() < 1
        assert stats.kstest(uniform, "uniform").pvalue > 1e-4


def test_a_person_is_the_same_among_few_and_among_many_and_the_first_attribute_keeps_its_draws() -> None:
    asked, margins = CASES["three at once"]
    solved = solve(asked, margins)
    few = correlated_uniforms(Draws(7, "personas"), np.arange(10, 17), solved.names, solved.matrix)
    many = correlated_uniforms(Draws(7, "personas"), np.arange(1000), solved.names, solved.matrix)
    assert all(np.array_equal(few[name], many[name][10:17]) for name in solved.names)
    assert solved.names == ("age", "school", "income")
    assert np.array_equal(many["age"], Draws(7, "personas").uniform("age", np.arange(1000)))
    assert not np.array_equal(many["school"], Draws(7, "personas").uniform("school", np.arange(1000)))


def test_attributes_that_no_correlation_joins_keep_their_draws() -> None:
    margins = [AGES, school(), INCOMES, numeric("height", AGE)]
    solved = solve([pair("age", "income", 0.6), pair("height", "school", 0.2)], margins)
    found = correlated_uniforms(Draws(7, "personas"), np.arange(100), solved.names, solved.matrix)
    for name in ("age", "school"):
        assert np.array_equal(found[name], Draws(7, "personas").uniform(name, np.arange(100)))


def test_a_target_out_of_reach_gives_the_interval_that_can_be_reached() -> None:
    rare = Margin("rare", lambda uniform, drawn: (uniform >= 0.99).astype(np.int64))
    often = Margin("often", lambda uniform, drawn: (uniform >= 0.3).astype(np.int64))
    with pytest.raises(CorrelationError) as caught:
        solve([pair("rare", "often", 0.5), pair("age", "school", 0.99)], [rare, often, AGES, school()])
    assert [names for names, _, _ in caught.value.problems] == [("rare", "often"), ("age", "school")]
    low, high = map(float, re.findall(r"reach (-?[\d.]+) to (-?[\d.]+)", caught.value.problems[0][1])[0])
    # Two yes-or-no attributes: at most all of the rare ones are among the frequent ones.
    assert high == pytest.approx(0.01 * 0.3 / np.sqrt(0.01 * 0.99 * 0.3 * 0.7), abs=0.002)
    assert low == pytest.approx(-0.01 * 0.7 / np.sqrt(0.01 * 0.99 * 0.3 * 0.7), abs=0.002)
    assert solve([pair("rare", "often", round(high - 0.002, 3))], [rare, often]).matrix[0, 1] > 0.5


def test_what_never_varies_and_what_is_not_there_are_named() -> None:
    constant = Margin("constant", lambda uniform, drawn: np.zeros(uniform.size))
    with pytest.raises(CorrelationError, match="constant and age: one of the two has the same value for everybody"):
        solve([pair("constant", "age", 0.1)], [constant, AGES])
    with pytest.raises(CorrelationError, match="incom: there is no such attribute.*Did you mean `income`"):
        solve([pair("age", "incom", 0.1)], [AGES, INCOMES])


def test_pairs_that_these_values_cannot_have_together_are_named_with_the_eigenvalue() -> None:
    two = [Margin(name, lambda uniform, drawn: (uniform >= 0.5).astype(np.int64)) for name in ("a", "b", "c")]
    asked = [pair("a", "b", 0.5), pair("a", "c", 0.5), pair("b", "c", -0.45)]
    with pytest.raises(CorrelationError, match=r"a and b and c: they cannot all hold.*smallest eigenvalue -0\.\d+"):
        solve(asked, two)


def test_the_root_is_that_of_the_matrix() -> None:
    matrix = np.array([[1, 0.5, 0.2], [0.5, 1, -0.3], [0.2, -0.3, 1]])
    assert np.allclose(lower_root(matrix), np.linalg.cholesky(matrix))
    with pytest.raises(ValueError, match="not positive definite"):
        lower_root(np.array([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]))


@calm
@given(st.floats(-0.8, 0.8), st.integers(0, 2**31), st.integers(3, 12))
def test_any_correlation_within_reach_is_met(target: float, seed: int, levels: int) -> None:
    bits = Draws(seed, "test").uniform("weights", np.arange(levels))
    margins = [AGES, school("other", 0.5 + bits)]
    solved = solve([pair("age", "other", target)], margins)
    drawn = people(solved, margins, seed)
    assert abs(spearman(drawn["age"], drawn["other"]) - target) < 0.03


def test_golden_values() -> None:
    solved = solve(*CASES["three at once"])
    expected = [[1, -0.2155, 0.5176], [-0.2155, 1, 0.4269], [0.5176, 0.4269, 1]]
    assert np.allclose(solved.matrix, expected, atol=6e-5)
    assert np.allclose(solved.matrix * 2**16, np.rint(solved.matrix * 2**16), atol=1e-4), "whole numbers of 2**-16"
    # By hand: the deviates of the plain uniforms, mixed by the root of the matrix.
    draws = Draws(7, "personas")
    z = [stats.norm.ppf(float(draws.uniform(name, 5))) for name in solved.names]
    root = np.linalg.cholesky(solved.matrix)
    found = correlated_uniforms(draws, np.array([5]), solved.names, solved.matrix)
    for i, name in enumerate(solved.names):
        assert found[name][0] == pytest.approx(stats.norm.cdf(sum(root[i, j] * z[j] for j in range(i + 1))), abs=1e-11)


def test_ranks_are_mean_ranks() -> None:
    left, right = [3, 1, 1, 2, 5], [1, 2, 2, 2, 9]
    assert spearman(np.array(left), np.array(right)) == pytest.approx(stats.spearmanr(left, right).statistic)
    assert np.isnan(spearman(np.zeros(4), np.arange(4)))
