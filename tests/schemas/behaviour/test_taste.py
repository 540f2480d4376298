"""The utility of options, against a loop."""

from __future__ import annotations

import numpy as np
import pytest

from flows.common.draws import Draws
from schemas.behaviour.choice import match_table
from schemas.behaviour.taste import taste_utility
from schemas.load import load_domain

ITEMS, PEOPLE, SHOWN = 40, 25, 5


@pytest.mark.parametrize("name", ["food", "groceries"])
def test_utility_is_the_sum_of_strength_times_match_over_the_dimensions(name: str) -> None:
    domain, draws = load_domain(name), Draws(1, "test")
    specs = list(domain.dimensions.values())
    sizes = np.array([len(spec.values) for spec in specs])
    columns = np.arange(sizes.size)
    items = np.floor(draws.uniform("items", np.arange(ITEMS)[:, None], columns) * sizes).astype(np.int8)
    liked = np.floor(draws.uniform("liked", np.arange(PEOPLE)[:, None], columns) * sizes).astype(np.int64)
    strength = draws.uniform("strength", np.arange(PEOPLE)[:, None], columns) * 3
    options = np.floor(draws.uniform("options", np.arange(PEOPLE)[:, None], np.arange(SHOWN)) * ITEMS).astype(np.int64)
    made = taste_utility(domain, items, liked, strength, options)
    for person in range(PEOPLE):
        for place in range(SHOWN):
            expected = 0.0
            for column, spec in enumerate(specs):
                value = items[options[person, place], column]
                expected += (
                    strength[person, column] * match_table(spec.kind, len(spec.values))[liked[person, column], value]
                )
            assert made[person, place] == expected
    one = taste_utility(domain, items, liked[7:8], strength[7:8], options[7:8])
    assert (one == made[7:8]).all()  # to the last bit, in whatever company
    assert made.shape == (PEOPLE, SHOWN) and np.unique(made).size > PEOPLE


def test_an_item_that_is_all_a_person_likes_has_the_sum_of_the_strengths() -> None:
    domain = load_domain("food")
    count = len(domain.dimensions)
    items = np.zeros((2, count), np.int8)
    items[1] = 1
    strength = np.arange(1.0, count + 1)[None]
    utility = taste_utility(domain, items, np.zeros((1, count), np.int64), strength, np.array([[0, 1]]))
    assert utility[0, 0] == strength.sum()
    halves = [spec.kind != "categorical" for spec in domain.dimensions.values()]
    assert utility[0, 1] == (strength[0] * np.array(halves) / 2).sum()
