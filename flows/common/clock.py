"""Wall clocks: local time to UTC and back, by IANA zone, vectorised.

The written rule: a local time that does not exist (spring) moves forward by the gap; one that happens twice (autumn)
is the first of the two. Both follow from using the offset before the change up to the later of the two clock readings.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

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


class ZoneChanges(NamedTuple):
    """Offsets of one zone: ``offset_us[i]`` holds from ``since_us[i]`` on; the first holds from ever."""

    since_us: I64
    offset_us: I64


@lru_cache(maxsize=512)
def locked_zone(name: str) -> ZoneInfo:
    """The zone by the package `tzdata` of the lock. A machine's own files, which Python prefers, can be of another year."""
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as stream:
        return ZoneInfo.from_file(stream, key=name)


@lru_cache(maxsize=512)
def zone_changes(zone: str, first_us: int, last_us: int) -> ZoneChanges:
    """Every change of the zone's offset between two instants, to the second.

    Looks at each day and then halves the day in which the offset differs.
    """
    place = locked_zone(zone)

    def offset(second: int) -> int:
        shift = datetime.fromtimestamp(second, place).utcoffset()
        assert shift is not None
        return shift // timedelta(microseconds=1)

    start, end = first_us // SECOND, -(-last_us // SECOND)
    since, offsets = [-(2**62)], [offset(start)]
    for day in range(start, end, 86_400):
        low, high = day, min(day + 86_400, end)
        while offset(low) != offset(high):
            after = high
            while after - low > 1:
                middle = (low + after) // 2
                if offset(middle) == offset(low):
                    low = middle
                else:
                    after = middle
            since.append(after * SECOND)
            offsets.append(offset(after))
            low = after
    return ZoneChanges(np.array(since, np.int64), np.array(offsets, np.int64))


def offset_us(utc_us: I64, zone: I64, zones: list[str], span: tuple[int, int]) -> I64:
    """(n,) offsets in microseconds at UTC instants; ``zone`` indexes ``zones``; ``span`` covers the instants."""
    out = np.zeros(utc_us.shape, np.int64)
    for place, name in enumerate(zones):
        here = zone == place
        changes = zone_changes(name, *span)
        out[here] = changes.offset_us[np.searchsorted(changes.since_us, utc_us[here], side="right") - 1]
    return out


def to_utc(local_us: I64, zone: I64, zones: list[str], span: tuple[int, int]) -> I64:
    """(n,) UTC instants of wall-clock readings, by the written rule."""
    out = np.zeros(local_us.shape, np.int64)
    for place, name in enumerate(zones):
        here = zone == place
        changes = zone_changes(name, *span)
        before, after = changes.offset_us[:-1], changes.offset_us[1:]
        border = changes.since_us[1:] + np.maximum(before, after)
        out[here] = local_us[here] - changes.offset_us[np.searchsorted(border, local_us[here], side="right")]
    return out
