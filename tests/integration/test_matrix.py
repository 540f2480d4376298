"""The circumstances of `test_determinism.py`, one by one: what differs there is found here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import NO_FAKETIME
from tests.integration.builds import Ran, habitus, hashes, made

pytestmark = pytest.mark.slow
CIRCUMSTANCES: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "2 workers": (("--workers", "2"), {}),
    "4 workers": (("--workers", "4"), {}),
    "8 workers": (("--workers", "8"), {}),
    "hash seed 0": ((), {"PYTHONHASHSEED": "0"}),
    "hash seed 1": ((), {"PYTHONHASHSEED": "1"}),
    "hash seed 12345": ((), {"PYTHONHASHSEED": "12345"}),
    "time zone UTC": ((), {"TZ": "UTC"}),
    "time zone Asia/Tokyo": ((), {"TZ": "Asia/Tokyo"}),
    "time zone America/St_Johns": ((), {"TZ": "America/St_Johns"}),
    "shards of 1": (("--set", "execution.shard_users=1"), {}),
    "shards of 5": (("--set", "execution.shard_users=5"), {}),
    "one shard": (("--set", "execution.shard_users=250"), {}),
    "no wide vectors": ((), {"NPY_DISABLE_CPU_FEATURES": "wide"}),
    "four threads for Polars": ((), {"POLARS_MAX_THREADS": "4", "ARROW_NUM_THREADS": "4"}),
    "another language": ((), {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
}


@pytest.mark.parametrize("circumstance", CIRCUMSTANCES)
def test_one_other_circumstance_gives_the_same_bytes(
    circumstance: str, base: Ran, api: str, tmp_path: Path, narrow_vectors: str
) -> None:
    arguments, changes = CIRCUMSTANCES[circumstance]
    if "NPY_DISABLE_CPU_FEATURES" in changes:
        changes = {"NPY_DISABLE_CPU_FEATURES": narrow_vectors}
    other = made(habitus(tmp_path, "build", "smoke", *arguments, api=api, **changes))
    assert hashes(base.release) == hashes(other.release)


@pytest.mark.skipif(shutil.which("faketime") is None, reason=NO_FAKETIME)
@pytest.mark.parametrize("clock", ["@2026-11-30 23:59:00", "@2027-02-01 00:01:00", "@2028-02-29 12:00:00"])
def test_another_clock_gives_the_same_bytes(clock: str, base: Ran, api: str, tmp_path: Path) -> None:
    other = made(
        habitus(
            tmp_path,
            "build",
            "smoke",
            api=api,
            prefix=("faketime", "-f", clock),
            FAKETIME_DONT_FAKE_MONOTONIC="1",
        )
    )
    assert hashes(base.release) == hashes(other.release)
