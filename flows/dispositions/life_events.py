"""What happens to whom and when: life events, by age, household and work."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.clock import SECOND, WEEK
from flows.common.draws import Draws, categorical
from flows.dispositions.levels import has_level
from schemas.behaviour.hazards import weekly_chance, yearly_hazards
from schemas.life_events import LifeEvents

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
WEEK_SECONDS = WEEK // SECOND


class Happened(NamedTuple):
    """(n,) life events, by person and time. ``event`` is the place in the file; ``week`` counts from the window's start."""

    person: I64
    week: I64
    at_us: I64
    event: I64


def what_happens(
    life: LifeEvents, personas: pa.Table, numbers: U64, start: int, weeks: int, per_year: float, draws: Draws
) -> Happened:
    """At most one life event a person and week: the week's uniform falls below the chance, so a higher rate only adds.

    Attributes are those at the start of the window: an event changes nobody's age, household or work.
    """
    hazards = yearly_hazards(life.events, partial(has_level, personas), numbers.size)
    chance = weekly_chance(hazards, life.mean_per_year, per_year)
    week = np.arange(weeks, dtype=np.uint64)
    person, when = np.nonzero(draws.uniform("life event", numbers[:, None], week[None, :]) < chance[:, None])
    who, which = numbers[person], when.astype(np.uint64)
    event = (
        categorical(draws.uniform("kind of life event", who, which), hazards[person])
        if person.size
        else np.empty(0, np.int64)
    )
    second = np.floor(draws.uniform("moment of life event", who, which) * WEEK_SECONDS).astype(np.int64)
    return Happened(person.astype(np.int64), when.astype(np.int64), start + when * WEEK + second * SECOND, event)
