from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli.clean import clean, leftovers
from flows.release.lock import held


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Outputs with one of everything."""
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    for name in (
        "runs/one/personas/whole/users.parquet",
        "releases/tiny-0.1.0/manifest.json",
        "quarantine/tiny-0.2.0/reason.json",
        f"releases/.one.{dead.pid}.staging/data/x",
        f"releases/.two.{os.getpid()}.staging/data/x",
    ):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"x" * 1500)
    (tmp_path / "catalog.duckdb").write_bytes(b"x")
    return tmp_path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _names(out: Path) -> list[str]:
    """Folder and name of what is there; of hidden folders the run id."""
    found = list(out.glob("*/*"))
    return sorted(f"{p.parent.name}/{p.name.split('.')[1] if p.name[0] == '.' else p.name}" for p in found)


def test_runs_and_dead_staging_go_and_all_else_stays(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(out, everything=False, yes=True) == 0
    assert _names(out) == ["quarantine/tiny-0.2.0", "releases/tiny-0.1.0", "releases/two"]
    assert (out / "catalog.duckdb").exists()
    shown = capsys.readouterr().out
    assert "removed 2 of them, 3.0 kB in all" in shown
    assert "1.5 kB       1 files" in shown


def test_a_run_that_a_build_works_on_stays_with_its_lock(out: Path) -> None:
    with held(out / "runs" / ".one.lock"):
        assert clean(out, everything=False, yes=True) == 0
        assert (out / "runs/one").exists()
        assert (out / "runs/.one.lock").exists()
    (out / "runs/.one.lock").write_text("left by a crash")
    assert clean(out, everything=False, yes=True) == 0
    assert list((out / "runs").iterdir()) == []


def test_all_takes_the_quarantine_too_and_never_a_release(out: Path) -> None:
    assert clean(out, everything=True, yes=True) == 0
    assert _names(out) == ["releases/tiny-0.1.0", "releases/two"]


def test_without_a_terminal_nothing_goes_unless_told(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    before = _names(out)
    assert clean(out, everything=False, yes=False) == 2
    assert _names(out) == before
    shown = capsys.readouterr()
    assert "--yes" in shown.err
    assert "runs/one" in shown.out, "what would go is shown"


@pytest.mark.parametrize(("answer", "goes"), [("y", True), ("YES", True), ("", False), ("n", False), ("yep", False)])
def test_on_a_terminal_it_asks(out: Path, monkeypatch: pytest.MonkeyPatch, answer: str, goes: bool) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    assert clean(out, everything=False, yes=False) == 0
    assert (out / "runs/one").exists() is not goes


def test_a_link_goes_and_what_it_points_to_stays(out: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "precious").touch()
    (out / "runs" / "link").symlink_to(elsewhere)
    assert clean(out, everything=False, yes=True) == 0
    assert not (out / "runs" / "link").is_symlink()
    assert (elsewhere / "precious").exists()


def test_nothing_to_do_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(tmp_path, everything=True, yes=False) == 0
    assert "nothing to clean" in capsys.readouterr().err
    assert list(leftovers(tmp_path, everything=True)) == []
