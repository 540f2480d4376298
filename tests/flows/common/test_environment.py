"""Claims about what stands in the environment of a build: nothing phones home, one thread a process, the user's own stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.common.environment import OFFLINE, ONE_THREAD, prepare


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of this test, which ends with it."""
    own = {
        name: value
        for name, value in os.environ.items()
        if name not in {**OFFLINE, **ONE_THREAD} and "PREFECT" not in name
    }
    monkeypatch.setattr(os, "environ", own)
    return own


def test_what_the_user_did_not_set_is_set(environment: dict[str, str], tmp_path: Path) -> None:
    assert prepare(tmp_path / "out", tmp_path / "results")
    assert {name: environment[name] for name in {**OFFLINE, **ONE_THREAD}} == {**OFFLINE, **ONE_THREAD}
    assert environment["PREFECT_HOME"] == str(tmp_path / "out" / "prefect")
    assert (tmp_path / "out" / "prefect").is_dir()
    assert environment["PREFECT_RESULTS_LOCAL_STORAGE_PATH"] == str(tmp_path / "results")


def test_what_the_user_set_stays(environment: dict[str, str], tmp_path: Path) -> None:
    own = {"PREFECT_LOGGING_LEVEL": "DEBUG", "POLARS_MAX_THREADS": "4", "PREFECT_HOME": str(tmp_path / "home")}
    environment.update(own)
    assert prepare(tmp_path / "out", tmp_path / "results")
    assert {name: environment[name] for name in own} == own
    assert (tmp_path / "home").is_dir() and not (tmp_path / "out").exists()


def test_with_an_api_of_the_users_no_home_is_made_and_no_server_awaited(
    environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PREFECT_API_URL"] = "http://localhost:4200/api"
    assert not prepare(tmp_path / "out", tmp_path / "results")
    assert "PREFECT_HOME" not in environment and list(tmp_path.iterdir()) == []


def test_results_lie_with_the_run_even_if_the_user_set_another_place(
    environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PREFECT_RESULTS_LOCAL_STORAGE_PATH"] = "/elsewhere"
    prepare(tmp_path / "out", tmp_path / "results")
    assert environment["PREFECT_RESULTS_LOCAL_STORAGE_PATH"] == str(tmp_path / "results")


def test_relative_folders_are_told_in_full(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(Path("out"), Path("results"))
    assert environment["PREFECT_HOME"] == str(tmp_path / "out" / "prefect")
    assert environment["PREFECT_RESULTS_LOCAL_STORAGE_PATH"] == str(tmp_path / "results")


def test_the_numeric_libraries_heed_the_one_thread(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from flows.common.environment import prepare; here = Path(sys.argv[1])\n"
        "prepare(here, here); import polars; print(polars.thread_pool_size(), 'prefect' in sys.modules)"
    )
    environ = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, env=environ
    )
    assert ran.stdout.split() == ["1", "False"]
