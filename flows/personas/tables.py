"""Tables of shares: an attribute given its parents, and the one way to draw from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.learn_people import Learnt, draw, rows_of, stacked, values
from schemas.behaviour.measured import inverse
from schemas.config.numeric import AnyNumeric
from schemas.config.numeric import step_of as step_size
from schemas.config.selectors import OTHERS, grid, overlapping, uncovered
from schemas.source import InputError

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
GRID = 2.0**31
"""Shares of a row are whole numbers that sum to about this much, and whole numbers decide."""
CELL_PLACES = 9
CELLS = 2**CELL_PLACES
CELL_BITS = 32 - CELL_PLACES
ROWS_WITH_CELLS = 1_000
"""A row is cut into cells of equal width, and a search begins where the cell does."""
Problem = tuple[str, str, str, str]
"""Attribute (or rule, margin …), value, rule, fix."""


class PopulationError(InputError):
    """The parts of the config's population do not fit together. ``problems`` holds (attribute, value, rule, fix)."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        lines = [f"personas: {f'{a} {v}'.strip()}: {rule}. {fix[:1].upper()}{fix[1:]}." for a, v, rule, fix in problems]
        super().__init__("\n".join(lines))


def sums_of(group: I64, weights: F64, groups: int) -> F64:
    """(groups,) the weights of each group together, added in their order."""
    return np.asarray(np.bincount(group, weights, groups), dtype=np.float64)


@dataclass(frozen=True)
class Picker:
    """The inverse of the distribution functions of many rows at once."""

    upto: I64
    """(entries,) row * 2**32 + shares up to and with the entry, on the grid. Rises over the entries of all rows."""
    total: I64
    """(rows,) the sum of each row's shares on the grid; 0 for a row in which nobody can be."""
    whole: I64
    """(entries,) shares on the grid."""

    @cached_property
    def first(self) -> I64:
        """(rows * CELLS,) the entry at which each cell of a row begins: where a search starts."""
        cells = np.arange(CELLS, dtype=np.int64) << CELL_BITS
        rows = np.arange(self.total.size, dtype=np.int64) << 32
        begins = np.searchsorted(self.upto, (rows[:, None] + cells).reshape(-1), side="right")
        return np.minimum(begins, self.upto.size - 1).astype(np.int64)

    def pick(self, row: I64, uniform: F64) -> I64:
        """(n,) the entry of each person, given the row and one uniform each."""
        total = self.total[row]
        target = np.minimum((uniform * total).astype(np.int64), total - 1)
        if self.total.size > ROWS_WITH_CELLS:
            return np.searchsorted(self.upto, target + (row << 32), side="right").astype(np.int64)
        entry = self.first[(row << CELL_PLACES) + (target >> CELL_BITS)]
        target += row << 32
        further = np.flatnonzero(self.upto[entry] <= target)
        while further.size:  # few cells have more than one entry
            entry[further] += 1
            further = further[self.upto[entry[further]] <= target[further]]
        return entry

    def rest(self, row: I64, uniform: F64, entry: I64) -> F64:
        """(n,) what is left of the uniform within the entry that it picked: in [0, 1), a uniform of its own."""
        before = self.upto[entry] - self.whole[entry] - (row << 32)
        left = (uniform * self.total[row] - before) / self.whole[entry]
        return np.clip(left, 0.0, 1.0 - 2.0**-53)

    def uniform(self, row: I64, rest: F64, entry: I64) -> F64:
        """(n,) the uniform in (0, 1) that picks the entry and leaves this rest of it."""
        before = self.upto[entry] - self.whole[entry] - (row << 32)
        return np.clip((before + rest * self.whole[entry]) / self.total[row], 2.0**-53, 1.0 - 2.0**-53)


def picker(row: I64, weights: F64, rows: int) -> Picker:
    """Of entries (entries,) that each belong to a row, sorted by row; weights sum to anything positive in a row."""
    sums = sums_of(row, weights, rows)
    share = np.divide(weights, sums[row], out=np.zeros_like(weights), where=sums[row] > 0)
    whole = np.rint(share * GRID).astype(np.int64)
    cumulative = np.cumsum(whole)
    total = np.bincount(row, whole, rows).astype(np.int64)
    before = np.concatenate([[0], np.cumsum(total)[:-1]])
    return Picker((row << 32) + cumulative - before[row], total, whole)


class Found(NamedTuple):
    """One attribute of (n,) people."""

    code: I64
    """Which of the levels."""
    value: F64 | None = None
    """The number itself, where levels are pieces of a range."""
    rest: F64 | None = None
    """What is left of the uniform within the level, if it was asked for."""


@dataclass(frozen=True)
class Distribution:
    """Shares of ``levels`` for each row, as declared: a row picks values of the parents, whatever those may be."""

    name: str
    levels: tuple[str, ...]
    weights: F64
    """(rows, levels)"""
    given: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ((),)
    """(rows, parents) a value, a band of numbers, or OTHERS."""
    is_unique: bool = False
    is_own: bool = False
    number: AnyNumeric | None = None
    """The family of a number, whose levels are the lowest numbers of the pieces of its range."""
    learnt: Learnt | None = None
    """What a file of people says of it: ``weights`` are then one table below the other, and ``rows`` mean nothing."""


