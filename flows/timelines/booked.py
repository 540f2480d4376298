"""What people have booked: stays by person and by the line that books them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.draws import key_of
from flows.timelines.parts import PLACES

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


class Stays(NamedTuple):
    """One row a booking, by person and key. ``zone`` counts ``zones``, which begin with those of the homes."""

    person: I64
    key: U64
    """Of the line that books it, unique within the person: as `line_key` gives it."""
    booked_us: I64
    starts_us: I64
    ends_us: I64
    zone: I64
    zones: list[str]

    def where(self, rows: Mask | I64) -> Stays:
        """Those marked, or in these rows."""
        person, key, booked, starts, ends, zone, zones = self
        return Stays(person[rows], key[rows], booked[rows], starts[rows], ends[rows], zone[rows], zones)

    def rows_of(self, person: I64, key: U64) -> I64:
        """(n,) the row of each booking, -1 where there is none."""
        order = np.lexsort((np.concatenate([self.key, key]), np.concatenate([self.person, person])))
        who, which = (np.concatenate(pair)[order] for pair in ((self.person, person), (self.key, key)))
        is_new = np.append(True, (who[1:] != who[:-1]) | (which[1:] != which[:-1]))
        run = np.empty(order.size, np.int64)
        run[order] = np.cumsum(is_new) - 1
        row = np.full(order.size, -1, np.int64)
        row[run[: self.person.size]] = np.arange(self.person.size)
        return row[run[self.person.size :]]


def line_key(name: str, key: U64, place: I64) -> U64:
    """(n,) what names lines of a part: the name of the part, the key of the session, the place in it."""
    with np.errstate(over="ignore"):
        return (key + np.uint64(key_of(name))) * PLACES + place.astype(np.uint64)


def no_stays(zones: Sequence[str]) -> Stays:
    """No stay at all, of people from these zones."""
    none = np.empty(0, np.int64)
    return Stays(none, none.astype(np.uint64), none, none, none, none, list(zones))
