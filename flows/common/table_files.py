"""Tables as single files in the format that their name says: written whole or not at all, and read back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from flows.common.files import open_output, read_table, table_writer
from schemas.explain import did_you_mean
from schemas.source import InputError
from schemas.tables import Table
from schemas.tables.texts import json_texts

FORMATS = {".parquet": "Parquet", ".csv": "CSV", ".jsonl": "JSON lines", ".ndjson": "JSON lines"}
Write = Callable[[pa.Table], None]


def format_of(path: Path) -> str:
    """The format that the suffix names. Raises InputError if it names none."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(f"{ending} ({name})" for ending, name in FORMATS.items())
        raise InputError(f"{path}: the suffix says the format. {did_you_mean(suffix, FORMATS, f'Known are {known}')}")
    return FORMATS[suffix]


@contextlib.contextmanager
def table_file(target: Path, declared: Table) -> Iterator[Write]:
    """A function that adds rows to a file, which appears under its name once all rows are there.

    Rows are kept nowhere: what is added is written. CSV has lists and structures as JSON text.
    """
    openers = {"Parquet": _parquet, "CSV": _csv, "JSON lines": _json_lines}
    opener = openers[format_of(target)]
    with open_output(target) as stream, opener(stream, declared) as write:
        yield write


@contextlib.contextmanager
def _parquet(stream: IO[bytes], declared: Table) -> Iterator[Write]:
    with table_writer(stream, declared) as writer:
        yield writer.write_table


@contextlib.contextmanager
def _csv(stream: IO[bytes], declared: Table) -> Iterator[Write]:
    import pyarrow.csv as csv

    with csv.CSVWriter(stream, _flat(declared.empty()).schema) as writer:
        yield lambda table: writer.write_table(_flat(table))


@contextlib.contextmanager
def _json_lines(stream: IO[bytes], declared: Table) -> Iterator[Write]:
    yield lambda table: _frame(table).write_ndjson(stream)


def _frame(table: pa.Table) -> Any:
    """The table for Polars, instants as ISO 8601."""
    import polars

    frame = polars.DataFrame(polars.from_arrow(table))
    return frame.with_columns(polars.selectors.datetime().dt.strftime("%Y-%m-%dT%H:%M:%S%:z"))


def _flat(table: pa.Table) -> pa.Table:
    """The table with lists and structures as JSON text."""
    for place, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            table = table.set_column(place, field.name, json_texts(table[field.name]))
    return table


def read_rows(path: Path) -> pa.Table:
    """The rows of a file, or of all Parquet files of a folder, such as `sealed/personas` of a release.

    Raises InputError if there is none, if it cannot be read, or if it has no rows.
    """
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or not path.exists():
        reason = "holds no Parquet files" if path.is_dir() else "does not exist"
        raise InputError(f"{path} {reason}. `habitus personas sample -o {path.with_suffix('.parquet')}` makes a file")
    readers: dict[str, Callable[[Path], pa.Table]] = {
        "Parquet": read_table,
        "CSV": _read_csv,
        "JSON lines": _read_json_lines,
    }
    try:
        table = pa.concat_tables([readers[format_of(file)](file) for file in files])
    except (pa.ArrowException, OSError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{path} cannot be read as {format_of(files[0])}: {reason}") from error
    if not table.num_rows:
        raise InputError(f"{path} has no rows")
    return table


def _read_csv(path: Path) -> pa.Table:
    """Text in quotes stays text, empty text too; nothing without quotes is null."""
    import pyarrow.csv as csv

    options = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""])
    return csv.read_csv(path, convert_options=options)


def _read_json_lines(path: Path) -> pa.Table:
    import pyarrow.json as json

    return json.read_json(path)
