"""Joint tables of several attributes: cells that somebody can be in, and the way down them from one attribute to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from flows.personas.tables import Picker, PopulationError, Step, picker, sums_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Codes = dict[str, I64]
CELLS_AT_MOST = 1_000_000
SAME = 4
"""Shares on the grid of 2**31 that are no further apart are the same but for rounding."""


@dataclass(frozen=True)
class Cells:
    """Cells of a joint table that have a share, in the order of their codes."""

    codes: Codes
    """Attribute to (cells,) code of its value, in the order of drawing."""
    shares: F64
    """(cells,) of the population."""
    drawn: F64
    """(cells,) of the people who are drawn, where groups are oversampled."""

    def where(self, kept: npt.NDArray[np.bool_]) -> Cells:
        """Only some of the cells."""
        codes = {name: code[kept] for name, code in self.codes.items()}
        return Cells(codes, self.shares[kept], self.drawn[kept])


def nobody_yet() -> Cells:
    """One cell for everybody, without any attribute."""
    return Cells({}, np.ones(1), np.ones(1))


def with_step(cells: Cells, step: Step) -> Cells:
    """The cells split by one more attribute. Raises PopulationError where they become more than a million."""
    size = cells.shares.size
    row = step.row_of(cells.codes, size)
    sums = step.weights.sum(axis=1, keepdims=True)
    table = np.divide(step.weights, sums, out=np.zeros_like(step.weights), where=sums > 0)
    rows, levels = np.nonzero(table)
    counts = np.bincount(rows, minlength=table.shape[0])
    starts = np.cumsum(counts) - counts
    check_size([*cells.codes, step.name], int(counts[row].sum()))
    parent = np.repeat(np.arange(size), counts[row])
    within = np.arange(parent.size) - np.repeat(np.cumsum(counts[row]) - counts[row], counts[row])
    entry = starts[row][parent] + within
    share = table[rows[entry], levels[entry]]
    codes = {name: code[parent] for name, code in cells.codes.items()}
    return Cells({**codes, step.name: levels[entry]}, cells.shares[parent] * share, cells.drawn[parent] * share)


def with_cells(cells: Cells, other: Cells) -> Cells:
    """Every cell with every cell of the other, whose attributes are independent of its own."""
    check_size([*cells.codes, *other.codes], cells.shares.size * other.shares.size)
    one = np.repeat(np.arange(cells.shares.size), other.shares.size)
    two = np.tile(np.arange(other.shares.size), cells.shares.size)
    codes = {name: code[one] for name, code in cells.codes.items()}
    codes |= {name: code[two] for name, code in other.codes.items()}
    return Cells(codes, cells.shares[one] * other.shares[two], cells.drawn[one] * other.drawn[two])


def only(cells: Cells, names: Iterable[str]) -> Cells:
    """The cells by these attributes, summed over the others."""
    wanted = set(names)
    kept = {name: code for name, code in cells.codes.items() if name in wanted}
    if len(kept) == len(cells.codes):
        return cells
    if not kept:
        return Cells({}, np.array([cells.shares.sum()]), np.array([cells.drawn.sum()]))
    group, first = groups_of(list(kept.values()))
    shares, drawn = (sums_of(group, weights, first.size) for weights in (cells.shares, cells.drawn))
    return Cells({name: code[first] for name, code in kept.items()}, shares, drawn)


def groups_of(codes: list[I64]) -> tuple[I64, I64]:
    """(n,) number of each row's combination, in the order of the codes, and (groups,) a row of each."""
    key = np.zeros(codes[0].size, np.int64)
    for code in codes:
        key, _, _ = _dense(key * (int(code.max(initial=0)) + 1) + code)
    number, first, _ = _dense(key)
    return number, first


def _dense(key: I64) -> tuple[I64, I64, int]:
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return inverse.astype(np.int64), first.astype(np.int64), first.size


def ordered(cells: Cells) -> Cells:
    """The cells that somebody is in, in the order of their codes."""
    kept = cells.where(cells.shares > 0)
    codes = list(kept.codes.values())
    if not codes:
        return kept
    order = np.lexsort(codes[::-1])
    return Cells({name: code[order] for name, code in kept.codes.items()}, kept.shares[order], kept.drawn[order])


