"""Claims about numeric attributes in a config: what is refused, where, and with which fix."""

from __future__ import annotations

from fractions import Fraction

import pytest

from schemas.config.core import Section
from schemas.config.numeric import AnyNumeric, NumericSpec, is_whole, parent_levels, rows_of, step_of
from schemas.source import judge, read_text


class Holder(Section):
    attributes: dict[str, NumericSpec]


def read(text: str) -> AnyNumeric:
    model, violations = judge(Holder, read_text(f"attributes: {{x: {{{text}}}}}", "people.yaml"))
    assert model is not None, [str(violation) for violation in violations]
    return model.attributes["x"]


def refused(text: str) -> dict[str, tuple[str, str]]:
    """Rule and fix by the field below the attribute."""
    model, violations = judge(Holder, read_text(f"attributes: {{x: {{{text}}}}}", "people.yaml"))
    assert model is None
    return {v.field.removeprefix("attributes.x").removeprefix("."): (v.rule, v.fix) for v in violations}


@pytest.mark.parametrize(
    ("text", "field", "rule", "fix"),
    [
        ("family: normal, mean: 170, sd: 0", "sd", "must be above 0", "write a number above 0"),
        ("family: normal, mean: 170, sd: -9", "sd", "must be above 0", "write a number above 0"),
        ("family: normal, mean: 170", "sd", "`normal` must have it", "add `sd`"),
        ("family: normal, mean: 1, sd: 2, low: 5, high: 3", "low", "low 5 must be below high 3", "swap the two"),
        ("family: normal, mean: 1, sd: 2, low: 5, high: 5", "low", "low 5 must be below high 5", "leave room between"),
        ("family: normal, mean: 170, sd: 9, low: 500", "low", "at least 1e-06 must be left", "from 140.385 to 199.615"),
        ("family: lognormal, median: 3, spread: 1, high: -2", "high", "leave 0 of the distribution", "99.9 %"),
        ("family: lognormal, median: 3, spread: 9", "median", "its values reach", "give `high`"),
        ("family: normal, mean: 3, sd: 9, low: 1.2, high: 1.8, step: 1", "low", "no multiple of the step 1", "smaller"),
        ("family: normal, mean: 3, sd: 9, step: 0", "step", "must be above 0", "write a number above 0"),
        ("family: normal, mean: 3, sd: 9, step: 0.00000015", "step", "six decimals", "a multiple of 0.000001"),
        ("family: normal, mean: 3, sdd: 9", "sdd", "there is no such key", "did you mean `sd`?"),
        ("family: beta, a: 2, b: 0", "b", "must be above 0", "write a number above 0"),
        ("family: beta, a: 2, b: 3, low: 1", "low", "low 1 must be below high 1", "leave room between"),
        ("family: gamma, shape: 2, scale: .nan", "scale", "must be a finite number", "write a number, above 0"),
        ("family: poisson, mean: 20000", "mean", "must be above 0 and 10000 or less", "allowed is 10000"),
        ("family: poisson, mean: 3, low: 40", "low", "at least 1e-06 must be left", "move the bounds there"),
        ("family: empirical, quantiles: {q0.1: 1, q1: 3}", "quantiles", "there is no `q0`", "add `q0`, or `low`"),
        ("family: empirical, quantiles: {q0: 1, q0.5: 3}", "quantiles", "there is no `q1`", "add `q1`, or `high`"),
        ("family: empirical, quantiles: {q0.1: 1, q1: 3}, low: 2", "quantiles", "lies among the quantiles", "add `q0`"),
        ("family: empirical, quantiles: {q0: 1, q1: 0}", "quantiles", "must not fall", "from the lowest up"),
        ("family: empirical, quantiles: {q0: 1, q1: 1}", "quantiles", "the same value", "two values at least"),
        ("family: empirical, quantiles: {q0: 1, p50: 1}", "quantiles", "`p50` is no quantile", "write one like q0.05"),
        ("family: nrmal, mean: 3, sd: 9", "", "must be one of normal, lognormal", "did you mean `normal`?"),
        ("mean: 3, sd: 9", "", "must say its `family`", "add `family`"),
        ("family: normal, mean: 3, sd: 9, by: {}", "by", "must have at least 1 entries", "add what is missing"),
    ],
)
def test_impossible_numbers_are_refused_with_rule_and_fix(text: str, field: str, rule: str, fix: str) -> None:
    found = refused(text)
    assert list(found) == [field]
    assert rule in found[field][0]
    assert fix in found[field][1]


def test_all_that_is_wrong_is_told_at_once() -> None:
    found = refused("family: normal, mean: x, sd: -9, low: 9, high: 3, by: {a: {sd: 0, low: 1, high: 0}, b: {mean: 1}}")
    assert set(found) == {"mean", "sd", "by.a.sd", "by.a.low", "by.b"}


def test_rows_take_what_stands_beside_them_and_must_be_complete_with_it() -> None:
    spec = read("family: normal, sd: 7, low: 100, step: 0.5, by: {f: {mean: 163}, m: {mean: 177, sd: 8, high: 200}}")
    assert parent_levels(spec) == ("f", "m")
    assert step_of(spec) == Fraction(1, 2)
    first, second = rows_of(spec)
    assert first == ({"mean": 163.0, "sd": 7.0}, 200, None)
    assert second == ({"mean": 177.0, "sd": 8.0}, 200, 400)
    found = refused("family: normal, sd: 7, by: {f: {mean: 163}, m: {high: 177}}")
    assert found == {"by.m": ("has no `mean`, and there is none beside `by`", "add `mean` to the row or beside `by`")}


def test_a_bound_that_leaves_little_in_one_row_is_told_at_that_row() -> None:
    found = refused("family: normal, sd: 7, low: 150, by: {f: {mean: 163}, m: {mean: 17}}")
    assert list(found) == ["by.m"]
    assert "leave 0 of the distribution" in found["by.m"][0]


@pytest.mark.parametrize(
    ("text", "step", "whole"),
    [
        ("family: normal, mean: 170, sd: 9", Fraction(1, 10_000), False),
        ("family: lognormal, median: 40000, spread: 0.6", Fraction(1), True),
        ("family: poisson, mean: 3", Fraction(1), True),
        ("family: beta, a: 1, b: 1", Fraction(1, 10_000), False),
        ("family: normal, mean: 0, sd: 0.000003", Fraction(1, 10**6), False),
        ("family: normal, mean: 0, sd: 9, step: 0.1", Fraction(1, 10), False),
        ("family: gamma, shape: 4, scale: 5, step: 500", Fraction(500), True),
    ],
)
def test_without_a_step_the_grid_follows_from_the_width(text: str, step: Fraction, whole: bool) -> None:
    assert step_of(read(text)) == step
    assert is_whole(read(text)) is whole
