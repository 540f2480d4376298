"""The stages run in memory, as the pipeline runs them on files: small lives for tests that read them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from flows.catalogue.flow import CATALOGUE_STAGE
from flows.common.draws import Draws
from flows.common.stage import WHOLE, Context, Shard, Stage, shards_of
from flows.dispositions.flow import DISPOSITIONS_STAGE
from flows.disturb.flow import CORRUPT_STAGE, DISTURB_STAGE
from flows.language.flow import LANGUAGE_STAGE, REQUESTS_STAGE
from flows.personas.flow import PERSONAS_STAGE
from flows.tasks.flow import CANDIDATES_STAGE, CERTIFY_STAGE, SELECTION_STAGE, SETTLE_STAGE
from flows.timelines.flow import TIMELINES_STAGE
from schemas.config import Config, DataConfig

Tables = dict[str, pa.Table]
START = datetime(2025, 1, 6, tzinfo=UTC)
WHOLE_STAGES = ("catalogue", "selection", "requests", "settle")
"""Stages that do not go by users."""
STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        CATALOGUE_STAGE, PERSONAS_STAGE, DISPOSITIONS_STAGE, TIMELINES_STAGE, DISTURB_STAGE, CANDIDATES_STAGE, SELECTION_STAGE,
        LANGUAGE_STAGE, REQUESTS_STAGE, CORRUPT_STAGE, CERTIFY_STAGE, SETTLE_STAGE,
    )
}
"""In an order in which each stage finds what it reads."""


def small_config(users: int, weeks: int = 8, start: datetime = START, **data: Any) -> DataConfig:
    """The data part of a config; ``data`` holds sections as mappings."""
    window = {"start": start.isoformat(), "end": (start + timedelta(weeks=weeks)).isoformat()}
    config = {"schema_version": 1, "name": "lives", "data": {"users": users, "window": window, **data}}
    return Config.model_validate(config).data


def run(stage: str, data: DataConfig, tables: Mapping[str, pa.Table], shard: Shard = WHOLE) -> Tables:
    """What one stage makes of the tables it declares to read, and of no others."""
    step = STAGES[stage]
    given = {name: tables[name] for name in step.reads}
    return dict(step.run(Context(data, Draws(data.seed, stage), shard), given))


def live(
    data: DataConfig, first: str = "catalogue", last: str = "settle", known: Mapping[str, pa.Table] | None = None, size: int | None = None
) -> Tables:
    """Every table of the stages from ``first`` to ``last``, and those known before.

    With a ``size`` the users go by shards of so many; the tables of all shards are then put one behind the other.
    """
    names = list(STAGES)
    chosen = names[names.index(first) : names.index(last) + 1]
    whole: Tables = dict(known or {})
    by_shard: dict[Shard, Tables] = {shard: {} for shard in shards_of(data.users, size or data.users)}
    for name in chosen:
        if name in WHOLE_STAGES:
            whole |= run(name, data, whole)
            continue
        made = []
        for shard, own in by_shard.items():
            made.append(run(name, data, whole | own, shard))
            own |= made[-1]
        whole |= {table: pa.concat_tables(part[table] for part in made) for table in made[0]}
    return whole
