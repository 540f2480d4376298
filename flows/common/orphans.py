"""Helpers that end when the process that they help has ended, even if it was killed and could not tell them."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time

LOOK_S = 1.0
WAIT_THEN_END = "import os, sys; sys.stdin.read(); os.kill(int(sys.argv[1]), 15)"
"""Reads from a pipe that nobody writes to: it ends with the process at its other end."""


def end_with_this_process(helper: int) -> None:
    """Sees to it that the process with this number gets SIGTERM if this one is killed. Who ends as usual ends it itself."""
    watcher = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", WAIT_THEN_END, str(helper)],
        stdin=subprocess.PIPE,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def dismiss() -> None:
        watcher.kill()
        watcher.wait()

    atexit.register(dismiss)


def end_with_parent(parent: int) -> None:
    """Ends this process within a second or so of its parent's end. A worker would wait for work for ever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_S)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()
