"""The numbered Parquet files of one split of one table, cut at places that depend on the rows alone."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from flows.common.files import ROW_GROUP, ContentDigest, file_sha256, open_output, table_writer
from schemas.tables import Table, TableError


@dataclass(frozen=True)
class Limits:
    """Where files and row groups end: at so many rows, or before so many bytes of cells, whichever comes first."""

    file_rows: int
    file_bytes: int = 1 << 29
    """A quarter of what one Arrow column of text can address, so that a reader can join the rows of a file."""
    group_rows: int = ROW_GROUP
    group_bytes: int = 1 << 26
    """Bounds what waits in memory where rows are long."""


@dataclass(frozen=True)
class WrittenFile:
    """One finished file. ``path`` is absolute until the release describes it."""

    path: Path
    rows: int
    sha256: str
    bytes: int


class Series:
    """Takes rows in any portions and writes ``<split>-00000-of-0000N.parquet`` files.

    A context manager: on an error the half-written file is removed.
    """

    def __init__(self, folder: Path, split: str, declared: Table, limits: Limits) -> None:
        self.digest = ContentDigest(declared)
        self.nulls = dict.fromkeys(sorted(declared.optional), 0)
        self._folder = folder
        self._split = split
        self._declared = declared
        self._limits = limits
        self._waiting: list[pa.Table] = []
        self._sizes = np.empty(0, np.int64)
        self._open: contextlib.ExitStack | None = None
        self._writer: pq.ParquetWriter | None = None
        self._file_rows = 0
        self._file_bytes = 0
        self._rows: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            self._open.__exit__(kind, error, trace)

    def add(self, rows: pa.Table) -> None:
        """Keeps the rows until a row group is full, then writes it. Raises TableError for a row no file can hold."""
        sizes = row_bytes(rows)
        if sizes.size and int(sizes.max()) > self._limits.file_bytes:
            place = int(np.argmax(sizes > self._limits.file_bytes))
            row = key_text(rows, self._declared, place)
            problem = f"row {row} takes {sizes[place]:,} bytes; a file holds {self._limits.file_bytes:,}"
            raise TableError(self._declared.name, [problem])
        self._waiting.append(rows)
        self._sizes = np.concatenate([self._sizes, sizes])
        self._write_groups(last=False)

    def finish(self) -> list[WrittenFile]:
        """Writes what waits and names the files, now that their number is known."""
        self._write_groups(last=True)
        self._end_file()
        total = len(self._rows)
        written = []
        for number, rows in enumerate(self._rows):
            path = self._folder / f"{self._split}-{number:05d}-of-{total:05d}.parquet"
            self._unnumbered(number).replace(path)
            written.append(WrittenFile(path, rows, file_sha256(path), path.stat().st_size))
        return written

    def _unnumbered(self, number: int) -> Path:
        return self._folder / f".{self._split}-{number:05d}"

    def _write_groups(self, *, last: bool) -> None:
        """Every row group whose end is certain: more rows would not change where it ends."""
        while self._sizes.size:
            upto = np.cumsum(self._sizes[: self._limits.group_rows])
            left_rows = self._limits.file_rows - self._file_rows
            left_bytes = self._limits.file_bytes - self._file_bytes
            if left_rows <= 0 or upto[0] > left_bytes:
                self._end_file()
                continue
            fits = int(np.searchsorted(upto, min(left_bytes, self._limits.group_bytes), side="right"))
            count = min(max(fits, 1), left_rows, self._limits.group_rows)
            is_full = fits < upto.size or count in (left_rows, self._limits.group_rows)
            if not is_full and not last:
                return
            self._write_group(count, int(upto[count - 1]))

    def _write_group(self, count: int, size: int) -> None:
        joined = pa.concat_tables(self._waiting)
        # One chunk a column: the pages of a group then fall the same way however the rows arrived.
        group = joined.slice(0, count).combine_chunks()
        rest = joined.slice(count)
        self._waiting = [rest] if rest.num_rows else []
        self._sizes = self._sizes[count:]
        self._writer_now().write_table(group, row_group_size=count)
        self.digest.update(group)
        for name in self.nulls:
            self.nulls[name] += group.column(name).null_count
        self._file_rows += count
        self._file_bytes += size

    def _writer_now(self) -> pq.ParquetWriter:
        if self._writer is None:
            self._open = contextlib.ExitStack()
            stream = self._open.enter_context(open_output(self._unnumbered(len(self._rows))))
            self._writer = self._open.enter_context(table_writer(stream, self._declared))
        return self._writer

    def _end_file(self) -> None:
        if self._open is None:
            return
        self._open.close()
        self._open, self._writer = None, None
        self._rows.append(self._file_rows)
        self._file_rows, self._file_bytes = 0, 0


def row_bytes(table: pa.Table) -> npt.NDArray[np.int64]:
    """(n,) bytes that the cells of each row take, not counting Arrow's own offsets."""
    total = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        start = 0
        for chunk in column.chunks:
            total[start : start + len(chunk)] += _cell_bytes(chunk)
            start += len(chunk)
    return total


def _cell_bytes(array: pa.Array) -> npt.NDArray[np.int64]:
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return np.asarray(pc.binary_length(array).fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    if pa.types.is_list(kind):
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        upto = np.concatenate([[0], np.cumsum(_cell_bytes(array.flatten()))])
        ends = np.cumsum(lengths)
        return np.asarray(upto[ends] - upto[ends - lengths], dtype=np.int64)
    if pa.types.is_struct(kind):
        parts = [_cell_bytes(child) for child in array.flatten()]
        return np.asarray(np.sum(parts, axis=0, dtype=np.int64))
    return np.full(len(array), max(1, kind.bit_width // 8), np.int64)


def key_text(rows: pa.Table, declared: Table, place: int) -> str:
    """The key of one row, for an error message. Columns that are missing are left out."""
    known = [name for name in declared.key if name in rows.column_names]
    return ", ".join(f"{name} {rows.column(name)[place].as_py()}" for name in known)
