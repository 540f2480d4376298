"""What holds when several things change the same taste: the last one counts, and a season goes back to what was before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import SECOND

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
SETS, LEANS, RETURNS, WAVERS = range(4)
"""A step sets a new lasting value, sets one for a season, goes back to the lasting one, or moves its strength only."""
AS_IT_IS = -1.0
"""Said of a strength that a step leaves alone."""


class Steps(NamedTuple):
    """(n,) things that happen to lasting tastes. ``value`` counts only for steps that set one."""

    person: I64
    dimension: I64
    at_us: I64
    """Whole seconds."""
    kind: I64
    value: I64
    factor: F64
    """What multiplies the person's strength from now on, or ``AS_IT_IS``."""
    cause: I64
    key: U64


class Course(NamedTuple):
    """Steps in order of person, dimension and time, with what held before each and what holds after."""

    steps: Steps
    before: I64
    after: I64
    factor: F64
    cell: I64
    """person times dimensions plus dimension."""
    order: I64
    """Places of the steps as they were given."""


def joined(parts: Sequence[Steps]) -> Steps:
    """All steps, one part behind the other."""
    return Steps._make(np.concatenate(column) for column in zip(*parts, strict=True))


def taken(steps: Steps, places: I64) -> Steps:
    """The steps at these places."""
    return Steps._make(column[places] for column in steps)


def run_course(steps: Steps, liked: I64) -> Course:
    """Applies the steps to what people begin with, ``liked`` (people, dimensions), in the order of time.

    Steps at the same instant go by kind.
    """
    cell = steps.person * liked.shape[1] + steps.dimension
    order = np.lexsort((steps.kind, steps.at_us, cell))
    steps, cell = taken(steps, order), cell[order]
    rank = np.arange(cell.size) - np.searchsorted(cell, cell, side="left")
    current, lasting = liked.ravel().copy(), liked.ravel().copy()
    strength = np.ones(current.size)
    before, after, factor = np.empty_like(cell), np.empty_like(cell), np.empty(cell.size)
    by_rank = np.argsort(rank, kind="stable")
    borders = np.searchsorted(rank[by_rank], np.arange(int(rank.max(initial=-1)) + 2))
    for first, last in zip(borders[:-1], borders[1:], strict=True):
        here = by_rank[first:last]
        where, kind, value = cell[here], steps.kind[here], steps.value[here]
        before[here] = current[where]
        lasting[where] = np.where(kind == SETS, value, lasting[where])
        is_set = (kind == SETS) | (kind == LEANS)
        current[where] = np.where(is_set, value, np.where(kind == RETURNS, lasting[where], current[where]))
        strength[where] = np.where(steps.factor[here] < 0, strength[where], steps.factor[here])
        after[here], factor[here] = current[where], strength[where]
    return Course(steps, before, after, factor, cell, order)


def turning_points(course: Course, liked: I64) -> I64:
    """Places of the steps from which on another value or strength holds than before: rows of the table begin there."""
    last = np.ones(course.cell.size, bool)  # at its instant
    last[:-1] = (course.cell[1:] != course.cell[:-1]) | (course.steps.at_us[1:] != course.steps.at_us[:-1])
    kept = np.flatnonzero(last)
    cell, after, factor = course.cell[kept], course.after[kept], course.factor[kept]
    value_then, factor_then = liked.ravel()[cell], np.ones(kept.size)
    same = cell[1:] == cell[:-1]
    value_then[1:] = np.where(same, after[:-1], value_then[1:])
    factor_then[1:] = np.where(same, factor[:-1], factor_then[1:])
    return kept[(after != value_then) | (factor != factor_then)]


def lasting_at(course: Course, liked: I64, person: I64, dimension: int, at_us: I64, start: int) -> I64:
    """(n,) lasting values in one dimension at instants from ``start`` on, in whole seconds."""
    cell = person * liked.shape[1] + dimension
    every = np.concatenate([course.steps.at_us, at_us])
    span = (int(every.max(initial=start)) - start) // SECOND + 2
    keys = course.cell * span + (course.steps.at_us - start) // SECOND
    place = np.searchsorted(keys, cell * span + (at_us - start) // SECOND, side="right") - 1
    if not keys.size:
        return liked[person, dimension]
    place = np.maximum(place, 0)
    found = (course.cell[place] == cell) & (course.steps.at_us[place] <= at_us)
    return np.where(found, course.after[place], liked[person, dimension])
