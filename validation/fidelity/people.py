"""A table of people, counted: margins, conditionals, how columns go together, and how far chance alone carries them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.sealed import PERSONAS

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
NOT_COUNTED = ("user_id", "sample_weight", "given_name", "family_name", "birth_date")
"""Columns that say who a row is, or how much it counts."""
KNOWN_EDGES: Mapping[str, tuple[int, ...]] = {
    "age_years": (18, 25, 35, 45, 55, 65, 75),
    "income_usd": (
        *(5000, 7500, 10000, 12500, 15000, 20000, 25000, 30000, 35000, 40000),
        *(50000, 60000, 75000, 100000, 150000),
    ),
}
"""Where the bands of the reference begin."""
DISTINCT = 30
"""A column of more distinct values than this is cut into bands if it holds numbers, else left out."""
BANDS = 12
"""Bands of a column of numbers that has none of its own, at the most."""
DEVIATIONS = 5.0
"""Standard deviations above the mean of a total variation from which on chance is no explanation: less than one sample
in a thousand lies beyond, of few values and of many."""


@dataclass(frozen=True)
class Margin:
    """How often each value of a column occurs among the people who have one."""

    labels: tuple[str, ...]
    people: I64
    shares: F64
    """Weighted by `sample_weight`, where the table has one."""
    worth: float
    """How many people of equal weight would say as much."""


def weights_of(people: pa.Table) -> F64:
    """(n,) `sample_weight`; ones in a table without it."""
    if "sample_weight" not in people.column_names:
        return np.ones(people.num_rows)
    return np.asarray(pc.cast(people["sample_weight"], pa.float64()).to_numpy(zero_copy_only=False))


def is_number(column: pa.ChunkedArray) -> bool:
    """Whether the column holds numbers that can be ordered."""
    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def edges_for(name: str, columns: Sequence[pa.ChunkedArray]) -> tuple[float, ...] | None:
    """Where bands begin that suit all of these columns of one name; None where each value stands for itself."""
    if not all(is_number(column) for column in columns):
        return None
    if name in KNOWN_EDGES:
        return KNOWN_EDGES[name]
    distinct = pc.unique(pa.chunked_array([chunk for column in columns for chunk in _as_floats(column).chunks]))
    if len(distinct) <= DISTINCT:
        return None
    bounds = pc.min_max(distinct).as_py()
    step = _round_step((bounds["max"] - bounds["min"]) / BANDS)
    first = math.floor(bounds["min"] / step) + 1
    last = math.ceil(bounds["max"] / step)
    if all(pa.types.is_integer(column.type) for column in columns) and step >= 1:
        return tuple(round(place * step) for place in range(first, last))
    return tuple(round(place * step, 9) for place in range(first, last))


def _as_floats(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(column, pa.float64())


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10 … that is not below."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))


def band_names(edges: Sequence[float]) -> list[str]:
    """Such as `< 18`, `18-24`, `75+`. Edges that are whole numbers are those of whole numbers."""
    pairs = list(zip(edges, edges[1:], strict=False))
    if all(isinstance(edge, int) for edge in edges):
        return [f"< {edges[0]}", *(f"{low}-{high - 1}" for low, high in pairs), f"{edges[-1]}+"]
    return [f"< {edges[0]:g}", *(f"{low:g}-{high:g}" for low, high in pairs), f"{edges[-1]:g}+"]


def labelled(column: pa.ChunkedArray, edges: Sequence[float] | None) -> pa.Array:
    """(n,) the column as text: its values, or the bands they lie in. Nulls stay."""
    if edges is None:
        text = pc.cast(column, pa.string())
        return text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    names = pa.array(band_names(edges), pa.string())
    numbers = _as_floats(column).to_numpy(zero_copy_only=False)  # NaN where null
    place = np.searchsorted(np.asarray(edges), numbers, side="right")
    return names.take(pa.array(place, mask=np.isnan(numbers)))


def margin(labels: pa.Array, weights: F64) -> Margin:
    """Of (n,) labels, in natural order; nulls are not counted."""
    codes, names = coded(labels)
    here = codes >= 0
    mass = np.bincount(codes[here], weights[here], len(names))
    people = np.bincount(codes[here], minlength=len(names))
    return Margin(names, people, mass / max(mass.sum(), 1e-300), worth(weights[here]))


def worth(weights: F64) -> float:
    """Kish's effective size: that many people of equal weight have the same spread."""
    return float(weights.sum() ** 2 / max((weights * weights).sum(), 1e-300))


def coded(labels: pa.Array) -> tuple[I64, tuple[str, ...]]:
    """(n,) place of each label among the distinct ones in natural order, -1 for null; and these."""
    names = tuple(sorted(pc.unique(labels).drop_null().to_pylist(), key=natural))
    places = pc.fill_null(pc.index_in(labels, value_set=pa.array(names, pa.string())), -1)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64), names


