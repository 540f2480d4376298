"""Ages of the children at home."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
GROWN = 18
YOUNGEST_PARENT, OLDEST_PARENT = 16, 50
"""Years between a child and a parent: at least and, where the child is under 18 all the same, at most. Assumed."""


def children_ages(count: I64, age: I64, numbers: U64, draws: Draws) -> pa.Array:
    """(n,) lists of the ages of the children under 18 at home, the eldest first.

    Ages are equally likely between what the parent's age allows: assumed. Nobody under 16 has children.
    """
    count = np.where(age >= YOUNGEST_PARENT, count, 0)
    offsets = np.concatenate([[0], np.cumsum(count)])
    parent = np.repeat(np.arange(count.size), count)
    nth = np.arange(parent.size) - offsets[parent]
    youngest = np.clip(age - OLDEST_PARENT, 0, GROWN - 1)[parent]
    eldest = np.minimum(age - YOUNGEST_PARENT, GROWN - 1)[parent]
    uniform = draws.uniform("children_ages", numbers[parent], nth.astype(np.uint64))
    ages = youngest + np.floor(uniform * (eldest - youngest + 1)).astype(np.int64)
    in_order = GROWN - np.sort(parent * (GROWN + 1) + GROWN - ages) % (GROWN + 1)
    return pa.ListArray.from_arrays(offsets.astype(np.int32), pa.array(in_order.astype(np.int16)))
