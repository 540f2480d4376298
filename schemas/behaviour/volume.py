"""How many lines of the log the activities of a domain make: plain arithmetic on what its file declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from schemas.activities import (
    Activity,
    ReplyActivity,
    RoutineActivity,
    SessionActivity,
    SummaryActivity,
    TripActivity,
)
from schemas.behaviour.participation import share_taking_part
from schemas.behaviour.rhythm import again_probabilities
from schemas.config.data import NINE_DOMAINS
from schemas.config.dispositions import DispositionsConfig
from schemas.domain import Domain

F64 = npt.NDArray[np.float64]
GRID = (np.arange(1000) + 0.5) / 1000
"""People in a thousand equal groups, for means over quantiles."""
AT_WORK = 0.42
"""Share of the days of all people on which somebody begins to work, as the plans of days have it; a test compares."""
USUAL = share_taking_part(DispositionsConfig(), len(NINE_DOMAINS))
"""Part of their time in which people take part in a domain, by default. Who keeps a habit makes up for the others."""
SEARCH_AFTER_MINUTES = 60
"""Who arrived somewhere so shortly before does not search for where to go next."""
ABOUT_MINUTES = 14 * 60
"""Minutes of a day in which people go anywhere: assumed."""


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
    """Lines a person and day. What stays away from home and holes in the log take away is counted here."""
    return volume(domain, rate_factor).lines


def volume(domain: Domain, rate_factor: float = 1.0) -> Volume:
    """Sessions and lines of all activities; ``rate_factor`` is that of the config. A summary is one a day at the most."""
    each = [activity_volume(domain, activity, rate_factor) for activity in domain.activities.values()]
    return Volume(sum(one.sessions for one in each), sum(one.lines for one in each))


def activity_volume(domain: Domain, activity: Activity, rate_factor: float = 1.0) -> Volume:
    """Sessions and lines of one activity. Who has none of the things that it is done to does not do it."""
    match activity:
        case SessionActivity():
            sessions = _weekly(activity.per_week) * rate_factor
            choices = sum(int(count) * share for count, share in activity.lines.items())
            looked = choices * (1 + activity.view + activity.compare)
            closes = 0.0 if activity.close is None else _have(domain, activity.close_with)
            return Volume(sessions, sessions * (activity.search + looked + closes + activity.review))
        case TripActivity():
            return _trip_volume(activity, rate_factor)
        case RoutineActivity():
            if activity.at == "work":
                times = AT_WORK * _by_those_who_do(activity.kept * rate_factor)
            else:
                habits = float(np.rint(by_quantiles(activity.per_day, GRID)).mean())
                times = habits * rate_factor * _by_those_who_do(activity.kept)
            times *= _have(domain, activity.on)
            return Volume(times, times)
        case ReplyActivity():
            messages = _weekly(activity.per_week) * rate_factor * _have(domain, activity.on)
            return Volume(messages, messages)
        case SummaryActivity():
            days = _by_those_who_do(activity.worn * rate_factor)
            return Volume(days, days)


def _trip_volume(activity: TripActivity, rate_factor: float) -> Volume:
    """Of trips, with the search before and the way home after, of those who do not go on from where they are."""
    trips, rhythm = _weekly(activity.per_week) * rate_factor, activity.rhythm
    again = float(again_probabilities(rhythm.again, rhythm.again_between, ndtri(GRID)).mean())
    rate = by_quantiles(activity.per_week, GRID) / 7 * rate_factor
    busy = float((rate * rate).mean() / rate.mean()) * (1 - again) * np.exp(rhythm.sway**2) / (1 - rhythm.dormant_share)

    def goes_on(minutes: float) -> float:
        """Share of trips after which the next comes within so many minutes: what follows, or by chance."""
        soon = ndtr(np.log(minutes / rhythm.soon_minutes) / max(rhythm.soon_spread, 1e-9))
        later = ndtr(np.log(minutes / 60 / rhythm.later_hours) / max(rhythm.later_spread, 1e-9))
        followed = again * ((1 - rhythm.later_share) * soon + rhythm.later_share * later)
        return float(1 - (1 - followed) * np.exp(-busy * minutes / ABOUT_MINUTES))

    back = trips * (1 - goes_on(activity.stay_minutes + 2 * activity.travel_minutes))
    searches = trips * activity.search * (1 - goes_on(SEARCH_AFTER_MINUTES))
    return Volume(trips + back, searches + trips * (1 + activity.review) + back)


def _by_those_who_do(share: float) -> float:
    """Share of days on which a habit of that share is kept: those who take part make up for the others, if they can."""
    return USUAL * min(1.0, share / USUAL)


def _weekly(quantiles: Mapping[str, float]) -> float:
    """Mean over people of how often a day, from quantiles of how often a week."""
    return float(by_quantiles(quantiles, GRID).mean()) / 7


def _have(domain: Domain, kind: str) -> float:
    """Share of people with something of a personal kind; 1 for what is no such kind."""
    return 1.0 - domain.personal[kind].count.get("0", 0.0) if kind in domain.personal else 1.0
