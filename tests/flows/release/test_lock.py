from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.release.lock import Locked, held, is_alive


def test_the_lock_is_there_for_the_block_and_gone_after(tmp_path: Path) -> None:
    lock = tmp_path / "new" / ".lock"
    with held(lock):
        assert json.loads(lock.read_text())["pid"] == os.getpid()
    assert list(lock.parent.iterdir()) == []


def test_the_lock_goes_when_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), held(tmp_path / ".lock"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_living_owner_is_waited_for_and_then_named(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    with held(lock), pytest.raises(Locked, match=f"process {os.getpid()}"), held(lock, patience_s=0.1):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    lock = tmp_path / ".lock"
    lock.write_text(json.dumps({"pid": child.pid, "started": None}))
    with held(lock, patience_s=1):
        assert json.loads(lock.read_text())["pid"] == os.getpid()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells when a process started")
def test_a_lock_of_an_earlier_process_of_the_same_number_is_taken_over(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    lock.write_text(json.dumps({"pid": os.getpid(), "started": "1"}))
    with held(lock, patience_s=1):
        assert json.loads(lock.read_text())["started"] != "1"
    assert not is_alive(os.getpid(), "1")


def test_a_lock_that_nobody_wrote_is_left_alone(tmp_path: Path) -> None:
    lock = tmp_path / ".lock"
    lock.write_text("")
    with pytest.raises(Locked, match="delete it"), held(lock, patience_s=0.1):
        pass
    assert lock.exists()
