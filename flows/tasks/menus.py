"""Menus: the options that a group of users is shown, balanced so that no option stands out.

With two contested dimensions the options are all four combinations of two values each. With three they are one half of
the eight: every value appears twice, every two options differ in exactly two dimensions, and each option is right for
one kind of user (a fractional factorial of resolution III; Box & Hunter 1961).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws, key_of, permutation
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
HALVES = (((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)), ((1, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
"""The two halves of the eight combinations of three pairs."""
SQUARE = (((0, 0), (0, 1), (1, 0), (1, 1)),)
"""All combinations of two pairs."""


class Contrast(NamedTuple):
    """Contested dimensions (by column of the domain file) with a pair of values each, and which combinations are shown."""

    domain: str
    columns: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    half: int

    def options(self) -> I64:
        """(4, contested) value codes."""
        shapes = HALVES if len(self.columns) == 3 else SQUARE
        return np.array(
            [[pair[bit] for pair, bit in zip(self.pairs, row, strict=True)] for row in shapes[self.half]], np.int64
        )

    def key(self) -> int:
        """A number of its own for draws."""
        return key_of("contrast", self.domain, *self.columns, *(v for pair in self.pairs for v in pair), self.half)


class Menu(NamedTuple):
    """Four items in the order shown, with their contested values."""

    rows: I64
    """(4,) rows of the catalogue index."""
    values: I64
    """(4, contested) value codes."""


def item_grid(domain: Domain, index: CatalogueIndex) -> dict[tuple[int, ...], int]:
    """(category, value of each dimension) to a row of the catalogue: the first by id where several share them."""
    keys = np.column_stack([index.category, index.values]).tolist()
    grid: dict[tuple[int, ...], int] = {}
    for row, key in enumerate(keys):
        grid.setdefault(tuple(key), row)
    return grid


def menu_for(
    contrast: Contrast, domain: Domain, grid: Mapping[tuple[int, ...], int], group_key: int, draws: Draws
) -> Menu | None:
    """Four items that differ in the contested dimensions only; None if the catalogue lacks one of them.

    All are of one category that everybody can have at any time, so that no option is out for another reason.
    """
    anytime = [place for place, category in enumerate(domain.catalogue.categories.values()) if category.is_free_to_all]
    sizes = [len(anytime), *(len(spec.values) for spec in domain.dimensions.values())]
    uniform = draws.uniform("menu background", group_key, np.arange(len(sizes), dtype=np.uint64))
    background = np.floor(uniform * np.array(sizes)).astype(np.int64)
    background[0] = anytime[background[0]]
    order = permutation(draws.bits("menu order", group_key, np.arange(4, dtype=np.uint64)))
    values = contrast.options()[order]
    rows = []
    for option in values:
        wanted = background.copy()
        wanted[[1 + column for column in contrast.columns]] = option
        row = grid.get(tuple(wanted.tolist()))
        if row is None:
            return None
        rows.append(row)
    return Menu(np.array(rows, np.int64), values)
