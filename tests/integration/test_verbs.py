"""The other verbs on a built release: `validate`, `preview`, `releases`, `clean`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.cli.main import main
from flows.common.files import file_sha256
from tests.integration.builds import Ran, habitus, hashes, table

EVENTS = "data/events/test-00000-of-00001.parquet"


def test_validate_comes_to_the_judgement_of_the_build_and_writes_nothing(base: Ran, tmp_path: Path) -> None:
    before = hashes(base.release)
    ran = habitus(tmp_path, "validate", str(base.release), "--json")
    assert ran.code == 0, ran.stderr
    stated = json.loads((base.release / "manifest.json").read_text())["gates"]
    judged = json.loads(ran.stdout)["gates"]
    assert set(judged) == set(stated)
    told = ("passed", "verdict", "detail", "sample")
    assert {name: [gate[key] for key in told] for name, gate in judged.items()} == {
        name: [gate[key] for key in told] for name, gate in stated.items()
    }
    for name, gate in stated.items():
        for key in ("value", "limit"):
            assert judged[name][key] == (pytest.approx(gate[key], abs=1e-6) if gate[key] is not None else None), name
    assert hashes(base.release) == before


@pytest.fixture
def copy(base: Ran, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base.release, tmp_path / base.release.name))


def validated(release: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["validate", str(release)])
    return code, capsys.readouterr().out


def rewrite(release: Path, change: Callable[[pa.Table], pa.Table]) -> Path:
    """The file of events with other rows, written as the project writes."""
    path = release / EVENTS
    pq.write_table(change(pq.read_table(path)), path, compression="zstd", compression_level=3, store_schema=False)
    return path


def reseal(release: Path, with_manifest: bool) -> None:
    """Makes `reports/files.json`, and the manifest too, agree with the file of events as it is now."""
    listing = release / "reports" / "files.json"
    listed: dict[str, Any] = json.loads(listing.read_text())
    (entry,) = (one for one in listed["files"] if one["path"] == EVENTS)
    path = release / EVENTS
    entry.update(rows=pq.read_metadata(path).num_rows, bytes=path.stat().st_size, sha256=file_sha256(path))
    listing.write_text(json.dumps(listed))
    if with_manifest:
        manifest = json.loads((release / "manifest.json").read_text())
        (release / "manifest.json").write_text(json.dumps({**manifest, "files": file_sha256(listing)}))


def replaced(rows: pa.Table, column: str, value: Any) -> pa.Table:
    """The rows with another value in the column of the hundredth."""
    values = rows[column].to_pylist()
    assert values[100] != value
    values[100] = value
    place = rows.column_names.index(column)
    return rows.set_column(place, rows.schema.field(column), pa.array(values, rows.schema.field(column).type))


def test_dropped_rows_fail_with_the_file_and_both_counts(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = pq.read_metadata(copy / EVENTS).num_rows
    rewrite(copy, lambda events: events.slice(0, rows - 10))
    code, told = validated(copy, capsys)
    assert code == 1
    assert f"`{EVENTS}` has {rows - 10} rows, {rows} listed" in told
    assert "event_truth" in told, "the truth about the dropped lines hangs in the air"


def test_one_changed_value_under_a_new_list_fails_by_the_manifest(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(copy, lambda events: replaced(events, "utc_offset_min", -301))
    reseal(copy, with_manifest=False)
    code, told = validated(copy, capsys)
    assert code == 1
    assert "reports/files.json: is not the file whose SHA-256 is in manifest.json" in told


@pytest.mark.parametrize(
    ("column", "value", "gate"),
    [
        ("item_id", "food-nowhere", "cross.references"),
        ("source", "gossip", "structure.events"),
        ("price_cents", -5, "structure.events"),
    ],
)
def test_one_impossible_value_under_a_new_list_and_manifest_fails_by_its_table(
    column: str, value: Any, gate: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(copy, lambda events: replaced(events, column, value))
    reseal(copy, with_manifest=True)
    code, told = validated(copy, capsys)
    assert code == 1
    (line,) = (line for line in told.splitlines() if line.startswith(gate))
    assert "FAILED" in line and "events" in line and column in line
    assert [line.split()[1] for line in told.splitlines() if line.startswith("integrity")] == ["passed"]


def test_preview_shows_the_people_and_days_that_the_build_has(base: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "smoke", "--user", "u000003"]) == 0
    shown = capsys.readouterr().out
    person = table(base.release, "sealed", "personas").to_pylist()[3]
    assert f"u000003  {person['given_name']} {person['family_name']}, {person['sex']}, {person['age_years']}" in shown
    lines = [
        event
        for event in table(base.release, "data", "events").to_pylist()
        if event["user_id"] == "u000003" and (event["at"].isoformat() < "2025-01-13")
    ]
    assert len(lines) > 5
    assert sum(line.startswith("  ") and line[4] == ":" for line in shown.splitlines()) == len(lines)
    assert all(event["text"] in shown for event in lines if event["text"])


@pytest.fixture
def outputs(base: Ran, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base.out, tmp_path / "outputs", ignore=shutil.ignore_patterns("prefect")))


def test_releases_lists_what_was_built(outputs: Path, base: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["releases", "--out", str(outputs), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["name"], entry["version"], entry["users"]) == ("smoke", "0.1.0", 24)
    assert entry["events"] == table(base.release, "data", "events").num_rows
    assert main(["releases", "--out", str(outputs)]) == 0
    assert "smoke 0.1.0" in capsys.readouterr().out


def test_clean_takes_the_run_and_leaves_the_release(outputs: Path, base: Ran) -> None:
    assert main(["clean", "--yes", "--out", str(outputs)]) == 0
    assert list((outputs / "runs").iterdir()) == []
    assert hashes(outputs / "releases") == hashes(base.out / "releases")
    assert (outputs / "catalog.duckdb").exists()
