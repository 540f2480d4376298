"""The project's own work to be measured, one kind a process. Prints JSON: units made and CPU-seconds spent on them.

CPU-seconds are user plus system time of the process, from after the imports to the end.
Usage: python -m tests.bench.work domain_files|draws|personas|actors|catalogue|timelines FOLDER
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from schemas.config import DataConfig
from schemas.tables import Table

START, END = "2025-01-06T00:00:00+00:00", "2025-07-07T00:00:00+00:00"


def data(users: int) -> DataConfig:
    return DataConfig.model_validate({"users": users, "window": {"start": START, "end": END}})


def draws(_: Path) -> tuple[int, float]:
    """Uniforms for a million entities times twenty indices, as stages draw them."""
    source, entities = Draws(7, "bench"), np.arange(1_000_000, dtype=np.uint64)[:, None]
    indices = np.arange(20, dtype=np.uint64)[None, :]
    begun = time.process_time()
    made = sum(source.uniform(f"aspect {nth}", entities, indices).size for nth in range(3))
    return made, time.process_time() - begun


def personas(folder: Path) -> tuple[int, float]:
    """A million people of the built-in population less one, the most that a config can have: thirteen attributes from
    tables on one to three others, eight that hang on none, of which five are correlated, names and birth dates.

    In shards of 50,000, as `habitus personas sample` takes them. Each is written and forgotten before the next, which is
    not counted; nor are the name pools and the tables of the population, which are made once.
    """
    from flows.personas.sample import people_of
    from schemas.tables.sealed import PERSONAS
    from schemas.tables.visible import USERS

    return _by_shards(people_of, (USERS, PERSONAS), folder / "people")


def actors(folder: Path) -> tuple[int, float]:
    """The same people with everybody around them, about six rows of `actors` a person: the whole stage `personas`.

    In shards as large, which are written as the pipeline writes them; only making them is counted.
    """
    from flows.personas.flow import PERSONAS_STAGE

    return _by_shards(lambda context: PERSONAS_STAGE.run(context, {}), PERSONAS_STAGE.writes, folder / "actors")


def _by_shards(
    make: Callable[[Context], Mapping[str, pa.Table]], declared: Sequence[Table], folder: Path
) -> tuple[int, float]:
    """People made, and the CPU-seconds that it took without the writing. One native thread, as in a worker."""
    from flows.common.stage import shards_of, write_part
    from schemas.tables.configured import configured

    pa.set_cpu_count(1)
    config = data(999_999)
    tables = {table.name: configured(table, config) for table in declared}
    make(Context(config, Draws(7, "personas"), Shard(0, 10)))
    spent = 0.0
    for shard in shards_of(config.users, 50_000):
        begun = time.process_time()
        made = make(Context(config, Draws(7, "personas"), shard))
        spent += time.process_time() - begun
        write_part(folder / shard.name, tables, made)
        shutil.rmtree(folder / shard.name)
    return config.users, spent


def catalogue(_: Path) -> tuple[int, float]:
    """Items of all domains with their texts, prices and attributes, five times over.

    One catalogue is made before and not counted, as a builder's memory is warm: the first one pays the system for the
    memory of the tables.
    """
    from flows.catalogue.items import things
    from schemas.load import domain_names, load_domains
    from schemas.market import load_market

    domains, market = load_domains(domain_names()), load_market("us")
    things(domains, market, Draws(7, "catalogue"))
    made = 0
    begun = time.process_time()
    for seed in range(5):
        made += things(domains, market, Draws(seed, "catalogue"))[0].num_rows
    return made, time.process_time() - begun


def timelines(folder: Path) -> tuple[int, float]:
    """From dispositions to clean events of all domains written as Parquet, in shards of 250 people.

    The days of ten people are made before and not counted: what a worker looks up once for all of its shards, such as
    the model of the day, holidays and changes of the clocks, is in its memory then.
    """
    from flows.belongings.flow import BELONGINGS_STAGE
    from flows.catalogue.flow import CATALOGUE_STAGE
    from flows.common.stage import write_part
    from flows.dispositions.flow import DISPOSITIONS_STAGE
    from flows.personas.flow import PERSONAS_STAGE
    from flows.timelines.flow import TIMELINES_STAGE

    config, shards = data(1_000), [Shard(first, first + 250) for first in range(0, 1_000, 250)]
    items = dict(CATALOGUE_STAGE.run(Context(config, Draws(7, "catalogue"), shards[0]), {}))
    common = {"coded_items": items["coded_items"]}
    del items  # with the texts, which only a later stage needs
    made = 0
    spent = 0.0
    for shard in (Shard(0, 10), *shards):
        tables = {**common, **PERSONAS_STAGE.run(Context(config, Draws(7, "personas"), shard), {})}
        tables |= BELONGINGS_STAGE.run(Context(config, Draws(7, "belongings"), shard), tables)
        tables |= DISPOSITIONS_STAGE.run(Context(config, Draws(7, "dispositions"), shard), tables)
        begun = time.process_time()
        lives = TIMELINES_STAGE.run(Context(config, Draws(7, "timelines"), shard), tables)
        write_part(folder / shard.name, {t.name: t for t in TIMELINES_STAGE.writes}, lives)
        if shard in shards:
            spent += time.process_time() - begun
            made += lives["clean_events"].num_rows
        del lives
    return made, spent


def domain_files(_: Path) -> tuple[int, float]:
    """All built-in domain files, read, checked and searched for what can never matter."""
    from schemas.domain import Domain
    from schemas.load import FOLDER, domain_names
    from schemas.source import check, read_yaml
    from validation.structure.domain_file import check_domain

    begun = time.process_time()
    sources = {name: read_yaml(FOLDER / "domains" / f"{name}.yaml") for name in domain_names()}
    domains = {name: check(Domain, source) for name, source in sources.items()}
    checked = [check_domain(source, domains) for source in sources.values()]
    assert all(one.domain is not None for one in checked)
    return len(checked), time.process_time() - begun


KINDS = {
    "domain_files": domain_files,
    "draws": draws,
    "personas": personas,
    "actors": actors,
    "catalogue": catalogue,
    "timelines": timelines,
}


def main(kind: str, folder: Path) -> None:
    made, spent = KINDS[kind](folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"made": made, "cpu_seconds": round(spent, 4), "peak_mib": round(peak)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
