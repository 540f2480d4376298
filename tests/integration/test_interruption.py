"""Builds that end before their end, and what the next one makes of it."""

from __future__ import annotations

import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.builds import LIGHT, Ran, habitus, hashes, left_running, made, run_folder, start, wait_until

PARTS = 42
"""Nine stages of four shards, and six of the whole."""
LINE = re.compile(
    r"^(?P<stage>[a-z]+) +(?P<parts>\d+) of (?P=parts), "
    r"(?:(?P<all>all) there already|[\d.]+ s of CPU(?:, (?P<some>\d+) there already)?)$",
    re.M,
)


def reused(stderr: str) -> dict[str, int]:
    """Stage → how many of its parts were there already, by the lines that the build told."""
    return {
        line["stage"]: int(line["parts"]) if line["all"] else int(line["some"] or 0) for line in LINE.finditer(stderr)
    }


def parts(out: Path) -> list[Path]:
    """The finished parts of the one run."""
    return sorted(
        receipt.parent for receipt in out.glob("runs/smoke-*/*/*/receipt.json") if receipt.parent.name[0] != "."
    )


def kept(out: Path) -> list[Path]:
    """The parts of which Prefect has kept the result: these count as done."""
    return sorted(path for path in out.glob("runs/smoke-*/results/*") if path.is_file())


@dataclass(frozen=True)
class Resumed:
    """A build that was killed, and the one that followed."""

    killed: Ran
    ran: Ran
    there: int
    """Parts whose results were kept when it was killed."""
    stamps: dict[Path, int]
    """When each finished part was written."""


def kill_and_resume(folder: Path, *arguments: str, api: str | None) -> Resumed:
    begun = start(folder, "build", "smoke", *arguments, api=api)
    out = folder / "outputs"
    wait_until(lambda: len(kept(out)) >= 12, begun, "twelve finished parts")
    begun.process.kill()
    killed = begun.finish()
    deadline = time.monotonic() + 60
    while left_running(folder):  # workers may finish what they are at; then they and the server end too
        assert time.monotonic() < deadline, "helpers outlive the build that was killed"
        time.sleep(0.1)
    run = run_folder(out)
    for leftover in (
        run / "timelines" / ".000018-000024.4.partial",
        out / "releases" / f".{run.name}.4.staging" / "data",
    ):
        leftover.mkdir(parents=True)
        (leftover / "events.parquet").write_bytes(b"half a file")
    there, stamps = len(kept(out)), {part: (part / "receipt.json").stat().st_mtime_ns for part in parts(out)}
    return Resumed(killed, made(habitus(folder, "build", "smoke", *arguments, api=api)), there, stamps)


@pytest.fixture(scope="module")
def resumed(workshop: Path, api: str) -> Resumed:
    return kill_and_resume(workshop / "killed", api=api)


def test_only_unfinished_parts_are_made_after_a_kill(resumed: Resumed) -> None:
    assert resumed.killed.code == -signal.SIGKILL
    counted = reused(resumed.ran.stderr)
    assert len(counted) == 15 and 12 <= sum(counted.values()) < PARTS
    assert sum(counted.values()) == resumed.there
    again = [part for part, stamp in resumed.stamps.items() if (part / "receipt.json").stat().st_mtime_ns != stamp]
    assert len(again) <= len(resumed.stamps) - resumed.there


def test_a_resumed_build_gives_the_bytes_of_an_uninterrupted_one(resumed: Resumed, base: Ran) -> None:
    release = resumed.ran.out / "releases" / "smoke-0.1.0"
    assert hashes(release) == hashes(base.release)
    assert len(parts(resumed.ran.out)) == PARTS


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_damaged_and_missing_files_behind_kept_results_are_made_again(resumed: Resumed, base: Ran, api: str) -> None:
    out, run = resumed.ran.out, run_folder(resumed.ran.out)
    before = {part.relative_to(run): hashes(part) for part in parts(out)}
    flip_a_byte(run / "timelines" / "000006-000012" / "clean_events.parquet")
    flip_a_byte(run / "corrupt" / "000012-000018" / "events.parquet")
    (run / "settle" / "whole" / "tasks.parquet").unlink()
    (run / "selection" / "whole" / "receipt.json").write_text("{")
    again = made(habitus(resumed.ran.folder, "build", "smoke", api=api))
    counted = reused(again.stderr)
    assert {stage: number for stage, number in counted.items() if number not in (4, 1)} == {
        "timelines": 3,
        "corrupt": 3,
        "settle": 0,
        "selection": 0,
    }
    assert sum(counted.values()) == PARTS - 4
    assert {part.relative_to(run): hashes(part) for part in parts(out)} == before
    assert "unchanged: equal content is already there as smoke-0.1.0" in again.stdout
    assert hashes(out / "releases" / "smoke-0.1.0") == hashes(base.release)


@pytest.fixture(scope="module")
def interrupted(workshop: Path, api: str) -> tuple[Ran, Ran]:
    """A light build, interrupted from the keyboard among the stages, and again while the release is put together."""
    folder = workshop / "interrupted"
    ends = []
    for there, what in (
        (lambda: len(kept(folder / "outputs")) >= 5, "five finished parts"),
        (lambda: list((folder / "outputs" / "releases").glob(".*.staging")), "a release in the making"),
    ):
        begun = start(folder, "build", "smoke", *LIGHT, api=api)
        wait_until(there, begun, what)
        os.killpg(begun.process.pid, signal.SIGINT)
        ends.append(begun.finish())
    return ends[0], ends[1]


@pytest.mark.parametrize("place", [0, 1], ids=["among the stages", "in the making of the release"])
def test_an_interrupted_build_says_what_is_kept_and_leaves_no_half_release(
    place: int, interrupted: tuple[Ran, Ran]
) -> None:
    ran = interrupted[place]
    assert ran.code == 130
    assert "interrupted. Finished parts are kept: run the same command again" in ran.stderr
    assert ran.stderr.count("interrupted") == 1 + ran.stderr.count(str(ran.folder)), (
        "said once, but for the folder's name"
    )
    assert "Traceback" not in ran.stderr and ran.stdout == ""
    assert not (ran.out / "releases").exists() or not list((ran.out / "releases").iterdir())
    assert not list(ran.out.glob("runs/.*.lock"))
    assert left_running(ran.folder) == []


def test_what_was_made_before_an_interruption_is_used(interrupted: tuple[Ran, Ran]) -> None:
    first, second = interrupted
    assert sum(reused(second.stderr).values()) >= 5 > sum(reused(first.stderr).values())


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_kill_of_a_build_with_its_own_server_is_survived_and_leaves_no_helper(
    workers: str, base: Ran, workshop: Path
) -> None:
    again = kill_and_resume(workshop / f"killed_with_{workers}", "--workers", workers, api=None)
    assert sum(reused(again.ran.stderr).values()) == again.there
    assert hashes(again.ran.out / "releases" / "smoke-0.1.0") == hashes(base.release)
    assert left_running(again.ran.folder) == [], "helpers outlive the build that went on"
