"""A pattern search that finds the same every time: parameters between bounds, tried one by one in steps that adapt.

Hooke & Jeeves, Journal of the ACM 8 (1961) 212-229: from the best point so far a step up or down each axis, then a leap
on in the direction that the whole round took; steps grow where they help and shrink where they do not. Nothing is drawn,
and losses are compared rounded, so that no last bit of a machine decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Point = dict[str, float]
Loss = Callable[[Point], float]
GROW, SHRINK, LEAST_STEP = 1.3, 0.5, 0.03
DIGITS = 9
"""Decimals to which losses are rounded before they are compared."""


@dataclass(frozen=True)
class Axis:
    """One parameter: its bounds, the scale on which steps are even, and the first step on that scale."""

    low: float
    high: float
    step: float
    scale: Literal["even", "log", "log-odds"] = "even"

    def moved(self, value: float, by: float) -> float:
        """The value after a step on the scale, within the bounds and rounded to four significant digits."""
        inside = min(max(value, self.low), self.high)
        if self.scale == "log":
            inside *= math.exp(by)
        elif self.scale == "log-odds":
            odds = inside / (1 - inside) * math.exp(by)
            inside = odds / (1 + odds)
        else:
            inside += by
        return significant(min(max(inside, self.low), self.high))

    def distance(self, one: float, other: float) -> float:
        """From one value to another, on the scale."""
        one, other = (min(max(value, self.low), self.high) for value in (one, other))
        if self.scale == "log":
            return math.log(other / one)
        if self.scale == "log-odds":
            return math.log(other / (1 - other)) - math.log(one / (1 - one))
        return other - one


@dataclass(frozen=True)
class Found:
    """The best point, its loss, and how often the loss was taken."""

    point: Point
    loss: float
    tries: int


def significant(value: float, digits: int = 4) -> float:
    """Rounded to so many significant digits."""
    return float(f"{value:.{digits}g}")


def search(
    starts: Sequence[Point],
    axes: Mapping[str, Axis],
    loss: Loss,
    *,
    tries: int,
    enough: float = 0.0,
    gentle: float = 1.0,
    said: Callable[[int, float], None] | None = None,
) -> Found:
    """The point with the least loss that was found in about so many ``tries``, from the best of the ``starts``.

    Ends earlier once the loss is ``enough`` or all steps have become small. ``gentle`` multiplies the first steps; ``said``
    is told of tries and of the least loss so far. Points hold more than the axes; what is no axis is kept as it is.
    """
    taken = 0

    def tried(point: Point) -> float:
        nonlocal taken
        taken += 1
        value = round(loss(point), DIGITS)
        return value if math.isfinite(value) else math.inf

    best, least = dict(starts[0]), math.inf
    for start in starts[: max(1, tries)]:
        value = tried(start)
        if value < least:
            best, least = dict(start), value
        if said is not None:
            said(taken, least)
    steps = {name: gentle * axis.step for name, axis in axes.items()}
    while taken < tries and least > enough and any(abs(steps[n]) > LEAST_STEP * axes[n].step for n in axes):
        before = dict(best)
        for name, axis in axes.items():
            if taken >= tries or least <= enough:
                break
            best, least, steps[name] = _along(name, axis, steps[name], best, least, tried)
            if said is not None:
                said(taken, least)
        leap = {name: axis.moved(best[name], axis.distance(before[name], best[name])) for name, axis in axes.items()}
        onward = {**best, **leap}
        if onward != best and taken < tries and least > enough:
            value = tried(onward)
            if value < least:
                best, least = onward, value
    return Found(best, least, taken)


def _along(name: str, axis: Axis, step: float, best: Point, least: float, tried: Loss) -> tuple[Point, float, float]:
    """The better of a step up and one down, if one is better; and the next step, first in the direction that helped."""
    for by in (step, -step):
        there = {**best, name: axis.moved(best[name], by)}
        if there[name] == best[name]:
            continue
        value = tried(there)
        if value < least:
            return there, value, by * GROW
    return best, least, step * SHRINK
