"""People beside what their config asks for: every share of the table `population` with how far chance may carry it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from validation.fidelity.people import weights_of
from validation.structure.folder import Violation

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
FALSE_ALARM = 1e-4
"""Of so many right populations one is to fail by chance, over all the shares that are judged together."""
PEOPLE_AT_LEAST = 100
"""Shares among fewer people than this are not judged."""
SEPARATOR = " | "


class Realised(NamedTuple):
    """One value of one attribute among some people: its share as configured and, weighted, as it is."""

    attribute: str
    given: str
    among: str
    value: str
    people: int
    """Of whom it is a share: those of `among` who have any value."""
    having: int
    """Who has this value."""
    configured: float
    realised: float
    bound: float
    """How far the two may lie apart at this number of people."""
    expected_count: float
    ok: bool | None
    """None where people are too few to judge by."""

    def violation(self) -> Violation:
        """What to say of it if it is not ok."""
        of = f" of those with {self.given} {self.among}" if self.given else ""
        rule = f"`{self.value}`{of} is configured {self.configured:.2%} ± {self.bound:.2%}, and is {self.realised:.2%}"
        return Violation("personas", self.attribute, rule, self.having)


@dataclass(frozen=True)
class Values:
    """The values of an attribute and where they are found: texts of a column, or bands of its numbers."""

    column: str
    labels: tuple[str, ...]
    low: F64
    """(values,) NaN where the value stands for itself."""
    high: F64

    def of(self, people: pa.Table) -> pa.ChunkedArray:
        """(n,) the column; of lists how many they hold."""
        column = people[self.column]
        return pc.list_value_length(column) if pa.types.is_list(column.type) else column

    def places(self, people: pa.Table) -> I64:
        """(n,) place of each person's value among the labels; -1 without one, ``len(labels)`` for an unknown one."""
        column = self.of(people)
        known = pa.array(self.labels, pa.string())
        found = np.asarray(pc.fill_null(pc.index_in(pc.cast(column, pa.string()), value_set=known), -1), np.int64)
        banded = np.flatnonzero(~np.isnan(self.low))
        if banded.size:
            numbers = numbers_in(column)
            order = banded[np.argsort(self.low[banded])]
            place = np.searchsorted(self.low[order], numbers, side="right") - 1
            band = order[np.maximum(place, 0)]
            inside = (place >= 0) & (numbers <= self.high[band])
            found = np.where(inside, band, found)
        missing = np.asarray(pc.is_null(column).to_numpy(zero_copy_only=False), np.bool_)
        return np.where(missing, -1, np.where(found < 0, len(self.labels), found))


@dataclass(frozen=True)
class Block:
    """All shares of one attribute given some others, or given nothing."""

    attribute: str
    given: str
    among: tuple[str, ...]
    values: Values
    parents: tuple[Values, ...]
    share: F64
    """(among, values) of the population."""
    drawn: F64
    """(among, values) of the people who are drawn."""


@dataclass
class Counts:
    """What was counted for a block. The last column is of values that nobody should have."""

    people: I64
    """(among, values + 1)"""
    weight: F64
    squares: F64
    heaviest: F64
    """(among,)"""
    unknown: dict[str, int]
    """Values that nobody should have, as text."""


