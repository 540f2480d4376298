"""The one way in which anything is written, read back and digested."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.tables import Table

ROW_GROUP = 131_072
NEARLY_UNIQUE = frozenset({"event_id", "session_id"})
"""Columns whose texts stand on a few rows each."""


@contextlib.contextmanager
def open_output(target: Path) -> Iterator[IO[bytes]]:
    """A file that exists under its name only once it is whole: written beside it, synced, renamed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def write_text(target: Path, text: str) -> None:
    """The text in UTF-8, whole or not at all."""
    with open_output(target) as stream:
        stream.write(text.encode())


def write_json(target: Path, value: Any) -> None:
    """JSON with sorted keys and a final newline."""
    write_text(target, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def write_table(target: Path, declared: Table, table: pa.Table) -> None:
    """A Parquet file of the declared schema: zstd, row groups of fixed size, no metadata that varies."""
    with open_output(target) as stream, table_writer(stream, declared) as writer:
        writer.write_table(declared.conform(table, check_key=False), row_group_size=ROW_GROUP)


def table_writer(stream: IO[bytes], declared: Table) -> pq.ParquetWriter:
    """A writer with the settings of every Parquet file of the project.

    What passes between stages is read whole and once: it is packed less hard, and says nothing of its values beforehand.
    """
    if declared.layer == "internal":
        texts = [path for name, field in declared.columns.items() for path in _repeating(name, field.type)]
        return pq.ParquetWriter(
            stream,
            declared.schema(),
            compression="zstd",
            compression_level=1,
            use_dictionary=texts,
            write_statistics=False,
        )
    return pq.ParquetWriter(stream, declared.schema(), compression="zstd", compression_level=3)


def _repeating(path: str, kind: pa.DataType) -> list[str]:
    """Paths of the texts in a column that stand on many rows each, so that a dictionary of them pays."""
    if pa.types.is_list(kind):
        return _repeating(f"{path}.list.element", kind.value_type)
    if pa.types.is_struct(kind):
        return [some for child in kind for some in _repeating(f"{path}.{child.name}", child.type)]
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return [path] if is_text and path not in NEARLY_UNIQUE else []


def read_table(source: Path, columns: list[str] | None = None) -> pa.Table:
    """A whole Parquet file. One thread, no memory map, so that what is read is what was checked."""
    return pq.read_table(source, columns=columns, use_threads=False, partitioning=None)


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def remove_tree(path: Path) -> None:
    """The folder gone, at once to every reader: renamed first, then deleted."""
    if path.exists():
        doomed = path.with_name(f".{path.name}.{os.getpid()}.removed")
        os.replace(path, doomed)
        shutil.rmtree(doomed, ignore_errors=True)


class ContentDigest:
    """A digest of schema and ordered rows that does not depend on how the rows are cut into chunks or files.

    Every column is fed, value by value in a canonical form, into hashes of its own: validity bytes, values with nulls
    as zero, for text the lengths and the bytes, for lists the lengths and the elements. What lies beneath a null is null.
    """

    def __init__(self, declared: Table) -> None:
        self.declared = declared
        self.rows = 0
        self._streams: dict[str, Any] = {}

    def update(self, table: pa.Table) -> None:
        self.rows += table.num_rows
        for name in self.declared.columns:
            for chunk in table.column(name).chunks:
                self._feed(name, chunk)

    def hexdigest(self) -> str:
        total = hashlib.sha256()
        for name, field in self.declared.columns.items():
            total.update(f"{name} {field.type} {name in self.declared.optional} {self.rows}\n".encode())
        for path in sorted(self._streams):
            total.update(f"{path} {self._streams[path].hexdigest()}\n".encode())
        return total.hexdigest()

    def _put(self, path: str, data: bytes) -> None:
        if data:  # else an empty chunk would leave a trace
            self._streams.setdefault(path, hashlib.sha256()).update(data)

    def _feed(self, path: str, array: pa.Array) -> None:
        valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=np.uint8)
        self._put(f"{path}?", valid.tobytes())
        kind = array.type
        if pa.types.is_list(kind):
            lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
            self._put(f"{path}#", lengths.tobytes())
            self._feed(f"{path}[]", array.flatten())
        elif pa.types.is_struct(kind):
            for child, values in zip(kind, array.flatten(), strict=True):
                self._feed(f"{path}.{child.name}", values)
        elif pa.types.is_string(kind) or pa.types.is_binary(kind):
            joined = array.cast(pa.large_binary()).fill_null(b"")
            lengths = pa.compute.binary_length(joined).to_numpy(zero_copy_only=False).astype(np.int64)
            self._put(f"{path}#", lengths.tobytes())
            self._put(path, _text_bytes(joined))
        else:
            self._put(path, _fixed_bytes(array))


def _text_bytes(array: pa.Array) -> bytes:
    """The bytes of all values, one after the other, whatever the offset of the slice."""
    _, offsets, data = array.buffers()
    if data is None:
        return b""
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return bytes(memoryview(data)[int(bounds[0]) : int(bounds[-1])]) if len(array) else b""


def _fixed_bytes(array: pa.Array) -> bytes:
    kind = array.type
    if pa.types.is_boolean(kind):
        return np.asarray(array.fill_null(False).to_numpy(zero_copy_only=False), dtype=np.uint8).tobytes()
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        array = array.cast(pa.int64())
    elif pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    return np.ascontiguousarray(array.fill_null(0).to_numpy(zero_copy_only=False)).tobytes()


def content_digest(declared: Table, table: pa.Table) -> str:
    """The ``ContentDigest`` of a whole table."""
    digest = ContentDigest(declared)
    digest.update(table)
    return digest.hexdigest()


def read_json(path: Path) -> Any:
    """What the file says. Raises OSError, or ValueError if it is no JSON."""
    return json.loads(path.read_text())


def tables_digest(digests: Mapping[str, str]) -> str:
    """One digest over the digests of all tables."""
    return hashlib.sha256("\n".join(f"{name} {digests[name]}" for name in sorted(digests)).encode()).hexdigest()
