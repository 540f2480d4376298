"""Where people stay for some nights away from home, and the wall clocks they then live by.

Of stays that overlap the one booked earlier holds; the other is paid for and not gone to. The clock changes when the
stay begins and when it ends: on the way there people still live by the clock of home, assumed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import DAY, HOUR, offset_us, to_utc
from flows.common.household import rows_of, zones_of
from flows.common.stairs import Stairs, stairs

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
JOURNEY = 4 * HOUR
"""How long before a stay people leave home, and how long after it they are back: assumed."""
NEAREST = 3
"""Stays tried for a wall clock: the next, and two before it, since clocks differ by a day and an hour at the most."""


class Away(NamedTuple):
    """Stays that hold, by person and time; those of a person do not overlap. ``zones`` begin with those of the homes."""

    person: I64
    starts_us: I64
    ends_us: I64
    zone: I64
    zones: list[str]
    steps: Stairs

    def stay_at(self, person: I64, at_us: I64) -> I64:
        """(n,) the row of the stay in which each person is at each instant, -1 for those at home."""
        row = self.last_begun(person, at_us)
        return np.where(self.is_in(row, person, at_us), row, -1)

    def last_begun(self, person: I64, at_us: I64) -> I64:
        """(n,) the row of the last stay that had begun at each instant, maybe somebody else's; -1 before all."""
        begun = self.steps.of(self.person, self.starts_us)
        return np.searchsorted(begun, self.steps.of(person, at_us), side="right") - 1

    def is_in(self, row: I64, person: I64, at_us: I64) -> Mask:
        """(n,) whether the stays in these rows are these people's and hold at these instants."""
        place = np.maximum(row, 0)
        inside = (self.starts_us[place] <= at_us) & (at_us < self.ends_us[place])
        return np.asarray((row >= 0) & (self.person[place] == person) & inside)


def away_of(
    person: I64, booked_us: I64, starts_us: I64, ends_us: I64, zone: I64, zones: list[str], around: tuple[int, int]
) -> Away:
    """From booked stays, in any order. ``around`` covers the window; stays that begin after it do not matter."""
    some = np.flatnonzero(starts_us < around[1])
    some = some[_held(person[some], booked_us[some], starts_us[some], ends_us[some])]
    some = some[np.lexsort((starts_us[some], person[some]))]
    steps = stairs(*around, int(person.max(initial=0)) + 1)
    return Away(person[some], starts_us[some], ends_us[some], zone[some], zones, steps)


def away_by_events(events: pa.Table, users: pa.Table, around: tuple[int, int]) -> Away:
    """The stays that hold by the bookings in a log, clean or disturbed: what `away_of` gave when the log was made.

    ``events`` are of these ``users``, in any order; copies of a line change nothing. ``zones`` begin with those of
    `zones_of`, so that its codes count them too. Raises ValueError naming a user who is not among the users.
    """
    booked = events.filter(pc.is_valid(events["place_time_zone"]))
    _, homes = zones_of(users)
    named = pc.unique(booked["place_time_zone"]).to_pylist()
    zones = [*homes, *sorted(set(named) - set(homes))]
    zone = pc.index_in(booked["place_time_zone"], value_set=pa.array(zones)).to_numpy().astype(np.int64)
    at, starts, ends = (booked[name].cast(pa.int64()).to_numpy() for name in ("at", "starts_at", "ends_at"))
    return away_of(rows_of(booked["user_id"], users), at, starts, ends, zone, zones, around)


def _held(person: I64, booked_us: I64, starts_us: I64, ends_us: I64) -> I64:
    """Rows of the stays that hold: each person's earliest booking, then the earliest that leaves it alone, and so on."""
    left, held = np.lexsort((ends_us, starts_us, booked_us, person)), []
    while left.size:
        is_first = np.append(True, person[left[1:]] != person[left[:-1]])
        held.append(left[is_first])
        by = left[is_first][np.cumsum(is_first) - 1]
        left = left[(starts_us[left] >= ends_us[by]) | (ends_us[left] <= starts_us[by])]
    return np.concatenate([np.empty(0, np.int64), *held])


def is_away(away: Away, person: I64, from_us: I64, until_us: I64 | None = None, journey_us: int = JOURNEY) -> Mask:
    """(n,) whether each person is at a stay, or on the way to or from one, at any moment from one instant to another."""
    if away.person.size == 0:
        return np.zeros(person.size, bool)
    end = from_us if until_us is None else until_us
    row = away.last_begun(person, end + journey_us)
    place = np.maximum(row, 0)
    return np.asarray((row >= 0) & (away.person[place] == person) & (away.ends_us[place] + journey_us > from_us))


def offsets_at(away: Away | None, at_us: I64, person: I64, home: I64, zones: list[str], around: tuple[int, int]) -> I64:
    """(n,) microseconds by which the wall clock around each person is ahead of UTC. ``home`` (n,) counts ``zones``."""
    out = offset_us(at_us, home, zones, around)
    if away is None or away.person.size == 0:
        return out
    row = away.stay_at(person, at_us)
    here = np.flatnonzero(row >= 0)
    out[here] = offset_us(at_us[here], away.zone[row[here]], away.zones, around)
    return out


def instants_of(
    away: Away | None, local_us: I64, person: I64, home: I64, zones: list[str], around: tuple[int, int]
) -> I64:
    """(n,) UTC instants of readings of the wall clock around each person. ``home`` (n,) counts ``zones``.

    A reading is one of the clock at a stay if, read there, it lies in the stay; else it is one of the clock of home. A
    reading that neither clock shows, since the stay began or ended between, is taken by the clock of home.
    """
    out = to_utc(local_us, home, zones, around)
    if away is None or away.person.size == 0:
        return out
    last, is_there = away.last_begun(person, np.minimum(out + DAY + 2 * HOUR, around[1])), np.zeros(out.size, bool)
    for before in range(NEAREST):
        row = last - before
        some = np.flatnonzero(~is_there & (row >= 0))
        some = some[away.person[row[some]] == person[some]]
        there = to_utc(local_us[some], away.zone[row[some]], away.zones, around)
        fits = away.is_in(row[some], person[some], there)
        out[some[fits]] = there[fits]
        is_there[some[fits]] = True
    return out