@dataclass(frozen=True)
class Step:
    """A distribution in its place among the others: which row holds is known for every value of the parents."""

    of: Distribution
    atoms: tuple[I64, ...]
    """For each parent the class of each of its values."""
    sizes: tuple[int, ...]
    weights: F64
    """(classes of all parents, levels)"""
    rows: I64
    """(classes of all parents,) the row of the distribution that holds."""

    @property
    def name(self) -> str:
        """The attribute."""
        return self.of.name

    @property
    def levels(self) -> tuple[str, ...]:
        """Its values; of a number the lowest of each piece."""
        return self.of.levels

    @property
    def has_numbers(self) -> bool:
        """Whether levels are pieces of a range, within which the rest of a uniform decides."""
        return self.of.number is not None or (self.of.learnt is not None and self.of.learnt.bands is not None)

    @cached_property
    def lows(self) -> F64:
        """(levels,) lowest number of each piece."""
        return np.array([float(level) for level in self.levels])

    def row_of(self, codes: Mapping[str, I64], people: int) -> I64:
        """(n,) the row of ``weights`` that holds for each person, from the codes of the parents."""
        if self.of.learnt is not None:
            return rows_of(self.of.learnt, codes, people)
        row: I64 | None = None
        for parent, atoms, size in zip(self.of.given, self.atoms, self.sizes, strict=True):
            here = atoms[codes[parent]]
            row = here if row is None else row * size + here
        return np.zeros(people, np.int64) if row is None else row

    @cached_property
    def picker(self) -> Picker:
        """The inverse of its distribution functions: an entry is row * levels + code."""
        rows, levels = self.weights.shape
        return picker(np.repeat(np.arange(rows), levels), self.weights.reshape(-1), rows)

    def draw(self, codes: Mapping[str, I64], uniform: F64, *, wants_rest: bool = False) -> Found:
        """The attribute of each person: one uniform through the inverse of the distribution function given the parents."""
        if self.of.learnt is not None:
            code, left = draw(self.of.learnt, uniform, codes)
            return Found(code, self.value_in(codes, code, left), left)
        row = self.row_of(codes, uniform.size)
        if self.of.number is not None:
            drawn = inverse(self.of.number, uniform, None if self.of.number.by is None else self.rows[row])
            return Found(np.searchsorted(self.lows, drawn, side="right") - 1, drawn)
        entry = self.picker.pick(row, uniform)
        rest = self.picker.rest(row, uniform, entry) if wants_rest else None
        return Found(entry - row * len(self.levels), None, rest)

    def value_in(self, codes: Mapping[str, I64], code: I64, rest: F64) -> F64 | None:
        """(n,) the number in the piece that each person is in already, from what is left of the uniform."""
        learnt, number = self.of.learnt, self.of.number
        if learnt is not None:
            return None if learnt.bands is None else np.asarray(values(learnt, code, rest), np.float64)
        if number is None:
            return None
        row = self.row_of(codes, code.size)
        shares = self.weights / self.weights.sum(axis=1, keepdims=True)
        share = shares[row, code]
        uniform = (np.cumsum(shares, axis=1)[row, code] - share) + rest * share
        value = inverse(number, np.clip(uniform, 0.0, 1.0 - 2.0**-53), None if number.by is None else self.rows[row])
        highest = np.append(self.lows[1:] - float(step_size(number)), np.inf)  # so that no rounding leaves the piece
        return np.clip(value, self.lows[code], highest[code])


def step_of(distribution: Distribution, parents: list[tuple[str, ...]]) -> tuple[Step, list[Problem]]:
    """The distribution laid over the values of its parents, and values that none or several of its rows pick."""
    if distribution.learnt is not None:
        none = np.zeros(0, np.int64)
        return Step(distribution, (), (), stacked(distribution.learnt), none), []
    found = grid(distribution.rows, parents)
    problems: list[Problem] = []
    for combination in uncovered(found, parents):
        value, names = " | ".join(combination), " | ".join(distribution.given)
        fix = f"add a row for `{value}`" if distribution.is_own else f"give `{distribution.name}` a table of its own"
        problems.append((distribution.name, value, f"has no row for the value `{value}` of `{names}`", fix))
    for one, other in overlapping(found):
        first, second = (" | ".join(distribution.rows[row]) for row in (one, other))
        problems.append((distribution.name, second, f"overlaps the row `{first}`", "let each value be in one row"))
    strides = np.cumprod([1, *found.sizes[::-1]])[-2::-1] if found.sizes else np.zeros(0, np.int64)
    weights = np.zeros((int(np.prod(found.sizes)), len(distribution.levels)))
    row_at = np.zeros(len(weights), np.int64)
    for cell, rows in found.rows_at.items():
        place = int((np.array(cell, np.int64) * strides).sum())
        weights[place], row_at[place] = distribution.weights[rows[0]], rows[0]
    atoms = tuple(np.array(part, np.int64) for part in found.atoms)
    return Step(distribution, atoms, found.sizes, weights, row_at), problems


__all__ = ["OTHERS", "Distribution", "Picker", "PopulationError", "Problem", "Step", "picker", "step_of", "sums_of"]
