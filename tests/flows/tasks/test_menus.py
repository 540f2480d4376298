"""Menus in which no option stands out, whatever is contested."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.common.draws import Draws
from flows.tasks.menus import HALVES, Contrast, item_grid, menu_for
from schemas.behaviour.catalogue_index import catalogue_index
from schemas.load import load_domain
from tests.flows.lives import Lives, catalogue, frame, is_likely
from tests.flows.tasks.asked import asked, groups, values_of_items

DRAWS = Draws(7, "selection")
pairs = st.tuples(st.integers(0, 5), st.integers(6, 9))


@given(st.lists(pairs, min_size=2, max_size=3), st.integers(0, 1))
def test_each_value_stands_twice_and_no_two_options_are_alike(chosen: list[tuple[int, int]], half: int) -> None:
    contrast = Contrast("food", tuple(range(len(chosen))), tuple(chosen), half if len(chosen) == 3 else 0)
    options = contrast.options().tolist()
    for column, pair in enumerate(chosen):
        assert Counter(option[column] for option in options) == {pair[0]: 2, pair[1]: 2}
    apart = {sum(a != b for a, b in zip(one, other, strict=True)) for one, other in itertools.combinations(options, 2)}
    assert apart == ({2} if len(chosen) == 3 else {1, 2})


def test_the_two_halves_are_all_eight_combinations() -> None:
    assert sorted([*HALVES[0], *HALVES[1]]) == sorted(itertools.product((0, 1), repeat=3))


@pytest.mark.parametrize("name", ["food", "groceries"])
def test_a_menu_has_the_wanted_values_and_is_alike_in_all_others(name: str) -> None:
    domain, tables = load_domain(name), catalogue(7, ("food", "groceries"))
    index = catalogue_index(domain, tables["items"], tables["item_attributes"])
    contrast = Contrast(name, (0, 2, 4), ((0, 2), (1, 2), (0, 1)), 1)
    grid, first = item_grid(domain, index), []
    for key in range(400):
        menu = menu_for(contrast, domain, grid, key, DRAWS)
        assert menu is not None
        assert sorted(menu.values.tolist()) == sorted(contrast.options().tolist())
        values = index.values[menu.rows]
        assert (values[:, [0, 2, 4]] == menu.values).all()
        assert (values[:, [1, 3, 5]] == values[0, [1, 3, 5]]).all() and len(
            set(index.category[menu.rows].tolist())
        ) == 1
        first.append(tuple(menu.values[0].tolist()))
    assert all(is_likely(count, 400, 0.25) for count in Counter(first).values()) and len(set(first)) == 4


def test_a_catalogue_without_one_of_the_four_has_no_menu() -> None:
    domain, tables = load_domain("food"), catalogue(7, ("food", "groceries"))
    index = catalogue_index(domain, tables["items"], tables["item_attributes"])
    contrast = Contrast("food", (0, 1), ((0, 1), (0, 1)), 0)
    grid = item_grid(domain, index)
    bare = {key: row for key, row in grid.items() if key[1:3] != (0, 1)}
    assert menu_for(contrast, domain, grid, 5, DRAWS) is not None
    assert menu_for(contrast, domain, bare, 5, DRAWS) is None


def test_the_grid_knows_every_item_once() -> None:
    domain, tables = load_domain("food"), catalogue(7, ("food", "groceries"))
    grid = item_grid(domain, catalogue_index(domain, tables["items"], tables["item_attributes"]))
    assert sorted(grid.values()) == list(range(frame(tables["items"]).filter(domain="food").height))
    assert len(grid) == np.prod([len(spec.values) for spec in domain.dimensions.values()]) * len(
        domain.catalogue.categories
    )


def test_the_menus_of_tasks_are_balanced_in_the_catalogue_itself(town: Lives) -> None:
    values, tasks = values_of_items(town), asked(town)
    for members in groups(tasks, "act").values():
        one = members[0]
        contested = {row["dimension"] for row in one.constraints}
        tastes = load_domain(one.task["domains"][0]).dimension_ids()
        items = [values[option["item_id"]] for option in one.task["options"]]
        for what in ("category", *tastes):
            counts = Counter(item[what] for item in items)
            assert sorted(counts.values()) == ([2, 2] if what in contested else [4]), what
        for a, b in itertools.combinations(items, 2):
            assert sum(a[d] != b[d] for d in contested) == 2 or len(contested) == 2
        for option in one.task["options"]:
            assert {d: values[option["item_id"]][d] for d in contested} == dict(one.menu[option["option_id"]])
