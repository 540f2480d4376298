"""The tables of a release, written split by split from parts that come in the order of the users."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.files import ContentDigest, write_json
from flows.common.ids import owner_numbers, user_numbers
from flows.common.splits import CATALOGUE, split_of
from flows.release.series import Limits, Series, WrittenFile, key_text
from schemas.config import DataConfig
from schemas.tables import Table, TableError

FILES = Path("reports/files.json")
FOLDERS = {"visible": "data", "sealed": "sealed"}
_OWNER_COLUMNS = {"tool_state": "task_id", "items": "owner_user_id", "item_attributes": "item_id"}
"""Tables that tell their user by another column than `user_id`: ids of tasks and of personal things begin with it."""
MIXED = ("items", "item_attributes")
"""Tables of which some rows belong to nobody, and stand before those of the users."""


def stage_tables(
    sources: Mapping[str, Iterable[pa.Table]],
    staging: Path,
    config: DataConfig,
    tables: Mapping[str, Table],
    limits: Limits | None = None,
) -> dict[str, Any]:
    """What `reports/files.json` says, which is written too: every file, and for every table rows, digest and nulls.

    ``sources`` gives for each of ``tables`` its rows in portions: by the number of the user and then by the key, or by
    the key alone where rows belong to no user; those come first. Portions may be cut anywhere; files, bytes and digests are the same.
    ``limits`` stands in for the config's rows per file and the fixed sizes of files and row groups.

    A table's digest is the SHA-256 over one line for each split that has rows, in the order of the config, with the
    ``ContentDigest`` of that split's rows in their order; for a table without rows, the digest of its schema.

    Raises TableError with table and row for what is not as declared, is out of order, or fits into no file.
    """
    strange = set(sources) ^ set(tables)
    if strange:
        raise ValueError(f"tables without source, or sources without table: {', '.join(sorted(strange))}")
    limits = limits or Limits(file_rows=config.release.rows_per_file)
    files: list[dict[str, Any]] = []
    described: dict[str, Any] = {}
    for name in sorted(tables):
        series = _write_table(tables[name], sources[name], staging, config, limits)
        described[name] = _described(tables[name], series)
        for split, (_, written) in series.items():
            files.extend(_file_entry(staging, name, split, file) for file in written)
    report = {"files": sorted(files, key=lambda entry: str(entry["path"])), "tables": described}
    write_json(staging / FILES, report)
    return report


def owner_column(declared: Table) -> str | None:
    """The column that tells whose row it is; None where all rows belong to nobody and so to the split `catalogue`."""
    return "user_id" if declared.has_users else _OWNER_COLUMNS.get(declared.name)


def _write_table(
    declared: Table, portions: Iterable[pa.Table], staging: Path, config: DataConfig, limits: Limits
) -> dict[str, tuple[Series, list[WrittenFile]]]:
    owner = owner_column(declared)
    folder = staging / FOLDERS[declared.layer] / declared.name
    splits = [] if owner is None else list(config.release.splits)
    if owner is None or declared.name in MIXED:
        splits.append(CATALOGUE)
    known_by = [*dict.fromkeys([*([owner] if owner else []), *declared.key])]
    last = declared.empty().select(known_by)
    with contextlib.ExitStack() as stack:
        series = {split: stack.enter_context(Series(folder, split, declared, limits)) for split in splits}
        for portion in portions:
            rows = _conformed(declared, portion)
            if not rows.num_rows:
                continue
            keys = pa.concat_tables([last, rows.select(known_by)])
            _check_order(declared, keys, owner)
            last = keys.slice(keys.num_rows - 1)
            if owner is None:
                series[CATALOGUE].add(rows)
                continue
            places = _split_places(_owners(declared, rows.column(owner)), config)
            for place, split in enumerate(splits):
                series[split].add(rows.filter(pa.array(places == place)))
        return {split: (one, one.finish()) for split, one in series.items()}


def _owners(declared: Table, column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """(n,) numbers of the users whose rows they are, -1 for nobody's."""
    return owner_numbers(column) if declared.name in MIXED else user_numbers(column).astype(np.int64)


