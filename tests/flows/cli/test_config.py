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
from schemas.config import Config
from schemas.keys import keys_of, sections

VERBS = ("build", "preview", "personas", "config", "validate", "releases", "clean")


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


def test_check_tells_what_will_be_rare_and_what_of_the_population_does_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rare = "extends: smoke\ndata: {personas: {attributes: {pet: {weights: {none: 0.9, parrot: 0.1}}}}}\n"
    (tmp_path / "rare.yaml").write_text(rare)
    told = "`pet`: at 24 people the expected count is below 5 for `parrot` 2.4"
    assert main(["config", "check", str(tmp_path / "rare.yaml")]) == 0
    assert capsys.readouterr().err == f"notice: {told}\n"
    assert main(["config", "check", str(tmp_path / "rare.yaml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notices"] == [told]
    nobody = "rules: [{name: none, when: {pet: [none, parrot]}, need: {age_years: '200..'}}]"
    (tmp_path / "nobody.yaml").write_text(rare.replace("personas: {", f"personas: {{{nobody}, "))
    assert main(["config", "check", str(tmp_path / "nobody.yaml"), "--json"]) == 2
    [wrong] = json.loads(capsys.readouterr().out)["violations"]
    assert set(wrong) == {"file", "line", "field", "value", "rule", "fix"}


@pytest.mark.parametrize(
    ("part", "line", "field", "told"),
    [
        (
            "correlations:\n      - {between: [age_years, sex], spearman: 0.9}",
            5,
            "correlations[0]",
            "cannot be reached",
        ),
        (
            "rules:\n      - {name: a, when: {sex: male}, need: {sex: male}}\n"
            "      - {name: b, when: {sex: male}, need: {sex: female}}",
            6,
            "rules[1]",
            "rule `b`, sex `male`: makes the value impossible",
        ),
        (
            "attributes: {sex: {weights: {female: 1, male: 0}}}\n    rake:\n"
            "      - {attribute: sex, weights: {female: 0.5, male: 0.5}}",
            5,
            "rake",
            "rake of `sex`, `male`: ",
        ),
    ],
)
def test_check_says_where_stands_what_the_population_cannot_hold(
    part: str, line: int, field: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"extends: smoke\ndata:\n  personas:\n    {part}\n")
    assert main(["config", "check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"{path}:{line}: data.personas.{field} is ") and told in err
    assert main(["config", "check", str(path), "--json"]) == 2
    [wrong] = json.loads(capsys.readouterr().out)["violations"]
    assert (wrong["file"], wrong["line"], wrong["field"]) == (str(path), line, f"data.personas.{field}")
    assert told in wrong["rule"] and wrong["value"] and wrong["fix"]
    assert main(["build", str(path), "--dry-run"]) == 2


def test_check_tells_of_segments_rules_and_groups_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = "{name: r, when: {sex: male}, need: {sex: male}}"
    lines = ["extends: smoke", "data:", "  personas:", "    segments: {a: {share: 0.5}, b: {share: 0.4}}"]
    lines += [f"    rules: [{rule}, {rule}]", "    oversample: [{where: {region: west}, times: -3}]"]
    (tmp_path / "mine.yaml").write_text("\n".join(lines))
    assert main(["config", "check", str(tmp_path / "mine.yaml"), "--json"]) == 2
    found = json.loads(capsys.readouterr().out)["violations"]
    assert [(one["line"], one["field"].removeprefix("data.personas.")) for one in found] == [
        (4, "segments"),
        (5, "rules"),
        (6, "oversample[0].times"),
    ]
    assert found[0]["fix"] == "scaled to 1 they are a 0.555556, b 0.444444"


def test_explain_tells_the_keys_of_every_family_of_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    number = "data.personas.attributes.height.number"
    assert main(["config", "explain", number]) == 0
    told = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert "`normal`: " in told[f"{number}.mean"] and "`poisson`: " in told[f"{number}.mean"]
    assert {f"{number}.{key}" for key in ("family", "sd", "median", "a", "shape", "quantiles", "by", "step")} <= set(
        told
    )
    assert main(["config", "explain", f"{number}.family", "--json"]) == 0
    assert "`lognormal`" in json.loads(capsys.readouterr().out)["type"]
    assert main(["config", "explain", f"{number}.by.female", "--json"]) == 0
    keys = [one["key"] for one in json.loads(capsys.readouterr().out)["keys"]]
    assert f"{number}.by.female.scale" in keys and f"{number}.by.female.family" not in keys


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


def test_explain_says_what_a_key_is_and_what_depends_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "explain", "data.disturb.contradictions.state_days"]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:]]
    told = {words[0]: words[1] for words in lines}
    assert told["meaning"].startswith("How long a temporary state lasts")
    assert (told["type"], told["unit"], told["range"], told["default"]) == (
        "whole number",
        "days",
        "from 2, to 28",
        "9",
    )
    assert "temporary states" in told["effect"]


def test_explain_lists_the_keys_of_a_section_and_of_entries_by_any_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "explain", "data.window"]) == 0
    assert "data.window.end" in capsys.readouterr().out
    assert main(["config", "explain", "data.personas.attributes"]) == 0
    assert "data.personas.attributes.<name>.weights" in capsys.readouterr().out
    assert main(["config", "explain", "data.personas.attributes.pet.weights", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["type"] == "map of shares" and told["range"] == "sums to 1" and told["default"] == "not set"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("data.usres", "Did you mean `data.users`?"),
        ("corrupt", "Did you mean `data.disturb.noise.corrupt`?"),
        ("data.noise.corrupt", "Did you mean `data.disturb.noise.corrupt`?"),
        ("temporary_stat", "Did you mean `data.disturb.contradictions.temporary_state`?"),
        ("data..users", "Did you mean `data.users`?"),
        ("zzz", "Sections are data, data.window"),
    ],
)
def test_explain_of_an_unknown_key_helps_and_exits_2(key: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "explain", key]) == 2
    out, err = capsys.readouterr()
    assert out == "" and f"there is no key `{key}`" in err and told in err


def test_every_key_and_section_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for path, model in sections(Config):
        for key in [path, *(name for name, _, _ in keys_of(model, path))]:
            if key:
                assert main(["config", "explain", key, "--json"]) == 0, key
                assert json.loads(capsys.readouterr().out)["effect"], key
