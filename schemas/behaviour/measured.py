"""Numeric attributes: values of uniforms by inverse distribution functions, cut off and rounded.

Rounding is by whole numbers: a value is first rounded to 30 binary digits (about 1e-9 of itself), divided by the step,
and the nearest whole number counts, halves upwards. So the last bit of a special function, which differs between
machines, decides nothing but once in 1e13 draws or so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.behaviour.families import share_below, value_at
from schemas.config.numeric import FIRST, LAST, AnyNumeric, rows_of, shares_at, step_of

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
BY_ROW = ("poisson", "empirical")
"""Families whose inverse takes the parameters of one row at a time."""
DIGITS = 2.0**30
NO_BOUND = 2**53


def inverse(spec: AnyNumeric, uniform: npt.ArrayLike, parent_level: npt.ArrayLike | None = None) -> F64:
    """(n,) values for uniforms in [0, 1): whole multiples of the step, rising with the uniform.

    ``parent_level`` (n,) says which row of `by` is meant, in the order of ``parent_levels(spec)``. Each value depends on
    its own uniform and row only. Raises ValueError if there is a `by` and no level, or a level without a row.
    """
    u = np.asarray(uniform, dtype=np.float64)
    rows, step = rows_of(spec), step_of(spec)
    level = _levels(spec, len(rows), u.shape, parent_level)
    shares = np.array([shares_at(spec.family, row.parameters, row.first, row.last, step) for row in rows])
    start, end = _each(shares[:, 0], level), _each(shares[:, 1], level)
    share = np.clip(start + u * (end - start), FIRST, LAST)
    if spec.family in BY_ROW:
        value = np.empty(u.shape)
        for place, row in enumerate(rows):
            here = level == place
            value[here] = value_at(spec.family, row.parameters, share[here])
    else:
        parameters = {
            name: _each(np.array([row.parameters[name] for row in rows]), level) for name in rows[0].parameters
        }
        value = value_at(spec.family, parameters, share)
    first = _each(np.array([-NO_BOUND if row.first is None else row.first for row in rows]), level)
    last = _each(np.array([NO_BOUND if row.last is None else row.last for row in rows]), level)
    return _multiples(np.clip(_cells(value, step), first, last), step)


def share_at_most(spec: AnyNumeric, value: npt.ArrayLike, parent_level: npt.ArrayLike | None = None) -> F64:
    """(n,) the share of people whose rounded and cut off value is ``value`` or less. What ``inverse`` realises."""
    x = np.asarray(value, dtype=np.float64)
    rows, step = rows_of(spec), step_of(spec)
    level = np.broadcast_to(_levels(spec, len(rows), x.shape, parent_level), x.shape)
    cell = np.floor(_rounded(x / float(step)))
    out = np.empty(x.shape)
    for place, row in enumerate(rows):
        here = level == place
        start, end = shares_at(spec.family, row.parameters, row.first, row.last, step)
        share = (share_below(spec.family, row.parameters, (cell[here] + 0.5) * float(step)) - start) / (end - start)
        share = np.where(cell[here] < (-np.inf if row.first is None else row.first), 0.0, np.clip(share, 0.0, 1.0))
        out[here] = np.where(cell[here] >= (np.inf if row.last is None else row.last), 1.0, share)
    return out


def ends_of(spec: AnyNumeric) -> list[tuple[float, float]]:
    """The lowest and the highest value that the uniforms can give, for every row."""
    ends = [0.0, LAST]
    count = len(rows_of(spec))
    found = [inverse(spec, ends, None if spec.by is None else [place, place]) for place in range(count)]
    return [(float(low), float(high)) for low, high in found]


def _levels(spec: AnyNumeric, rows: int, shape: tuple[int, ...], given: npt.ArrayLike | None) -> I64:
    """The row of each person; a single 0 where there is one row for all."""
    if spec.by is None:
        return np.zeros((), np.int64)
    if given is None:
        raise ValueError(f"the values depend on another attribute, of {', '.join(spec.by)}; its levels are missing")
    level = np.broadcast_to(np.asarray(given, dtype=np.int64), shape)
    if level.size and not (level.min() >= 0 and level.max() < rows):
        raise ValueError(f"levels are from 0 to {rows - 1}")
    return level


def _each(by_row: npt.NDArray[Any], level: I64) -> Any:
    """What a row says, for every person; one number for all where there is one row."""
    return by_row[0] if level.ndim == 0 else by_row[level]


def _rounded(value: F64) -> F64:
    """To 30 binary digits."""
    mantissa, exponent = np.frexp(value)
    return np.ldexp(np.rint(mantissa * DIGITS), exponent - 30)


def _cells(value: F64, step: Fraction) -> F64:
    """Whole numbers of steps, the nearest."""
    return np.floor(_rounded(value) / float(step) + 0.5)


def _multiples(cells: F64, step: Fraction) -> F64:
    """The doubles nearest to so many steps: 3 steps of 0.1 are 0.3."""
    return cells * float(step.numerator) / float(step.denominator) + 0.0  # no negative zero
