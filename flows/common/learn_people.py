"""The joint distribution of people in a user's own file, as a chain of conditional tables.

Shape of what is learnt: a list of `Learnt`, one an attribute, in the order of the config. Each has its ``levels`` and
``tables`` from the least to the most specific. The first table has no parents and one row of weights. A later one adds
a parent (the earlier attribute that tells most of what is left first), and has a row of weights for every combination
of parents' levels with enough rows in the file. A person's weights stand in the most specific table that has a row for
them. A level of a numeric attribute is a band, cut into pieces of ten rows or more; piece and value in it follow from
what is left of the same uniform, so that an attribute rises with its uniform and can be correlated. A piece in which the
file has a single value is that value.

No row is copied: a weight is a share of at least ``least_rows`` rows. What rarer levels have together in a combination
is given to them in proportion to their weights in the table before; in the table without parents the weights are the
file's own shares. A row that is alone in its combination is met by the people drawn no more often than strangers from
the same population meet it (`tests/flows/common/test_learn_people.py` measures it). Levels and the ends of pieces are
values of the file, the lowest and the highest among them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.config.people_file import MICRO, LearntAttribute, PeopleFile
from schemas.config.pieces import cuts_at, number_text

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
PARENTS_AT_MOST = 8
"""With more parents no combination has enough rows but in files of hundreds of thousands."""
ROWS_A_PIECE = 10
"""A band of a numeric column, and each piece of it, has this many rows at least."""
PIECES = 16
"""At most so many pieces a band."""
GRID = 2.0**20
"""Weights are whole numbers on this grid of their largest, as in `flows/common/draws.py`."""


@dataclass(frozen=True)
class Conditional:
    """Shares of levels for combinations of the parents' levels."""

    parents: tuple[str, ...]
    cells: I64
    """(rows, parents) codes of the parents' levels, in rising order"""
    weights: F64
    """(rows, levels), each row sums to 1"""


@dataclass(frozen=True)
class Bands:
    """The numbers that a level of a numeric attribute stands for: pieces of ``low`` + 0 to ``count`` - 1 steps."""

    weights: F64
    """(levels, pieces) rows of the file in each piece; a level with fewer pieces than others has zeros at the end"""
    low: I64
    """(levels, pieces) in millionths"""
    count: I64
    """(levels, pieces)"""
    step: int
    """In millionths"""


@dataclass(frozen=True)
class Learnt:
    """One attribute of the chain."""

    name: str
    levels: tuple[str, ...]
    tables: tuple[Conditional, ...]
    bands: Bands | None = None
    """None for a categorical attribute"""

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.bands is not None and self.bands.step % MICRO == 0 and not (self.bands.low % MICRO).any()


def learn(spec: PeopleFile, people: pa.Table, selectors: Mapping[str, Iterable[str]] | None = None) -> list[Learnt]:
    """The chain for the attributes of ``people``, a table as `read_people` gives it. The order of rows has no effect.

    ``selectors`` are values and bands of the attributes that a config speaks of: numbers are cut there too.
    """
    codes: dict[str, I64] = {}
    levels: dict[str, tuple[str, ...]] = {}
    chain: list[Learnt] = []
    for name in spec.columns:
        column = people[name].combine_chunks()
        codes[name], levels[name], bands = _levels(column, spec.bands, (selectors or {}).get(name, ()))
        parents = _most_telling(name, list(codes)[:-1], codes, levels)
        tables = _tables(name, parents, codes, levels, spec.least_rows)
        chain.append(Learnt(name, levels[name], tuple(tables), bands))
    return chain


def draw(learnt: Learnt, uniform: F64, drawn: Mapping[str, I64]) -> tuple[I64, F64]:
    """(n,) the level of each person, and (n,) what is left of the uniform, in [0, 1).

    ``drawn`` has the (n,) codes of the attributes before. Rising with the uniform for people with the same parents.
    """
    return _chosen(stacked(learnt), rows_of(learnt, drawn, uniform.size), uniform)


def stacked(learnt: Learnt) -> F64:
    """(rows, levels) the weights of all tables, one table below the other."""
    return np.concatenate([table.weights for table in learnt.tables])


def rows_of(learnt: Learnt, drawn: Mapping[str, I64], size: int) -> I64:
    """(n,) the row of ``stacked`` that holds for each person: that of the most specific table that has one."""
    found = np.zeros(size, np.int64)
    waiting = np.arange(size)
    first = sum(len(table.weights) for table in learnt.tables)
    for table in reversed(learnt.tables):
        first -= len(table.weights)
        row = _rows_for(table, {parent: drawn[parent][waiting] for parent in table.parents}, waiting.size)
        found[waiting[row >= 0]] = first + row[row >= 0]
        waiting = waiting[row < 0]
    return found


def values(learnt: Learnt, code: I64, left: F64) -> npt.NDArray[np.generic]:
    """(n,) text of a categorical attribute; numbers of a numeric one, evenly within their piece of the band."""
    if learnt.bands is None:
        return np.array(learnt.levels, dtype=object)[code]
    bands = learnt.bands
    piece, part = _chosen(bands.weights, code, left)
    steps = np.floor(part * bands.count[code, piece]).astype(np.int64)
    return np.asarray((bands.low[code, piece] + steps * bands.step) / MICRO)


