"""When people did what a reference counts: the key actions of a domain, and what can be read off their times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

MINUTE_US = 60_000_000
HOURS_A_DAY = 24
DAYS_A_WEEK = 7


@dataclass(frozen=True)
class Occurrences:
    """Key actions of one domain, sorted by user and time. All arrays are (events,).

    ``user`` numbers the users from 0; ``holes`` counts the nulls of a column that had to be left out.
    """

    user: I64
    at_us: I64
    offset_min: I64
    holes: tuple[tuple[str, int], ...] = ()

    @property
    def users(self) -> int:
        return int(np.unique(self.user).size)

    @property
    def users_with_two(self) -> int:
        return int((np.bincount(self.user) >= 2).sum()) if self.user.size else 0

    def where(self, chosen: npt.NDArray[np.bool_]) -> Occurrences:
        return Occurrences(self.user[chosen], self.at_us[chosen], self.offset_min[chosen], self.holes)


def read_occurrences(database: DuckDBPyConnection, domain: str, action: str) -> Occurrences:
    """What users did themselves, from a database with the view `events`; the same line logged twice counts once."""
    chosen = "FROM events WHERE domain = $domain AND action = $action AND source = 'self'"
    needed = ("user_id", "at", "utc_offset_min")
    counts = ", ".join(f'count(*) FILTER (WHERE "{name}" IS NULL)' for name in needed)
    parameters = {"domain": domain, "action": action}
    nulls = database.execute(f"SELECT {counts} {chosen}", parameters).fetchall()[0]
    rows = database.sql(
        f'SELECT DISTINCT user_id, epoch_us("at") AS at_us, utc_offset_min::BIGINT AS offset_min {chosen} '
        'AND user_id IS NOT NULL AND "at" IS NOT NULL AND utc_offset_min IS NOT NULL ORDER BY ALL',
        params=parameters,
    ).to_arrow_table()
    return Occurrences(
        user=_numbered(rows["user_id"]),
        at_us=rows["at_us"].to_numpy(),
        offset_min=rows["offset_min"].to_numpy(),
        holes=tuple((f"events.{name}", int(count)) for name, count in zip(needed, nulls, strict=True) if count),
    )


def _numbered(sorted_ids: pa.ChunkedArray) -> I64:
    """(n,) equal ids get equal numbers, in the order of appearance."""
    if len(sorted_ids) == 0:
        return np.empty(0, np.int64)
    encoded = pc.dictionary_encode(sorted_ids).unify_dictionaries()
    return np.concatenate([chunk.indices.to_numpy().astype(np.int64) for chunk in encoded.chunks])


def local_hour(at_us: I64, offset_min: I64) -> I64:
    """(n,) hours 0 to 23 on the user's wall clock."""
    return ((at_us // MINUTE_US + offset_min) // 60) % HOURS_A_DAY


def iso_weekday(at_us: I64, offset_min: I64) -> I64:
    """(n,) Monday 1 to Sunday 7 of the user's local date. Day 0 of the epoch, 1970-01-01, was a Thursday."""
    day = (at_us // MINUTE_US + offset_min) // (60 * HOURS_A_DAY)
    return (day + 3) % DAYS_A_WEEK + 1


def is_weekend(at_us: I64, offset_min: I64) -> npt.NDArray[np.bool_]:
    """(n,) whether the user's local date is a Saturday or a Sunday."""
    return iso_weekday(at_us, offset_min) >= 6


def hour_counts(occurrences: Occurrences) -> I64:
    """(24,) events by local hour."""
    return np.bincount(local_hour(occurrences.at_us, occurrences.offset_min), minlength=HOURS_A_DAY)


def weekday_counts(occurrences: Occurrences) -> I64:
    """(7,) events by local weekday, Monday first."""
    return np.bincount(iso_weekday(occurrences.at_us, occurrences.offset_min) - 1, minlength=DAYS_A_WEEK)


def gaps_h(user: I64, at_us: I64) -> F64:
    """(gaps,) hours between consecutive events of one user, pooled over users and sorted; events sorted by user, time."""
    same = user[1:] == user[:-1]
    return np.sort(np.diff(at_us)[same] / (60 * MINUTE_US))
