"""When people did what a reference counts: the key actions of a domain, and what can be read off their times."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

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


Counting = Literal["line", "session"]
ITEM, CATEGORY = "item", "category"


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Things that users of one domain did, sorted by user and time. All arrays are (events,).

    ``user`` numbers the users from 0; ``holes`` counts the nulls of a column that had to be left out. The first three
    arrays are enough for all that asks only when things are done; the rest is None where it was not read.
    """

    user: I64
    at_us: I64
    offset_min: I64
    holes: tuple[tuple[str, int], ...] = ()
    unit: I64 | None = None
    """What was chosen, numbered from 0: an item, a category, or a value of a dimension."""
    session: I64 | None = None
    """The sitting, numbered from 0."""
    size: I64 | None = None
    """Distinct things chosen at once."""
    rating: F64 | None = None
    """Stars; NaN where none were given. Likewise below."""
    lead_days: F64 | None = None
    """Days from the local date to that on which it begins."""
    nights: F64 | None = None
    party: F64 | None = None
    """How many, or for how many."""
    arrives: F64 | None = None
    """ISO weekday on which it begins."""
    by_hour: F64 | None = None
    """(events, 24) what a device counted in each hour of the day; 0 for lines without it."""

    @property
    def users(self) -> int:
        return int(np.unique(self.user).size)

    @property
    def users_with_two(self) -> int:
        return int((np.bincount(self.user) >= 2).sum()) if self.user.size else 0

    def where(self, chosen: npt.NDArray[np.bool_]) -> Occurrences:
        """Those chosen, with all that is known of them."""
        arrays = {
            field.name: getattr(self, field.name)[chosen]
            for field in dataclasses.fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return dataclasses.replace(self, **arrays)


def read_occurrences(
    database: DuckDBPyConnection, domain: str, action: str, of: str | None = None, per: Counting = "line"
) -> Occurrences:
    """What users did themselves, from a database with the view `events`; the same line logged twice counts once.

    Without ``of``, lines of one instant are one and only times are read. With it, one is read for each thing chosen:
    ``of`` is `item`, `category` (from the view `items`) or a dimension of the domain (from `item_attributes`), and lines
    about nothing are left out. By ``per`` `session` the lines of a sitting are one, at the time of its first.
    """
    needed = ("user_id", "at", "utc_offset_min")
    counts = ", ".join(f'count(*) FILTER (WHERE "{name}" IS NULL)' for name in needed)
    parameters = {"domain": domain, "action": action}
    # What a device sums up is what the person did; what it notices or sets by itself is not.
    mine = "domain = $domain AND action = $action AND (source = 'self' OR (source = 'import' AND series IS NOT NULL))"
    nulls = database.execute(f"SELECT {counts} FROM events WHERE {mine}", parameters).fetchall()[0]
    whole = " AND ".join(f'"{name}" IS NOT NULL' for name in needed)
    lines = f"SELECT * FROM events WHERE {mine} AND {whole}"
    if per == "session":
        query, used = _BY_SESSION.format(lines=lines), parameters
    elif of is None:
        query, used = _TIMES.format(lines=lines), parameters
    else:
        kind = of if of in _UNITS else ""
        query = _BY_LINE.format(lines=lines, unit=_UNITS[kind], join=_JOINS[kind])
        used = parameters if kind else {**parameters, "dimension": f"{domain}.{of}"}
    rows = database.sql(query, params=used).to_arrow_table()
    holes = tuple((f"events.{name}", int(count)) for name, count in zip(needed, nulls, strict=True) if count)
    return _from_rows(rows, holes)


_TIMES = """SELECT DISTINCT user_id, epoch_us("at") AS at_us, utc_offset_min::BIGINT AS offset_min
FROM ({lines}) ORDER BY ALL"""
_BY_SESSION = """SELECT user_id, min(epoch_us("at")) AS at_us, arg_min(utc_offset_min, "at")::BIGINT AS offset_min,
    count(DISTINCT coalesce(item_id, "at"::VARCHAR)) AS size
FROM ({lines}) GROUP BY user_id, session_id ORDER BY user_id, at_us, offset_min, size"""
_BY_LINE = """SELECT user_id, epoch_us("at") AS at_us, utc_offset_min::BIGINT AS offset_min, {unit} AS unit,
    min(session_id) AS session, min(rating)::DOUBLE AS rating, min(quantity)::DOUBLE AS party,
    min(epoch_us(starts_at)) AS starts_us, min(epoch_us(ends_at)) AS ends_us, min(series) AS series
FROM ({lines}) AS line {join}
GROUP BY user_id, at_us, offset_min, {unit}, item_id ORDER BY ALL"""
_JOINS = {
    ITEM: "",
    CATEGORY: "LEFT JOIN (SELECT item_id, category FROM items) USING (item_id)",
    "": "LEFT JOIN (SELECT item_id, value FROM item_attributes WHERE dimension = $dimension) USING (item_id)",
}
_UNITS = {ITEM: "item_id", CATEGORY: "category", "": "value"}


def _from_rows(rows: pa.Table, holes: tuple[tuple[str, int], ...]) -> Occurrences:
    """The rows of a query, sorted by user and time, as arrays."""
    user, at, offset = _numbered(rows["user_id"]), rows["at_us"].to_numpy(), rows["offset_min"].to_numpy()
    found = Occurrences(user, at, offset, holes)
    if "size" in rows.column_names:
        return dataclasses.replace(found, size=rows["size"].to_numpy())
    if "unit" not in rows.column_names:
        return found
    day = (at // MINUTE_US + offset) // 1440
    starts, ends = (_days(rows[name], offset) for name in ("starts_us", "ends_us"))
    return dataclasses.replace(
        found,
        unit=_numbered(rows["unit"]),
        session=_numbered(rows["session"]),
        rating=_numbers(rows["rating"]),
        party=_numbers(rows["party"]),
        lead_days=starts - day,
        nights=ends - starts,
        arrives=(starts + 3) % DAYS_A_WEEK + 1,
        by_hour=_by_hour(rows["series"]),
    )


def _by_hour(series: pa.ChunkedArray) -> F64 | None:
    """(n, 24) the series that have a value for each hour of a day, and 0 elsewhere; None if there are none."""
    lengths = pc.fill_null(pc.list_value_length(series), 0).to_numpy()
    whole = lengths == HOURS_A_DAY
    if not whole.any():
        return None
    found = np.zeros((lengths.size, HOURS_A_DAY))
    found[whole] = _numbers(pc.list_flatten(series.filter(pa.array(whole)))).reshape(-1, HOURS_A_DAY)
    return found


def _numbers(column: pa.ChunkedArray) -> F64:
    """(n,) with NaN for null."""
    return np.asarray(pc.fill_null(column.cast(pa.float64()), float("nan")).to_numpy())


def _days(instants_us: pa.ChunkedArray, offset_min: I64) -> F64:
    """(n,) local days since the epoch, by the offset of the line that names the instants; NaN for null."""
    return np.asarray(np.floor((_numbers(instants_us) / MINUTE_US + offset_min) / 1440))


def _numbered(ids: pa.ChunkedArray) -> I64:
    """(n,) equal ids get equal numbers, in the order of appearance; null is -1."""
    if len(ids) == 0:
        return np.empty(0, np.int64)
    encoded = pc.dictionary_encode(ids).unify_dictionaries()
    return np.concatenate([pc.fill_null(chunk.indices, -1).to_numpy().astype(np.int64) for chunk in encoded.chunks])


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


def hour_counts(occurrences: Occurrences) -> F64:
    """(24,) events by local hour; of days that a device summed up, what it counted."""
    if occurrences.by_hour is not None:
        return np.asarray(occurrences.by_hour.sum(axis=0))
    hour = local_hour(occurrences.at_us, occurrences.offset_min)
    return np.bincount(hour, minlength=HOURS_A_DAY).astype(np.float64)


def weekday_counts(occurrences: Occurrences) -> F64:
    """(7,) events by local weekday, Monday first; of days that a device summed up, what it counted."""
    weight = None if occurrences.by_hour is None else occurrences.by_hour.sum(axis=1)
    day = iso_weekday(occurrences.at_us, occurrences.offset_min) - 1
    return np.bincount(day, weight, minlength=DAYS_A_WEEK).astype(np.float64)
