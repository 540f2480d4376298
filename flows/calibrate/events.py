"""Makes a reference of one's own log: who did something, when, and with what. Two halves of the people say how near is near."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.calibrate.compare import HABIT, RHYTHM, UNFITTED_CHOICES, UNFITTED_TIMES
from flows.common.draws import key_of, keys_of
from schemas.source import SourceError, Violation, display
from validation.fidelity.describe import SPLITS, describe
from validation.fidelity.exposure import weeks_of
from validation.fidelity.occurrences import Occurrences
from validation.references.reader import ReferenceTable, SelfDistance

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
NAMES = {"user": ("user", "user_id"), "time": ("time", "at", "timestamp"), "item": ("item", "item_id")}
"""Columns of a log, by the names that they may have. The last one may be missing."""
SHOWN = (*RHYTHM, *HABIT, *UNFITTED_TIMES, *UNFITTED_CHOICES)
"""The metrics that a calibration fits or shows."""
HOW = "by habitus calibrate --events"
DIGITS = 6


@dataclass(frozen=True)
class Log:
    """Occurrences of a log, sorted by user and time on wall clocks, and a key of each user.

    Users and items are numbered in the order of their names, so that the order of the lines counts for nothing.
    """

    occurrences: Occurrences
    keys: U64
    """(users,) by the number of the user."""

    def half(self, second: bool) -> Log:
        """About half of the users: which, a keyed hash of the user says."""
        bit = np.array([key_of(0, int(key)) & 1 for key in self.keys], dtype=bool)
        return self.of(np.flatnonzero(bit == second))

    def of(self, users: I64) -> Log:
        """Some of the users, numbered anew."""
        number = np.full(self.keys.size, -1, np.int64)
        number[users] = np.arange(users.size)
        kept = self.occurrences.where(number[self.occurrences.user] >= 0)
        return Log(replace(kept, user=number[kept.user]), self.keys[users])


def read_log(path: Path) -> Log:
    """A CSV or Parquet file with columns `user`, `time` and maybe `item`. Raises SourceError with all that is wrong.

    Times are wall clocks where each person is; those of a column with a time zone are read in that zone.
    """
    file = display(path)
    table = _table(path, file)
    columns = {
        what: next((name for name in names if name in table.column_names), None) for what, names in NAMES.items()
    }
    wrong = [
        Violation(file, None, what, "missing", f"there is no column `{what}`", f"name one of its columns {names[0]}")
        for what, names in NAMES.items()
        if columns[what] is None and what != "item"
    ]
    if wrong:
        raise SourceError(wrong)
    user, time = table[columns["user"]], table[columns["time"]]
    at_us, unread = _clock(time)
    for column, name in ((user, "user"), (time, "time")):
        if column.null_count:
            wrong.append(_violation(file, name, f"{column.null_count} values are missing", "leave those lines out"))
    if unread:
        rule = f"{len(unread)} values are no times, the first `{unread[0]}`"
        wrong.append(_violation(file, "time", rule, "write them like 2025-01-31 18:05:00, without an offset"))
    if table.num_rows == 0:
        wrong.append(_violation(file, "user", "there are no lines", "give it what people did"))
    if wrong:
        raise SourceError(wrong)
    number, names = _numbered(user)
    unit = None if columns["item"] is None else _numbered(table[columns["item"]])[0]
    order = np.lexsort((np.zeros_like(number) if unit is None else unit, at_us, number))
    none = np.zeros(order.size, np.int64)
    return Log(
        Occurrences(number[order], at_us[order], none, unit=None if unit is None else unit[order]), keys_of(names)
    )


def _table(path: Path, file: str) -> pa.Table:
    try:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            return pq.read_table(path)
        if path.suffix.lower() == ".csv":
            import pyarrow.csv as csv

            text = {name: pa.string() for names in NAMES.values() for name in names}
            return csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=text))
    except (OSError, UnicodeDecodeError, pa.ArrowInvalid) as error:
        first = next(iter(str(error).splitlines()), "")
        raise SourceError([Violation(file, None, "", "", f"cannot be read: {first}", "check the path")]) from error
    raise SourceError([Violation(file, None, "", "", "must be .csv or .parquet", "write it in one of the two")])


def _violation(file: str, column: str, rule: str, fix: str) -> Violation:
    return Violation(file, None, column, "", rule, fix)


def _clock(time: pa.ChunkedArray) -> tuple[I64, list[str]]:
    """(n,) microseconds on the wall clock, and what could not be read."""
    if pa.types.is_timestamp(time.type):
        local = pc.local_timestamp(time) if time.type.tz is not None else time
        return pc.fill_null(local.cast(pa.timestamp("us")).cast(pa.int64()), 0).to_numpy(), []
    texts = pc.cast(time, pa.string()).combine_chunks()
    try:
        found = texts.cast(pa.timestamp("us"))
        return pc.fill_null(found.cast(pa.int64()), 0).to_numpy(), []
    except pa.ArrowInvalid:
        unread = []
        for text in pc.unique(texts.drop_null()).to_pylist():
            try:
                pa.scalar(text).cast(pa.timestamp("us"))
            except pa.ArrowInvalid:
                unread.append(text)
        return np.zeros(len(texts), np.int64), unread


def _numbered(column: pa.ChunkedArray) -> tuple[I64, list[str]]:
    """(n,) equal things get equal numbers, in the order of their names; -1 for nothing. And the names, in that order."""
    encoded = pc.cast(column, pa.string()).combine_chunks().dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    place = np.empty(order.size + 1, np.int64)
    place[order] = np.arange(order.size)
    place[-1] = -1
    return place[pc.fill_null(encoded.indices, -1).to_numpy()], encoded.dictionary.take(pa.array(order)).to_pylist()


def reference_from(log: Log, name: str, domain: str, source: str, splits: int = SPLITS) -> dict[str, Any]:
    """The log as the content of a reference file: its tables, and how far halves of its people lie apart.

    The halves are those of ``splits`` keyed splits, compared by the metrics that a calibration fits or shows.
    """
    ours = log.occurrences
    made = describe(name, domain, ours, splits=splits, only=SHOWN)
    return {
        "reference_id": made.reference_id,
        "domain": made.domain,
        "source": source,
        "licence": "one's own",
        "n_users": made.n_users,
        "n_events": made.n_events,
        "note": "times are wall clocks as logged; events of one user at one time count once where only times matter",
        "window_weeks": round(weeks_of(ours), 2),
        "tables": [_plain_table(table) for table in made.tables],
        "self_distance": [_plain_distance(record) for record in made.self_distances],
    }


def _plain_table(table: ReferenceTable) -> dict[str, Any]:
    return {
        "metric": table.metric,
        "stratum": table.stratum,
        "unit": table.unit,
        "how_computed": f"{HOW}; {table.how_computed}" if table.how_computed else HOW,
        "n": table.n,
        "bins": list(table.bins),
        "values": [_rounded(value) for value in table.values],
    }


def _plain_distance(record: SelfDistance) -> dict[str, Any]:
    return {
        "metric": record.metric,
        "stratum": record.stratum,
        "distance": record.distance,
        "splits": record.splits,
        "mean": _rounded(record.mean),
        "sd": _rounded(record.sd),
        "p95": _rounded(record.p95),
        "max": _rounded(record.largest),
        "users_per_half": record.users_per_half,
        "n_events_total": record.events,
    }


def _rounded(value: float) -> float:
    return round(value, DIGITS)
