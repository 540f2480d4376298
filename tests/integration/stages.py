"""All stages of a config without Prefect and without a release, in a process of its own: what they are is printed as JSON.

Called as `python -m tests.integration.stages FOLDER PRESET KEY=VALUE…`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from flows.cli.build import AT_ONCE
from flows.common.config import load_config
from flows.common.stage import RECEIPT, WHOLE, run_stage, shards_of
from flows.pipeline import STAGES


def run_stages(run: Path, preset: str, sets: list[str]) -> dict[str, dict[str, dict[str, object]]]:
    """The receipt of every part that the stages made in the folder ``run``, by the part's path from there."""
    config = load_config(preset, sets)
    shards = shards_of(config.data.users, config.execution.shard_users)
    receipts = {}
    for name, stage in STAGES.items():
        for shard in [WHOLE] if name in AT_ONCE else shards:
            part = run_stage(stage, config.data, run, shard, shards)
            receipts[part.relative_to(run).as_posix()] = json.loads((part / RECEIPT).read_text())
    return receipts


if __name__ == "__main__":
    print(json.dumps(run_stages(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])))
