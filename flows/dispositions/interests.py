"""What people are keen on or want none of, and how their tastes lean by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.clock import DAY
from flows.common.draws import Draws, keys_of, normal
from flows.common.ids import user_ids_of
from schemas.config.dispositions import DispositionsConfig
from schemas.interests import AREAS, POLARITIES, Area, Interest, load_interests
from schemas.tables.core import sort_rows
from schemas.tables.sealed import INTERESTS

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
AREA_SPREAD = 1.0
"""Standard deviation of the log of how much a person takes to an area: who has one tag of it tends to have more. Assumed."""
RECENT_DAYS = 90
STABLE_DAYS = (365, 8 * 365)
"""How old an interest is when the window begins: at the most where recent, at the least and the most where not. Assumed."""


class Lean(NamedTuple):
    """What interests multiply the shares of values by. Names are those of dimensions, in full."""

    steps: Mapping[str, npt.NDArray[np.int8]]
    """(people, values) interests for the value less those against it."""
    usual: Mapping[str, F64]
    """(values,) mean over people of the factor; dividing by it leaves the shares of all people about as declared."""
    factor: float

    def on(self, dimension: str) -> F64 | None:
        """(people, values) factors; None where no tag is linked to the dimension."""
        if dimension not in self.steps:
            return None
        steps = self.steps[dimension]
        low, high = int(steps.min(initial=0)), int(steps.max(initial=0))
        powers = np.array([self.factor**step for step in range(low, high + 1)])  # Python's power: the same everywhere
        return np.asarray(powers[steps.astype(np.int64) - low] / self.usual[dimension])


def draw_interests(config: DispositionsConfig, numbers: U64, start: int, draws: Draws) -> tuple[pa.Table, I64]:
    """`interests`, and (people, tags) 1 for what each likes, -1 for what each dislikes, 0 for the rest.

    Each tag is drawn for itself, so that a higher mean adds interests and takes none away. ``start`` of the window in
    microseconds UTC.
    """
    tags = _tags()
    key = keys_of([tag for _, tag, _ in tags])
    area = np.array([AREAS.index(area) for area, _, _ in tags])
    in_area = np.bincount(area, minlength=len(AREAS))
    chance = np.round(config.interests_mean * _area_shares(numbers, draws) / in_area, 9)[:, area]
    has = draws.uniform("interest", numbers[:, None], key[None, :]) < chance
    who, column = np.nonzero(has)
    against = np.array([_disliked(interest, config.disliked_share) for _, _, interest in tags])
    dislikes = draws.uniform("polarity of interest", numbers[who], key[column]) < against[column]
    recent = draws.uniform("recent interest", numbers[who], key[column]) < config.recent_share
    age = draws.uniform("age of interest", numbers[who], key[column])
    days = np.where(recent, 1 + age * (RECENT_DAYS - 1), STABLE_DAYS[0] + age * (STABLE_DAYS[1] - STABLE_DAYS[0]))
    table = pa.table(
        {
            "user_id": user_ids_of(numbers[who]),
            "area": pa.array(AREAS).take(pa.array(area[column])),
            "tag": pa.array([tag for _, tag, _ in tags]).take(pa.array(column)),
            "polarity": pa.array(POLARITIES).take(pa.array(dislikes.astype(np.int64))),
            "began_at": pa.array(start - np.floor(days).astype(np.int64) * DAY).cast(pa.timestamp("us", "UTC")),
            "is_recent": pa.array(recent),
        }
    )
    signs = np.zeros(has.shape, np.int64)
    signs[who, column] = np.where(dislikes, -1, 1)
    return INTERESTS.conform(sort_rows(table, INTERESTS)), signs


def lean(config: DispositionsConfig, signs: I64, values: Mapping[str, list[str]]) -> Lean:
    """How the interests tilt the shares of these dimensions. ``signs`` (people, tags) as ``draw_interests`` gives them."""
    steps: dict[str, npt.NDArray[np.int8]] = {}
    usual: dict[str, F64] = {}
    areas = load_interests().areas
    for column, (area, _, interest) in enumerate(_tags()):
        chance = config.interests_mean / len(AREAS) / len(areas[area].tags)
        against = _disliked(interest, config.disliked_share)
        mean = 1 + chance * ((1 - against) * config.interest_factor + against / config.interest_factor - 1)
        for dimension, value in interest.links.items():
            if dimension in values:
                shape, place = (signs.shape[0], len(values[dimension])), values[dimension].index(value)
                steps.setdefault(dimension, np.zeros(shape, np.int8))[:, place] += signs[:, column].astype(np.int8)
                usual.setdefault(dimension, np.ones(shape[1]))[place] *= mean
    return Lean(steps, usual, config.interest_factor)


def _tags() -> list[tuple[Area, str, Interest]]:
    """Area, name and content of every tag, area by area."""
    areas = load_interests().areas
    return [(area, tag, interest) for area in AREAS for tag, interest in areas[area].tags.items()]


def _area_shares(numbers: U64, draws: Draws) -> F64:
    """(people, areas) the part of each person's interests that lies in each area: log-normal weights over their sum."""
    weight = np.exp(
        AREA_SPREAD * normal(draws.uniform("takes to area", numbers[:, None], keys_of(list(AREAS))[None, :]))
    )
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _disliked(interest: Interest, share: float) -> float:
    """How likely somebody with the tag dislikes it."""
    if len(interest.polarity) == 1:
        return float(interest.polarity == ["dislikes"])
    return share
