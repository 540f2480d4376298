"""What Python does first in every process of a build under test, for this folder is on PYTHONPATH then.

It writes down what the process connects to, and gives `time.sleep` back to processes under `faketime`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ADDRESS = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
"""Event to the place of the address in its arguments."""


def _audit(log: Path) -> None:
    """From now on every address that the process turns to is a line of the log, after the command line."""

    def write(line: str) -> None:
        with log.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        place = ADDRESS.get(event)
        if place is not None:
            address = arguments[place]
            write(f"{event}\t{address[0] if isinstance(address, tuple) else address!s}")

    write(f"start\t{' '.join(' '.join(sys.orig_argv).split())}")
    sys.addaudithook(watch)


def _mend_sleep() -> None:
    """`time.sleep` waits until an instant of the monotonic clock, which libfaketime 0.9.10 refuses if that clock is real.

    It must be real: with a false one, waiting for a lock with a time limit never ends.
    """
    import select
    import time

    def sleep(seconds: float) -> None:
        select.select([], [], [], seconds)

    time.sleep = sleep


if "HABITUS_AUDIT" in os.environ:
    _audit(Path(os.environ["HABITUS_AUDIT"]) / str(os.getpid()))
if "FAKETIME" in os.environ:
    _mend_sleep()
