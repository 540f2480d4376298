"""Dominance test: how often people take what nothing speaks for, against how often the model of choice says they do.

An option is dominated by another that stands above it, is no dearer, and suits the person no worse in any dimension and
better in one. Whoever takes it did not look, or it was not they who chose: a simulator whose people take such things
more often than it declares has a fault, or noise that it does not own up to.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SIGMAS = 4.0
"""Standard deviations of the count within which it is what the model says."""


class Dominance(NamedTuple):
    """How many of the choices took such an option, and what the model says of that number."""

    choices: int
    found: int
    expected: float
    spread: float
    """Standard deviation of the number, each choice on its own."""

    @property
    def most(self) -> float:
        """What the number may be; one is always allowed."""
        return self.expected + SIGMAS * self.spread + 1.0

    @property
    def least(self) -> float:
        """What the number must be: of people who never take what they do not like, nothing can be told either."""
        return self.expected - SIGMAS * self.spread - 1.0

    @property
    def is_as_declared(self) -> bool:
        """Whether the number is what the model says."""
        return self.least <= self.found <= self.most


def dominated(match: F64, cents: I64) -> Flags:
    """(n, options) whether another option dominates each.

    ``match`` (n, options, dimensions) says how well each option suits the person, ``cents`` (n, options) what it costs;
    options stand in the order shown.
    """
    no_worse = (match[:, :, None, :] >= match[:, None, :, :]).all(axis=3)
    better = (match[:, :, None, :] > match[:, None, :, :]).any(axis=3)
    no_dearer = cents[:, :, None] <= cents[:, None, :]
    above = np.triu(np.ones((cents.shape[1], cents.shape[1]), np.bool_), 1)
    return np.asarray((no_worse & better & no_dearer & above).any(axis=1))


def hopeless(utility: F64, behind: float) -> Flags:
    """(n, options) whether each option is so many log-odds or more behind the best one on show."""
    return np.asarray(utility.max(axis=1, keepdims=True) - utility >= behind)


def dominance(options: Flags, shares: F64, taken: I64) -> Dominance:
    """How many choices took one of the ``options`` (n, options), when the model takes each with probability ``shares``."""
    chance = np.where(options, shares, 0.0).sum(axis=1)
    found = int(options[np.arange(taken.size), taken].sum())
    spread = math.sqrt(float((chance * (1.0 - chance)).sum()))
    return Dominance(taken.size, found, float(chance.sum()), spread)
