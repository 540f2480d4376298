"""The real command line in processes of its own, each with an environment, a home and an output folder that are known."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from flows.common.environment import OFFLINE

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
STARTUP = Path(__file__).parent / "startup"
PATIENCE_S = 900
STEERING = ("PREFECT_", "NO_COLOR", "FORCE_COLOR", "TZ", "PYTHONHASHSEED", "PYTHONPATH", "NPY_", "HABITUS_", "FAKETIME")
"""Variables of whoever runs the tests that a build must not see."""
LIGHT = (
    "--set",
    "data.users=6",
    "--set",
    "data.window.end=2025-01-27T00:00:00+00:00",
    "--set",
    "data.tasks.groups_per_domain=2",
    "--set",
    "data.domains=[food, groceries]",
    "--set",
    "execution.shard_users=2",
)
"""Three weeks of six people and two domains in three shards: where the size of the build does not matter."""


@dataclass(frozen=True)
class Ran:
    """One call of `habitus` that has ended."""

    folder: Path
    code: int
    stdout: str
    stderr: str

    @property
    def out(self) -> Path:
        return self.folder / "outputs"

    @property
    def release(self) -> Path:
        """The one release that it made."""
        (release,) = (path for path in (self.out / "releases").iterdir() if not path.name.startswith("."))
        return release

    @property
    def run(self) -> Path:
        """The one run folder that it worked in."""
        return run_folder(self.out)

    @property
    def audit(self) -> Mapping[str, list[str]]:
        """What each of its Python processes connected to, by the process's command line."""
        found: dict[str, list[str]] = {}
        for log in sorted((self.folder / "audit").iterdir()):
            first, *rest = log.read_text(encoding="utf-8").splitlines()
            found[f"{log.name} {first}"] = rest
        return found


def run_folder(out: Path) -> Path:
    (run,) = (path for path in (out / "runs").iterdir() if not path.name.startswith("."))
    return run


@dataclass(frozen=True)
class Started:
    """One call of `habitus` at work. What it prints goes into files, which a process that outlives it cannot hold up."""

    folder: Path
    process: subprocess.Popen[bytes]

    def finish(self) -> Ran:
        """What became of it."""
        try:
            code = self.process.wait(PATIENCE_S)
        except BaseException:
            end_all(self.folder)
            raise
        return Ran(self.folder, code, (self.folder / "stdout").read_text(), (self.folder / "stderr").read_text())


def environment(folder: Path, api: str | None, **changes: str) -> dict[str, str]:
    """That of a user whose home is in the folder, and who has the Prefect server ``api`` or none."""
    for name in ("home", "audit"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    told = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
    told |= {
        "HOME": str(folder / "home"),
        "PYTHONPATH": os.pathsep.join((str(STARTUP), str(ROOT))),
        "HABITUS_AUDIT": str(folder / "audit"),
    }
    if api is not None:
        told |= {"PREFECT_API_URL": api, "PREFECT_HOME": str(folder / "home" / "prefect")}
    return told | changes


def start(folder: Path, *arguments: str, api: str | None = None, prefix: Sequence[str] = (), **changes: str) -> Started:
    """`habitus` at work in ``folder``, where `outputs` is, as a process group of its own."""
    settings = environment(folder, api, **changes)
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        return Started(
            folder,
            subprocess.Popen(
                [*prefix, str(BIN / "habitus"), *arguments],
                cwd=folder,
                env=settings,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            ),
        )


def habitus(folder: Path, *arguments: str, api: str | None = None, prefix: Sequence[str] = (), **changes: str) -> Ran:
    """`habitus` run to its end."""
    return start(folder, *arguments, api=api, prefix=prefix, **changes).finish()


def made(ran: Ran) -> Ran:
    """The same, if it made what it was asked for."""
    assert ran.code == 0, f"exit code {ran.code}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"
    return ran


def wait_until(there: Callable[[], object], started: Started, what: str) -> None:
    """Returns as soon as ``there()`` is true; the call must still be at work then."""
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        code = started.process.poll()
        assert code is None, f"ended with {code} before there was {what}"
        assert time.monotonic() < deadline, f"there was no {what}"
        time.sleep(0.02)


def hashes(folder: Path, pattern: str = "*") -> dict[str, str]:
    """SHA-256 of every file below the folder, by its path from there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob(pattern))
        if path.is_file()
    }


def table(release: Path, layer: str, name: str) -> pa.Table:
    """All files of one table of a release, in the order of their names."""
    return pa.concat_tables(pq.read_table(path) for path in sorted((release / layer / name).glob("*.parquet")))


@contextlib.contextmanager
def prefect_server(folder: Path) -> Iterator[str]:
    """The address of a Prefect server of our own on the loopback interface; it ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    settings = environment(
        folder,
        None,
        **OFFLINE,
        PREFECT_HOME=str(folder / "prefect"),
        PREFECT_SERVER_API_HOST="127.0.0.1",
        PREFECT_SERVER_API_PORT=port,
        PREFECT_SERVER_UI_ENABLED="false",
    )
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [str(BIN / "prefect"), "server", "start"],
            env=settings,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        api = f"http://127.0.0.1:{port}/api"
        deadline = time.monotonic() + 180
        while not _answers(f"{api}/health"):
            told = (folder / "server.log").read_text(errors="replace")
            assert server.poll() is None and time.monotonic() < deadline, f"the Prefect server did not start\n{told}"
            time.sleep(0.2)
        yield api
    finally:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(10)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def left_running(folder: Path) -> list[int]:
    """Processes that builds in or below the folder started and that still run, by what their environment says.

    Empty where the system does not show the environments of processes.
    """
    mark = f"HABITUS_AUDIT={folder}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if any(one == mark or one.startswith(mark + b"/") for one in environ.read_bytes().split(b"\0")):
                found.append(int(environ.parent.name))
    return sorted(found)


def end_all(folder: Path) -> None:
    """Ends what is left running of builds in or below the folder."""
    for process in left_running(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
