"""One config and one seed make one release, whatever the circumstances of the build."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flows.common.files import file_sha256
from tests.integration.builds import Ran, hashes, run_folder, table

PREFIX_TABLES = {
    "data": ("users", "sessions", "events"),
    "sealed": ("personas", "actors", "dispositions", "injections", "event_truth"),
}
"""Tables of which the first users' rows are the same, however many people follow."""
BY_SHARD = ("personas", "dispositions", "timelines", "disturb", "candidates", "language", "corrupt")
LAST = "u000023"


def same_release(one: Ran, other: Ran) -> None:
    assert hashes(one.release) == hashes(other.release)


def test_four_workers_another_hash_seed_and_another_time_zone_give_the_same_bytes(
    base: Ran, variants: dict[str, Ran]
) -> None:
    same_release(base, variants["four_workers"])
    assert sum("spawn_main" in process for process in variants["four_workers"].audit) >= 2, "no worker was at work"


def test_a_clock_a_month_later_gives_the_same_bytes(base: Ran, another_clock: Ran) -> None:
    same_release(base, another_clock)
    logged = [datetime.fromisoformat((ran.run / "build.log").read_text()[:19]) for ran in (base, another_clock)]
    assert logged[1] - logged[0] > timedelta(days=30), "the clock was not another"


def test_narrow_vectors_and_another_shard_size_give_the_same_content(base: Ran, variants: dict[str, Ran]) -> None:
    other = variants["narrow_vectors"]
    listed = [json.loads((ran.release / "reports/files.json").read_text())["tables"] for ran in (base, other)]
    assert {name: one["digest"] for name, one in listed[0].items()} == {
        name: one["digest"] for name, one in listed[1].items()
    }
    assert len(list((other.run / "personas").iterdir())) == 5, "the shards were not others"


def test_narrow_vectors_and_another_shard_size_give_the_same_bytes(base: Ran, variants: dict[str, Ran]) -> None:
    same_release(base, variants["narrow_vectors"])


def first_users(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.less_equal(rows["user_id"], LAST)).combine_chunks()


@pytest.mark.parametrize(("layer", "name"), [(layer, name) for layer, names in PREFIX_TABLES.items() for name in names])
def test_more_people_leave_every_row_of_the_first_ones(
    layer: str, name: str, base: Ran, variants: dict[str, Ran]
) -> None:
    grown = table(variants["twice_the_people"].release, layer, name)
    assert len(pc.unique(grown["user_id"])) > 24
    assert first_users(grown).equals(table(base.release, layer, name).combine_chunks())


@pytest.mark.parametrize("stage", BY_SHARD)
def test_more_people_leave_every_part_of_the_first_ones_task_candidates_included(
    stage: str, base: Ran, variants: dict[str, Ran]
) -> None:
    parts = [path.relative_to(base.run) for path in (base.run / stage).glob("*/*.parquet")]
    assert len(parts) >= 4
    other = variants["twice_the_people"].run
    assert {path: file_sha256(base.run / path) for path in parts} == {path: file_sha256(other / path) for path in parts}


def test_nothing_of_the_machine_or_the_day_is_in_a_release(base: Ran) -> None:
    built_on = (base.run / "build.log").read_text()[:10]
    datetime.fromisoformat(built_on)
    for path in base.release.rglob("*"):
        if path.suffix in (".json", ".md", ".html"):
            text = path.read_text()
            assert not [word for word in (str(Path.home()), str(base.folder), built_on) if word in text], path.name


def test_a_release_is_made_from_one_run_and_leaves_nothing_else(base: Ran) -> None:
    assert sorted(path.name for path in base.out.iterdir()) == ["catalog.duckdb", "prefect", "releases", "runs"]
    assert [path.name for path in (base.out / "releases").iterdir()] == ["smoke-0.1.0"]
    assert not [path for path in base.out.rglob("*") if path.suffix in (".partial", ".staging", ".removed", ".lock")]
    assert run_folder(base.out).name.startswith("smoke-")
