"""Booked stays: from when to when, and in which time zone, decided when the booking is planned.

So that whoever stays somewhere can live there, by its clock, whatever moves the booking by some minutes later.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from flows.common.away import Away, away_of
from flows.common.clock import DAY, HOUR, offset_us, to_utc, weekday_of
from flows.common.draws import categorical
from flows.timelines.booked import Stays, line_key, no_stays
from flows.timelines.parts import SEARCH, Part
from flows.timelines.setting import Doing, Setting, Span
from schemas.activities import SessionActivity, Stay
from schemas.behaviour.volume import by_quantiles
from validation.references.profile import profile_of

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
CHECK_IN, CHECK_OUT = 15 * HOUR, 11 * HOUR
"""Times of the day, where the stay is, at which what is booked begins and ends: assumed."""
SAME_AREA = 0.85
"""Of the stays in another time zone, the share in the same part of the world: assumed."""
DESTINATIONS = {
    "Africa": ("Cairo", "Casablanca", "Johannesburg", "Nairobi"),
    "America": ("Chicago", "Denver", "Los_Angeles", "Mexico_City", "New_York", "Puerto_Rico", "Sao_Paulo", "Toronto"),
    "Asia": ("Bangkok", "Dubai", "Kolkata", "Seoul", "Singapore", "Tokyo"),
    "Atlantic": ("Canary", "Reykjavik"),
    "Australia": ("Adelaide", "Brisbane", "Melbourne", "Perth", "Sydney"),
    "Europe": ("Athens", "Berlin", "Istanbul", "Lisbon", "London", "Madrid", "Paris", "Rome"),
    "Indian": ("Maldives", "Mauritius", "Reunion"),
    "Pacific": ("Auckland", "Fiji", "Honolulu"),
}
"""Zones that people go to, by the part of the world that IANA names them after. Which, and each as often: assumed."""


def planned_stays(planned: Sequence[tuple[Part, Doing]], setting: Setting) -> Stays:
    """All stays that the planned sessions book, by person and key."""
    zones = [*setting.people.zones, *(zone for zone in _everywhere() if zone not in setting.people.zones)]
    found = [
        _stays(part, doing.activity.stay, profile_of(doing.activity).week, zones, setting)
        for part, doing in planned
        if isinstance(doing.activity, SessionActivity) and doing.activity.stay is not None
    ]
    if not found:
        return no_stays(zones)
    columns = {name: np.concatenate([getattr(some, name) for some in found]) for name in Stays._fields[:-1]}
    whole = Stays(**columns, zones=zones)
    return whole.where(np.lexsort((whole.key, whole.person)))


def _stays(part: Part, stay: Stay, week: F64, zones: list[str], setting: Setting) -> Stays:
    """Those of one part, of whose lines every choice books one. A check-in that is past is put off to the next day.

    What is booked a week ahead or more begins on a weekday with its share of the ``week``, the nearest one.
    """
    line = np.flatnonzero(part.lines.place < SEARCH)
    session = part.lines.session[line]
    person, key, booked, people = part.person[session], part.line_keys(line), part.at_us[line], setting.people
    who = people.numbers[person]
    lead, nights, elsewhere, where = (
        setting.draws.uniform(f"{part.name} {what}", who, key) for what in ("lead", "nights", "elsewhere", "zone")
    )
    home = people.zone[person]
    zone = destinations(home, elsewhere, where, zones, setting.config.stays_elsewhere)
    day = (booked + offset_us(booked, home, people.zones, setting.span.around)) // DAY
    ahead = np.rint(by_quantiles(stay.lead_days, lead)).astype(np.int64)
    day += ahead
    wanted = categorical(setting.draws.uniform(f"{part.name} arrives", who, key), week)
    day += np.where(ahead >= 7, (wanted - weekday_of(day) + 3) % 7 - 3, 0)
    length = np.maximum(1, np.rint(by_quantiles(stay.nights, nights)).astype(np.int64))
    name = line_key(part.name, part.key[session], part.lines.place[line])
    begins, ends = period(day, length, booked, zone, zones, setting.span)
    return Stays(person, name, booked, begins, ends, zone, zones)


def period(
    day: I64, nights: I64, booked_us: I64, zone: I64, zones: list[str], span: Span, later_days: int = 2
) -> tuple[I64, I64]:
    """(n,) instants of check-in and check-out where the stay is, on the day or the first after it that is to come."""
    years = 3 + max(
        0, int((nights + day - span.end // DAY).max(initial=0)) // 365 - 1
    )  # the same for nearly all shards
    around = span.around[0], span.around[1] + years * 366 * DAY
    day = day.copy()
    for _ in range(later_days):  # a clock of a place far ahead can be a day further on
        day += to_utc(day * DAY + CHECK_IN, zone, zones, around) <= booked_us
    return (
        to_utc(day * DAY + CHECK_IN, zone, zones, around),
        to_utc((day + nights) * DAY + CHECK_OUT, zone, zones, around),
    )


def destinations(home: I64, elsewhere: F64, where: F64, zones: list[str], share: float) -> I64:
    """(n,) the zone of each stay: that of home, or with probability ``share`` another, mostly of the same area.

    ``home`` counts ``zones``; ``elsewhere`` and ``where`` are uniform draws. Somebody whose zone has no area, as UTC, or
    is the only one there, goes anywhere. A greater share moves more stays and brings none back.
    """
    out = home.copy()
    away = np.flatnonzero(elsewhere < share)
    is_near = where[away] < SAME_AREA
    within = np.where(is_near, where[away] / SAME_AREA, (where[away] - SAME_AREA) / (1 - SAME_AREA))
    for place in np.unique(home[away]).tolist():
        area = zones[place].partition("/")[0]
        near = [f"{area}/{town}" for town in DESTINATIONS.get(area, ()) if f"{area}/{town}" != zones[place]]
        far = [zone for zone in _everywhere() if zone not in near and zone != zones[place]]
        for names, of_these in ((near or far, is_near), (far, ~is_near)):
            here = np.flatnonzero((home[away] == place) & of_these)
            codes = np.array([zones.index(name) for name in names])
            out[away[here]] = codes[np.minimum(within[here] * codes.size, codes.size - 1).astype(np.int64)]
    return out


def _everywhere() -> list[str]:
    return [f"{area}/{town}" for area, towns in DESTINATIONS.items() for town in towns]


def still_booked(stays: Stays, parts: Sequence[Part], span: Span) -> Stays:
    """Those whose booking is left among the final sessions, put off by days where it moved on past their beginning."""
    if stays.person.size == 0:
        return stays
    lines = []
    for part in parts:
        session = part.lines.session
        lines.append((part.person[session], line_key(part.name, part.key[session], part.lines.place), part.at_us))
    person, key, at = (np.concatenate(column) for column in zip(*lines, strict=True))
    row = stays.rows_of(person, key)
    booked = np.full(stays.person.size, -(2**62), np.int64)
    booked[row[row >= 0]] = at[row >= 0]
    left = stays.where(booked > -(2**62))._replace(booked_us=booked[booked > -(2**62)])
    late = np.flatnonzero(left.starts_us <= left.booked_us)
    if late.size == 0:
        return left
    some = left.where(late)
    clock = [us + offset_us(us, some.zone, left.zones, span.around) for us in (some.starts_us, some.ends_us)]
    first = clock[0] // DAY + (some.booked_us - some.starts_us) // DAY
    begins, ends = period(first, clock[1] // DAY - clock[0] // DAY, some.booked_us, some.zone, left.zones, span)
    left.starts_us[late], left.ends_us[late] = begins, ends
    return left


def away_at(stays: Stays, span: Span) -> Away:
    """The stays that hold, as intervals of the people."""
    some = stays
    return away_of(some.person, some.booked_us, some.starts_us, some.ends_us, some.zone, some.zones, span.around)
