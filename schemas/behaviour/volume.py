"""How many lines of the log the activities of a domain make: plain arithmetic on what its file declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.activities import (
    Activity,
    ReplyActivity,
    RoutineActivity,
    SessionActivity,
    SummaryActivity,
    TripActivity,
)
from schemas.domain import Domain

F64 = npt.NDArray[np.float64]
GRID = (np.arange(1000) + 0.5) / 1000
"""People in a thousand equal groups, for means over quantiles."""


class Volume(NamedTuple):
    """What one person does on one day, on average over people and days."""

    sessions: float
    lines: float


def by_quantiles(quantiles: Mapping[str, float], uniform: F64) -> F64:
    """(n,) values with these quantiles: linear in the logarithm between them and flat beyond, with four decimals."""
    at = np.array([float(name.removeprefix("q")) for name in quantiles])
    logs = np.interp(uniform, at, np.log(np.array(list(quantiles.values()))))
    return np.asarray(np.round(np.exp(logs), 4), dtype=np.float64)


def slots_kept(amount: F64, slots: int) -> F64:
    """(..., slots) share of each habitual time of somebody who has ``amount`` of them: whole ones, and the rest."""
    return np.asarray(np.clip(amount[..., None] - np.arange(slots), 0.0, 1.0))


def records_per_day(domain: Domain, rate_factor: float = 1.0) -> float:
    """Lines a person and day. Arrivals of people who are there already are counted here, and the simulator drops them."""
    return volume(domain, rate_factor).lines


def volume(domain: Domain, rate_factor: float = 1.0) -> Volume:
    """Sessions and lines of all activities; ``rate_factor`` is that of the config. A summary is one a day at the most."""
    each = [activity_volume(domain, activity, rate_factor) for activity in domain.activities.values()]
    return Volume(sum(one.sessions for one in each), sum(one.lines for one in each))


def activity_volume(domain: Domain, activity: Activity, rate_factor: float = 1.0) -> Volume:
    """Sessions and lines of one activity. Who has none of the things that it is done to does not do it."""
    match activity:
        case SessionActivity():
            sessions = _weekly(activity.per_week) * rate_factor * (1 + activity.again_soon)
            choices = sum(int(count) * share for count, share in activity.lines.items())
            closes = 0.0 if activity.close is None else _have(domain, activity.close_with)
            return Volume(sessions, sessions * (activity.search + choices + closes + activity.review))
        case TripActivity():
            trips = _weekly(activity.per_week) * rate_factor
            return Volume(2 * trips, trips * (activity.search + 1 + activity.review + 1))
        case RoutineActivity():
            habits = float(np.rint(by_quantiles(activity.per_day, GRID)).mean())
            times = habits * rate_factor * activity.kept * _have(domain, activity.on)
            return Volume(times, times)
        case ReplyActivity():
            threads = _weekly(activity.per_week) * rate_factor * _have(domain, activity.on)
            messages = threads / (1 - activity.more)
            return Volume(messages, messages)
        case SummaryActivity():
            days = min(1.0, activity.worn * rate_factor)
            return Volume(days, days)


def _weekly(quantiles: Mapping[str, float]) -> float:
    """Mean over people of how often a day, from quantiles of how often a week."""
    return float(by_quantiles(quantiles, GRID).mean()) / 7


def _have(domain: Domain, kind: str) -> float:
    """Share of people with something of a personal kind; 1 for what is no such kind."""
    return 1.0 - domain.personal[kind].count.get("0", 0.0) if kind in domain.personal else 1.0
