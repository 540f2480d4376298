"""How people change: hazards of life events, what slowly gives way to what, and when seasons begin.

Pure equations, for the generator with people's attributes and for the observer with means over people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.domain import DimensionSpec
from schemas.life_events import LifeEvent, LifeEvents, Season

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

WEEKS_PER_YEAR = 365.25 / 7
DAYS_PER_YEAR = 365.25
FIRST_MONTH: Mapping[Season, int] = {"winter": 12, "spring": 3, "summer": 6, "autumn": 9}
"""Month in which each season begins north of the equator, as meteorologists count; it lasts three months."""
SEASON_MONTHS = 3
RAMP = (0.75, 0.5, 0.5, 0.75)
"""Slow change, in quarters of its length: what multiplies the strength. The value changes half-way. Assumed."""


def yearly_hazards(events: Mapping[str, LifeEvent], has: Callable[[str, str], Mask], people: int) -> F64:
    """(people, events) how often a year each event happens to each person, in steps of 1e-9.

    ``has`` says of an attribute and a value or band of it which of the people have it, as (people,) booleans.
    """
    known: dict[tuple[str, str], Mask] = {}
    hazards = np.empty((people, len(events)))
    for column, event in enumerate(events.values()):
        hazard = np.full(people, event.per_year)
        for chance in event.chances:
            for level, factor in chance.multiply.items():
                pair = (chance.attribute, level)
                if pair not in known:
                    known[pair] = has(*pair)
                hazard *= np.where(known[pair], factor, 1.0)
        hazards[:, column] = np.round(hazard, 9)
    return hazards


def weekly_chance(hazards: F64, mean_per_year: float, per_year: float) -> F64:
    """(people,) probability that something happens in a week, in steps of 1e-12; at most one event a week.

    People with the mean of hazards have ``per_year`` events a year, others in proportion. Rises with ``per_year``.
    """
    total = np.zeros(hazards.shape[0])
    for column in range(hazards.shape[1]):
        total += hazards[:, column]
    return np.asarray(np.minimum(np.round(total * (per_year / mean_per_year / WEEKS_PER_YEAR), 12), 1.0))


def gives_way_to(spec: DimensionSpec) -> F64:
    """(V, V) liked value, value that slowly takes its place: probabilities.

    A neighbour where values have an order, any other where they have none, as often as people like them.
    """
    count = len(spec.values)
    share = np.maximum(np.array([value.share for value in spec.values.values()]), 1e-9)
    apart = np.abs(np.arange(count)[:, None] - np.arange(count)[None, :])
    near = apart > 0 if spec.kind == "categorical" else apart == 1
    weights = np.where(near, share[None, :], 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def season_starts(season: Season, is_southern: bool, years: Sequence[int]) -> list[tuple[datetime, datetime]]:
    """Begin and end of the season that begins in each of the years, at midnight UTC."""
    first = (FIRST_MONTH[season] - 1 + (6 if is_southern else 0)) % 12
    months = [(12 * year + first, 12 * year + first + SEASON_MONTHS) for year in years]
    return [
        (datetime(a // 12, a % 12 + 1, 1, tzinfo=UTC), datetime(b // 12, b % 12 + 1, 1, tzinfo=UTC)) for a, b in months
    ]


class DriftRates(NamedTuple):
    """The rates of the config that bear on how lasting values change, and the length of the window."""

    abrupt_per_year: float
    gradual_share: float
    seasonal_share: float
    window_days: float


class Change(NamedTuple):
    """How one dimension changes, on average over people: moves a day, and (V,) share of each value among their targets."""

    per_day: float
    targets: F64


def mean_change(name: str, spec: DimensionSpec, life: LifeEvents, rates: DriftRates) -> Change:
    """What becomes of the dimension's lasting value if nothing is known of the person.

    A season is two moves a year, to its value and back to what people like, for those who do not like that value anyway;
    a slow change is one move in the window.
    Raises ValueError for a value that the dimension does not have.
    """
    values = list(spec.values)
    share = np.array([value.share for value in spec.values.values()])
    moves = np.zeros(len(values))
    total = sum(event.share for event in life.events.values())
    for title, event in life.events.items():
        if name in event.moves:
            rate = rates.abrupt_per_year / DAYS_PER_YEAR * event.share / total
            moves[_code(values, name, f"life event {title}", event.moves[name])] += rate
    if spec.clock == "habit":
        towards = gives_way_to(spec)
        for liked in range(len(values)):
            moves += rates.gradual_share / rates.window_days * share[liked] * towards[liked]
        codes = [_code(values, name, f"season {at}", value) for at, value in life.seasons.get(name, {}).items()]
        for liked in range(len(values)):
            new = [code for code in codes if code != liked]
            for code in new:
                one_way = rates.seasonal_share / DAYS_PER_YEAR / len(new) * share[liked]
                moves[[code, liked]] += one_way
    per_day = float(np.add.accumulate(moves)[-1])
    return Change(per_day, moves / per_day if per_day else moves)


def _code(values: list[str], name: str, cause: str, value: str) -> int:
    if value not in values:
        raise ValueError(f"{cause} moves {name} to `{value}`; must be one of {values}")
    return values.index(value)
