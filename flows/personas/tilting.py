"""Correlations of two attributes of one joint table: the table is tilted towards them, and fitted to its shares again.

Where one attribute depends on the other, or a rule speaks of both, correlated uniforms would change who there is. So
the cells are weighted by the density of a Gaussian copula at the middle ranks of the two values, and fitted by
iterative proportional fitting until all shares but the joint ones of the two are as they were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from flows.personas.copula import CorrelationError
from flows.personas.fitting import Margin, NoFit, fitted
from flows.personas.joint import Cells, groups_of, way_to
from flows.personas.tables import Step, sums_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
STRONGEST = 0.97
"""The strongest correlation of the density."""
FINE = 2.0**-14
"""Steps in which the density's correlation is solved."""
ROUGH, EXACT = 1e-6, 1e-9
"""How far shares may be off while it is solved, and at last."""
ROUNDS = 5_000


@dataclass(frozen=True)
class Tilt:
    """Two attributes of one table, and the rank correlation that their levels are given in it."""

    names: tuple[str, str]
    spearman: float


def tilted(
    cells: Cells,
    shares: F64,
    tilt: Tilt,
    steps: Sequence[Step],
    before: Sequence[Tilt] = (),
    known: Sequence[Margin] = (),
) -> F64:
    """(cells,) shares with that correlation between the levels; all shares but those of the two jointly stay.

    What stays: the shares of everything but the second attribute, of the second given its other parents, and with what
    it was tilted towards ``before``; and those of the groups of the ``known`` margins. Raises CorrelationError, with the
    interval that can be reached, for a correlation out of reach; and for a second attribute that decides another one of
    the table.
    """
    first, second = tilt.names
    if led := [step.name for step in steps if second in step.of.given and step.name in cells.codes]:
        rule = f"`{second}` decides `{led[0]}`, of which a rule, a margin or a group speaks too"
        raise CorrelationError([(tilt.names, rule, f"let it speak of what decides `{led[0]}` instead")])
    total = float(shares.sum())
    if total <= 0:
        return shares
    weights = shares / total
    margins = _kept(cells, weights, first, second, steps)
    pairs = [other.names for other in before if other.names[1] == second]
    margins += [_margin(cells, weights, names) for names in pairs]
    margins += [replace(one, target=sums_of(one.group, weights, one.target.size)) for one in known]
    scores = [ndtri(middles(cells.codes[name], weights)) for name in tilt.names]

    def solved(correlation: float, tolerance: float) -> F64:
        spread = 1 - correlation**2
        power = (2 * correlation * scores[0] * scores[1] - correlation**2 * (scores[0] ** 2 + scores[1] ** 2)) / (
            2 * spread
        )
        return fitted(weights * np.exp(np.clip(power, -60, 60)), margins, tolerance, ROUNDS)

    try:
        low, high = (round(end / FINE) for end in (-STRONGEST, STRONGEST))
        ends = [rank_correlation(cells, solved(end * FINE, ROUGH), tilt.names) for end in (low, high)]
        if not ends[0] <= tilt.spearman <= ends[1]:
            reach = f"{math.ceil(ends[0] * 1000) / 1000:g} to {math.floor(ends[1] * 1000) / 1000:g}"
            rule = f"{tilt.spearman:.3g} cannot be reached beside the tables and rules; they leave {reach}"
            raise CorrelationError([(tilt.names, rule, f"ask for something from {reach}, or let them depend on less")])
        while high - low > 1:
            middle = (low + high) // 2
            if rank_correlation(cells, solved(middle * FINE, ROUGH), tilt.names) < tilt.spearman:
                low = middle
            else:
                high = middle
        return solved(high * FINE, EXACT) * total
    except NoFit as error:
        rule = f"no population has the correlation beside the shares of {error.margin}: {error.rule}"
        raise CorrelationError([(tilt.names, rule, "bring it nearer to 0")]) from None


def middles(code: I64, weights: F64) -> F64:
    """(cells,) the middle rank of each cell's level, in (0, 1)."""
    level = sums_of(code, weights, int(code.max(initial=0)) + 1)
    upto = np.cumsum(level)
    return np.clip((upto - level / 2)[code] / upto[-1], 1e-9, 1 - 1e-9)


def rank_correlation(cells: Cells, weights: F64, names: tuple[str, str]) -> float:
    """Spearman's correlation of the levels, as if values within a level were all different and independent."""
    one, other = (middles(cells.codes[name], weights) - 0.5 for name in names)
    return float((weights * one * other).sum() / weights.sum() * 12)


def _kept(cells: Cells, weights: F64, first: str, second: str, steps: Sequence[Step]) -> list[Margin]:
    """The shares that stay as they are."""
    by_name = {step.name: step for step in steps}
    others = [name for name in cells.codes if name != second]
    parents = [name for name in by_name[second].of.given if name in cells.codes and first not in way_to(steps, [name])]
    return [_margin(cells, weights, names) for names in (others, [*parents, second])]


def _margin(cells: Cells, weights: F64, names: Sequence[str]) -> Margin:
    group, rows = groups_of([cells.codes[name] for name in names])
    told = " x ".join(f"`{name}`" for name in names)
    return Margin(told, group, sums_of(group, weights, rows.size), tuple(map(str, range(rows.size))))
