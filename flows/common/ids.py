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
ID_SHIFT = np.uint64(64 - 5 * TAIL)
"""Bits of a hash that its id does not show."""
SIX_DIGITS = 1_000_000
"""Ids of users below this number are equally long."""
_THOUSANDS, _UNITS = (
    np.frombuffer("".join(shape.format(number) for number in range(1000)).encode(), np.uint32)
    for shape in ("u{:03d}", "{:03d}-")
)
"""(1000,) each: the two halves of `u000123-`, four bytes of text in one number, as they lie in memory."""
_USER = np.dtype([("id", "V7"), ("dash", "S1")])
_OPAQUE = np.dtype([("user", "V8"), ("kind", "S1"), ("tail", f"V{TAIL}")])


def user_ids(first: int, last: int) -> pa.Array:
    """`u000000` … for the users first to last, the last excluded."""
    return user_ids_of(np.arange(first, last, dtype=np.uint64))


def user_ids_of(numbers: U64) -> pa.Array:
    """(n,) user numbers → their ids, row by row."""
    if numbers.size == 0 or int(numbers.max()) < SIX_DIGITS:
        return texts_of(user_letters(numbers).view(_USER)["id"])
    distinct, place = np.unique(numbers, return_inverse=True)
    names = pa.array([f"u{number:06d}" for number in distinct.tolist()], pa.string())
    return names.take(pa.array(place))


def user_letters(numbers: U64) -> npt.NDArray[np.void]:
    """(n,) the eight bytes `u000123-` of users below a million, as one piece each."""
    number = numbers.astype(np.uint32)
    thousands = number // np.uint32(1000)
    letters = np.empty((numbers.size, 2), np.uint32)
    letters[:, 0] = _THOUSANDS.take(thousands)
    letters[:, 1] = _UNITS.take(number - thousands * np.uint32(1000))
    return letters.view("V8").reshape(-1)


def texts_of(letters: npt.NDArray[np.void]) -> pa.Array:
    """(n,) pieces of ASCII, equally long → (n,) texts."""
    width, count = letters.dtype.itemsize, letters.size
    ends = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(letters)))


def repeated(texts: pa.Array, times: I64) -> pa.Array:
    """Each of the texts so many times in a row; fast where all are equally long, as ids of one kind are."""
    if len(texts) == 0:
        return texts
    _, ends, letters = texts.buffers()
    bounds = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    width = np.diff(bounds)
    if texts.null_count or (width != width[0]).any():
        return texts.take(pa.array(np.repeat(np.arange(len(texts)), times)))
    pieces = np.frombuffer(letters, f"V{width[0]}", count=len(texts), offset=int(bounds[0]))
    return texts_of(np.repeat(pieces, times))


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
    return ids_of(kind, users, id_bits(draws, kind, users, keys))


def id_bits(draws: Draws, kind: str, users: U64, keys: U64) -> U64:
    """(n,) the hashes of (user, key), of which an id shows the top 50 bits. Ids of one user sort as these do."""
    return Draws(draws.seed, "ids").bits(kind, users, keys)


def ids_of(kind: str, users: U64, bits: U64, times: I64 | None = None) -> pa.Array:
    """(n,) opaque ids of the kind for hashes. Each of the users has as many of them in a row as ``times`` says, or one."""
    tails = base32(bits, TAIL)
    if users.size and int(users.max()) >= SIX_DIGITS:
        owners = user_ids_of(users if times is None else np.repeat(users, times))
        tails = np.char.add(kind[0].encode(), tails)
        return pc.binary_join_element_wise(owners, pa.array(tails, pa.binary()).cast(pa.string()), "-")
    letters = np.empty(users.size, _OPAQUE)
    letters["user"] = user_letters(users)
    letters["kind"] = kind[0].encode()
    if times is not None:
        letters = np.repeat(letters, times)
    letters["tail"] = tails.view(f"V{TAIL}")
    return texts_of(letters)


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
