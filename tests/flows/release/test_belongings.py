"""Claims about what users own, from the stage to the release."""

from __future__ import annotations

import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from flows.belongings.flow import BELONGINGS_STAGE
from flows.catalogue.flow import CATALOGUE_STAGE
from flows.common.stage import WHOLE, part_folder, read_part, read_parts, run_stage, shards_of
from flows.personas.flow import PERSONAS_STAGE
from flows.release.flow import AT_ONCE, PERSONAL
from flows.release.tables import stage_tables
from schemas.tables import RELEASED
from tests.flows.lives import small_config

USERS = 12


def test_the_things_of_all_shards_stand_in_one_table_with_the_catalogue_split_by_owner(tmp_path: Path) -> None:
    data = small_config(USERS, domains=["food", "planning"])
    shards, run = shards_of(USERS, 5), tmp_path / "run"
    run_stage(CATALOGUE_STAGE, data, run, WHOLE, shards)
    for shard in shards:
        run_stage(PERSONAS_STAGE, data, run, shard, shards)
        run_stage(BELONGINGS_STAGE, data, run, shard, shards)
    sources = {}
    for name, (stage, table) in PERSONAL.items():
        whole = read_part(part_folder(run, AT_ONCE[name][0], WHOLE), AT_ONCE[name][1])
        sources[name] = itertools.chain([whole], read_parts(run, stage, shards, table))
    report = stage_tables(sources, tmp_path / "staged", data, {name: RELEASED[name] for name in PERSONAL})
    read = {
        (name, split): pq.read_table(tmp_path / "staged/data" / name / f"{split}-00000-of-00001.parquet")
        for name in PERSONAL
        for split in report["tables"][name]["splits"]
    }
    assert {split for _, split in read} == {"train", "test", "catalogue"}
    owners = {split: set(read["items", split]["owner_user_id"].to_pylist()) for split in ("train", "test", "catalogue")}
    assert owners["catalogue"] == {None}
    assert not owners["train"] & owners["test"]
    assert owners["train"] | owners["test"] == {f"u{number:06d}" for number in range(USERS)}
    for split in owners:
        items, attributes = read["items", split]["item_id"], read["item_attributes", split]["item_id"]
        assert set(attributes.to_pylist()) == set(items.to_pylist())
    every = pa.concat_tables([read["item_attributes", split] for split in owners])
    assert pc.sum(pc.equal(every["dimension"], "planning.contact_relation")).as_py() >= 6 * USERS
