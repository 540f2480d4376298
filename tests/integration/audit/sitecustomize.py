"""Writes down where a process connects to. Python imports it at its start if this folder is on PYTHONPATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

AUDIT = os.environ.get("HABITUS_AUDIT")
ADDRESS = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}
"""Event to the place of the address in its arguments."""


def _write(line: str) -> None:
    with (Path(str(AUDIT)) / str(os.getpid())).open("a", encoding="utf-8") as log:
        log.write(f"{line}\n")


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    place = ADDRESS.get(event)
    if place is not None:
        address = arguments[place]
        _write(f"{event}\t{address[0] if isinstance(address, tuple) else address!s}")


if AUDIT is not None:
    _write(f"start\t{' '.join(sys.orig_argv)}")
    sys.addaudithook(_watch)
