"""From the parts of a run to a release: tables, judgement, documents, name."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from flows.common.files import remove_tree
from flows.common.stage import WHOLE, Shard, part_folder, read_part, read_parts
from flows.release.manifest import gate_facts
from flows.release.publish import publish, staging_folder
from flows.release.tables import stage_tables
from schemas.config import Config
from schemas.tables.configured import released_tables

BY_SHARD = {
    "users": ("personas", "users"),
    "personas": ("personas", "personas"),
    "actors": ("personas", "actors"),
    "dispositions": ("dispositions", "dispositions"),
    "interests": ("dispositions", "interests"),
    "participation": ("dispositions", "participation"),
    "sessions": ("disturb", "symbolic_sessions"),
    "events": ("corrupt", "events"),
    "event_truth": ("corrupt", "event_truth"),
    "injections": ("corrupt", "injections"),
}
"""Released table to the stage and the table that it is taken from, shard by shard."""
PERSONAL = {"items": ("belongings", "personal_items"), "item_attributes": ("belongings", "personal_attributes")}
"""What the users have of their own, which stands in the same tables behind what everybody can see."""
AT_ONCE = {
    "population": ("population", "population"),
    **{name: ("days", name) for name in ("days", "holidays")},
    **{name: ("catalogue", name) for name in ("items", "item_attributes", "tools")},
    **{name: ("settle", name) for name in ("tasks", "tool_state", "constraints", "answers", "posteriors", "rejects")},
}
NOT_MADE = ("images",)
"""Declared tables that no stage fills yet. They are listed with no rows."""


@dataclass(frozen=True)
class Outcome:
    """What became of a build."""

    path: Path
    version: str | None
    status: str
    rows: dict[str, int]
    gates: dict[str, dict[str, Any]]

    @property
    def exit_code(self) -> int:
        return 1 if self.status == "quarantined" else 0


def publish_run(config: Config, run: Path, out: Path, version: str | None, shards: list[Shard]) -> Outcome:
    """Stages the tables of a finished run, judges them, names the folder. A broken attempt leaves nothing."""
    from validation.report.judge import judge
    from validation.report.render import write_reports

    declared = released_tables(config.data)
    staging = staging_folder(out, run.name)
    remove_tree(staging)
    try:
        described = stage_tables(_sources(run, shards, declared), staging, config.data, declared)
        judgement = judge(staging, config.data, declared)
        write_reports(judgement, staging)
        done = publish(staging, out, config.name, version, judgement, config=config, tables=declared)
    except BaseException:
        with contextlib.suppress(OSError):
            remove_tree(staging)
        raise
    rows = {name: int(facts["rows"]) for name, facts in described["tables"].items()}
    return Outcome(done.path, done.version, done.status, rows, gate_facts(judgement))


def _sources(run: Path, shards: list[Shard], declared: Any) -> dict[str, Iterator[pa.Table]]:
    sources: dict[str, Iterator[pa.Table]] = {}
    for name, (stage, table) in BY_SHARD.items():
        sources[name] = read_parts(run, stage, shards, table)
    for name, (stage, table) in AT_ONCE.items():
        sources[name] = _whole(run, stage, table)
    for name, (stage, table) in PERSONAL.items():
        sources[name] = itertools.chain(sources[name], read_parts(run, stage, shards, table))
    for name in NOT_MADE:
        sources[name] = iter([declared[name].empty()])
    return sources


def _whole(run: Path, stage: str, table: str) -> Iterator[pa.Table]:
    yield read_part(part_folder(run, stage, WHOLE), table)
