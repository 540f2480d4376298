"""What somebody can say of tastes who knows only locale, time zone and sign-up date, and what the config allows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

F64 = npt.NDArray[np.float64]
CELL = ("locale", "time_zone", "signed_up")
"""`signed_up` in half years, so that cells are not too small to learn from."""
CAUTION = 20
"""People like everybody that the reader adds to each cell, so that a small cell does not mislead."""
SURE = 3.3
"""Standard errors: 1 in 1,000 on one side."""


class Guess(NamedTuple):
    """Shares of held-out people whose taste is guessed right, and the most that is allowed."""

    majority: float
    """By the value that most people like."""
    reader: float
    """By the value that most people of the cell like, learned on the others."""
    bound: float
    """By somebody who knows the configured probabilities and no more of a person than the cell."""
    error: float
    """What chance can add to it."""

    @property
    def is_within(self) -> bool:
        return self.reader <= self.bound + self.error


def cells(users: pl.DataFrame) -> pl.Series:
    """(users,) what is known of each before any history, as one text."""
    half = pl.concat_str(pl.col("signed_up_at").dt.year(), (pl.col("signed_up_at").dt.month() - 1) // 6, separator=" ")
    known = users.with_columns(signed_up=half)
    return known.select(pl.concat_str(CELL, separator=" | ").alias("cell"))["cell"]


def guess(cell: pl.Series, liked: pl.Series, values: list[str], probability: F64) -> Guess:
    """Every second person is held out. ``probability`` (people, values) of each value for each, by the config."""
    code = np.array([values.index(value) for value in liked])
    _, place = np.unique(cell.to_numpy(), return_inverse=True)
    held = np.arange(code.size) % 2 == 1
    learned = np.zeros((place.max() + 1, len(values)))
    np.add.at(learned, (place[~held], code[~held]), 1)
    common = learned.sum(axis=0)
    best = (learned + CAUTION * common / common.sum()).argmax(axis=1)
    allowed = np.zeros_like(learned)
    np.add.at(allowed, place, probability)
    bound = float((allowed.max(axis=1)).sum() / code.size)
    right = (best[place[held]] == code[held]).mean()
    error = SURE * (bound * (1 - bound) / held.sum()) ** 0.5
    return Guess(float((code[held] == common.argmax()).mean()), float(right), bound, float(error))