def numbers_in(column: pa.ChunkedArray) -> F64:
    """(n,) the numbers of a column, those written as text too; NaN for none."""
    if pa.types.is_string(column.type):
        column = pc.if_else(pc.match_substring_regex(column, r"^-?\d+(\.\d+)?$"), column, pa.scalar(None, pa.string()))
    return np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def compare(population: pa.Table, people: Iterable[pa.Table]) -> list[Realised]:
    """Every share of `population`, in its order, beside the people, who come in portions.

    What the people have no column of is left out. A value that the config does not know stands in a row of its own,
    with the share 0, and is not ok. Margins are judged together, and so are the shares given something.
    """
    blocks = blocks_of(population)
    counts: list[Counts | None] = [None] * len(blocks)
    rows = 0
    for portion in people:
        rows += portion.num_rows
        weights = weights_of(portion)
        for place, block in enumerate(blocks):
            counts[place] = _counted(block, portion, weights, counts[place])
    found = [(block, count) for block, count in zip(blocks, counts, strict=True) if count is not None]
    judged = {
        is_margin: sum(int(_enough(c).sum()) * len(b.values.labels) for b, c in found if (b.given == "") is is_margin)
        for is_margin in (True, False)
    }
    return [row for block, count in found for row in _rows(block, count, rows, deviations(judged[block.given == ""]))]


def deviations(shares: int) -> float:
    """Standard errors by which none of so many shares is off in all but ``FALSE_ALARM`` of right populations."""
    return -NormalDist().inv_cdf(FALSE_ALARM / 2 / max(shares, 1))


def blocks_of(population: pa.Table) -> list[Block]:
    """The shares of the table, attribute by attribute."""
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in population.to_pylist():
        rows.setdefault((row["attribute"], row["given"]), []).append(row)
    by_name: dict[str, dict[int, dict[str, Any]]] = {}
    for (name, _), own in rows.items():
        by_name.setdefault(name, {}).update({row["place"]: row for row in own})
    values = {name: _values([own[place] for place in sorted(own)]) for name, own in by_name.items()}
    blocks = []
    for (name, given), own in rows.items():
        parents = [part for part in given.split(SEPARATOR) if part]
        if not values.keys() >= set(parents):
            continue
        labels = {label: place for place, label in enumerate(values[name].labels)}
        among = {str(key): place for place, key in enumerate(dict.fromkeys(row["among"] for row in own))}
        share, drawn = np.zeros((len(among), len(labels))), np.zeros((len(among), len(labels)))
        for row in own:
            cell = among[str(row["among"])], labels[str(row["label"])]
            share[cell], drawn[cell] = row["share"], row["drawn_share"]
        blocks.append(Block(name, given, (*among,), values[name], tuple(values[p] for p in parents), share, drawn))
    return blocks


def _values(rows: Sequence[dict[str, Any]]) -> Values:
    labels = tuple(str(row["label"]) for row in rows)
    ends = np.array([[row["band_from"], row["band_to"]] for row in rows], np.float64).reshape(-1, 2)
    is_band = ~np.isnan(ends).all(axis=1)
    low = np.where(is_band & np.isnan(ends[:, 0]), -math.inf, ends[:, 0])
    high = np.where(is_band & np.isnan(ends[:, 1]), math.inf, ends[:, 1])
    return Values(str(rows[0]["column_name"]), labels, low, high)


def _counted(block: Block, people: pa.Table, weights: F64, before: Counts | None) -> Counts | None:
    """The people of one more portion, added in place; None where a column is missing."""
    if any(values.column not in people.column_names for values in (block.values, *block.parents)):
        return None
    size = len(block.values.labels) + 1
    value = block.values.places(people)
    group = _group(block, people)
    here = (value >= 0) & (group >= 0)
    cell = group[here] * size + value[here]
    shape, cells = (len(block.among), size), len(block.among) * size
    weight = weights[here]
    heaviest = np.zeros(shape[0])
    np.maximum.at(heaviest, group[here], weight)
    strange = block.values.of(people).filter(pa.array(here & (value == size - 1)))
    unknown = {str(pair["values"]): pair["counts"] for pair in pc.value_counts(strange).to_pylist()}
    new = Counts(
        np.bincount(cell, minlength=cells).reshape(shape),
        np.asarray(np.bincount(cell, weight, cells), np.float64).reshape(shape),
        np.asarray(np.bincount(cell, weight * weight, cells), np.float64).reshape(shape),
        heaviest,
        unknown,
    )
    if before is None:
        return new
    before.people += new.people
    before.weight += new.weight
    before.squares += new.squares
    np.maximum(before.heaviest, new.heaviest, out=before.heaviest)
    for text, count in unknown.items():
        before.unknown[text] = before.unknown.get(text, 0) + count
    return before


