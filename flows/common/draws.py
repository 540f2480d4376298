"""The only source of randomness: a keyed 64-bit hash of (seed, stage, aspect, entity, index).

Specification (golden values in ``tests/flows/common/test_draws.py``, description in ``docs/randomness.md``):

    key     = BLAKE2b-64(seed in decimal, 0x1F, stage, 0x1F, aspect), little endian
    mix(z)  = z ^= z >> 30; z *= 0xBF58476D1CE4E5B9; z ^= z >> 27; z *= 0x94D049BB133111EB; z ^= z >> 31
    stem    = mix(key + entity * 0x9E3779B97F4A7C15)
    bits    = mix(stem + (index + 1) * 0xD1342543DE82EF95)
    uniform = (bits >> 11) * 2**-53, in [0, 1)

all in 64-bit arithmetic that wraps. ``mix`` is the finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014, variant
13 of Stafford); the second odd constant is from the table of Steele & Vigna, "Computationally easy, spectrally good
multipliers" (2021). A draw depends on nothing else: not on order, count, process or machine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_ENTITY_STEP = np.uint64(0x9E3779B97F4A7C15)
_INDEX_STEP = np.uint64(0xD1342543DE82EF95)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_BLOCK = 16_384
"""Draws per block: three work arrays of 128 KiB, which a core's own cache holds."""

BASE32 = np.frombuffer(b"0123456789abcdefghjkmnpqrstvwxyz", dtype=np.uint8)
_PAIRS = np.stack([np.repeat(BASE32, 32), np.tile(BASE32, 32)], axis=1).reshape(-1).view(np.uint16)
"""(1024,) two characters for ten bits, as they lie in memory."""


def key_of(*parts: str | int) -> int:
    """A 64-bit key of some texts and numbers."""
    joined = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(joined.encode(), digest_size=8).digest(), "little")


def keys_of(texts: list[str]) -> U64:
    """One 64-bit key a text, for entities that have a name and no number."""
    return np.array([key_of(text) for text in texts], dtype=np.uint64)


@dataclass(frozen=True)
class Draws:
    """All draws of one stage of one build. ``aspect`` names what is being decided; aspects are never numbered."""

    seed: int
    stage: str

    def bits(self, aspect: str, entity: npt.ArrayLike, index: npt.ArrayLike = 0) -> U64:
        """64 random bits for every (entity, index); the two broadcast against each other."""
        key = np.uint64(key_of(self.seed, self.stage, aspect))
        who = _as_u64(entity)
        which = _as_u64(index)
        shape = np.broadcast_shapes(who.shape, which.shape)
        if who.ndim == 1 and shape == who.shape:
            return _paired(key, who, np.broadcast_to(which, shape))
        with np.errstate(over="ignore"):
            stem = _mixed(key + who * _ENTITY_STEP)
            offset = (which + np.uint64(1)) * _INDEX_STEP
        if len(shape) == 2 and stem.shape == (shape[0], 1) and offset.size == shape[1]:
            return _grid(stem.ravel(), offset.ravel())
        with np.errstate(over="ignore"):
            return _mixed(stem + offset)

    def uniform(self, aspect: str, entity: npt.ArrayLike, index: npt.ArrayLike = 0) -> F64:
        """Uniforms in [0, 1), on a grid of 2**-53."""
        bits = self.bits(aspect, entity, index)
        if bits.ndim == 0:
            return np.asarray((bits >> np.uint64(11)) * 2.0**-53)
        np.right_shift(bits, np.uint64(11), out=bits)
        out = np.empty(bits.shape)
        np.multiply(bits, 2.0**-53, out=out)
        return out


def _as_u64(values: npt.ArrayLike) -> U64:
    array = np.asarray(values)
    if array.dtype == np.uint64:
        return array
    if array.dtype.kind not in "iub":
        raise TypeError(f"entities and indices are whole numbers, not {array.dtype}")
    if array.size and array.dtype.kind == "i" and int(array.min()) < 0:
        raise ValueError("entities and indices are not negative")
    return array.astype(np.uint64)


def _mixed(state: Any) -> U64:
    """``mix`` of every element; overwrites a contiguous input, block by block so that the work stays in the cache."""
    shape = np.shape(state)  # before `ascontiguousarray`, which gives a single number an axis
    flat = np.ascontiguousarray(state).reshape(-1)
    work = np.empty(min(_BLOCK, flat.size), np.uint64)
    for start in range(0, flat.size, _BLOCK):
        _mix_block(flat[start : start + _BLOCK], work)
    return flat.reshape(shape)


def _paired(key: np.uint64, who: U64, which: U64) -> U64:
    """The bits of who[i] and which[i] for all i, from first to last one block at a time."""
    out = np.empty(who.size, np.uint64)
    work = np.empty(min(_BLOCK, who.size), np.uint64)
    for start in range(0, who.size, _BLOCK):
        block = out[start : start + _BLOCK]
        np.multiply(who[start : start + _BLOCK], _ENTITY_STEP, out=block)
        np.add(block, key, out=block)
        _mix_block(block, work)
        offset = np.add(which[start : start + _BLOCK], np.uint64(1), out=work[: block.size])
        np.multiply(offset, _INDEX_STEP, out=offset)
        np.add(block, offset, out=block)
        _mix_block(block, work)
    return out


