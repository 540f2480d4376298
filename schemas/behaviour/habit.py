"""How people come back to what they took before: pure equations.

Exploration decays with use, and a return goes to an earlier act, so that what was taken often is taken often again:
exploration and preferential return (Song, Koren, Wang & Barabási, Nature Physics 6 (2010) 818-823). A share of the returns
goes by time instead: to what was done about so long ago. A return that no longer fits the person is given up.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
GRID = 2.0**30
DAY = 86_400
"""Seconds."""


def new_share(before: I64, new: F64 | float, decay: float) -> F64:
    """(n,) probability that an act is a new choice, by how many came ``before``: ``new * before ** -decay``, at most 1.

    The first act, and the one after it, have a decay of 1. Rounded to 2**-30, so that no last bit of a power decides.
    """
    decayed = np.maximum(1, before).astype(np.float64) ** -decay
    return np.asarray(np.rint(np.minimum(1.0, new * decayed) * GRID) / GRID)


def explorers(deviate: F64, new: float, between: float) -> F64:
    """(people,) how eager each is for something new: log-normal about the median ``new``; ``deviate`` standard normal."""
    return np.asarray(new * np.exp(between * deviate))


def lag_seconds(deviate: F64, median_days: float, spread: float) -> I64:
    """(n,) how long ago that was to which one returns: log-normal; ``deviate`` are standard normal.

    Half a day and more are whole days, since people do the same at the same time of the day: assumed.
    """
    days = np.minimum(median_days * np.exp(spread * deviate), 36_500.0)
    seconds = np.rint(days * DAY).astype(np.int64)
    return np.where(seconds < DAY // 2, seconds, (seconds + DAY // 2) // DAY * DAY)


def kept_share(loss: F64) -> F64:
    """(n,) probability that one still returns to what has lost that much utility by taste since it was chosen.

    ``exp(-loss)``, and 1 where nothing was lost: the odds that the logit of choice gives it fall by the same factor.
    Rounded to 2**-30.
    """
    return np.rint(np.exp(-np.maximum(0.0, loss)) * GRID) / GRID
