"""Rows of words, as codes of one vocabulary: put in order and spelled out block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import I64

I32 = npt.NDArray[np.int32]
BLOCK = 2_048
"""Rows at a time: what a block needs stays in a core's cache."""


class Words(NamedTuple):
    """(n, width) codes of a vocabulary; -1 where a row has fewer words than others."""

    vocabulary: list[str]
    codes: I32


def stacked(parts: Sequence[Words]) -> Words:
    """The rows of all parts, one behind the other."""
    vocabulary: list[str] = []
    codes = np.full((sum(len(part.codes) for part in parts), max(part.codes.shape[1] for part in parts)), -1, np.int32)
    row = 0
    for part in parts:
        size, width = part.codes.shape
        np.add(part.codes, np.int32(len(vocabulary)), out=codes[row : row + size, :width])
        vocabulary += part.vocabulary
        row += size
    return Words(vocabulary, codes)


def blocks(words: Words, order: I64) -> Iterator[tuple[slice, I32]]:
    """Some rows of ``order`` at a time: their places in it, and their codes."""
    for begin in range(0, order.size, BLOCK):
        places = slice(begin, begin + BLOCK)
        yield places, words.codes[order[places]]


def spelled(words: Words, order: I64) -> pa.ChunkedArray:
    """(n,) texts: the words of each row of ``order``, one behind the other."""
    vocabulary = pa.array([*words.vocabulary, ""], pa.string())
    chunks = []
    for _, codes in blocks(words, order):
        codes[codes < 0] = len(words.vocabulary)
        bounds = np.arange(0, codes.size + 1, codes.shape[1], dtype=np.int32)
        lists = pa.ListArray.from_arrays(pa.array(bounds), vocabulary.take(pa.array(codes.reshape(-1))))
        chunks.append(pc.binary_join(lists, ""))
    return pa.chunked_array(chunks, pa.string())
