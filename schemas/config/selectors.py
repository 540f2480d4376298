"""What the key of a table, a rule or a margin picks among the values of attributes: one value, or a band of numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

_BAND = re.compile(r"(-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
OTHERS = "\0others"
"""Picks every value that no other key of the table picks. For built-in tables only: a config says what it means."""


def band_of(selector: str) -> tuple[float, float] | None:
    """Low and high end of `low..high`, the high end excluded; an end that is left out is infinite. None for no band."""
    found = _BAND.fullmatch(selector)
    if found is None or found.groups() == (None, None):
        return None
    low, high = found.groups()
    return float(low) if low else -math.inf, float(high) if high else math.inf


def is_number(value: str) -> bool:
    """Whether a value is written as a number."""
    return _NUMBER.fullmatch(value) is not None


def picked(selector: str, values: Sequence[str]) -> list[int]:
    """Places of the values that the selector picks: those equal to it, else the numbers in its band."""
    if same := [place for place, value in enumerate(values) if value == selector]:
        return same
    band = band_of(selector)
    if band is None:
        return []
    return [place for place, value in enumerate(values) if is_number(value) and band[0] <= float(value) < band[1]]


def parts_of(key: str, parents: int) -> tuple[str, ...]:
    """The selectors of a key `one | other`; a key for a single parent is one selector, whatever it is written with."""
    return tuple(part.strip() for part in key.split("|")) if parents > 1 else (key,)


class Grid(NamedTuple):
    """How the rows of a table lie over the values of its parents."""

    atoms: tuple[tuple[int, ...], ...]
    """For each parent the class of each of its values: values of a class are picked by the same rows."""
    sizes: tuple[int, ...]
    """Classes of each parent."""
    rows_at: dict[tuple[int, ...], list[int]]
    """A class of each parent to the rows that pick it. One row each, if the table is right."""


def grid(rows: Sequence[tuple[str, ...]], levels: Sequence[Sequence[str]]) -> Grid:
    """Where rows of selectors, one selector a parent, lie. ``levels`` are the values of each parent."""
    atoms: list[tuple[int, ...]] = []
    sizes: list[int] = []
    classes_of: list[dict[str, list[int]]] = []
    for place, values in enumerate(levels):
        selectors = dict.fromkeys(row[place] for row in rows)
        at: list[list[str]] = [[] for _ in values]
        for selector in selectors:
            for value in picked(selector, values):
                at[value].append(selector)
        signatures = [tuple(found or ([OTHERS] if OTHERS in selectors else [])) for found in at]
        numbers = {signature: number for number, signature in enumerate(dict.fromkeys(signatures))}
        atoms.append(tuple(numbers[signature] for signature in signatures))
        sizes.append(len(numbers))
        classes_of.append({s: [number for signature, number in numbers.items() if s in signature] for s in selectors})
    rows_at: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(rows):
        for cell in itertools.product(*(classes_of[place][selector] for place, selector in enumerate(row))):
            rows_at.setdefault(cell, []).append(number)
    return Grid(tuple(atoms), tuple(sizes), rows_at)


def uncovered(found: Grid, levels: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Combinations of the parents' values that no row picks."""
    lacking = {cell for cell in itertools.product(*map(range, found.sizes)) if cell not in found.rows_at}
    if not lacking:
        return []
    by_class = [
        [[value for value, atom in zip(values, atoms, strict=True) if atom == number] for number in range(size)]
        for values, atoms, size in zip(levels, found.atoms, found.sizes, strict=True)
    ]
    out: list[tuple[str, ...]] = []
    for cell in sorted(lacking):
        out += itertools.product(*(by_class[place][number] for place, number in enumerate(cell)))
    return out


def overlapping(found: Grid) -> list[tuple[int, int]]:
    """Pairs of rows that pick the same values."""
    return sorted({(rows[0], other) for rows in found.rows_at.values() for other in rows[1:]})
