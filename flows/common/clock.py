"""Wall clocks: local time to UTC and back, by IANA zone, vectorised.

The written rule: a local time that does not exist (spring) moves forward by the gap; one that happens twice (autumn)
is the first of the two. Both follow from using the offset before the change up to the later of the two clock readings.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.zones import ZoneChanges, locked_zone, zone_changes

I64 = npt.NDArray[np.int64]

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    """Microseconds since the epoch of an instant with offset; exact."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def weekday_of(day: I64) -> I64:
    """ISO weekday less one (Monday 0 … Sunday 6) of days counted from 1970-01-01, a Thursday."""
    return (day + 3) % 7


class _Steps(NamedTuple):
    """Changes of several zones, one zone behind the other, each on a step of its own."""

    first: int
    width: int
    instants: I64
    """(changes,) from which instant, on the zone's step, each offset holds."""
    clocks: I64
    """(changes,) from which reading of the wall clock, likewise."""
    offset: I64


def offset_us(utc_us: I64, zone: I64, zones: list[str], span: tuple[int, int]) -> I64:
    """(n,) offsets in microseconds at UTC instants; ``zone`` indexes ``zones``; ``span`` covers the instants."""
    steps, place = _steps_of(zone, zones, span)
    return steps.offset[np.searchsorted(steps.instants, _on_step(utc_us, place, steps), side="right") - 1]


def to_utc(local_us: I64, zone: I64, zones: list[str], span: tuple[int, int]) -> I64:
    """(n,) UTC instants of wall-clock readings, by the written rule."""
    steps, place = _steps_of(zone, zones, span)
    return local_us - steps.offset[np.searchsorted(steps.clocks, _on_step(local_us, place, steps), side="right") - 1]


def _on_step(us: I64, place: I64, steps: _Steps) -> I64:
    return np.clip(us - steps.first, 0, steps.width - 1) + place * steps.width


def _steps_of(zone: I64, zones: list[str], span: tuple[int, int]) -> tuple[_Steps, I64]:
    """The changes of the zones, and (n,) the step of each."""
    return _laid_out(tuple(zones), span), zone


@lru_cache(maxsize=512)
def _laid_out(zones: tuple[str, ...], span: tuple[int, int]) -> _Steps:
    first, width = span[0] - 2 * DAY, span[1] - span[0] + 4 * DAY
    instants, clocks, offset = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for place, name in enumerate(zones):
        changes = zone_changes(name, *span)
        before, after = changes.offset_us[:-1], changes.offset_us[1:]
        for found, since in (
            (instants, changes.since_us[1:]),
            (clocks, changes.since_us[1:] + np.maximum(before, after)),
        ):
            found.append(place * width + np.append(0, since - first))
        offset.append(changes.offset_us)
    return _Steps(first, width, *(np.concatenate(column) for column in (instants, clocks, offset)))


__all__ = [
    "DAY",
    "HOUR",
    "MINUTE",
    "SECOND",
    "WEEK",
    "ZoneChanges",
    "locked_zone",
    "microseconds",
    "offset_us",
    "to_utc",
    "weekday_of",
    "zone_changes",
]
