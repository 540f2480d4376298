from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from flows.cli.releases import gate_summary, releases
from tests.flows.release.release_fakes import publish_fake


def test_releases_are_listed_with_their_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish_fake(tmp_path)
    publish_fake(tmp_path, users=7)
    (tmp_path / "releases" / "tiny-0.1.2").mkdir()
    assert releases(tmp_path, json=False) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["release", "users", "events", "tasks", "gates", "content"]
    assert lines[0].startswith("tiny 0.1.0") and "1 passed, 1 undecided" in lines[0]
    assert lines[1].split()[:5] == ["tiny", "0.1.1", "7", "168", "7"]
    assert "not a release: no manifest.json" in lines[2]


def test_json_is_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = publish_fake(tmp_path).path
    assert releases(tmp_path, json=True) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["name"], entry["version"], entry["path"], entry["events"]) == ("tiny", "0.1.0", str(path), 144)
    assert entry["gates"]["cross.keys"]["passed"] is True


def test_a_missing_or_locked_catalogue_does_not_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish_fake(tmp_path)
    with duckdb.connect(tmp_path / "catalog.duckdb"):
        assert releases(tmp_path, json=True) == 0
    locked = capsys.readouterr().out
    (tmp_path / "catalog.duckdb").unlink()
    assert releases(tmp_path, json=True) == 0
    assert capsys.readouterr().out == locked


def test_nothing_there_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert releases(tmp_path, json=False) == 0
    assert releases(tmp_path, json=True) == 0
    shown = capsys.readouterr()
    assert "no releases in" in shown.err
    assert json.loads(shown.out) == []


def test_gates_are_summed_up() -> None:
    gates = {str(n): {"passed": verdict} for n, verdict in enumerate([True, True, False, None])}
    assert gate_summary(gates) == "2 passed, 1 failed, 1 undecided"
    assert gate_summary({}) == "none"
