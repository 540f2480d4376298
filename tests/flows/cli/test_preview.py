from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli.main import main

CALL = """
import json, sys
from flows.cli.main import main
code = main(["preview", "smoke"])
loaded = sorted({name.split(".")[0] for name in sys.modules} & {"prefect", "great_expectations", "datasets"})
print(json.dumps({"code": code, "loaded": loaded}), file=sys.stderr)
"""


def test_a_preview_loads_nothing_heavy_and_writes_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CALL], cwd=tmp_path, capture_output=True, text=True, check=True)
    told = json.loads(done.stderr.splitlines()[-1])
    assert told["code"] == 0 and told["loaded"] == []
    assert [line[:7] for line in done.stdout.splitlines() if line.startswith("u00")] == [
        "u000000",
        "u000001",
        "u000002",
    ]
    assert "from the log of u000000, 1 week" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("next: `habitus build smoke`")
    assert list(tmp_path.iterdir()) == []


def test_one_life_is_shown_for_as_long_as_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "smoke", "--user", "u000003", "--weeks", "1"]) == 0
    week = capsys.readouterr().out
    assert main(["preview", "smoke", "--user", "u000003", "--weeks", "2"]) == 0
    two = capsys.readouterr().out
    assert week.splitlines()[0] == two.splitlines()[0] and week.startswith("u000003  ")
    days = [[line for line in shown.splitlines() if line.endswith(" 2025")] for shown in (week, two)]
    assert days[1][: len(days[0])] == days[0] and len(days[1]) > len(days[0])
    assert "u000003, 2 weeks" in two


@pytest.mark.parametrize("user", ["u000024", "u3x", "anna", "000003"])
def test_a_user_who_is_not_in_the_config_is_refused_with_the_range(
    user: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["preview", "smoke", "--user", user]) == 2
    assert f"user '{user}' is not in this config; users are u000000 to u000023" in capsys.readouterr().err


def test_fewer_people_than_cards_are_all_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "smoke", "--users", "1"]) == 0
    assert [line[:7] for line in capsys.readouterr().out.splitlines() if line.startswith("u00")] == ["u000000"]


def test_another_seed_shows_other_people(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for seed in ("7", "8"):
        assert main(["preview", "smoke", "--seed", seed, "--user", "u000001"]) == 0
        shown.append(capsys.readouterr().out.splitlines()[0])
    assert shown[0] != shown[1]
