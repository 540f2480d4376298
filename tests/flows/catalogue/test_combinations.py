"""Claims about which things there are: whatever tastes are at odds, there are options that tell them apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from tests.flows.catalogue.shelves import Shelf

MANY = ("groceries", "media", "mobility")
"""Domains whose references have a law of Zipf or repeats of items."""


def rows_of(shelf: Shelf) -> set[tuple[int, ...]]:
    return set(map(tuple, shelf.grid().tolist()))


def pairs(shelf: Shelf, place: int) -> list[tuple[int, int]]:
    """Every two values of a dimension. Place 0 is the category."""
    return list(itertools.combinations(range(len(list(shelf.domain.dimensions.values())[place - 1].values)), 2))


def with_values(row: tuple[int, ...], places: tuple[int, ...], values: Iterator[int]) -> tuple[int, ...]:
    changed = list(row)
    for place, value in zip(places, values, strict=True):
        changed[place] = value
    return tuple(changed)


def test_any_two_values_of_any_two_dimensions_come_in_all_four_combinations_all_else_equal(shelf: Shelf) -> None:
    rows = rows_of(shelf)
    some = sorted(rows)[:: max(1, len(rows) // 3)]
    for places in itertools.combinations(range(1, 1 + len(shelf.domain.dimensions)), 2):
        for values in itertools.product(*(pairs(shelf, place) for place in places)):
            for row in some:
                four = {with_values(row, places, iter(chosen)) for chosen in itertools.product(*values)}
                assert len(four) == 4
                assert four <= rows, (places, values)


def test_for_three_contested_dimensions_there_are_four_things_none_of_which_is_the_usual_one(shelf: Shelf) -> None:
    """Each of two values stands on two of the four, so that counting over the options tells nothing."""
    rows = rows_of(shelf)
    row = sorted(rows)[len(rows) // 2]
    for places in itertools.combinations(range(1, 1 + len(shelf.domain.dimensions)), 3):
        for values in itertools.product(*(pairs(shelf, place) for place in places)):
            choices = [c for c in itertools.product((0, 1), repeat=3) if sum(c) % 2 == 0]
            four = [with_values(row, places, (v[c] for v, c in zip(values, chosen, strict=True))) for chosen in choices]
            assert set(four) <= rows
            for place in places:
                assert sorted(np.unique([thing[place] for thing in four], return_counts=True)[1]) == [2, 2]


def test_a_group_by_on_the_structured_view_reads_every_dimension(shelf: Shelf) -> None:
    domain = shelf.domain
    counts = shelf.attributes.group_by(["dimension", "value"]).aggregate([([], "count_all")])
    found = {(row["dimension"], row["value"]): row["count_all"] for row in counts.to_pylist()}
    for name, spec in domain.dimensions.items():
        for value in spec.values:
            assert found[f"{domain.name}.{name}", value] == domain.item_count() / len(spec.values)
    each = shelf.attributes.group_by("item_id").aggregate([("dimension", "count_distinct")])
    assert set(each["dimension_count_distinct"].to_pylist()) == {len(domain.dimensions) + len(domain.distractors)}


def test_things_that_differ_in_one_dimension_share_all_its_other_attributes(shelf: Shelf) -> None:
    rows = rows_of(shelf)
    row = sorted(rows)[len(rows) // 3]
    for place, spec in enumerate(shelf.domain.dimensions.values(), start=1):
        near = {with_values(row, (place,), iter([value])) for value in range(len(spec.values))}
        assert near <= rows
        assert {sum(a != b for a, b in zip(row, other, strict=True)) for other in near} == {0, 1}


def test_there_are_enough_things_and_twice_as_many_distractors_as_dimensions(shelf: Shelf) -> None:
    domain = shelf.domain
    assert shelf.items.num_rows >= (4_000 if domain.name in MANY else 400)
    assert len(domain.dimensions) >= 6
    assert len(domain.distractors) >= 2 * len(domain.dimensions)
