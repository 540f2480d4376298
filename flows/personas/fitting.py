"""Weights of cells fitted to known sums: iterative proportional fitting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
ROUNDS = 200
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Margin:
    """Sums that groups of cells must have."""

    name: str
    group: I64
    """(cells,) the group of each cell."""
    target: F64
    """(groups,)"""
    labels: tuple[str, ...]
    """(groups,) what messages call them."""


class NoFit(ValueError):
    """No weights have these sums. ``margin`` and ``label`` name the worst place, ``rule`` what is wrong there."""

    def __init__(self, margin: str, label: str, rule: str) -> None:
        self.margin, self.label, self.rule = margin, label, rule
        super().__init__(f"{margin} {label}: {rule}")


def fitted(weights: F64, margins: Sequence[Margin], tolerance: float = TOLERANCE, rounds: int = ROUNDS) -> F64:
    """(cells,) weights in the proportions of the given ones as far as the margins allow; what is zero stays zero.

    Raises NoFit for a wanted sum over cells that are all zero, and where the sums do not come within ``tolerance`` of
    what is wanted in so many rounds. Sums are taken in the order of the cells, so they are the same everywhere.
    """
    for margin in margins:
        have = np.bincount(margin.group, weights, margin.target.size)
        if (empty := np.flatnonzero((have <= 0) & (margin.target > 0))).size:
            raise NoFit(margin.name, margin.labels[int(empty[0])], "nobody can be there: its cells are all empty")
    now = weights.copy()
    gap, worst = np.inf, ("", "")
    for _ in range(rounds):
        for margin in margins:
            have = np.bincount(margin.group, now, margin.target.size)
            now *= np.divide(margin.target, have, out=np.zeros_like(have), where=have > 0)[margin.group]
        gap, worst = _gap(now, margins)
        if gap <= tolerance:
            return now
    rule = f"no population has all these shares: {gap:.2g} off after {rounds} rounds"
    raise NoFit(worst[0], worst[1], rule)


def _gap(weights: F64, margins: Sequence[Margin]) -> tuple[float, tuple[str, str]]:
    """The largest difference of a sum from what is wanted, with the names of its margin and group."""
    gap, worst = -1.0, ("", "")
    for margin in margins:
        off = np.abs(np.bincount(margin.group, weights, margin.target.size) - margin.target)
        place = int(off.argmax())
        if off[place] > gap:
            gap, worst = float(off[place]), (margin.name, margin.labels[place])
    return gap, worst
