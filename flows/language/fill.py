"""Templates filled for many lines at once. A line is known by a 64-bit key, and its words hang on nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import F64, I64, U64, Draws
from prompts.load import Bank
from prompts.templates import pieces_of

Rows = npt.NDArray[np.int64]


def picked(uniform: F64, count: int | I64) -> I64:
    """Uniforms in [0, 1) → whole numbers below ``count``, each as likely."""
    return np.minimum((uniform * count).astype(np.int64), count - 1)


def fill(bank: Bank, lines: U64, slots: Mapping[str, pa.Array], draws: Draws, aspect: str) -> pa.Array:
    """(n,) keys of lines → n texts: for each a template of the bank, its wordings drawn and its inputs filled in.

    ``slots`` holds n texts for every input of the bank. Lines of equal key and inputs get equal texts.
    """
    template = picked(draws.uniform(f"{aspect} template", lines), len(bank.templates))
    parts = []
    for number, text in enumerate(bank.templates):
        rows = np.flatnonzero(template == number)
        if rows.size:
            here = {name: texts.take(pa.array(rows)) for name, texts in slots.items()}
            parts.append((rows, _worded(text, lines[rows], here, draws, aspect)))
    return gathered(parts, lines.size)


def _worded(template: str, lines: U64, slots: Mapping[str, pa.Array], draws: Draws, aspect: str) -> pa.Array:
    """One template for all the lines, stretch by stretch."""
    stretches = []
    for place, piece in enumerate(pieces_of(template)):
        if piece.slot is not None:
            stretches.append(slots[piece.slot])
        elif len(piece.choices) == 1:
            stretches.append(pa.repeat(piece.choices[0], lines.size))
        else:
            choice = picked(draws.uniform(f"{aspect} wording", lines, place), len(piece.choices))
            stretches.append(pa.array(piece.choices, pa.string()).take(pa.array(choice)))
    return pc.binary_join_element_wise(*stretches, "")


def gathered(parts: list[tuple[Rows, pa.Array]], size: int) -> pa.Array:
    """One array of texts from parts that say in which rows they belong; rows in no part are null."""
    place = np.full(size, -1, np.int64)
    if not parts:
        return pa.nulls(size, pa.string())
    rows = np.concatenate([part for part, _ in parts])
    place[rows] = np.arange(rows.size)
    return pa.concat_arrays([texts.cast(pa.string()) for _, texts in parts]).take(pa.array(place, mask=place < 0))


def placed(texts: pa.Array, rows: Rows, new: pa.Array) -> pa.Array:
    """The texts with ``new`` in the given rows."""
    place = np.arange(len(texts))
    place[rows] = len(texts) + np.arange(rows.size)
    return pa.concat_arrays([texts, new.cast(pa.string())]).take(pa.array(place))