def _split_places(numbers: npt.NDArray[np.int64], config: DataConfig) -> npt.NDArray[np.int64]:
    """(n,) owners → place of their split in the config, after the last one for nobody; each is looked up once."""
    distinct, back = np.unique(numbers, return_inverse=True)
    names = split_of(distinct.clip(0).astype(np.uint64), config)
    places = np.zeros(distinct.size, np.int64)
    for place, split in enumerate(config.release.splits):
        places[names == split] = place
    places[distinct < 0] = len(config.release.splits)
    return np.asarray(places[back])


def _conformed(declared: Table, portion: pa.Table) -> pa.Table:
    """The portion as declared. The error names the first row at fault, found by halving."""
    try:
        return declared.conform(portion, check_key=False)
    except TableError as error:
        place = _first_at_fault(declared, portion)
        if place is None:
            raise
        raise TableError(
            declared.name, [*error.violations, f"first in row {key_text(portion, declared, place)}"]
        ) from error


def _first_at_fault(declared: Table, portion: pa.Table) -> int | None:
    """Place of the first row with which the portion stops to conform; None where the columns themselves are wrong."""
    if not _conforms(declared, portion.slice(0, 0)):
        return None
    good, bad = 0, portion.num_rows
    while bad - good > 1:
        middle = (good + bad) // 2
        if _conforms(declared, portion.slice(good, middle - good)):
            good = middle
        else:
            bad = middle
    return good


def _conforms(declared: Table, rows: pa.Table) -> bool:
    try:
        declared.conform(rows, check_key=False)
    except TableError:
        return False
    return True


def _check_order(declared: Table, keys: pa.Table, owner: str | None) -> None:
    """Raises TableError unless keys rise strictly, so that they are sorted and unique.

    ``keys`` begins with the last row before the portion. Users count by their number, which is the order of their ids
    up to a million of them.
    """
    columns = [pa.concat_arrays(keys.column(name).chunks) for name in declared.key]
    if owner is not None:
        columns.insert(0, pa.array(_owners(declared, keys.column(owner))))
    wrong = ~_rises(columns)
    if wrong.any():
        place = int(np.argmax(wrong))
        pair = f"row {key_text(keys, declared, place + 1)} comes after row {key_text(keys, declared, place)}"
        rule = f"rows must be in the order of {', '.join(declared.key)}, each key once"
        raise TableError(declared.name, [f"{pair}; {rule}"])


def _rises(columns: list[pa.Array]) -> npt.NDArray[np.bool_]:
    """(n - 1,) whether each row's key is above that of the row before; a null is above every value."""
    pairs = len(columns[0]) - 1
    above = np.zeros(pairs, bool)
    equal = np.ones(pairs, bool)
    for column in columns:
        before, after = column.slice(0, pairs), column.slice(1)
        null_before, null_after = _bools(pc.is_null(before)), _bools(pc.is_null(after))
        greater = _bools(pc.fill_null(pc.greater(after, before), False)) | (null_after & ~null_before)
        same = _bools(pc.fill_null(pc.equal(after, before), False)) | (null_after & null_before)
        above |= equal & greater
        equal &= same
    return above


def _bools(array: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=bool)


def _described(declared: Table, series: Mapping[str, tuple[Series, list[WrittenFile]]]) -> dict[str, Any]:
    filled = {split: one for split, (one, _) in series.items() if one.digest.rows}
    combined = hashlib.sha256()
    for split, one in filled.items():
        combined.update(f"{split} {one.digest.rows} {one.digest.hexdigest()}\n".encode())
    return {
        "layer": declared.layer,
        "rows": sum(one.digest.rows for one in filled.values()),
        "digest": combined.hexdigest() if filled else ContentDigest(declared).hexdigest(),
        "splits": {split: one.digest.rows for split, one in filled.items()},
        "nulls": {name: sum(one.nulls[name] for one in filled.values()) for name in sorted(declared.optional)},
    }


def _file_entry(staging: Path, table: str, split: str, file: WrittenFile) -> dict[str, Any]:
    return {
        "path": file.path.relative_to(staging).as_posix(),
        "table": table,
        "split": split,
        "rows": file.rows,
        "sha256": file.sha256,
        "bytes": file.bytes,
    }