def stated(chain: Sequence[Learnt]) -> dict[str, dict[str, object]]:
    """What is learnt as plain values, as it stands in a config; weights to six digits."""
    return {
        one.name: {
            "levels": list(one.levels),
            "tables": [
                {
                    "parents": list(table.parents),
                    "cells": table.cells.tolist(),
                    "weights": [[float(f"{weight:.6g}") for weight in row] for row in table.weights.tolist()],
                }
                for table in one.tables
            ],
            "numbers": None
            if one.bands is None
            else {
                "weights": one.bands.weights.tolist(),
                "low": one.bands.low.tolist(),
                "count": one.bands.count.tolist(),
                "step": one.bands.step,
            },
        }
        for one in chain
    }


def restored(learnt: Mapping[str, LearntAttribute]) -> list[Learnt]:
    """The chain that a config states."""
    return [
        Learnt(
            name,
            tuple(one.levels),
            tuple(
                Conditional(
                    tuple(table.parents),
                    np.array(table.cells, np.int64).reshape(len(table.weights), len(table.parents)),
                    np.array(table.weights, np.float64),
                )
                for table in one.tables
            ),
            None
            if one.numbers is None
            else Bands(
                np.array(one.numbers.weights, np.float64),
                np.array(one.numbers.low, np.int64),
                np.array(one.numbers.count, np.int64),
                one.numbers.step,
            ),
        )
        for name, one in learnt.items()
    ]


