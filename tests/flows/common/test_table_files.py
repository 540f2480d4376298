"""Tables as files of any format: whole or not at all, and the same when read back."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from flows.common.table_files import format_of, read_rows, table_file
from schemas.source import InputError
from schemas.tables import Table
from schemas.tables.core import TIMESTAMP, Field

NAMES = ["Hiếu", "محمد", "שרה", "रीता", 'A "quoted", one', "two\nlines", ""]
DECLARED = Table(
    name="people",
    layer="sealed",
    key=("user_id",),
    doc="People.",
    columns={
        "user_id": Field(pa.string(), "Id."),
        "name": Field(pa.string(), "Name."),
        "work": Field(pa.string(), "Work, or null."),
        "born": Field(pa.date32(), "Date."),
        "since": Field(TIMESTAMP, "Instant."),
        "age": Field(pa.int16(), "Years."),
        "ages": Field(pa.list_(pa.int16()), "Years of others."),
        "pets": Field(pa.list_(pa.string()), "Their names."),
    },
    optional=frozenset({"work"}),
)
ROWS = DECLARED.conform(
    pa.table(
        {
            "user_id": [f"u{number}" for number in range(len(NAMES))],
            "name": NAMES,
            "work": [None, "no", "", "null", "x", None, "y"],
            "born": [date(1960, 2, 29)] * len(NAMES),
            "since": pa.array([datetime(2024, 12, 31, 23, 30, tzinfo=UTC)] * len(NAMES), TIMESTAMP),
            "age": pa.array(range(len(NAMES)), pa.int16()),
            "ages": pa.array([list(range(number)) for number in range(len(NAMES))], pa.list_(pa.int16())),
            "pets": [[name, "b,c"] for name in NAMES],
        }
    )
)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl", ".ndjson", ".CSV"])
def test_names_of_any_script_nulls_and_empty_texts_come_back(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{suffix}"
    with table_file(path, DECLARED) as write:
        write(ROWS.slice(0, 3))
        write(ROWS.slice(3))
    found = read_rows(path)
    for column in ("user_id", "name", "work", "age"):
        assert found[column].to_pylist() == ROWS[column].to_pylist(), column
    for column in ("ages", "pets"):
        lists = found[column].to_pylist()
        as_lists = [json.loads(one) for one in lists] if suffix.lower() == ".csv" else lists
        assert as_lists == ROWS[column].to_pylist(), column
    if suffix != ".parquet":
        text = path.read_text()
        assert "1960-02-29" in text and "2024-12-31" in text
        assert not any(mark in text for mark in "\u200e\u200f\u202a\u202b\u202c")


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_what_breaks_in_the_middle_leaves_nothing_and_what_was_there_stays(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{suffix}"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), table_file(path, DECLARED) as write:
        write(ROWS)
        assert path.read_text() == "before"
        raise KeyboardInterrupt
    assert [one.name for one in tmp_path.iterdir()] == [path.name] and path.read_text() == "before"


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    for number in range(2):
        with table_file(tmp_path / f"{number}.parquet", DECLARED) as write:
            write(ROWS.slice(number * 3, 3))
    assert read_rows(tmp_path).num_rows == 6
    with pytest.raises(InputError, match="holds no Parquet files"):
        (tmp_path / "none").mkdir()
        read_rows(tmp_path / "none")


def test_a_name_without_a_format_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean"):
        format_of(Path("people.jsonlines"))
