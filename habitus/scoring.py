"""What an answer to a task of a release is worth."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from habitus.release import Release, UnknownTask
from schemas.load import load_domains
from validation.world import checker
from validation.world.checker import Gold, Score, Task
from validation.world.state import ToolState
from validation.world.tools import Toolbox


def score(release: Release, task_id: str, answer: Any) -> Score:
    """Pass or fail, with reasons. Never raises for a bad answer; raises UnknownTask for a task that is not there.

    An answer is ``{"option_id": "B"}`` for `know`, ``{"calls": [{"name": …, "arguments": {…}}, …]}`` for `act`, and
    for both ``{"ask": True}``. Calls are run in a fresh world. Reads the sealed answers: not for an agent to call.
    """
    row = _one(release.tasks(), task_id)
    domain = load_domains(release.manifest["config"]["data"]["domains"])[row["domains"][0]]
    state = _one(release.table("tool_state"), task_id)["state"] if row["family"] == "act" else None
    task = Task(
        family=row["family"],
        items={option["option_id"]: option["item_id"] for option in row["options"]},
        gold=Gold.of(json.loads(_one(release.sealed("answers"), task_id)["gold"])),
        domain=domain,
        tools=Toolbox.of(domain),
        state=ToolState.model_validate_json(state) if state is not None else None,
    )
    return checker.score(task, answer)


def _one(table: pa.Table, task_id: str) -> dict[str, Any]:
    rows = table.filter(pc.equal(table["task_id"], task_id)).to_pylist()
    if not rows:
        raise UnknownTask(f"there is no task {task_id!r} in this release")
    found: dict[str, Any] = rows[0]
    return found