def way_to(steps: Sequence[Step], names: Iterable[str]) -> set[str]:
    """The attributes and all that they are given, directly or by others. ``steps`` have parents before children."""
    found = set(names)
    for step in reversed(steps):
        if step.name in found:
            found |= set(step.of.given)
    return found


def check_size(names: list[str], size: int) -> None:
    """Raises PopulationError, naming the attributes, if a joint table has more than a million cells."""
    if size > CELLS_AT_MOST:
        told = ", ".join(f"`{name}`" for name in names)
        rule = f"the joint table of {told} has {size:,} cells; at most {CELLS_AT_MOST:,} are possible"
        fix = "let rules, margins and groups speak of fewer attributes, or of bands instead of single numbers"
        raise PopulationError([(names[-1], "", rule, fix)])


class Uniforms(Protocol):
    """One uniform for every attribute and person, and what is left of some after a draw."""

    def of(self, name: str) -> F64:
        """(n,) the uniforms of an attribute."""

    def wants_rest(self, name: str) -> bool:
        """Whether the rest of an attribute's uniforms is of use."""

    def leave(self, name: str, rest: F64) -> None:
        """Takes (n,) what is left of an attribute's uniforms."""


@dataclass(frozen=True)
class Branching:
    """One attribute of a joint table: from what a person is so far (a node) to the node with one more value."""

    name: str
    code: I64
    """(nodes,) the value by which each node differs from the one above."""
    picker: Picker
    """Its rows are the nodes above, its entries the nodes."""


@dataclass(frozen=True)
class Joint:
    """A joint table that people are drawn from, one attribute after the other."""

    cells: Cells
    """In the order of their codes."""

    @cached_property
    def oversampled(self) -> tuple[str, ...]:
        """The attributes, up to the last one whose shares given those before are others among the people drawn."""
        if np.allclose(self.cells.drawn, self.cells.shares, rtol=1e-9, atol=0.0):
            return ()
        pairs = zip(self.branchings, self._of_population, strict=True)
        moved = [(np.abs(one.picker.whole - other.picker.whole) > SAME).any() for one, other in pairs]
        return tuple(self.cells.codes)[: max((place + 1 for place, is_so in enumerate(moved) if is_so), default=0)]

    @cached_property
    def branchings(self) -> tuple[Branching, ...]:
        """One for each attribute. The nodes of the last are the cells."""
        return self._branchings(self.cells.drawn)

    @cached_property
    def _of_population(self) -> tuple[Branching, ...]:
        """The same as if nobody were drawn more often."""
        return self._branchings(self.cells.shares)

    def _branchings(self, shares: F64) -> tuple[Branching, ...]:
        above, rows = np.zeros(shares.size, np.int64), 1
        found = []
        for name, code in self.cells.codes.items():
            node, first = groups_of([above, code])
            weights = sums_of(node, shares, first.size)
            found.append(Branching(name, code[first], picker(above[first], weights, rows)))
            above, rows = node, first.size
        return tuple(found)

    def ranks(self, uniforms: Uniforms, people: int) -> dict[str, F64]:
        """For each attribute that is ``oversampled`` the (n,) uniforms by which the same values come up where nobody is
        drawn more often.

        ``uniforms`` are those by which they are drawn. What is correlated with an attribute goes by its ranks in the
        population, so that weights undo for it too what groups are drawn more often.
        """
        node = np.zeros(people, np.int64)
        found: dict[str, F64] = {}
        for one, other in zip(self.branchings[: len(self.oversampled)], self._of_population, strict=False):
            uniform = uniforms.of(one.name)
            above, node = node, one.picker.pick(node, uniform)
            rest = one.picker.rest(above, uniform, node)
            if uniforms.wants_rest(one.name):
                uniforms.leave(one.name, rest)
            found[one.name] = other.picker.uniform(above, rest, node)
        return found

    def draw(self, uniforms: Uniforms, people: int, upto: str | None = None) -> tuple[Codes, I64]:
        """Codes of its attributes, to the one that is named, and the cell of each person, from a uniform for each."""
        node = np.zeros(people, np.int64)
        codes: Codes = {}
        for branching in self.branchings:
            uniform = uniforms.of(branching.name)
            above, node = node, branching.picker.pick(node, uniform)
            codes[branching.name] = branching.code[node]
            if uniforms.wants_rest(branching.name):
                uniforms.leave(branching.name, branching.picker.rest(above, uniform, node))
            if branching.name == upto:
                break
        return codes, node
