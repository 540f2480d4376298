"""The command line: exit codes, what goes to which stream, and `habitus config`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.cli.main import app, main
from flows.common.config import load_config

VERBS = ("build", "preview", "config", "validate", "releases", "clean")


@pytest.fixture
def verb() -> Iterator[str]:
    """Name of a verb of the test's own, taken away afterwards."""
    yield "trial"
    del app["trial"]


def test_check_prints_ok_and_the_digest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "smoke"]) == 0
    assert capsys.readouterr().out == f"ok: smoke, data digest {load_config('smoke').data_digest()}\n"


def test_check_prints_every_violation_to_stderr_and_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("extends: smoke\ndata:\n  users: 0\n  sed: 1\n")
    assert main(["config", "check", str(tmp_path / "mine.yaml")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    assert [line.split(" is ")[0] for line in err.splitlines()] == [
        f"{tmp_path}/mine.yaml:3: data.users",
        f"{tmp_path}/mine.yaml:4: data.sed",
    ]


def test_check_as_json_lists_violations_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "smoke", "--set", "data.users=0", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert [set(violation) for violation in told["violations"]] == [{"file", "line", "field", "value", "rule", "fix"}]
    assert main(["config", "check", "smoke", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data_digest"] == load_config("smoke").data_digest()


def test_show_prints_a_file_that_checks_out_as_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show", "smoke", "--set", "data.users=3"]) == 0
    (tmp_path / "shown.yaml").write_text(capsys.readouterr().out)
    assert load_config(tmp_path / "shown.yaml") == load_config("smoke", users=3)


def test_diff_names_keys_and_says_whether_the_data_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("extends: smoke\nname: smoke\nexecution: {workers: 2}\n")
    mine = str(tmp_path / "mine.yaml")
    assert main(["config", "diff", "smoke", mine]) == 0
    assert capsys.readouterr().out.splitlines() == ["execution.workers: 1 -> 2", "same data digest"]
    assert main(["config", "diff", "smoke", "full", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["same_data"] is False and {"path": "data.users", "old": 24, "new": 10000} in told["differences"]


def test_help_names_every_verb_and_gives_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in VERBS) and "habitus build smoke" in out


@pytest.mark.parametrize(
    "call", [*((name,) for name in VERBS), ("config", "check"), ("config", "show"), ("config", "diff")]
)
def test_every_verb_has_help(call: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*call, "--help"]) == 0
    assert f"Usage: habitus {' '.join(call)}" in capsys.readouterr().out


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip()[0].isdigit()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (["buidl"], 'Did you mean "build"'),
        (["config", "chek", "smoke"], 'Did you mean "check"'),
        (["config", "check"], "requires an argument"),
        (["config", "check", "smoke", "more"], "too many: more"),
        (["config", "check", "smoke", "--jsn"], "--jsn"),
        (["build", "--users", "many"], "many"),
    ],
)
def test_wrong_usage_exits_2_with_one_plain_message(
    call: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(call) == 2
    out, err = capsys.readouterr()
    assert out == "" and word in err and "Traceback" not in err and "habitus --help" in err


def test_anything_unforeseen_exits_3_with_one_line_and_keeps_the_trace(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    @app.command(name=verb)
    def trial() -> int:
        raise OSError(28, "No space left on device", "outputs/x")

    assert main([verb]) == 3
    [line] = capsys.readouterr().err.splitlines()
    assert "OSError: [Errno 28] No space left on device: 'outputs/x'" in line
    [log] = tmp_path.iterdir()
    assert str(log) in line and "Traceback" in log.read_text()


def test_an_interruption_is_said_and_exits_130(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    @app.command(name=verb)
    def trial() -> int:
        raise KeyboardInterrupt

    assert main([verb]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_the_exit_code_of_a_verb_passes_through(verb: str) -> None:
    @app.command(name=verb)
    def trial(leave: bool = False) -> int:
        if leave:
            raise SystemExit(1)
        return 1

    assert main([verb]) == 1
    with pytest.raises(SystemExit) as left:
        main([verb, "--leave"])
    assert left.value.code == 1


def test_the_command_line_is_imported_without_anything_heavy() -> None:
    heavy = (
        "pyarrow",
        "polars",
        "duckdb",
        "pandas",
        "prefect",
        "great_expectations",
        "faker",
        "numpy",
        "scipy",
        "rich",
        "pydantic",
    )
    code = f"import sys, flows.cli.main; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1", "FORCE_COLOR": "1"}, {}])
def test_errors_are_plain_lines_where_there_is_no_terminal_or_no_colour(variables: dict[str, str]) -> None:
    inherited = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    environment = {**inherited, **variables, "COLUMNS": "40"}
    call = [sys.executable, "-m", "flows.cli.main", "config", "check", "smoke", "--set", "data.users=0"]
    done = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "--set data.users: data.users is 0; must be 1 to 999999. The nearest that is allowed is 1.\n"
    )