def _levels(column: pa.Array, bands: int, selectors: Iterable[str]) -> tuple[I64, tuple[str, ...], Bands | None]:
    """(n,) codes, the levels in order, and the bands of a numeric column. A band is called by its lowest number."""
    if not pa.types.is_int64(column.type):
        levels = sorted(pc.unique(column).to_pylist())
        return pc.index_in(column, value_set=pa.array(levels)).to_numpy().astype(np.int64), tuple(levels), None
    value = column.to_numpy()
    distinct = np.unique(value)
    step = math.gcd(*(int(gap) for gap in np.diff(distinct))) or MICRO
    if distinct.size <= bands:
        lows = distinct
    else:
        lows = _cuts(value, bands)
    cuts = [int(cell) for cell in cuts_at(Fraction(1, MICRO), selectors)]
    # A cut is moved up to the next number of the file's own grid, which begins at its lowest number.
    cuts = [int(distinct[0]) - (int(distinct[0]) - cut) // step * step for cut in cuts]
    lows = np.unique([*lows.tolist(), *(cut for cut in cuts if distinct[0] < cut <= distinct[-1])])
    codes = np.asarray(np.searchsorted(lows, value, side="right") - 1)
    ends = np.append(lows[1:], distinct[-1] + step)
    inside = [value[codes == place] for place in range(lows.size)]
    parts = [_cuts(some, PIECES) if some.size else lows[place : place + 1] for place, some in enumerate(inside)]
    low, count, rows = (np.zeros((lows.size, max(part.size for part in parts)), np.int64) for _ in range(3))
    for place, part in enumerate(parts):
        part = np.concatenate([lows[place : place + 1], part[1:]])  # a band without rows has one piece, of weight 0
        low[place, : part.size] = part
        count[place, : part.size] = (np.append(part[1:], ends[place]) - part) // step
        at = np.searchsorted(part, inside[place], side="right") - 1
        rows[place, : part.size] = np.bincount(at, minlength=part.size)
        # A piece of one value stays that value: a code 99 after 1 and 2 does not make a 50.
        seen = np.unique(inside[place])
        piece = np.searchsorted(part, seen, side="right") - 1
        is_known = rows[place, piece] >= ROWS_A_PIECE if distinct.size > bands else np.ones(piece.size, dtype=bool)
        alone = (np.bincount(piece, minlength=part.size)[piece] == 1) & is_known
        low[place, piece[alone]], count[place, piece[alone]] = seen[alone], 1
    names = tuple(number_text(Fraction(cut, MICRO)) for cut in lows.tolist())
    return codes, names, Bands(rows.astype(np.float64), low, count, step)


def _cuts(value: I64, bands: int) -> I64:
    """Where bands of about equal numbers of rows begin, each of ten rows or more.

    A value that has as many rows as a band gets a band of its own.
    """
    ordered = np.sort(value)
    bands = max(1, min(bands, ordered.size // ROWS_A_PIECE))
    distinct, count = np.unique(ordered, return_counts=True)
    heavy = np.flatnonzero(count * bands >= ordered.size)
    after = heavy[heavy + 1 < distinct.size] + 1
    at = ordered[(np.arange(bands) * ordered.size) // bands]
    cuts = np.unique(np.concatenate([at, distinct[heavy], distinct[after]]))
    kept = [int(cuts[0])]
    for cut in cuts[1:]:  # a cut that leaves few rows before it or after it is none
        before, rest = np.searchsorted(ordered, [kept[-1], cut])
        if min(rest - before, ordered.size - rest) >= ROWS_A_PIECE:
            kept.append(int(cut))
    return np.array(kept, np.int64)


def _most_telling(
    name: str, earlier: Sequence[str], codes: Mapping[str, I64], levels: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """The earlier attributes, the one that tells most about this one first."""
    told = {other: _information(codes[other], codes[name], len(levels[other]), len(levels[name])) for other in earlier}
    return sorted(earlier, key=lambda other: (-told[other], earlier.index(other)))[:PARENTS_AT_MOST]


def _information(a: I64, b: I64, sizes_a: int, sizes_b: int) -> int:
    """What two attributes tell about each other, less what chance makes of it, in whole units of 1e-6 nats."""
    joint = np.bincount(a * sizes_b + b, minlength=sizes_a * sizes_b).reshape(sizes_a, sizes_b)
    total = joint.sum()
    expected = np.multiply.outer(joint.sum(axis=1), joint.sum(axis=0)) / total
    some = joint > 0
    terms = joint[some] * np.log(joint[some] / expected[some])
    chance = (sizes_a - 1) * (sizes_b - 1) / (2 * total)  # Miller and Madow
    return round((math.fsum(terms.tolist()) / total - chance) * 1e6)


def _tables(
    name: str, parents: list[str], codes: Mapping[str, I64], levels: Mapping[str, tuple[str, ...]], least: int
) -> list[Conditional]:
    """From no parents to all of them, as long as some combination has enough rows."""
    size = len(levels[name])
    counts = np.bincount(codes[name], minlength=size).astype(np.float64)
    tables = [Conditional((), np.zeros((1, 0), np.int64), (counts / counts.sum())[None, :])]
    cell = np.zeros(codes[name].size, np.int64)
    for depth in range(1, len(parents) + 1):
        members = np.column_stack([codes[parent] for parent in parents[:depth]])
        cell = np.unique(cell * len(levels[parents[depth - 1]]) + members[:, -1], return_inverse=True)[1].ravel()
        first = np.unique(cell, return_index=True)[1]
        counted = np.bincount(cell * size + codes[name], minlength=first.size * size).reshape(first.size, size)
        kept = np.flatnonzero(counted.sum(axis=1) >= least)
        if kept.size == 0:
            break
        cells = members[first[kept]]
        before = tables[-1]
        row = _rows_for(before, {parent: cells[:, place] for place, parent in enumerate(before.parents)}, kept.size)
        tables.append(Conditional(tuple(parents[:depth]), cells, _smoothed(counted[kept], before.weights[row], least)))
    return tables


def _smoothed(counts: I64, before: F64, least: int) -> F64:
    """(rows, levels) shares; levels with few rows share what they have together as they did ``before``."""
    is_rare = counts < least
    pool = np.where(is_rare, counts, 0).sum(axis=1, keepdims=True)
    among = np.where(is_rare, before, 0.0)
    total = _sum(among)
    shares = np.where(is_rare, among / np.where(total > 0, total, 1.0) * pool, counts)
    return shares / counts.sum(axis=1, keepdims=True)


def _sum(rows: F64) -> F64:
    """(rows, 1) sums over the levels, one after the other."""
    total = np.zeros(rows.shape[0])
    for level in range(rows.shape[1]):
        total = total + rows[:, level]
    return total[:, None]


def _rows_for(table: Conditional, drawn: Mapping[str, I64], size: int) -> I64:
    """(n,) the table's row for each person; -1 where it has none."""
    row = np.zeros(size, np.int64)
    group = np.zeros(len(table.cells), np.int64)
    for place, parent in enumerate(table.parents):  # cells are in rising order, so that the groups are too
        base = int(max(table.cells[:, place].max(), drawn[parent].max(initial=0))) + 1
        keys, group = np.unique(group * base + table.cells[:, place], return_inverse=True)
        wanted = np.where(row < 0, -1, row * base + drawn[parent])
        found = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        row = np.where(keys[found] == wanted, found, -1)
    return row


def _chosen(weights: F64, row: I64, uniform: F64) -> tuple[I64, F64]:
    """(n,) the level chosen by the row's weights, and what is left of the uniform within it."""
    most = weights.max(axis=1, keepdims=True)
    whole = np.rint(weights / np.where(most > 0, most, 1.0) * GRID).astype(np.int64)
    upto = np.cumsum(whole, axis=1)
    total = upto[:, -1]
    begin = np.cumsum(total) - total  # rows one after the other on one line, so that one search does for all
    place = uniform * total[row]
    line = (upto + begin[:, None]).ravel()
    at = np.searchsorted(line, begin[row] + np.minimum(place.astype(np.int64), total[row] - 1), side="right")
    code = at - row * weights.shape[1]
    left = (place - (upto[row, code] - whole[row, code])) / whole[row, code]
    return code, np.clip(left, 0.0, 1.0 - 2.0**-53)
