"""Claims about what a build will take."""

from __future__ import annotations

from typing import Any

import pytest

from flows.common.config import load_config
from flows.common.estimate import BASE_MEMORY, MIB, estimate
from schemas.config import Config
from tests.flows.lives import live, small_config

THIRD = 4 / 3


def config(users: int = 100, weeks: int = 8, *, shard_users: int = 500, workers: int = 1, **data: Any) -> Config:
    part = small_config(users, weeks, **data).model_dump(mode="json")
    execution = {"shard_users": shard_users, "workers": workers}
    return Config.model_validate({"schema_version": 1, "name": "x", "data": part, "execution": execution})


def test_rows_lie_within_a_third_of_those_that_are_made() -> None:
    tables = live(small_config(120, 6), last="timelines")
    rows = estimate(config(120, 6)).rows
    for name, made in (("sessions", "clean_sessions"), ("events", "clean_events")):
        assert 1 / THIRD < rows[name] / tables[made].num_rows < THIRD, name
    assert rows["users"] == tables["users"].num_rows == 120


def test_rows_grow_with_people_weeks_and_rates() -> None:
    once = estimate(config()).rows
    for more in (config(200), config(100, 16)):
        rows = estimate(more).rows
        assert abs(rows["events"] - 2 * once["events"]) <= 1 and abs(rows["sessions"] - 2 * once["sessions"]) <= 1
    faster = {"domains": {"food": {"rate_factor": 3.0}}}
    assert estimate(config(timelines=faster)).rows["events"] > once["events"]
    assert estimate(config(timelines={"small_talk_rate": 5.0})).rows["events"] > once["events"]
    assert estimate(config(domains=["food"])).rows["events"] < once["events"]


def test_memory_grows_with_shards_and_workers_and_not_with_people() -> None:
    small, large = (estimate(config(users, shard_users=100)) for users in (200, 20_000))
    assert large.memory_bytes == pytest.approx(small.memory_bytes, rel=0.001)
    assert large.disk_bytes > 50 * small.disk_bytes
    assert estimate(config(20_000, shard_users=1_000)).memory_bytes > 2 * small.memory_bytes - BASE_MEMORY
    two = estimate(config(20_000, shard_users=100, workers=2))
    assert two.memory_bytes > large.memory_bytes + 2 * BASE_MEMORY - MIB
    assert two.minutes < large.minutes


def test_tasks_are_bounded_by_people_and_by_the_groups_that_are_wanted() -> None:
    assert estimate(config(10)).rows["tasks"] < estimate(config(50)).rows["tasks"]
    wanted = {"groups_per_domain": 3}
    assert (
        estimate(config(5_000, tasks=wanted)).rows["tasks"]
        == estimate(config(500, tasks=wanted)).rows["tasks"]
        == 6 * 16
    )


def test_every_preset_has_an_estimate_in_the_order_of_their_sizes() -> None:
    smoke, standard, full = (estimate(load_config(name)) for name in ("smoke", "standard", "full"))
    for name in ("users", "events", "tasks"):
        assert smoke.rows[name] < standard.rows[name] < full.rows[name]
    assert smoke.minutes < standard.minutes < full.minutes
    assert smoke.disk_bytes < standard.disk_bytes < full.disk_bytes
