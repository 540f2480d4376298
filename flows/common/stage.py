"""A stage: a pure function from declared tables to declared tables, and the folder that keeps what it made."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from flows.common.draws import Draws
from flows.common.files import file_sha256, read_json, read_table, write_json, write_table
from schemas.config import DataConfig
from schemas.tables import Table
from schemas.tables.configured import configured

Tables = Mapping[str, pa.Table]
RECEIPT = "receipt.json"


@dataclass(frozen=True)
class Shard:
    """Users ``first`` to ``last``, the last excluded. They pass through the stages together."""

    first: int
    last: int

    @property
    def name(self) -> str:
        return f"{self.first:06d}-{self.last:06d}"

    @property
    def users(self) -> int:
        return self.last - self.first


WHOLE = Shard(0, 0)
"""Stands for the whole release, where a stage does not go by users."""


@dataclass(frozen=True)
class Context:
    """What a stage may know besides its tables: the config's data part, its own draws, and which users it is for."""

    data: DataConfig
    draws: Draws
    shard: Shard


@dataclass(frozen=True)
class Stage:
    """``run(context, tables)`` gives the tables of ``writes`` from those of ``reads``.

    ``reads`` maps a table to the stage that wrote it; a trailing `*` on the stage reads all its shards as one table.
    """

    name: str
    run: Callable[[Context, Tables], Tables]
    reads: Mapping[str, str]
    writes: tuple[Table, ...]


def shards_of(users: int, size: int) -> list[Shard]:
    """The users in shards of ``size``, in their order; the last may be smaller."""
    return [Shard(first, min(first + size, users)) for first in range(0, users, size)]


def part_folder(run: Path, stage: str, shard: Shard) -> Path:
    """Where the tables of one stage of one shard lie, or will."""
    return run / stage / ("whole" if shard == WHOLE else shard.name)


def run_stage(stage: Stage, data: DataConfig, run: Path, shard: Shard, shards: list[Shard]) -> Path:
    """Reads, computes, writes, and only then names the folder. Gives the folder.

    Raises ``DamagedPart`` if what it reads is not what was written.
    """
    tables: dict[str, pa.Table] = {}
    for name, source in stage.reads.items():
        if source.endswith("*"):
            tables[name] = pa.concat_tables(read_part(part_folder(run, source[:-1], s), name) for s in shards)
        else:
            whole = part_folder(run, source, WHOLE)
            tables[name] = read_part(whole if whole.exists() else part_folder(run, source, shard), name)
    made = stage.run(Context(data, Draws(data.seed, stage.name), shard), tables)
    return write_part(part_folder(run, stage.name, shard), {t.name: configured(t, data) for t in stage.writes}, made)


def write_part(folder: Path, declared: Mapping[str, Table], made: Tables) -> Path:
    """The part's folder with its tables and a receipt of rows and hashes; it appears whole or not at all."""
    strange = set(made) ^ set(declared)
    if strange:
        raise ValueError(f"{folder.parent.name} declares {sorted(declared)} and made {sorted(made)}")
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    receipt = {}
    for name, table in declared.items():
        write_table(partial / f"{name}.parquet", table, made[name])
        receipt[name] = {"rows": made[name].num_rows, "sha256": file_sha256(partial / f"{name}.parquet")}
    write_json(partial / RECEIPT, receipt)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(partial, folder)
    return folder


class DamagedPart(RuntimeError):
    """A file of the run folder is missing or is not what its receipt says."""


def is_intact(folder: Path) -> bool:
    """Whether every file of the part is there with the hash of its receipt."""
    try:
        receipt = read_json(folder / RECEIPT)
        intact = all(file_sha256(folder / f"{name}.parquet") == entry["sha256"] for name, entry in receipt.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return bool(receipt) and intact


def read_part(folder: Path, name: str) -> pa.Table:
    """One table of a part, checked against the receipt."""
    path = folder / f"{name}.parquet"
    try:
        expected = read_json(folder / RECEIPT)[name]["sha256"]
        found = file_sha256(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedPart(f"{path} cannot be read ({error}); run the build again") from error
    if found != expected:
        raise DamagedPart(f"{path} is not what was written there; run the build again")
    return read_table(path)


def read_parts(run: Path, stage: str, shards: list[Shard], name: str) -> Iterator[pa.Table]:
    """The table of every shard, one at a time, in the order of the users."""
    for shard in shards:
        yield read_part(part_folder(run, stage, shard), name)
