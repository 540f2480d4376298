from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.cli.validate import gate_line, release_config
from schemas.source import InputError
from validation.report.judge import Gate


def test_a_folder_that_is_none_is_refused_with_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is no folder\. Give the folder of a release"):
        release_config(tmp_path / "nowhere")


def test_a_folder_without_manifest_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no manifest\.json, so it is no release"):
        release_config(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"config": {"schema_version": 9}}'])
def test_a_manifest_without_a_config_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json holds no config that this version of the project reads"):
        release_config(tmp_path)


def test_the_config_is_that_of_the_manifest(tmp_path: Path) -> None:
    window = {"start": "2025-01-06T00:00:00+00:00", "end": "2025-01-20T00:00:00+00:00"}
    config = {"schema_version": 1, "name": "small", "data": {"users": 3, "window": window}}
    (tmp_path / "manifest.json").write_text(json.dumps({"config": config}))
    assert release_config(tmp_path).data.users == 3


def test_a_gate_is_one_line_that_says_why_unless_it_passed() -> None:
    assert gate_line("a", Gate(True, 0.0, 0.0, "passed", "rows judged", {})) == "a  passed  passed             0 of 0"
    failed = gate_line("b", Gate(False, 2.0, 0.0, "failed", "x is y", {}))
    assert failed == "b  FAILED  failed             2 of 0            x is y"
    assert gate_line("c", Gate(None, None, None, "insufficient", "few", {})).split() == [
        "c",
        "-",
        "insufficient",
        "few",
    ]
