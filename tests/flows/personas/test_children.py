"""Claims about the ages of children."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from flows.common.draws import Draws
from flows.common.stage import Shard
from flows.personas.children import children_ages
from flows.personas.population import built_in
from tests.flows.lives import frame, run, small_config
from validation.references.reader import load_reference


def made(count: int, age: int, people: int = 5_000) -> np.ndarray:  # type: ignore[type-arg]
    numbers = np.arange(people, dtype=np.uint64)
    lists = children_ages(np.full(people, count), np.full(people, age), numbers, Draws(7, "personas"))
    return np.array(lists.to_pylist())


@pytest.mark.parametrize(
    ("age", "low", "high"), [(16, 0, 0), (18, 0, 2), (25, 0, 9), (40, 0, 17), (60, 10, 17), (67, 17, 17), (90, 17, 17)]
)
def test_ages_are_those_that_a_parent_of_this_age_can_have(age: int, low: int, high: int) -> None:
    ages = made(2, age)
    assert (ages.min(), ages.max()) == (low, high)
    assert (ages[:, 0] >= ages[:, 1]).all()
    counts = np.bincount(ages.ravel(), minlength=18)[low : high + 1]
    assert stats.chisquare(counts).pvalue > 1e-4 if counts.size > 1 else True


def test_the_young_have_no_children() -> None:
    assert made(3, 15, 4).tolist() == [[]] * 4


def test_everybody_finds_room_and_parents_are_older() -> None:
    people = frame(run("personas", small_config(10_000, 4), {}, Shard(0, 10_000))["personas"])
    for size, status, age, children in people.select(
        "household_size", "marital_status", "age_years", "children_ages"
    ).iter_rows():
        assert len(children) <= size - 1 - (status == "married")
        assert all(age - child >= 16 for child in children)
    share = (people["children_ages"].list.len() > 0).mean()
    wanted = load_reference("demographics_us_atus_cps").shares("hh_child_share", "2012-2016")["yes"]
    assert share == pytest.approx(wanted, abs=4 * (0.25 / people.height) ** 0.5)


def test_more_places_never_make_fewer_children() -> None:
    table = built_in()["children"]
    counts = np.arange(len(table.levels))
    mean = {row: (w * counts).sum() / w.sum() for row, w in zip(table.rows, table.weights, strict=True)}
    for group in ("25-34", "45-54"):
        by_size = [mean[group, "married", f"{size}..{size + 1}"] for size in range(2, 9)]
        assert by_size == sorted(by_size) and by_size[0] == 0