def _group(block: Block, people: pa.Table) -> I64:
    """(n,) place of each person in ``among``; -1 for those of whom the table says nothing."""
    if not block.parents:
        return np.zeros(people.num_rows, np.int64)
    sizes = [len(values.labels) + 1 for values in block.parents]
    places = {
        tuple(values.labels.index(part) for values, part in zip(block.parents, _parts(key, block), strict=True)): place
        for place, key in enumerate(block.among)
    }
    lookup = np.full(sizes, -1, np.int64)
    for cell, place in places.items():
        lookup[cell] = place
    codes = [values.places(people) for values in block.parents]
    missing = np.logical_or.reduce([code < 0 for code in codes])
    return np.where(missing, -1, lookup[tuple(np.maximum(code, 0) for code in codes)])


def _parts(key: str, block: Block) -> list[str]:
    return key.split(SEPARATOR) if len(block.parents) > 1 else [key]


def _enough(counts: Counts) -> npt.NDArray[np.bool_]:
    """(among,) whether there are people enough to judge shares among them."""
    return np.asarray(counts.people.sum(axis=1) >= PEOPLE_AT_LEAST)


def _rows(block: Block, counts: Counts, rows: int, sure: float) -> Iterable[Realised]:
    """The shares of a block. Bounds are ``sure`` standard errors, and some people, as the count of what is rare is skewed.

    Those people are the second term of Cornish and Fisher's expansion for a skewness of 1, and half a person.
    """
    known = counts.people[:, :-1]
    people, total = counts.people.sum(axis=1, keepdims=True), counts.weight.sum(axis=1, keepdims=True)
    share = _of(block.share, block.share.sum(axis=1, keepdims=True))
    drawn = _of(block.drawn, block.drawn.sum(axis=1, keepdims=True))
    weight = counts.weight[:, :-1]
    # Squared weights inside each value, relative to the mean weight: as the config expects them, and not as the sample
    # has them, so that a wrong count cannot widen its own bound. How much weights differ inside a value is the sample's.
    uneven = np.maximum(_of(counts.squares[:, :-1] * known, weight * weight, 1.0), 1.0)
    inside = people * uneven * _of(share * share, drawn)
    outside = np.maximum(inside.sum(axis=1, keepdims=True) - inside, 0.0)
    error = np.sqrt((1 - share) ** 2 * inside + share**2 * outside) / np.maximum(people, 1)
    few = (sure**2 - 1) / 6 + 0.5
    slack = few * counts.heaviest[:, None] / np.maximum(total, 1e-9)
    bound = np.where(share > 0, sure * error + slack, 0.0)
    seen = _of(weight, total)
    enough = _enough(counts)
    for group, value in zip(*np.nonzero((block.share > 0) | (known > 0)), strict=True):
        off = abs(float(share[group, value] - seen[group, value])) > bound[group, value]
        yield Realised(
            block.attribute,
            block.given,
            block.among[group],
            block.values.labels[value],
            int(people[group, 0]),
            int(known[group, value]),
            round(float(share[group, value]), 6),
            round(float(seen[group, value]), 6),
            round(float(bound[group, value]), 6),
            round(rows * float(block.drawn[group, value]), 3),
            (not off) if enough[group] else None,
        )
    for text, count in counts.unknown.items() if not block.given else ():
        part = round(count / max(int(people.sum()), 1), 6)
        yield Realised(block.attribute, "", "", text, int(people.sum()), count, 0.0, part, 0.0, 0.0, False)


def _of(part: F64, whole: F64, otherwise: float = 0.0) -> F64:
    """The quotient, and something else where there is nothing to divide by."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.full(part.shape, otherwise), where=whole > 0)
