"""Utility by taste."""

from __future__ import annotations

import numpy as np

from schemas.behaviour.choice import match_table
from schemas.behaviour.taste import taste_utility
from schemas.load import load_domain


def test_utility_is_the_sum_of_strength_times_match() -> None:
    domain = load_domain("food")
    specs = list(domain.dimensions.values())
    sizes = [len(spec.values) for spec in specs]
    items = np.array([[(7 * n + d) % size for d, size in enumerate(sizes)] for n in range(40)], np.int8)
    liked = np.array([[d % size for d, size in enumerate(sizes)], [(d + 1) % size for d, size in enumerate(sizes)]])
    strength = np.array([[0.5 * d + 1 for d in range(len(sizes))], [2.0] * len(sizes)])
    options = np.array([[0, 5, 9], [39, 2, 2]])
    utility = taste_utility(domain, items, liked, strength, options)
    for person in range(2):
        for place in range(3):
            by_hand = sum(
                strength[person, d] * match_table(spec.kind, len(spec.values))[liked[person, d], items[options[person, place], d]]
                for d, spec in enumerate(specs)
            )
            assert np.isclose(utility[person, place], by_hand)
