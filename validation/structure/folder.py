"""Where a release keeps its tables, and a database that has them as views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.tables import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LAYER_FOLDERS = {"visible": "data", "sealed": "sealed"}
EXAMPLES = 5
FILE_NAME = re.compile(r"(?P<split>[A-Za-z_][A-Za-z0-9_]*)-(?P<part>\d{5})-of-(?P<parts>\d{5})\.parquet")


@dataclass(frozen=True)
class Violation:
    """One broken rule: where, how often, and up to ``EXAMPLES`` of the ids or values that break it."""

    table: str
    column: str
    rule: str
    count: int = 1
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.table}.{self.column}" if self.column else self.table
        more = " …" if self.count > len(self.examples) == EXAMPLES else ""
        shown = f": {', '.join(self.examples)}{more}" if self.examples else ""
        return f"{place}: {self.rule}{f' ({self.count})' if self.count > 1 or self.examples else ''}{shown}"


def table_folder(folder: Path, declared: Table) -> Path:
    """`data/<table>` or `sealed/<table>`."""
    return folder / LAYER_FOLDERS[declared.layer] / declared.name


def table_files(folder: Path, declared: Table) -> list[tuple[str, Path]]:
    """(split, file) of every file named as one of the table's, by name."""
    paths = sorted(table_folder(folder, declared).glob("*.parquet"))
    named = [(FILE_NAME.fullmatch(path.name), path) for path in paths]
    return [(match["split"], path) for match, path in named if match]


def connect() -> DuckDBPyConnection:
    """An empty database in memory that loads nothing from anywhere and thinks in UTC."""
    import duckdb

    database = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    database.execute("SET TimeZone = 'UTC'")
    return database


def open_release(folder: Path, tables: Iterable[Table]) -> DuckDBPyConnection:
    """A database with one view a table; the column `_split` says which split a row is in.

    The files must have the declared schemas. A table without files is an empty view.
    """
    database = connect()
    for declared in tables:
        parts: dict[str, list[Path]] = {}
        for split, path in table_files(folder, declared):
            parts.setdefault(split, []).append(path)
        if parts:
            database.execute(f"CREATE VIEW {quoted(declared.name)} AS {_union(parts)}")
        else:
            empty = declared.empty()
            source = f"_empty_{declared.name}"
            database.register(source, empty)
            database.execute(f"CREATE VIEW {quoted(declared.name)} AS SELECT *, '' AS _split FROM {quoted(source)}")
    return database


def _union(parts: Mapping[str, list[Path]]) -> str:
    selects = []
    for split, paths in parts.items():
        files = ", ".join(literal(str(path)) for path in paths)
        selects.append(f"SELECT *, {literal(split)} AS _split FROM read_parquet([{files}], hive_partitioning = false)")
    return " UNION ALL ".join(selects)


def quoted(name: str) -> str:
    """The name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def told(column: str) -> str:
    """SQL for a blank, the column's name and the instant in it, such as ` at 2025-01-06 08:00:00.000000Z`."""
    instant = f"strftime(make_timestamp(epoch_us({quoted(column)})), '%Y-%m-%d %H:%M:%S.%fZ')"
    return f"' {column} ' || {instant}"
