"""Names of things. An id tells who it belongs to and nothing else."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import Draws, base32

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
TAIL = 10
"""Characters of an opaque tail: 50 bits."""


def user_ids(first: int, last: int) -> pa.Array:
    """`u000000` … for the users first to last, the last excluded."""
    return pa.array([f"u{number:06d}" for number in range(first, last)], pa.string())


def user_ids_of(numbers: U64) -> pa.Array:
    """(n,) user numbers → their ids, row by row."""
    if numbers.size == 0:
        return pa.array([], pa.string())
    distinct, place = np.unique(numbers, return_inverse=True)
    names = pa.array([f"u{number:06d}" for number in distinct.tolist()], pa.string())
    return names.take(pa.array(place))


def user_numbers(ids: pa.Array | pa.ChunkedArray) -> U64:
    """(n,) ids that begin with a user id → the users' numbers."""
    encoded = pc.dictionary_encode(
        pc.utf8_slice_codeunits(pc.list_element(pc.split_pattern(ids, "-", max_splits=1), 0), 1)
    )
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # no chunk at all
        return np.empty(0, np.uint64)
    numbers = pc.cast(encoded.dictionary, pa.uint64()).to_numpy(zero_copy_only=False)
    return np.asarray(numbers[encoded.indices.to_numpy(zero_copy_only=False)], dtype=np.uint64)


def owner_numbers(ids: pa.Array | pa.ChunkedArray) -> I64:
    """(n,) the numbers of the users whose ids these are or begin with; -1 for nulls and for other ids."""
    column = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    owned = pc.fill_null(pc.match_substring_regex(column, "^u[0-9]"), False)
    numbers = np.full(len(column), -1, np.int64)
    numbers[owned.to_numpy(zero_copy_only=False)] = user_numbers(column.filter(owned)).astype(np.int64)
    return numbers


def opaque_ids(draws: Draws, kind: str, users: U64, keys: U64) -> pa.Array:
    """`u000123-e4k…`: for each row the user, the kind's letter, and ten characters of a keyed hash of (user, key).

    ``kind`` is a word such as `event`; its first letter stands in the id, the whole word in the hash.
    """
    tails = base32(Draws(draws.seed, "ids").bits(kind, users, keys), TAIL)
    return pc.binary_join_element_wise(
        user_ids_of(users), pa.array(np.char.add(kind[0].encode(), tails), pa.binary()).cast(pa.string()), "-"
    )


def id_keys(ids: pa.Array | pa.ChunkedArray) -> U64:
    """(n,) opaque ids → 64-bit keys, from the last eight characters of the tail (40 bits) and the user's number."""
    array = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    if len(array) == 0:
        return np.empty(0, np.uint64)
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    width = 8
    tails = pc.utf8_slice_codeunits(array, -width)
    raw = np.asarray(tails.cast(pa.binary()).to_numpy(zero_copy_only=False), dtype=f"S{width}")
    with np.errstate(over="ignore"):
        return raw.view(np.uint64) + user_numbers(array) * np.uint64(0x9E3779B97F4A7C15)
