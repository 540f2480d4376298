from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from flows.release.lock import is_alive

SLEEP = "import time; time.sleep(60)"
SERVED = f"""
import subprocess, sys, time
from flows.common.orphans import end_with_this_process
helper = subprocess.Popen([sys.executable, "-c", {SLEEP!r}])
end_with_this_process(helper.pid)
print(helper.pid, flush=True)
if sys.argv[1] == "stays":
    time.sleep(60)
"""
WORKER = """
import sys, time
from flows.common.orphans import end_with_parent
end_with_parent(int(sys.argv[1]))
time.sleep(60)
"""
EMPLOYED = f"""
import os, subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", {WORKER!r}, str(os.getpid())])
print(helper.pid, flush=True)
time.sleep(60)
"""


def ends(process: int, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while is_running(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_running(process: int) -> bool:
    """Whether it runs; one that has ended and that nobody has asked about does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return is_alive(process) and not Path("/proc/self").exists()


@pytest.mark.parametrize(("call", "arguments"), [(SERVED, ["stays"]), (EMPLOYED, [])], ids=["server", "worker"])
def test_a_helper_ends_with_the_process_that_was_killed(call: str, arguments: list[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", call, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        helper = int(process.stdout.readline())
        time.sleep(0.5)
        assert is_running(helper)
        process.kill()
    assert ends(helper, within_s=20)


def test_who_ends_as_usual_ends_its_helper_itself() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVED, "goes"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        helper = int(process.stdout.readline())
        assert process.wait(20) == 0
    assert is_running(helper), "the watcher is dismissed before it sees the end of its pipe"
    subprocess.run(["kill", str(helper)], check=True)
    assert ends(helper, within_s=20)
