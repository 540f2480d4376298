from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.common.splits import split_of
from flows.release.series import Limits
from flows.release.tables import stage_tables
from schemas.tables import RELEASED, TableError
from tests.flows.release.release_fakes import cut, fake_config, fake_tables, stage_fake, tree
from validation.structure.files import broken_schemas, check_files

TABLES = fake_tables(24)
SMALL = Limits(100, group_rows=40)


def _read(staging: Path, name: str, split: str) -> pa.Table:
    layer = "data" if RELEASED[name].layer == "visible" else "sealed"
    return pa.concat_tables(pq.read_table(path) for path in sorted((staging / layer / name).glob(f"{split}-*.parquet")))


def test_what_is_staged_is_what_was_given_user_by_user(tmp_path: Path) -> None:
    config = fake_config(24)
    stage_fake(tmp_path, config, TABLES, 17, SMALL)
    splits = split_of(np.arange(24, dtype=np.uint64), config.data)
    for name in ("events", "answers", "personas", "posteriors", "tool_state"):
        owner = TABLES[name]["task_id" if name == "tool_state" else "user_id"].to_pylist()
        for split in ("train", "test"):
            own = pa.array([bool(splits[int(who[1:7])] == split) for who in owner])
            assert _read(tmp_path, name, split).equals(TABLES[name].filter(own)), (name, split)


def test_what_users_own_is_in_their_split_and_what_nobody_owns_in_the_catalogue(tmp_path: Path) -> None:
    config = fake_config(24)
    report = stage_fake(tmp_path, config, TABLES, 1, SMALL)
    assert split_of(np.array([1, 2], np.uint64), config.data).tolist() == ["test", "train"]
    for name in ("items", "item_attributes"):
        assert report["tables"][name]["splits"] == {"train": 1, "test": 1, "catalogue": 3}
        assert _read(tmp_path, name, "catalogue").equals(TABLES[name].slice(0, 3))
        assert _read(tmp_path, name, "test").equals(TABLES[name].slice(3, 1))
        assert _read(tmp_path, name, "train").equals(TABLES[name].slice(4, 1))


def test_what_nobody_owns_comes_first(tmp_path: Path) -> None:
    rows = TABLES["items"]
    wrong = pa.concat_tables([rows.slice(3), rows.slice(0, 3)])
    with pytest.raises(TableError, match="row item_id food-0 comes after row item_id u000002-b"):
        stage_tables({"items": [wrong]}, tmp_path, fake_config(24).data, {"items": RELEASED["items"]})


def test_the_size_of_portions_changes_no_byte(tmp_path: Path) -> None:
    config = fake_config(24)
    for size in (5, 64, 1_000_000):
        stage_fake(tmp_path / str(size), config, TABLES, size, SMALL)
    whole = tree(tmp_path / "1000000")
    assert tree(tmp_path / "5") == whole
    assert tree(tmp_path / "64") == whole


def test_the_digest_does_not_depend_on_how_files_are_cut(tmp_path: Path) -> None:
    config = fake_config(24)
    small, large = stage_fake(tmp_path / "a", config, TABLES, 50, SMALL), stage_fake(tmp_path / "b", config, TABLES)
    assert small["tables"] == large["tables"]
    assert len(small["files"]) > len(large["files"])


def test_a_changed_cell_changes_the_digest_of_its_table_alone(tmp_path: Path) -> None:
    config = fake_config(24)
    before, after = stage_fake(tmp_path / "a", config, TABLES), stage_fake(tmp_path / "b", config, fake_tables(24, "!"))
    assert [n for n in RELEASED if before["tables"][n]["digest"] != after["tables"][n]["digest"]] == ["events"]


def test_other_splits_change_the_digest(tmp_path: Path) -> None:
    one = stage_fake(tmp_path / "a", fake_config(24), TABLES)
    other = stage_fake(tmp_path / "b", fake_config(24, splits={"test": 1.0}), TABLES)
    assert one["tables"]["events"]["digest"] != other["tables"]["events"]["digest"]
    assert one["tables"]["tools"] == other["tables"]["tools"]


