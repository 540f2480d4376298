"""Offsets of IANA time zones, by the package `tzdata` of the lock and by no machine's own files."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
SECOND = 1_000_000
DAY, YEAR = 86_400, 365 * 86_400
"""Seconds."""
NO_PLACE = 45.0
"""Latitude that zones have which are of no place, such as UTC: half way from the equator to the pole."""
_LATITUDE = re.compile(r"([+-])(\d\d)(\d\d)(\d\d)?[+-]")


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
    """Every change of the zone's offset between two instants, to the second."""
    start, end = first_us // SECOND, -(-last_us // SECOND)
    found = [change for year in range(start // YEAR, end // YEAR + 1) for change in _changes_in(zone, year)]
    inside = [(second, shift) for second, shift in found if start < second <= end]
    since = [-(2**62), *(second * SECOND for second, _ in inside)]
    shifts = [_offset(locked_zone(zone), start), *(shift for _, shift in inside)]
    offsets = [shift // timedelta(microseconds=1) for shift in shifts]
    return ZoneChanges(np.array(since, np.int64), np.array(offsets, np.int64))


@lru_cache(maxsize=8192)
def _changes_in(zone: str, year: int) -> list[tuple[int, timedelta]]:
    """Seconds of the changes in a stretch of 365 days, counted from 1970-01-01, and the offsets that hold from then on.

    Looks at each day and then halves the day in which the offset differs. Windows of many lengths share these.
    """
    place, found = locked_zone(zone), []
    known = _offset(place, year * YEAR)
    for day in range(year * YEAR, (year + 1) * YEAR, DAY):
        low, high, last = day, day + DAY, _offset(place, day + DAY)
        while known != last:
            after = high
            while after - low > 1:
                middle = (low + after) // 2
                if _offset(place, middle) == known:
                    low = middle
                else:
                    after = middle
            low, known = after, _offset(place, after)
            found.append((low, known))
    return found


def _offset(place: ZoneInfo, second: int) -> timedelta:
    """By how much the zone's clocks are ahead of UTC."""
    shift = datetime.fromtimestamp(second, place).utcoffset()
    assert shift is not None
    return shift


def latitude_of(zone: str) -> float:
    """Degrees of the zone's main place, negative south of the equator; NO_PLACE where it has none."""
    return _latitudes().get(zone, NO_PLACE)


@cache
def _latitudes() -> dict[str, float]:
    """By zone, from the tables of the package `tzdata` of the lock; other names of a zone included."""
    folder = resources.files("tzdata").joinpath("zoneinfo")
    rows = [line.split("\t") for line in folder.joinpath("zone.tab").read_text(encoding="utf-8").splitlines()]
    found = {name: _degrees(place) for _, place, name, *_ in (row for row in rows if not row[0].startswith("#"))}
    lines = [line.split() for line in folder.joinpath("tzdata.zi").read_text(encoding="utf-8").splitlines()]
    links = {line[2]: line[1] for line in lines if line and line[0] == "L"}
    return {other: found[name] for other, name in links.items() if name in found} | found


def _degrees(place: str) -> float:
    """Latitude of a place in ISO 6709, such as `+415100-0873900`."""
    told = _LATITUDE.match(place)
    assert told is not None, place
    sign, degrees, minutes, seconds = told.groups(default="0")
    return float(f"{sign}1") * (int(degrees) + int(minutes) / 60 + int(seconds) / 3600)
