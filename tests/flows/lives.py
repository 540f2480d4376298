"""The stages run in memory, as the pipeline runs them on files: small lives for tests that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from scipy import stats

from flows.belongings.flow import BELONGINGS_STAGE
from flows.catalogue.flow import CATALOGUE_STAGE
from flows.common.draws import Draws
from flows.common.stage import WHOLE, Context, Shard, Stage, shards_of
from flows.days.flow import DAYS_STAGE
from flows.dispositions.flow import DISPOSITIONS_STAGE
from flows.disturb.flow import CORRUPT_STAGE, DISTURB_STAGE
from flows.language.flow import LANGUAGE_STAGE, REQUESTS_STAGE
from flows.personas.flow import PERSONAS_STAGE, POPULATION_STAGE
from flows.tasks.flow import CANDIDATES_STAGE, CERTIFY_STAGE, SELECTION_STAGE, SETTLE_STAGE
from flows.timelines.flow import TIMELINES_STAGE
from schemas.config import Config, DataConfig
from schemas.load import load_domains

Tables = dict[str, pa.Table]
START = datetime(2025, 1, 6, tzinfo=UTC)
WHOLE_STAGES = ("population", "catalogue", "days", "selection", "requests", "settle")
"""Stages that do not go by users."""
STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        POPULATION_STAGE,
        CATALOGUE_STAGE,
        PERSONAS_STAGE,
        DAYS_STAGE,
        BELONGINGS_STAGE,
        DISPOSITIONS_STAGE,
        TIMELINES_STAGE,
        DISTURB_STAGE,
        CANDIDATES_STAGE,
        SELECTION_STAGE,
        LANGUAGE_STAGE,
        REQUESTS_STAGE,
        CORRUPT_STAGE,
        CERTIFY_STAGE,
        SETTLE_STAGE,
    )
}
"""In an order in which each stage finds what it reads."""
SURE = 0.999
"""A count passes if it lies among the middle 99.9 % of what its rate would give."""
QUIET: dict[str, Any] = {
    "noise": {"accidental": 0, "other_person": 0, "duplicate": 0, "corrupt": 0},
    "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0},
    "contradictions": {"stated_vs_done": 0, "temporary_state": 0},
}
"""The section `disturb` with nothing in it."""


@dataclass(frozen=True)
class Lives:
    """A config and what the stages made of it."""

    data: DataConfig
    tables: Tables

    def __getitem__(self, name: str) -> pl.DataFrame:
        return frame(self.tables[name])


def small_config(users: int, weeks: int = 8, start: datetime = START, **data: Any) -> DataConfig:
    """The data part of a config; ``data`` holds sections as mappings."""
    window = {"start": start.isoformat(), "end": (start + timedelta(weeks=weeks)).isoformat()}
    section = {"users": users, "window": window, "domains": ["food", "groceries"], **data}
    config = {"schema_version": 1, "name": "lives", "data": section}
    return Config.model_validate(config).data


def run(stage: str, data: DataConfig, tables: Mapping[str, pa.Table], shard: Shard = WHOLE) -> Tables:
    """What one stage makes of the tables it declares to read, and of no others."""
    step = STAGES[stage]
    given = {name: tables[name] for name in step.reads}
    return dict(step.run(Context(data, Draws(data.seed, stage), shard), given))


def live(
    data: DataConfig,
    first: str = "catalogue",
    last: str = "settle",
    known: Mapping[str, pa.Table] | None = None,
    size: int | None = None,
) -> Tables:
    """Every table of the stages from ``first`` to ``last``, and those known before.

    With a ``size`` the users go by shards of so many, from the first stage on; the tables of all shards are then put one
    behind the other.
    """
    names = list(STAGES)
    whole: Tables = dict(known or {})
    by_shard: dict[Shard, Tables] = {shard: {} for shard in shards_of(data.users, size or data.users)}
    for name in names[names.index(first) : names.index(last) + 1]:
        if name == "catalogue":
            whole |= run(name, data, whole) if _brings_own(data) else catalogue(data.seed, tuple(data.domains))
        elif name in WHOLE_STAGES:
            whole |= run(name, data, whole)
        else:
            made = []
            for shard, own in by_shard.items():
                made.append(run(name, data, whole | own, shard))
                own |= made[-1]
            whole |= {table: pa.concat_tables(part[table] for part in made).combine_chunks() for table in made[0]}
    return whole


def _brings_own(data: DataConfig) -> bool:
    return any(isinstance(given, dict) for given in data.domains.values())


@cache
def catalogue(seed: int, domains: tuple[str, ...]) -> Tables:
    """The tables of the catalogue, which depend on nothing else of the config."""
    return run("catalogue", small_config(1, seed=seed, domains=list(domains)), {})


def frame(table: pa.Table) -> pl.DataFrame:
    made = pl.from_arrow(table)
    assert isinstance(made, pl.DataFrame)
    return made


def same_rows(one: pa.Table, other: pa.Table) -> bool:
    """Whether the rows and their order are equal, chunks aside."""
    return bool(one.combine_chunks().equals(other.combine_chunks()))


def low_high(column: pl.Series) -> tuple[Any, Any]:
    """The smallest and the largest value."""
    return column.min(), column.max()


def mean(column: pl.Series) -> float:
    value: Any = column.mean()
    return float(value)


def is_likely(hits: int, trials: int, rate: float) -> bool:
    """Whether so many hits are what the rate gives, by the binomial."""
    low, high = stats.binom.interval(SURE, trials, rate)
    return bool(low <= hits <= high)


def fits(counts: Any, shares: Any) -> bool:
    """Whether counts are what the shares give, by Pearson's chi-square."""
    counts, shares = np.asarray(counts, float), np.asarray(shares, float)
    kept = shares > 0
    if counts[~kept].any():
        return False
    return bool(stats.chisquare(counts[kept], counts.sum() * shares[kept] / shares[kept].sum()).pvalue > 1 - SURE)


def takes(lives: Lives, table: str) -> pl.DataFrame:
    """The lines of a table of events that take a thing of a catalogue, in order of time; ``nth`` counts from 0 a user's
    takes of a thing, and ``is_habit`` is whether the line shows no options."""
    acts = pl.any_horizontal(
        (pl.col("domain") == name) & pl.col("action").is_in(domain.choice_actions())
        for name, domain in load_domains(lives.data.domains).items()
    )
    catalogue = lives["items"].filter(pl.col("owner_user_id").is_null())["item_id"]
    some = lives[table].filter(acts, pl.col("item_id").is_in(catalogue.implode())).sort("user_id", "at", "event_id")
    return some.with_columns(
        nth=pl.int_range(pl.len()).over("user_id", "item_id"), is_habit=pl.col("options").is_null()
    )


def changeable(lives: Lives) -> pl.DataFrame:
    """The clean choices that noise can change: none is a user's first take of what they later take out of habit."""
    repeated = pl.col("is_habit").any().over("user_id", "item_id")
    return takes(lives, "clean_events").filter(~pl.col("is_habit"), (pl.col("nth") > 0) | ~repeated)
