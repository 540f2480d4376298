from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from validation.structure.files import broken_schemas, check_files, check_manifest

EVENTS = "data/events/train-00000-of-00001.parquet"


def told(tiny: Any, folder: Path) -> list[str]:
    return [str(violation) for violation in check_files(folder, tiny.tables)]


def relist(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "reports" / "files.json"
    listed = json.loads(path.read_text())
    change(listed)
    path.write_text(json.dumps(listed))


def test_a_sound_release_is_as_listed(tiny: Any, tmp_path: Path) -> None:
    folder = tiny.write(tmp_path)
    assert told(tiny, folder) == []
    assert broken_schemas(folder, tiny.tables) == {}


def test_a_changed_byte_is_found_by_its_hash(tiny: Any, tmp_path: Path) -> None:
    path = tiny.write(tmp_path) / EVENTS
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    (line,) = told(tiny, tmp_path)
    assert line.startswith(f"events: `{EVENTS}` has SHA-256 ") and line.endswith("… listed")


def test_dropped_rows_are_found_with_the_counts(tiny: Any, tmp_path: Path) -> None:
    path = tiny.write(tmp_path) / EVENTS
    pq.write_table(pq.read_table(path).slice(1), path, store_schema=False)
    assert f"events: `{EVENTS}` has 2 rows, 3 listed" in told(tiny, tmp_path)


def test_a_missing_file_and_a_stray_one_are_named(tiny: Any, tmp_path: Path) -> None:
    path = tiny.write(tmp_path) / EVENTS
    path.rename(path.with_name("train-00001-of-00002.parquet"))
    lines = told(tiny, tmp_path)
    assert f"events: `{EVENTS}` is listed and missing" in lines
    assert "data/events/train-00001-of-00002.parquet: is not listed in reports/files.json" in lines


@pytest.mark.parametrize(
    "stray", ["data/events/notes.txt", "sealed/old.parquet", "spare.parquet", "data/.events.partial"]
)
def test_any_file_beside_the_tables_is_a_stray(stray: str, tiny: Any, tmp_path: Path) -> None:
    tiny.write(tmp_path)
    (tmp_path / stray).write_bytes(b"x")
    assert told(tiny, tmp_path) == [f"{stray}: is not listed in reports/files.json"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.drop_columns(["rating"]), "columns differ from the declaration: lacks rating"),
        (lambda t: t.append_column("extra", pa.array([1] * len(t))), "columns differ from the declaration: adds extra"),
        (lambda t: t.select(t.column_names[::-1]), "columns differ from the declaration: other order"),
        (
            lambda t: t.set_column(3, "seq", t["seq"].cast(pa.int64())),
            "types differ from the declaration: seq is int64, declared int32 not null",
        ),
        (
            lambda t: t.set_column(4, "at", t["at"].cast(pa.timestamp("ms", "UTC"))),
            "types differ from the declaration: at is timestamp[ms, tz=UTC], declared timestamp[us, tz=UTC] not null",
        ),
    ],
    ids=["missing", "extra", "order", "width", "unit"],
)
def test_a_schema_that_differs_is_told_by_column(
    change: Callable[[pa.Table], pa.Table], says: str, tiny: Any, tmp_path: Path
) -> None:
    path = tiny.write(tmp_path) / EVENTS
    pq.write_table(change(pq.read_table(path)), path, store_schema=False)
    assert any(says in line for line in told(tiny, tmp_path))
    assert says in str(broken_schemas(tmp_path, tiny.tables)["events"][0])


def test_what_is_no_parquet_file_is_said_to_be_none(tiny: Any, tmp_path: Path) -> None:
    (tiny.write(tmp_path) / EVENTS).write_bytes(b"PAR1 not quite")
    assert "is no readable Parquet file" in str(broken_schemas(tmp_path, tiny.tables)["events"][0])
    assert any("is no readable Parquet file" in line for line in told(tiny, tmp_path))


def test_totals_must_add_up(tiny: Any, tmp_path: Path) -> None:
    tiny.write(tmp_path)
    relist(tmp_path, lambda listed: listed["tables"]["events"].update(rows=7, splits={"train": 7}))
    assert told(tiny, tmp_path) == [
        "events: 7 rows listed, its files have 6",
        "events: splits {'train': 7} listed, its files have {'test': 3, 'train': 3}",
    ]


def test_every_declared_table_is_listed_and_no_other(tiny: Any, tmp_path: Path) -> None:
    tiny.write(tmp_path)
    relist(tmp_path, lambda listed: listed["tables"].update(gossip=listed["tables"].pop("rejects")))
    assert told(tiny, tmp_path) == [
        "gossip: is listed in reports/files.json and not declared",
        "rejects: is declared and not listed in reports/files.json; an empty table is listed with 0 rows",
    ]


def test_a_path_that_points_elsewhere_is_refused(tiny: Any, tmp_path: Path) -> None:
    tiny.write(tmp_path)
    relist(
        tmp_path, lambda listed: listed["files"][0].update(path="data/items/../items/catalogue-00000-of-00001.parquet")
    )
    assert any("is not named like" in line for line in told(tiny, tmp_path))


@pytest.mark.parametrize(
    "text", [None, "{", "[]", '{"files": [{"path": "x"}], "tables": {}}', '{"files": 3, "tables": {}}']
)
def test_a_list_that_cannot_be_read_is_one_violation(text: str | None, tiny: Any, tmp_path: Path) -> None:
    path = tiny.write(tmp_path) / "reports" / "files.json"
    path.unlink() if text is None else path.write_text(text)
    (line,) = told(tiny, tmp_path)
    assert line.startswith("reports/files.json: cannot be read as a list of files and tables (")


def test_a_manifest_is_held_to_its_hashes(tmp_path: Path) -> None:
    assert check_manifest(tmp_path) == []
    (tmp_path / "reports").mkdir()
    for name in ("README.md", "reports/files.json"):
        (tmp_path / name).write_text(name)
    hashes = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("README.md", "reports/files.json")}
    manifest = {
        "files": hashes["reports/files.json"],
        "documents": {"README.md": hashes["README.md"], "CHANGELOG.md": "0"},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert [str(violation) for violation in check_manifest(tmp_path)] == [
        "CHANGELOG.md: is named in manifest.json and missing"
    ]
    (tmp_path / "reports" / "files.json").write_text("other")
    assert "reports/files.json: is not the file whose SHA-256 is in manifest.json" in map(str, check_manifest(tmp_path))