def _grid(stem: U64, offset: U64) -> U64:
    """``mix(stem[i] + offset[j])`` for all i, j, adding and mixing one block at a time."""
    rows = max(1, _BLOCK // max(1, offset.size))
    out = np.empty((stem.size, offset.size), np.uint64)
    work = np.empty(min(out.size, rows * offset.size), np.uint64)
    for start in range(0, stem.size, rows):
        block = out[start : start + rows]
        np.add(stem[start : start + rows, None], offset[None, :], out=block)
        flat = block.reshape(-1)
        for part in range(0, flat.size, _BLOCK):
            _mix_block(flat[part : part + _BLOCK], work)
    return out


def _mix_block(z: U64, work: U64) -> None:
    w = work[: z.size]
    np.right_shift(z, 30, out=w)
    np.bitwise_xor(z, w, out=z)
    np.multiply(z, _MIX_1, out=z)
    np.right_shift(z, 27, out=w)
    np.bitwise_xor(z, w, out=z)
    np.multiply(z, _MIX_2, out=z)
    np.right_shift(z, 31, out=w)
    np.bitwise_xor(z, w, out=z)


# Functions of uniforms. None of them draws.


def categorical(u: npt.ArrayLike, weights: npt.ArrayLike) -> I64:
    """Index of the chosen category. ``weights`` (k,) for all, or (..., k) one row each; not negative, some positive.

    The weights are put on a grid of 2**-20 of their largest first, and the comparison is between whole numbers, so
    that the last bit of a logarithm or an exponential decides nothing. Below 2**-21 of the largest, a weight is nothing.
    Raises ValueError for weights that are negative, not finite, or all zero.
    """
    upto = _running(weights)
    uniform = np.asarray(u)
    target = np.minimum((uniform * upto[..., -1]).astype(np.int64), upto[..., -1] - 1)
    if upto.ndim == 1:
        return np.searchsorted(upto, target, side="right").astype(np.int64)
    return np.asarray((upto <= target[..., None]).sum(axis=-1), dtype=np.int64)


def categorical_of(u: F64, weights: npt.ArrayLike, row: I64) -> I64:
    """(n,) the same as `categorical` with ``weights[row]``, where a few rows (cases, k) of weights stand for all."""
    upto = _running(weights)
    last = upto[:, -1][row]
    target = np.minimum((u * last).astype(np.int64), last - 1)
    chosen = np.zeros(row.size, np.int64)
    for column in range(upto.shape[1] - 1):
        chosen += upto[:, column][row] <= target
    return chosen


def _running(weights: npt.ArrayLike) -> I64:
    """Running sums of the weights, in whole parts of 2**-20 of the largest."""
    w = np.asarray(weights, dtype=np.float64)
    top: F64 = w.max(axis=-1, keepdims=True)
    if w.size and not (w.min() >= 0 and top.min() > 0 and top.max() < np.inf):
        raise ValueError("weights are finite and not negative, and one of them at least is positive")
    return np.cumsum(np.rint(w / top * 2.0**20).astype(np.int64), axis=-1)


def normal(u: npt.ArrayLike) -> F64:
    """Standard normal deviates, by inversion."""
    return np.asarray(ndtri(np.maximum(np.asarray(u, dtype=np.float64), 2.0**-54)))


def exponential(u: npt.ArrayLike) -> F64:
    """Exponential deviates of mean 1, by inversion. Round before a decision hangs on them."""
    return -np.log1p(-np.asarray(u, dtype=np.float64))


def poisson(u: npt.ArrayLike, mean: npt.ArrayLike) -> I64:
    """Poisson counts, by inversion on a grid of 2**-40; ``mean`` 0 to 500."""
    uniform, lam = np.broadcast_arrays(np.asarray(u, dtype=np.float64), np.asarray(mean, dtype=np.float64))
    if lam.size and not (lam.min() >= 0 and lam.max() <= 500):
        raise ValueError(f"poisson by inversion takes means from 0 to 500, not {lam.min():g} to {lam.max():g}")
    count = np.zeros(uniform.shape, np.int64)
    term = np.exp(-lam)
    total = np.rint(term * 2.0**40).astype(np.int64)
    target = (uniform * 2.0**40).astype(np.int64)
    step = 0
    left = target >= total
    while left.any():
        step += 1
        term = term * lam / step
        total = total + np.rint(term * 2.0**40).astype(np.int64)
        count[left] = step
        # Each draw ends by its own mean, where its terms have become nothing, so that its neighbours do not matter.
        left = left & (target >= total) & ~((step > lam) & (term < 2.0**-42))
    return count


def permutation(bits: U64) -> I64:
    """The order that sorts each row of random bits: a permutation of the last axis."""
    return np.argsort(bits, axis=-1, kind="stable").astype(np.int64)


def base32(bits: U64, length: int = 10) -> npt.NDArray[np.bytes_]:
    """Opaque text of ``length`` characters, five bits each, from the top of the 64; 12 at the most."""
    flat = bits.reshape(-1)
    pairs = np.empty((flat.size, (length + 1) // 2), np.uint16)
    for place in range(pairs.shape[1]):
        np.take(_PAIRS, (flat >> np.uint64(54 - 10 * place) & np.uint64(1023)).view(np.int64), out=pairs[:, place])
    letters = np.ascontiguousarray(pairs.view(np.uint8)[:, :length])
    return letters.view(f"S{length}").reshape(bits.shape)
