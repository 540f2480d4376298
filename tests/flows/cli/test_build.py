"""What `habitus build` does before it starts to build. What comes after is in `tests/integration/`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from flows.cli.build import _run_folder
from flows.cli.main import main
from flows.common.config import load_config
from flows.release.lock import held
from schemas.config import Config


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a build would write. Nothing is there yet."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "out"


def test_a_dry_run_gives_an_estimate_and_writes_nothing(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "smoke", "--dry-run", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("smoke: nothing built; an estimate\n")
    for word in ("users", "sessions", "events", "tasks", "disk", "memory", "time"):
        assert f"\n  {word} " in shown
    assert list(out.parent.iterdir()) == []


def test_a_dry_run_in_json_says_the_same_to_a_program(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "smoke", "--dry-run", "--json", "--users", "48", "--workers", "2", "--out", str(out)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["name"], facts["workers"], facts["rows"]["users"]) == ("smoke", 2, 48)
    assert facts["disk_bytes"] > 0 and facts["memory_bytes"] > 0 and facts["minutes"] > 0
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["smoke", "--set", "data.timelines.exploratoin=0.1"], "Did you mean `exploration`?"),
        (["smoke", "--set", "data.users=-1"], "data.users is -1"),
        (["smoke", "--users", "0"], "--users"),
        (["smok"], "Did you mean `smoke`?"),
        (["smoke", "--release-version", "1.4"], "must be MAJOR.MINOR.PATCH"),
        (["smoke", "--workers", "many"], "--workers"),
        (["smoke", "--sead", "3"], "--sead"),
    ],
    ids=["misspelt key", "bad value", "bad option", "misspelt preset", "bad version", "no number", "misspelt option"],
)
def test_bad_input_exits_2_with_the_reason_and_writes_nothing(
    arguments: list[str], told: str, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", *arguments, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert told in shown.err and shown.out == ""
    assert "Traceback" not in shown.err
    assert list(out.parent.iterdir()) == []


class Usage(NamedTuple):
    """A disk that is nearly full."""

    total: int
    used: int
    free: int


def test_a_full_disk_is_told_before_anything_is_made(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2**40, 2**40 - 2**20, 2**20))
    assert main(["build", "standard", "--out", str(out)]) == 2
    told = capsys.readouterr().err
    assert f"{out} has 0.00 GiB free; this build needs about " in told
    assert "Give another --out, run `habitus clean`, or ask for fewer users" in told
    assert list(out.iterdir()) == []


def test_two_builds_of_one_config_do_not_work_at_the_same_time(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, _ = _run_folder(out, load_config("smoke"))
    with held(run.with_name(f".{run.name}.lock")):
        assert main(["build", "smoke", "--out", str(out)]) == 2
    assert "another build of this config is at work" in capsys.readouterr().err
    assert [path for path in run.iterdir() if path.name != "build.log"] == []


def changed(config: Config, **sections: object) -> Config:
    return Config.model_validate({**config.model_dump(), **sections})


def test_a_run_folder_belongs_to_data_and_not_to_how_it_is_made(tmp_path: Path) -> None:
    config = load_config("smoke")
    run, key = _run_folder(tmp_path, config)
    assert run == tmp_path / "runs" / f"smoke-{key}"
    assert _run_folder(tmp_path, load_config("smoke", workers=4)) == (run, key)
    assert _run_folder(tmp_path, load_config("smoke", ["execution.shard_users=5"])) == (run, key)
    assert _run_folder(tmp_path, load_config("smoke", seed=8))[1] != key
    assert _run_folder(tmp_path, changed(config, name="other"))[0].name == f"other-{key}"
