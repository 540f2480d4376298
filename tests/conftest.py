"""What all tests share: builds, each made once, and the option that lets no test be skipped unseen."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.integration.builds import Ran, end_all, habitus, made, prefect_server

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
ABSENT_DATA = "raw data"
"""A reason with these words is the only one for which a test may be skipped under `--no-unexpected-skips`."""
skipped: list[tuple[str, str]] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-unexpected-skips",
        action="store_true",
        help=f"fail if a test was skipped for another reason than absent {ABSENT_DATA}",
    )


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if ABSENT_DATA not in reason:
            skipped.append((report.nodeid, reason))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    _note(report)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if skipped and session.config.getoption("--no-unexpected-skips") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if skipped and config.getoption("--no-unexpected-skips"):
        terminalreporter.section("skipped, and not for absent raw data", red=True)
        for test, reason in skipped:
            terminalreporter.line(f"{test}: {reason}")


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for builds. What they leave running ends with the session; what they made goes, unless a test failed."""
    folder = tmp_path_factory.mktemp("builds")
    yield folder
    end_all(folder)
    if not request.session.testsfailed:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def api(workshop: Path) -> Iterator[str]:
    """The address of a Prefect server for all builds that need not start their own."""
    with prefect_server(workshop / "server") as address:
        yield address


@pytest.fixture(scope="session")
def base(workshop: Path) -> Ran:
    """`habitus build smoke` as a new user types it: no options, no settings, no server. Not to be changed by tests."""
    return made(habitus(workshop / "base", "build", "smoke"))


NO_FAKETIME = "the command `faketime`, which sets a process's clock, is not installed"


@pytest.fixture(scope="session")
def narrow_vectors() -> str:
    """What to set `NPY_DISABLE_CPU_FEATURES` to, so that NumPy does without this machine's wide vector units."""
    import numpy as np

    config: dict[str, Any] = np.show_config(mode="dicts") or {}
    return " ".join(config["SIMD Extensions"].get("found", []))


@pytest.fixture(scope="session")
def variants(workshop: Path, api: str, narrow_vectors: str) -> dict[str, Ran]:
    """Builds of the same config under other circumstances, and one of twice the people, two at a time.

    Each has several circumstances at once, so that a few builds try all of them; `test_matrix.py` has them one by one.
    The clock of `narrow_vectors` stands a month later, where there is `faketime`.
    """

    def build(
        name: str, *arguments: str, prefix: tuple[str, ...] = (), **changes: str
    ) -> tuple[str, Callable[[], Ran]]:
        return name, lambda: habitus(workshop / name, "build", "smoke", *arguments, api=api, prefix=prefix, **changes)

    wanted = dict(
        [
            build("four_workers", "--workers", "4", PYTHONHASHSEED="12345", TZ="Asia/Tokyo"),
            build(
                "narrow_vectors",
                "--set",
                "execution.shard_users=5",
                "--json",
                prefix=("faketime", "-f", "+31d") if shutil.which("faketime") else (),
                NPY_DISABLE_CPU_FEATURES=narrow_vectors,
                PYTHONHASHSEED="0",
                TZ="UTC",
                FAKETIME_DONT_FAKE_MONOTONIC="1",
            ),
            build("twice_the_people", "--users", "48"),
        ]
    )
    with ThreadPoolExecutor(2) as pool:
        futures = {name: pool.submit(run) for name, run in wanted.items()}
    return {name: made(future.result()) for name, future in futures.items()}


@pytest.fixture(scope="session")
def another_clock(variants: dict[str, Ran]) -> Ran:
    """The build whose clock stands a month later."""
    if not shutil.which("faketime"):
        pytest.skip(NO_FAKETIME)
    return variants["narrow_vectors"]
