"""Claims about stages and the parts of a run folder that they write."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.stage import (
    RECEIPT,
    WHOLE,
    Context,
    DamagedPart,
    Shard,
    Stage,
    Tables,
    is_intact,
    part_folder,
    read_part,
    read_parts,
    run_stage,
    shards_of,
    write_part,
)
from schemas.config import Config, DataConfig
from schemas.tables import Field, Table, TableError

WORDS = Table(
    name="words", layer="internal", key=("word",), doc="Words.", columns={"word": Field(pa.string(), "A word.")}
)
COUNTS = Table(
    name="counts", layer="internal", key=("count",), doc="Counts.", columns={"count": Field(pa.int64(), "A count.")}
)
DECLARED = {"words": WORDS, "counts": COUNTS}
MADE = {"words": pa.table({"word": ["a", "b"]}), "counts": pa.table({"count": [2]})}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_part(tmp_path / "stage" / "000000-000002", DECLARED, MADE)


@pytest.fixture(scope="module")
def data() -> DataConfig:
    window = {"start": "2025-01-06T00:00:00Z", "end": "2025-01-20T00:00:00Z"}
    return Config.model_validate(
        {"schema_version": 1, "name": "x", "data": {"users": 5, "window": window, "seed": 3}}
    ).data


def test_a_part_holds_its_tables_and_a_receipt_of_rows_and_hashes(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["counts.parquet", RECEIPT, "words.parquet"]
    receipt = json.loads((folder / RECEIPT).read_text())
    assert {name: entry["rows"] for name, entry in receipt.items()} == {"words": 2, "counts": 1}
    assert is_intact(folder)
    assert read_part(folder, "words")["word"].to_pylist() == ["a", "b"]


@pytest.mark.parametrize("name", ["words.parquet", "counts.parquet"])
@pytest.mark.parametrize("place", [0, -1, 40])
def test_one_changed_byte_is_noticed(folder: Path, name: str, place: int) -> None:
    path = folder / name
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    assert not is_intact(folder)
    with pytest.raises(DamagedPart, match=f"{name} is not what was written there; run the build again"):
        read_part(folder, path.stem)


def test_a_missing_table_is_noticed(folder: Path) -> None:
    (folder / "words.parquet").unlink()
    assert not is_intact(folder)
    with pytest.raises(DamagedPart, match=r"words\.parquet cannot be read .* run the build again"):
        read_part(folder, "words")
    assert read_part(folder, "counts").num_rows == 1


UNREADABLE = [
    None,
    "",
    "{",
    "{}",
    "[]",
    "null",
    "3",
    '"x"',
    '{"words": {}}',
    '{"words": null}',
    '{"words": 3}',
    "\udcff",
]


@pytest.mark.parametrize("receipt", UNREADABLE)
def test_a_missing_or_unreadable_receipt_is_noticed(folder: Path, receipt: str | None) -> None:
    (folder / RECEIPT).unlink()
    if receipt is not None:
        (folder / RECEIPT).write_bytes(receipt.encode(errors="surrogateescape"))
    assert not is_intact(folder)
    with pytest.raises(DamagedPart, match="cannot be read"):
        read_part(folder, "words")


def test_nothing_where_no_part_is(tmp_path: Path) -> None:
    assert not is_intact(tmp_path / "stage" / "000000-000002")
    with pytest.raises(DamagedPart, match="cannot be read"):
        read_part(tmp_path / "stage" / "000000-000002", "words")


def test_what_an_ended_process_left_behind_is_neither_taken_for_a_part_nor_in_the_way(folder: Path) -> None:
    left = folder.with_name(f".{folder.name}.1.partial")
    folder.rename(left)
    (left / RECEIPT).unlink()
    assert not is_intact(folder)
    again = write_part(folder, DECLARED, MADE)
    assert is_intact(again) and left.exists()


def test_a_part_is_replaced_whole(folder: Path) -> None:
    write_part(folder, {"words": WORDS}, {"words": pa.table({"word": ["c"]})})
    assert sorted(path.name for path in folder.iterdir()) == [RECEIPT, "words.parquet"]
    assert read_part(folder, "words")["word"].to_pylist() == ["c"]
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_table_that_is_not_as_declared_leaves_the_old_part_as_it_was(folder: Path) -> None:
    with pytest.raises(TableError):
        write_part(folder, DECLARED, {**MADE, "counts": pa.table({"count": ["many"]})})
    assert is_intact(folder)
    assert read_part(folder, "counts")["count"].to_pylist() == [2]


@pytest.mark.parametrize("made", [{}, {"words": MADE["words"]}, {**MADE, "more": MADE["words"]}])
def test_undeclared_and_missing_tables_are_refused_before_anything_is_written(tmp_path: Path, made: Tables) -> None:
    with pytest.raises(ValueError, match=r"stage declares \['counts', 'words'\] and made"):
        write_part(tmp_path / "stage" / "whole", DECLARED, made)
    assert list(tmp_path.rglob("*.parquet")) == []


# Stages.

SHARDS = [Shard(0, 2), Shard(2, 4), Shard(4, 5)]


def echo(context: Context, tables: Tables) -> Tables:
    """Tells what a stage is given."""
    users = list(range(context.shard.first, context.shard.last))
    words = [f"{context.draws.stage} {context.draws.seed}", *(f"user {user}" for user in users)]
    return {"words": pa.table({"word": words}), "counts": pa.table({"count": [context.data.users]})}


def joined(context: Context, tables: Tables) -> Tables:
    return {"words": tables["words"], "counts": pa.table({"count": [tables["words"].num_rows]})}


FIRST = Stage("first", echo, reads={}, writes=(WORDS, COUNTS))
SAME = Stage("same", joined, reads={"words": "first"}, writes=(WORDS, COUNTS))
ALL = Stage("all", joined, reads={"words": "first*"}, writes=(WORDS, COUNTS))


def test_a_stage_knows_config_draws_and_users(tmp_path: Path, data: DataConfig) -> None:
    folder = run_stage(FIRST, data, tmp_path, SHARDS[1], SHARDS)
    assert folder == part_folder(tmp_path, "first", SHARDS[1]) == tmp_path / "first" / "000002-000004"
    assert read_part(folder, "words")["word"].to_pylist() == ["first 3", "user 2", "user 3"]
    assert read_part(folder, "counts")["count"].to_pylist() == [5]


def test_a_stage_reads_its_own_shard_or_all_of_them_in_the_order_of_the_users(tmp_path: Path, data: DataConfig) -> None:
    for shard in reversed(SHARDS):
        run_stage(FIRST, data, tmp_path, shard, SHARDS)
    one = run_stage(SAME, data, tmp_path, SHARDS[2], SHARDS)
    assert read_part(one, "words")["word"].to_pylist() == ["first 3", "user 4"]
    whole = run_stage(ALL, data, tmp_path, WHOLE, SHARDS)
    assert whole == tmp_path / "all" / "whole"
    users = [word for word in read_part(whole, "words")["word"].to_pylist() if word.startswith("user")]
    assert users == [f"user {number}" for number in range(5)]
    assert [table.num_rows for table in read_parts(tmp_path, "first", SHARDS, "words")] == [3, 3, 2]


def test_a_shard_reads_what_a_whole_stage_wrote(tmp_path: Path, data: DataConfig) -> None:
    run_stage(FIRST, data, tmp_path, WHOLE, SHARDS)
    folder = run_stage(SAME, data, tmp_path, SHARDS[0], SHARDS)
    assert read_part(folder, "words")["word"].to_pylist() == ["first 3"]


def test_a_stage_stops_on_a_damaged_input_and_writes_nothing(tmp_path: Path, data: DataConfig) -> None:
    folder = run_stage(FIRST, data, tmp_path, SHARDS[0], SHARDS)
    (folder / "words.parquet").write_bytes(b"")
    with pytest.raises(DamagedPart, match=r"words\.parquet"):
        run_stage(SAME, data, tmp_path, SHARDS[0], SHARDS)
    assert not (tmp_path / "same").exists()


@pytest.mark.parametrize("made", [{}, {"words": MADE["words"]}, {**MADE, "more": MADE["words"]}])
def test_a_stage_that_makes_other_tables_than_it_declares_is_refused(
    tmp_path: Path, data: DataConfig, made: Tables
) -> None:
    stage = Stage("odd", lambda context, tables: made, reads={}, writes=(WORDS, COUNTS))
    with pytest.raises(ValueError, match=r"odd declares \['counts', 'words'\] and made"):
        run_stage(stage, data, tmp_path, SHARDS[0], SHARDS)
    assert not is_intact(part_folder(tmp_path, "odd", SHARDS[0]))


def test_a_stage_whose_rows_break_the_declaration_is_refused(tmp_path: Path, data: DataConfig) -> None:
    words = pa.table({"word": pa.array(["a", None])})
    stage = Stage("odd", lambda context, tables: {"words": words}, reads={}, writes=(WORDS,))
    with pytest.raises(TableError, match="word: 1 nulls where none may be"):
        run_stage(stage, data, tmp_path, SHARDS[0], SHARDS)
    assert not is_intact(part_folder(tmp_path, "odd", SHARDS[0]))


@settings(deadline=None)
@given(st.integers(1, 500), st.integers(1, 200))
def test_shards_cover_every_user_once_and_are_no_larger_than_asked(users: int, size: int) -> None:
    shards = shards_of(users, size)
    assert [user for shard in shards for user in range(shard.first, shard.last)] == list(range(users))
    assert all(0 < shard.users <= size for shard in shards)
    assert WHOLE not in shards
