"""Weights: what they must be, and that everything wrong with them is told together."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.config.core import Section, Weights
from schemas.source import Source, SourceError, check


class Holder(Section):
    """A section with weights."""

    weights: Weights


def told(weights: Any) -> list[tuple[str, str]]:
    with pytest.raises(SourceError) as caught:
        check(Holder, Source("x.yaml", {"weights": weights}, {}))
    return [(violation.field, violation.rule) for violation in caught.value.violations]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30))
def test_shares_that_sum_to_one_are_taken_as_they_are(counts: list[int]) -> None:
    weights = {f"v{place}": count / sum(counts) for place, count in enumerate(counts)}
    assert Holder(weights=weights).weights == weights


def test_a_wrong_sum_is_told_with_sum_tolerance_and_the_shares_scaled() -> None:
    with pytest.raises(SourceError) as caught:
        check(Holder, Source("x.yaml", {"weights": {"urban": 0.5, "suburban": 0.3, "rural": 0.15}}, {}))
    [violation] = caught.value.violations
    assert violation.rule == "weights sum to 0.95; must sum to 1 within 1e-06"
    assert violation.fix == "scaled to 1 they read {urban: 0.526316, suburban: 0.315789, rural: 0.157895}"


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({"a": 1, "b": -1, "c": 1}, [("weights.b", "must be 0 or more")]),
        ({"a": math.nan, "b": 1}, [("weights.a", "must be a finite number")]),
        ({"a": math.inf}, [("weights.a", "must be a finite number")]),
        (
            {"a": 1, "b": -0.05},
            [("weights", "weights sum to 0.95; must sum to 1 within 1e-06"), ("weights.b", "must be 0 or more")],
        ),
        ({"a": -1, "b": math.nan}, [("weights.a", "must be 0 or more"), ("weights.b", "must be a finite number")]),
        ({"a": True, "b": 0.5}, [("weights.a", "must be a number")]),
        ({"a": 0, "b": 0}, [("weights", "weights sum to 0; must sum to 1 within 1e-06")]),
        ({}, [("weights", "weights must name at least one value")]),
        ([0.5, 0.5], [("weights", "must be a map of keys to values")]),
    ],
)
def test_every_wrong_weight_is_told_at_its_value(weights: Any, expected: list[tuple[str, str]]) -> None:
    assert told(weights) == expected


def test_python_callers_get_the_same_rules() -> None:
    with pytest.raises(ValidationError, match="weights sum to 0.5"):
        Holder(weights={"a": 0.5})


def test_a_section_is_frozen_and_closed() -> None:
    holder = Holder(weights={"a": 1.0})
    with pytest.raises(ValidationError):
        holder.weights = {"b": 1.0}
    with pytest.raises(ValidationError):
        Holder.model_validate({"weights": {"a": 1.0}, "extra": 1})
