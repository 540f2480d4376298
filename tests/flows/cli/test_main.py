from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from flows.cli import releases as releases_verb
from flows.cli.main import main

VERBS = ("build", "preview", "validate", "releases", "clean", "config", "personas")


def test_help_names_every_verb_what_exit_codes_mean_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)
    assert "Exit codes: 0 done, 1 a gate failed, 2 bad input or usage, 3 the run broke." in " ".join(shown.split())
    assert "habitus build mine.yaml --set data.users=500 --workers 2" in " ".join(shown.split())


@pytest.mark.parametrize(
    "verb", [*VERBS, "config check", "config show", "config diff", "config explain", "personas sample", "personas plot"]
)
def test_every_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb.split(), "--help"]) == 0
    assert len(capsys.readouterr().out) > 200


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == version("habitus")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["biuld"], "biuld"),
        (["releases", "--jsn"], "--jsn"),
        (["releases", "one", "two"], "arguments too many: one two"),
        (["validate"], "RELEASE"),
        (["preview", "smoke", "--weeks", "some"], "--weeks"),
    ],
    ids=["verb", "option", "too many", "too few", "no number"],
)
def test_wrong_usage_exits_2_with_what_is_wrong_and_where_help_is(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert told.lower() in shown.err.lower() and "See `habitus --help`." in shown.err and shown.out == ""


def test_what_nobody_foresaw_exits_3_with_one_line_and_the_trace_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(*_: object) -> int:
        raise ZeroDivisionError("first line\nsecond line")

    monkeypatch.setattr(releases_verb, "releases", breaks)
    assert main(["releases"]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("the run broke: ZeroDivisionError: first line (the trace is in ")
    trace = Path(line.split("the trace is in ")[1].rstrip(")"))
    assert "second line" in trace.read_text() and "in breaks" in trace.read_text()
    trace.unlink()


def test_an_interruption_exits_130_without_a_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stops(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(releases_verb, "releases", stops)
    assert main(["releases"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    """As in `habitus config show smoke | head -0`: the pipe is closed before anything is written."""
    call = "import sys\nfrom flows.cli.main import main\nsys.stdin.read()\nsys.exit(main(['config', 'show', 'smoke']))"
    with subprocess.Popen(
        [sys.executable, "-c", call],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdout.close()
        process.stdin.close()
        told = process.stderr.read()
    assert (process.returncode, told) == (0, b"")
