"""One process at a time: a lock file with its owner's number."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

WAIT_S = 0.05


class Locked(RuntimeError):
    """Another process held the lock all the while."""


@contextlib.contextmanager
def held(lock: Path, patience_s: float = 120.0) -> Iterator[None]:
    """Holds ``lock`` for the block. A lock whose owner is gone is taken over.

    Two that take over at once may both get in; what the block does last, a rename onto a name that must not exist yet,
    still lets only one of them win. Raises Locked when a living owner outlasts ``patience_s``.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    mine = json.dumps({"pid": os.getpid(), "started": _start_of(os.getpid())})
    for _ in range(max(1, round(patience_s / WAIT_S))):
        if _create(lock, mine):
            break
        _remove_if_stale(lock)
        time.sleep(WAIT_S)
    else:
        pid, _ = _owner(lock)
        holder = f"process {pid} holds it; wait for it to end" if pid else "it names no process; delete it"
        raise Locked(f"cannot take {lock}: {holder}, then run again")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if lock.read_text() == mine:
                lock.unlink()


def is_held(lock: Path) -> bool:
    """Whether a process that still runs holds the lock."""
    pid, started = _owner(lock)
    return pid is not None and is_alive(pid, started)


def is_alive(pid: int, started: str | None = None) -> bool:
    """Whether the process still runs; ``started`` tells it from a later one with the same number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started is None or _start_of(pid) in (started, None)


def _create(lock: Path, content: str) -> bool:
    """The lock appears with its content already in it, or not at all: a link cannot replace an existing file."""
    draft = lock.with_name(f"{lock.name}.{os.getpid()}.{threading.get_ident()}")
    draft.write_text(content)
    try:
        os.link(draft, lock)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def _remove_if_stale(lock: Path) -> None:
    pid, started = _owner(lock)
    if pid is not None and not is_alive(pid, started):
        lock.unlink(missing_ok=True)


def _owner(lock: Path) -> tuple[int | None, str | None]:
    """Number and start of the owner; (None, None) if the lock has just gone or is none of ours."""
    try:
        owner = json.loads(lock.read_text())
        return int(owner["pid"]), owner["started"]
    except (OSError, ValueError, KeyError, TypeError):
        return None, None


def _start_of(pid: int) -> str | None:
    """When the kernel started the process, in ticks since boot; None where that cannot be asked."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None
