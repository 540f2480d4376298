"""At what time of the day: hours by the reference, as far as each person's day leaves room for them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import HOUR, SECOND, weekday_of
from flows.common.draws import Draws, categorical
from flows.timelines.day_plan import DayPlans, hour_allowance, hour_base
from validation.references.profile import Profile

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
BLOCK = 16_384
"""Rows at once: tables of 24 hours that a core's own cache holds."""


class When(NamedTuple):
    """When in the day an activity is done: hours of all people together, and where they must be."""

    hours: Profile
    during: tuple[tuple[str, float], ...]
    """Place to how likely it is done there, compared with being free at home."""


def time_of_day(
    aspect: str, when: When, plans: DayPlans | None, person: I64, day: I64, who: U64, key: U64, draws: Draws
) -> I64:
    """(n,) microseconds since local midnight: an hour, and evenly within it.

    Without plans, the hours are those of the reference for the type of day. With them, each person's are these times
    what their day allows, such that all people together keep those of the reference; who is nowhere all day where it is
    done goes by the hours of all.
    """
    uniform, hour = draws.uniform(f"{aspect} hour", who, key), np.empty(key.size, np.int64)
    if plans is None:
        is_rest = weekday_of(day) >= 5
        for shares, here in ((when.hours.working_hours, ~is_rest), (when.hours.resting_hours, is_rest)):
            hour[here] = categorical(uniform[here], shares)
    else:
        day = np.clip(day, plans.first_day, plans.first_day + plans.is_rest.shape[1] - 1)
        base = bases(when)[plans.is_rest[person, day - plans.first_day].astype(np.int64)]
        during = dict(when.during)
        for start in range(0, key.size, BLOCK):
            rows = slice(start, start + BLOCK)
            weight = base[rows] * hour_allowance(plans, person[rows], day[rows], during)
            nowhere = np.flatnonzero(weight.max(axis=1) <= 0)
            weight[nowhere] = base[rows][nowhere]
            hour[rows] = categorical(uniform[rows], weight)
    second = np.floor(draws.uniform(f"{aspect} second", who, key) * 3600).astype(np.int64)
    return hour * HOUR + second * SECOND


def bases(when: When) -> F64:
    """(2, 24) hours of working days and of days off before anybody's own day is counted in."""
    hours = (tuple(when.hours.working_hours.tolist()), tuple(when.hours.resting_hours.tolist()))
    return np.stack([_base(shares, when.during, bool(rest)) for rest, shares in enumerate(hours)])


@cache
def _base(shares: tuple[float, ...], during: tuple[tuple[str, float], ...], is_rest: bool) -> F64:
    return hour_base(np.array(shares), dict(during), is_rest=is_rest)
