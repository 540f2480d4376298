from __future__ import annotations

import json
from pathlib import Path

import duckdb

from flows.release.catalogue import releases_on_disk, update_catalogue
from tests.flows.release.release_fakes import publish_fake


def _rows(out: Path) -> list[tuple[object, ...]]:
    with duckdb.connect(out / "catalog.duckdb", read_only=True) as connection:
        return connection.execute(
            "SELECT name, version, users, events, tasks FROM releases ORDER BY version"
        ).fetchall()


def test_every_release_is_a_row_with_its_figures(tmp_path: Path) -> None:
    path = publish_fake(tmp_path).path
    publish_fake(tmp_path, users=7)
    assert _rows(tmp_path) == [("tiny", "0.1.0", 6, 144, 6), ("tiny", "0.1.1", 7, 168, 7)]
    with duckdb.connect(tmp_path / "catalog.duckdb", read_only=True) as connection:
        where, gates = connection.execute("SELECT path, gates FROM releases WHERE version = '0.1.0'").fetchall()[0]
    assert where == str(path)
    assert json.loads(gates)["cross.keys"]["verdict"] == "passed"


def test_a_damaged_catalogue_is_made_again(tmp_path: Path) -> None:
    publish_fake(tmp_path)
    (tmp_path / "catalog.duckdb").write_bytes(b"no database")
    publish_fake(tmp_path, users=7)
    assert len(_rows(tmp_path)) == 2


def test_a_catalogue_that_somebody_has_open_stops_nobody(tmp_path: Path) -> None:
    publish_fake(tmp_path)
    with duckdb.connect(tmp_path / "catalog.duckdb") as connection:
        connection.execute("BEGIN; UPDATE releases SET users = 0")
        assert publish_fake(tmp_path, users=7).status == "published"
        assert [entry.users for entry in releases_on_disk(tmp_path)] == [6, 7]
    update_catalogue(tmp_path)
    assert [row[2] for row in _rows(tmp_path)] == [6, 7]


def test_a_catalogue_that_cannot_be_written_does_not_undo_a_release(tmp_path: Path) -> None:
    (tmp_path / "catalog.duckdb").mkdir()
    (tmp_path / "catalog.duckdb" / "in the way").touch()
    assert publish_fake(tmp_path).status == "published"


def test_versions_sort_by_number_and_broken_folders_are_told_apart(tmp_path: Path) -> None:
    for name in ("a-0.10.0", "a-0.9.0", "b-1.0.0", "not a release", ".c-1.0.0", "d-1.0"):
        (tmp_path / "releases" / name).mkdir(parents=True)
    (tmp_path / "releases" / "b-1.0.0" / "manifest.json").write_text("{")
    entries = releases_on_disk(tmp_path)
    assert [(entry.name, str(entry.version)) for entry in entries] == [("a", "0.9.0"), ("a", "0.10.0"), ("b", "1.0.0")]
    assert entries[0].fault == "not a release: no manifest.json"
    assert (entries[2].fault or "").startswith("manifest.json cannot be read")
    update_catalogue(tmp_path)
    assert _rows(tmp_path) == []


def test_no_outputs_are_no_releases(tmp_path: Path) -> None:
    assert releases_on_disk(tmp_path / "nowhere") == []
