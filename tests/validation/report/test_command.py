"""The command on whole folders; its own small parts are tested in tests/flows/cli/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flows.cli.validate import validate
from validation.report.judge import Judgement
from validation.report.render import fidelity_facts, validation_facts

Judged = tuple[Path, Judgement]
pytestmark = pytest.mark.slow


def test_a_release_that_holds_gives_0_and_says_so(sound: Judged, tiny: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = sound
    tiny.write_manifest(folder)
    before = sorted(folder.rglob("*"))
    assert validate(folder, json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "no gate failed"
    assert len(lines) == 1 + 37
    assert sorted(folder.rglob("*")) == before


def test_a_release_that_does_not_gives_1_and_the_same_judgement_as_before(
    spoilt: Judged, tiny: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, before = spoilt
    tiny.write_manifest(folder)
    assert validate(folder, json=True) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps({**validation_facts(before), **fidelity_facts(before)}))
