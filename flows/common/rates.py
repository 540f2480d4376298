"""Who does more of an activity, and who less: one draw for every stage to which that matters."""

from __future__ import annotations

from flows.common.draws import F64, U64, Draws

STAGE = "timelines"
"""The stage in which the rates are lived."""


def rate_uniform(seed: int, aspect: str, numbers: U64) -> F64:
    """(people,) where each stands among all by how often they do an activity; ``aspect`` is its domain and its name."""
    return Draws(seed, STAGE).uniform(f"{aspect} rate", numbers)
