"""The build, read from top to bottom: what is made from what."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.futures import PrefectFuture, as_completed
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.task_runners import ProcessPoolTaskRunner, ThreadPoolTaskRunner

from flows.belongings.flow import BELONGINGS_STAGE
from flows.catalogue.flow import CATALOGUE_STAGE
from flows.common.orphans import end_with_parent, end_with_this_process
from flows.common.stage import WHOLE, Shard, is_intact, part_folder, run_stage, shards_of
from flows.days.flow import DAYS_STAGE
from flows.dispositions.flow import DISPOSITIONS_STAGE
from flows.disturb.flow import CORRUPT_STAGE, DISTURB_STAGE
from flows.language.flow import LANGUAGE_STAGE, REQUESTS_STAGE
from flows.personas.flow import PERSONAS_STAGE, POPULATION_STAGE
from flows.release.flow import Outcome, publish_run
from flows.tasks.flow import CANDIDATES_STAGE, CERTIFY_STAGE, SELECTION_STAGE, SETTLE_STAGE
from flows.timelines.flow import TIMELINES_STAGE
from schemas.config import Config

STAGES = {
    stage.name: stage
    for stage in (
        CATALOGUE_STAGE,
        POPULATION_STAGE,
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


@dataclass(frozen=True)
class Job:
    """One build: what to make, and where its run folder and the outputs lie."""

    config: Config
    run: Path
    out: Path
    run_key: str
    """Digest of the config's data, the code, the lock and the packages: the same key, the same parts."""
    version: str | None = None

    @property
    def shards(self) -> list[Shard]:
        return shards_of(self.config.data.users, self.config.execution.shard_users)


@dataclass(frozen=True)
class PartDone:
    """A part that is there, and what it cost when it was made."""

    stage: str
    shard: str
    seconds: float
    cpu_seconds: float


watch: ContextVar[Callable[[PartDone, bool, int], None] | None] = ContextVar("watch", default=None)
"""Called for each part as it is there, with whether it was there before and how many parts there are in all."""


def _cache_key(_: Any, parameters: dict[str, Any]) -> str:
    return f"{parameters['stage']}-{parameters['shard'].name}-{parameters['job'].run_key}"


@task(persist_result=True, cache_key_fn=_cache_key, task_run_name="{stage} {shard.name}")
def make_part(job: Job, stage: str, shard: Shard) -> PartDone:
    """One stage of one shard: reads files, writes files, hands on no tables."""
    import pyarrow as pa

    pa.set_cpu_count(1)
    begun, cpu = time.perf_counter(), time.process_time()
    run_stage(STAGES[stage], job.config.data, job.run, shard, job.shards)
    return PartDone(stage, shard.name, round(time.perf_counter() - begun, 3), round(time.process_time() - cpu, 3))


@flow(name="habitus-build", log_prints=False)
def build(job: Job) -> Outcome:
    """People, their tastes, their lives, what disturbs them; tasks and their proof; words; and a release of it all."""
    parts: list[PrefectFuture[PartDone]] = []

    def part(stage: str, *after: PrefectFuture[PartDone], shard: Shard = WHOLE) -> PrefectFuture[PartDone]:
        # What the cache calls done is done again where its files are not what was written.
        fresh = make_part.with_options(refresh_cache=not is_intact(part_folder(job.run, stage, shard)))
        parts.append(fresh.submit(job=job, stage=stage, shard=shard, wait_for=after, return_state=False))
        return parts[-1]

    catalogue = part("catalogue")
    part("population")
    everybody, candidates, typed = [], {}, {}
    for shard in job.shards:
        people = part("personas", shard=shard)
        everybody.append(people)
        owned = part("belongings", people, shard=shard)
        tastes = part("dispositions", people, shard=shard)
        lives = part("timelines", catalogue, owned, tastes, shard=shard)
        seen = part("disturb", lives, shard=shard)
        candidates[shard] = part("candidates", seen, shard=shard)
        spoken = part("language", seen, shard=shard)
        typed[shard] = part("corrupt", spoken, shard=shard)
    part("days", *everybody)
    selected = part("selection", *candidates.values())
    worded = part("requests", selected)
    proved = [part("certify", selected, typed[shard], shard=shard) for shard in job.shards]
    part("settle", worded, *proved)
    _wait_for(parts)
    return publish_run(job.config, job.run, job.out, job.version, job.shards)


def _wait_for(parts: list[PrefectFuture[PartDone]]) -> None:
    """Reports every part as it is there; raises what broke the first one that broke."""
    tell = watch.get()
    for done in as_completed(parts):
        result = done.result()
        if tell is not None:
            tell(result, done.state.name == "Cached", len(parts))


def run_build(job: Job) -> Outcome:
    """The flow on one thread, or on as many processes as the config has workers."""
    workers = job.config.execution.workers
    runner: Any = ThreadPoolTaskRunner(max_workers=1)
    if workers > 1:
        runner = ProcessPoolTaskRunner(max_workers=workers, initializer=end_with_parent, initargs=(os.getpid(),))
    with temporary_settings({PREFECT_API_URL: PREFECT_API_URL.value() or _own_server()}):
        outcome: Outcome = build.with_options(task_runner=runner)(job)
    return outcome


def _own_server() -> str:
    """The address of a Prefect server for this process and its workers, each of which would else start one of its own."""
    from prefect.server.api.server import SubprocessASGIServer  # two seconds that workers need not spend

    server = SubprocessASGIServer()
    server.start()
    if server.server_process is not None:
        end_with_this_process(server.server_process.pid)
    return server.api_url
