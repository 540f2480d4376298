"""Whether people's days are like those of real people: what they do at each hour of a weekday, with a verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schemas.behaviour.day_plan import ACTIVITIES
from validation.fidelity.distances import Verdict, floor, verdict
from validation.references.reader import load_reference

F64 = npt.NDArray[np.float64]
REFERENCE, METRIC, DISTANCE = "timeuse_atus_clock_weekday", "activity_share_at_hour", "mean_total_variation_over_24h"
WITHIN = 0.05
FEWEST = 200
"""People below whom the metric says nothing."""


@dataclass(frozen=True)
class TimeUse:
    """The mean over 24 hours of the total variation between shares of activities, judged."""

    stratum: str
    value: float
    by_hour: tuple[float, ...]
    naive: float
    """Of the model in which everybody does at all hours what people do on average over the day."""
    floor: float
    limit: float
    people: int
    passed: bool | None
    """None where there are too few people."""
    verdict: Verdict


def time_use(state: npt.NDArray[np.int8], counted: npt.NDArray[np.bool_], stratum: str = "weekday") -> TimeUse:
    """People's days beside the reference.

    ``state`` (people, days, 48) holds positions in `ACTIVITIES` from local midnight on, ``counted`` (people, days) says
    which are working weekdays of people of the stratum. Days of one person hang together, so that the sample counts as
    many units as it has people; the limit is not raised where the floor is high, since many days of each make up for
    few people. The floor is scaled from that of all people, as the strata have none of their own.
    Raises UnknownReference for a stratum that the reference does not have.
    """
    real = _real(stratum)
    seen = hourly_shares(state[counted]) if counted.any() else np.full(real.shape, np.nan)
    by_hour = _distances(seen, real)
    record = load_reference(REFERENCE).self_distance(METRIC, "weekday", DISTANCE)
    people, real_people = int(counted.any(axis=1).sum()), load_reference(REFERENCE).table(METRIC, stratum).n
    whole = 2.0 * record.users_per_half
    scale = float(np.sqrt(whole / real_people))  # two halves of fewer people lie further apart
    lowest = floor(max(people, 1), real_people, record.mean * scale)
    value = round(float(by_hour.mean()), 6)
    naive = round(float(_distances(np.broadcast_to(real.mean(axis=0), real.shape), real).mean()), 6)
    says: Verdict = "insufficient" if people < FEWEST or naive <= WITHIN else verdict(value / lowest)
    passed = None if says == "insufficient" else bool(value <= WITHIN)
    hours = tuple(round(float(hour), 6) for hour in by_hour)
    return TimeUse(stratum, value, hours, naive, round(lowest, 6), WITHIN, people, passed, says)


def hourly_shares(days: npt.NDArray[np.int8]) -> F64:
    """(24, 15) share of days (n, 48) at each activity, the mean of the two half hours."""
    counts = [np.bincount(days[:, slot], minlength=len(ACTIVITIES)) for slot in range(days.shape[1])]
    return np.asarray(np.array(counts).reshape(24, 2, -1).mean(axis=1) / len(days))


def _real(stratum: str) -> F64:
    values = load_reference(REFERENCE).shares(METRIC, stratum)
    return np.array([[values[f"{hour:02d}|{name}"] for name in ACTIVITIES] for hour in range(24)])


def _distances(left: F64, right: F64) -> F64:
    return np.asarray(np.abs(left - right).sum(axis=1) / 2)