def natural(label: str) -> tuple[int, float, str]:
    """A key by which `9` stands before `10`, and bands stand in the order of their numbers."""
    number = label.removeprefix("< ").removesuffix("+")
    head = number[:1] + number[1:].partition("-")[0]
    try:
        value = float(head)
    except ValueError:
        return (1, 0.0, label)
    return (0, value - 0.5 if label.startswith("< ") else value, label) if math.isfinite(value) else (1, 0.0, label)


def conditional(child: pa.Array, parent: pa.Array, weights: F64) -> tuple[tuple[str, ...], tuple[str, ...], F64, I64]:
    """Parent's labels, child's labels, (parents, children) shares that sum to 1 in each row, and people a row."""
    child_codes, child_names = coded(child)
    parent_codes, parent_names = coded(parent)
    here = (child_codes >= 0) & (parent_codes >= 0)
    size = len(parent_names) * len(child_names)
    cell = parent_codes[here] * len(child_names) + child_codes[here]
    mass = np.bincount(cell, weights[here], size).reshape(len(parent_names), len(child_names))
    rows = np.bincount(parent_codes[here], minlength=len(parent_names))
    return parent_names, child_names, mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300), rows


def together(people: pa.Table, names: Sequence[str]) -> F64:
    """(names, names) Spearman's correlation where both columns hold numbers, else Cramér's V. NaN: not computable."""
    out = np.full((len(names), len(names)), math.nan)
    edges = {name: edges_for(name, [people[name]]) for name in names}
    labels = {name: coded(labelled(people[name], edges[name]))[0] for name in names}
    numbers = {name: _as_floats(people[name]) for name in names if is_number(people[name])}
    ranks = {name: _ranks(column.to_numpy(zero_copy_only=False)) for name, column in numbers.items()}
    for row, one in enumerate(names):
        out[row, row] = 1.0
        for column, other in enumerate(names[:row]):
            if one in ranks and other in ranks:
                value = _pearson(ranks[one], ranks[other])
            else:
                value = _cramer(labels[one], labels[other])
            out[row, column] = out[column, row] = value
    return out


def spearman(one: F64, other: F64) -> float:
    """The rank correlation of two columns of numbers, with mean ranks for ties. NaN where one never varies."""
    return _pearson(_ranks(one), _ranks(other))


def _ranks(numbers: F64) -> F64:
    """(n,) mean ranks; NaN for NaN."""
    known = ~np.isnan(numbers)
    _, place, count = np.unique(numbers[known], return_inverse=True, return_counts=True)
    ranks = np.full(numbers.size, math.nan)
    ranks[known] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def _pearson(one: F64, other: F64) -> float:
    here = ~(np.isnan(one) | np.isnan(other))
    if here.sum() < 2:
        return math.nan
    a, b = one[here] - one[here].mean(), other[here] - other[here].mean()
    spread = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / spread if spread else math.nan


def _cramer(one: I64, other: I64) -> float:
    """Bergsma's corrected V: near 0 for columns that have nothing to do with each other, however many values they have."""
    here = (one >= 0) & (other >= 0)
    people = int(here.sum())
    if people < 2:
        return math.nan
    rows, columns = int(one.max()) + 1, int(other.max()) + 1
    counts = np.bincount(one[here] * columns + other[here], minlength=rows * columns).reshape(rows, columns)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    rows, columns = counts.shape
    if min(rows, columns) < 2:
        return math.nan
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / people
    phi = float(((counts - expected) ** 2 / expected).sum()) / people - (rows - 1) * (columns - 1) / (people - 1)
    smaller = min(rows - (rows - 1) ** 2 / (people - 1), columns - (columns - 1) ** 2 / (people - 1)) - 1
    return math.sqrt(max(phi, 0.0) / smaller) if smaller > 0 else math.nan


def by_chance(shares: F64, worth: float, other_worth: float = math.inf) -> float:
    """The total variation that chance alone gives at the most, between two samples or a sample and its population."""
    spread = np.sqrt(shares * (1 - shares) * (1 / max(worth, 1.0) + 1 / max(other_worth, 1.0)))
    mean = math.sqrt(2 / math.pi) * float(spread.sum()) / 2
    deviation = math.sqrt(1 - 2 / math.pi) * math.sqrt(float((spread * spread).sum()) / 2)  # as of two values
    # Few people fall in whole steps: half a person is the least by which a share can be off.
    return mean + DEVIATIONS * deviation + 0.5 / min(worth, other_worth)


def counted(people: pa.Table) -> tuple[list[str], dict[str, str]]:
    """The columns whose values can be counted, and those that cannot with the reason."""
    kept: list[str] = []
    left_out: dict[str, str] = {}
    for name in people.column_names:
        column = people[name]
        if name in NOT_COUNTED:
            continue
        if pa.types.is_nested(column.type) or pa.types.is_temporal(column.type):
            left_out[name] = f"holds {column.type}"
        elif column.null_count == len(column):
            left_out[name] = "is empty"
        elif not is_number(column) and len(pc.unique(column)) > DISTINCT:
            left_out[name] = f"has more than {DISTINCT} values"
        else:
            kept.append(name)
    declared = [name for name in PERSONAS.columns if name in kept]
    return declared + [name for name in kept if name not in declared], left_out
