"""What a build will take, from its config alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from schemas.behaviour.volume import volume
from schemas.config import Config
from schemas.load import load_domains

MIB = 2**20
RELEASE_BYTES_A_LINE = 70
"""Bytes of a release for each line of the log, truth included: measured on `standard` (docs/performance.md)."""
RUN_BYTES_A_LINE = 230
"""Bytes of the run folder for each line, all stages together: measured likewise."""
MEMORY_BYTES_A_LINE = 3_600
"""Peak memory for each line of a shard that is at work: measured likewise."""
BASE_MEMORY = 400 * MIB
"""Memory of the main process and of each worker before any data."""
CPU_US_A_LINE = 190
"""CPU time of all stages for each line: measured likewise."""
CPU_S_A_GROUP = 0.035
CPU_S_AT_LEAST = 35
"""Start, catalogue and judgement of any build."""


class Estimate(NamedTuple):
    """Rounded guesses; real builds lie within about a third of them."""

    rows: Mapping[str, int]
    disk_bytes: int
    memory_bytes: int
    minutes: float


def estimate(config: Config) -> Estimate:
    """Rows of the large tables, disk of run and release, peak memory, and minutes on as many cores as workers."""
    data = config.data
    domains = load_domains(data.domains)
    user_weeks = data.users * data.window.weeks
    own = data.timelines.domains
    each = [volume(domain, own[name].rate_factor if name in own else 1.0) for name, domain in domains.items()]
    sessions, lines = (7 * sum(column) for column in zip(*each, strict=True))
    dimensions = sum(len(domain.dimensions) for domain in domains.values())
    talks = data.timelines.small_talk_rate + data.timelines.statement_rate * dimensions
    events = round(user_weeks * (lines + 2 * talks))
    groups = min(
        data.tasks.groups_per_domain * len(domains), data.users * data.tasks.asks_per_domain * len(domains) // 5
    )
    rows = {
        "users": data.users,
        "sessions": round(user_weeks * (sessions + talks)),
        "events": events,
        "tasks": groups * 16,
    }
    shard_lines = events * min(1.0, config.execution.shard_users / data.users)
    workers = config.execution.workers
    cpu = CPU_S_AT_LEAST + events * CPU_US_A_LINE / 1e6 + groups * CPU_S_A_GROUP
    return Estimate(
        rows,
        round(events * (RELEASE_BYTES_A_LINE + RUN_BYTES_A_LINE)) + 4 * MIB,
        round(BASE_MEMORY * (1 + (workers if workers > 1 else 0)) + workers * shard_lines * MEMORY_BYTES_A_LINE),
        round((CPU_S_AT_LEAST + (cpu - CPU_S_AT_LEAST) / workers) / 60, 1),
    )
