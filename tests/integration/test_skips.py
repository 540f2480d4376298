"""The option `--no-unexpected-skips` of our own test run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.builds import ROOT

ALLOWED = "import pytest\n\n@pytest.mark.skip(reason='needs raw data: timeuse')\ndef test_absent():\n    assert False\n"
OTHER = "import pytest\n\ndef test_command():\n    pytest.skip('no faketime')\n"
WHOLE_FILE = "import pytest\n\npytest.importorskip('no_such_module')\n"
BROKEN = "import pytest\n\n@pytest.mark.xfail\ndef test_known():\n    assert False\n"


def ran(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    (folder / "test_it.py").write_text(text)
    (folder / "test_sound.py").write_text("def test_sound():\n    pass\n")
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-c",
            os.devnull,
            f"--rootdir={folder}",
            "-p",
            "no:cacheprovider",
            *options,
            ".",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("text", "reason"), [(OTHER, "no faketime"), (WHOLE_FILE, "no_such_module")], ids=["test", "file"]
)
def test_a_skip_fails_the_run_only_with_the_option(text: str, reason: str, tmp_path: Path) -> None:
    assert ran(tmp_path, text).returncode == 0
    strict = ran(tmp_path, text, "--no-unexpected-skips")
    assert strict.returncode == 1
    assert reason in strict.stdout.split("skipped, and not for absent raw data")[1]


@pytest.mark.parametrize("text", [ALLOWED, BROKEN], ids=["raw data", "expected failure"])
def test_absent_raw_data_and_expected_failures_do_not(text: str, tmp_path: Path) -> None:
    assert ran(tmp_path, text, "--no-unexpected-skips").returncode == 0
