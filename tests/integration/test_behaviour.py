"""What a user sees of `habitus build`: its words, its exit codes, and what it writes."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.common.files import file_sha256, write_table
from schemas.tables import RELEASED
from schemas.tables.visible import EVENTS
from tests.integration.builds import BIN, LIGHT, Ran, environment, habitus, hashes, run_folder
from tests.integration.test_interruption import PARTS, reused

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def test_a_build_ends_with_what_was_made_where_it_lies_and_what_to_do_next(base: Ran) -> None:
    lines = base.stdout.splitlines()
    assert re.fullmatch(r"made smoke-0\.1\.0 in [\d.]+ s", lines[0])
    assert lines[1] == "  where   outputs/releases/smoke-0.1.0"
    assert re.fullmatch(
        r"  rows    24 users, [\d,]+ sessions, [\d,]+ events, [\d,]+ injections, [\d,]+ tasks", lines[2]
    )
    assert re.fullmatch(r"  gates   \d+ passed, 0 failed, \d+ undecided \(sample too small\)", lines[3])
    assert (base.folder / lines[4].split()[1]).read_text()
    assert lines[5].startswith("next: open outputs/releases/smoke-0.1.0/reports/index.html")
    assert "starting Prefect's own server on this machine" in base.stderr
    assert sum(reused(base.stderr).values()) == 0 and len(reused(base.stderr)) == 15


def test_what_does_not_go_to_a_terminal_has_no_escape_codes(base: Ran) -> None:
    assert ESCAPE not in base.stdout + base.stderr


@pytest.mark.parametrize("name", ["base", "four_workers"])
def test_no_process_of_a_build_reaches_beyond_this_machine(name: str, base: Ran, variants: dict[str, Ran]) -> None:
    ran = base if name == "base" else variants[name]
    reached = {line.split("\t")[1] for lines in ran.audit.values() for line in lines}
    assert reached <= LOOPBACK, reached
    helper = "uvicorn" if name == "base" else "spawn_main"
    assert any(helper in process for process in ran.audit), "its helpers were not watched"
    assert any(lines for process, lines in ran.audit.items() if "habitus build" in process), "nothing was seen"
    assert sum("uvicorn" in process for process in ran.audit) == (name == "base"), "a build needs one server"


def test_json_is_all_that_standard_output_has_and_says_everything(variants: dict[str, Ran]) -> None:
    ran = variants["narrow_vectors"]
    facts = json.loads(ran.stdout)
    assert {"release", "path", "rows", "gates", "seconds", "cpu_seconds"} <= set(facts)
    assert facts["release"] == "smoke-0.1.0" and Path(facts["path"]) == ran.release
    assert facts["status"] == "published" and facts["version"] == "0.1.0"
    assert set(facts["rows"]) == set(RELEASED) and facts["rows"]["users"] == 24
    assert facts["gates"] and all(set(gate) == {"passed", "value", "limit"} for gate in facts["gates"].values())
    assert facts["seconds"] > 0 and facts["cpu_seconds"] > 0
    assert ran.stderr == ""


@pytest.fixture(scope="module")
def again(base: Ran, workshop: Path, api: str) -> tuple[dict[str, str], Ran]:
    """The files of a release before the same build runs once more beside it, and that build, on a terminal without colours."""
    folder = workshop / "again"
    shutil.copytree(base.out, folder / "outputs")
    before = hashes(folder / "outputs" / "releases")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [BIN / "habitus", "build", "smoke"],
        cwd=folder,
        env=environment(folder, api, NO_COLOR="1", TERM="xterm-256color"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:
            pass  # what reading gives when the other side has closed
    os.close(ours)
    return before, Ran(folder, process.returncode, shown.decode(), "")


def test_the_same_build_again_says_unchanged_and_touches_nothing(again: tuple[dict[str, str], Ran]) -> None:
    before, ran = again
    assert ran.code == 0
    assert "unchanged: equal content is already there as smoke-0.1.0" in ran.stdout
    assert hashes(ran.out / "releases") == before


def test_without_colours_a_terminal_gets_none(again: tuple[dict[str, str], Ran]) -> None:
    shown = again[1].stdout
    assert ESCAPE in shown, "it was taken for no terminal"
    assert set(COLOUR.findall(shown)) <= {"\x1b[0m", "\x1b[1m", "\x1b[2m"}


def test_a_version_that_is_taken_by_other_content_is_refused(base: Ran, workshop: Path, api: str) -> None:
    folder = workshop / "refused"
    shutil.copytree(base.out / "releases", folder / "outputs" / "releases")
    before = hashes(folder / "outputs")
    ran = habitus(folder, "build", "smoke", *LIGHT, "--seed", "8", "--release-version", "0.1.0", api=api)
    assert ran.code == 2, ran.stderr
    assert "smoke 0.1.0 is taken" in ran.stderr and "Give another version" in ran.stderr
    assert ran.stdout == "" and "Traceback" not in ran.stderr
    after = {path: digest for path, digest in hashes(ran.out).items() if not path.startswith("runs/")}
    assert after == before
    assert [path.name for path in (ran.out / "releases").iterdir()] == ["smoke-0.1.0"]


def damaged_consistently(run: Path) -> str:
    """Moves the last line of the last user's log an hour on, past the end of its session, receipt and all. Gives its id."""
    part = sorted(run.glob("corrupt/*"))[-1]
    path = part / "events.parquet"
    events = pq.read_table(path)
    last = events.num_rows - 1
    for name in ("at", "logged_at"):
        times = events[name].cast(pa.int64()).to_pylist()
        times[last] += 3_600_000_000
        events = events.set_column(
            events.column_names.index(name), events.schema.field(name), pa.array(times).cast(EVENTS.columns[name].type)
        )
    write_table(path, EVENTS, events)
    receipt = json.loads((part / "receipt.json").read_text())
    receipt["events"]["sha256"] = file_sha256(path)
    (part / "receipt.json").write_text(json.dumps(receipt))
    return str(events["event_id"][last].as_py())


def test_a_failing_gate_sends_the_release_to_quarantine(base: Ran, workshop: Path, api: str) -> None:
    folder = workshop / "failing"
    shutil.copytree(base.out / "runs", folder / "outputs" / "runs")
    event = damaged_consistently(run_folder(folder / "outputs"))
    ran = habitus(folder, "build", "smoke", api=api)
    assert ran.code == 1, ran.stderr
    assert sum(reused(ran.stderr).values()) == PARTS
    (quarantined,) = (ran.out / "quarantine").iterdir()
    assert list((ran.out / "releases").iterdir()) == []
    reason = json.loads((quarantined / "reason.json").read_text())
    assert set(reason["failed_gates"]) == {"cross.sessions", "cross.time"}
    assert event in reason["failed_gates"]["cross.sessions"]["detail"]
    assert not (quarantined / "manifest.json").exists()
    assert "not published: a gate failed" in ran.stdout
    assert f"{quarantined.relative_to(folder)}/reason.json" in ran.stdout