def test_the_list_of_files_agrees_with_the_files(tmp_path: Path) -> None:
    report = stage_fake(tmp_path, fake_config(24), TABLES, 50, SMALL)
    assert check_files(tmp_path, RELEASED) == []
    assert broken_schemas(tmp_path, RELEASED) == {}
    assert json.loads((tmp_path / "reports/files.json").read_text()) == report
    assert {name: report["tables"][name]["rows"] for name in RELEASED} == {n: t.num_rows for n, t in TABLES.items()}
    assert report["tables"]["events"]["nulls"]["text"] == TABLES["events"]["text"].null_count
    assert "user_id" not in report["tables"]["events"]["nulls"]


def test_an_empty_table_is_listed_and_has_no_files(tmp_path: Path) -> None:
    report = stage_fake(tmp_path, fake_config(24), TABLES)
    assert report["tables"]["images"]["rows"] == 0
    assert report["tables"]["images"]["splits"] == {}
    assert not (tmp_path / "data/images").exists()


def test_a_portion_that_does_not_conform_is_named_with_its_first_row(tmp_path: Path) -> None:
    actions = TABLES["events"]["action"].to_pylist()
    actions[300] = actions[310] = "teleport"
    wrong = TABLES["events"].set_column(TABLES["events"].column_names.index("action"), "action", pa.array(actions))
    with pytest.raises(TableError, match="table events") as error:
        stage_fake(tmp_path, fake_config(24), {**TABLES, "events": wrong}, 100)
    assert "teleport" in str(error.value)
    assert f"event_id {TABLES['events']['event_id'][300].as_py()}" in str(error.value)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="missing columns: locale"):
        stage_fake(tmp_path, fake_config(24), {**TABLES, "users": TABLES["users"].drop_columns(["locale"])})


@pytest.mark.parametrize("size", [5, 1_000])
@pytest.mark.parametrize("name", ["events", "posteriors", "items", "constraints"])
def test_rows_out_of_order_or_twice_are_refused(tmp_path: Path, name: str, size: int) -> None:
    rows = TABLES[name]
    swapped = rows.take([1, 0, *range(2, rows.num_rows)])
    twice = rows.take([*range(rows.num_rows), rows.num_rows - 1])
    for number, wrong in enumerate((swapped, twice)):
        sources = cut({name: wrong}, size)
        with pytest.raises(TableError, match="comes after row"):
            stage_tables(sources, tmp_path / str(number), fake_config(24).data, {name: RELEASED[name]})


def test_a_null_in_a_key_stands_last_and_once(tmp_path: Path) -> None:
    rows = TABLES["posteriors"]
    assert rows["constraint_id"][1].as_py() is None
    with pytest.raises(TableError, match="constraint_id None comes after row"):
        stage_fake(tmp_path, fake_config(24), {**TABLES, "posteriors": rows.take([0, 1, 1, 2])})


def test_users_come_by_number_beyond_the_width_of_their_ids(tmp_path: Path) -> None:
    users = TABLES["users"].slice(0, 2)
    renamed = users.set_column(0, "user_id", pa.array(["u999999", "u1000000"]))
    report = stage_tables({"users": [renamed]}, tmp_path, fake_config(24).data, {"users": RELEASED["users"]})
    assert report["tables"]["users"]["rows"] == 2


def test_every_table_needs_a_source(tmp_path: Path) -> None:
    sources = cut(TABLES, 100)
    del sources["users"]
    with pytest.raises(ValueError, match="users"):
        stage_tables(sources, tmp_path, fake_config(24).data, RELEASED)


def test_portions_are_asked_for_one_at_a_time(tmp_path: Path) -> None:
    written: list[int] = []

    def portions() -> Iterator[pa.Table]:
        for start in range(0, TABLES["events"].num_rows, 72):
            written.append(sum(1 for path in (tmp_path / "data/events").glob(".*")) if start else 0)
            yield TABLES["events"].slice(start, 72)

    stage_tables({"events": portions()}, tmp_path, fake_config(24).data, {"events": RELEASED["events"]}, SMALL)
    assert written[-1] > 0, "files are written while portions still come"
