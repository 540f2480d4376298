"""The model that must fail: people who are all alike, do things at any time, and choose as the crowd does."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np

from validation.fidelity.keyed import permutation, uniforms
from validation.fidelity.occurrences import Occurrences


@lru_cache(maxsize=2)
def constant_rate(occurrences: Occurrences) -> Occurrences:
    """As many people and events, but at one constant rate for all, and choices dealt out among everybody.

    A Poisson process of one rate for all, given how many events there are in all, falls on people and times alike. What
    is chosen is what all chose, permuted: pooled shares are kept to the unit, and nobody has any of their own. A function
    of the sample alone.
    """
    events = occurrences.at_us.size
    if not events:
        return occurrences
    people = np.unique(occurrences.user).size
    begin, end = int(occurrences.at_us.min()), int(occurrences.at_us.max())
    user = (uniforms("naive people", events) * people).astype(np.int64)
    at = begin + (uniforms("naive times", events) * (end - begin)).astype(np.int64)
    order = np.lexsort((at, user))
    unit = None if occurrences.unit is None else occurrences.unit[permutation("naive choices", events)]
    return dataclasses.replace(
        Occurrences(user[order], at[order], occurrences.offset_min), unit=unit, session=None, size=occurrences.size
    )


def chosen_by_the_crowd(occurrences: Occurrences) -> Occurrences:
    """The same people at the same times, with choices dealt out among everybody."""
    if occurrences.unit is None:
        return occurrences
    return dataclasses.replace(
        occurrences, unit=occurrences.unit[permutation("naive choices", occurrences.unit.size)], session=None
    )
