"""Every reader that the card names gets the same rows with the declared types."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import habitus
from schemas.tables import RELEASED
from tests.flows.release.release_fakes import fake_tables

FILLED = sorted(name for name, table in fake_tables(24).items() if table.num_rows)
FOLDERS = {"visible": "data", "sealed": "sealed"}


def _folder(release: Path, name: str) -> Path:
    return release / FOLDERS[RELEASED[name].layer] / name


def _frame(table: pa.Table, name: str) -> pl.DataFrame:
    """The rows in the order of the table's user and key, for files come in the order of their names."""
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.sort([column for column in RELEASED[name].key if column in frame.columns], nulls_last=True)


@pytest.mark.parametrize("name", FILLED)
def test_pyarrow_reads_the_folder_as_declared(published: Path, name: str) -> None:
    read = ds.dataset(_folder(published, name), format="parquet")
    assert read.schema.equals(RELEASED[name].schema())
    assert _frame(read.to_table(), name).equals(_frame(fake_tables(24)[name], name))


@pytest.mark.parametrize("name", FILLED)
def test_polars_reads_the_folder_as_declared(published: Path, name: str) -> None:
    read = pl.read_parquet(_folder(published, name) / "*.parquet")
    expected = _frame(fake_tables(24)[name], name)
    assert read.schema == expected.schema
    assert read.sort(list(RELEASED[name].key), nulls_last=True).equals(expected)


@pytest.mark.parametrize("name", FILLED)
def test_duckdb_reads_the_folder_as_declared(published: Path, name: str) -> None:
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        read = connection.sql(f"SELECT * FROM '{_folder(published, name)}/*.parquet'").to_arrow_table()
    expected = _frame(fake_tables(24)[name], name)
    assert _frame(read, name).schema == expected.schema
    assert _frame(read, name).equals(expected)


@pytest.mark.parametrize("name", FILLED)
def test_pandas_reads_the_folder_as_declared(published: Path, name: str) -> None:
    read = pd.read_parquet(_folder(published, name), dtype_backend="pyarrow")
    assert [dtype.pyarrow_dtype for dtype in read.dtypes] == [field.type for field in RELEASED[name].columns.values()]
    back = pa.Table.from_pandas(read, schema=RELEASED[name].schema(), preserve_index=False)
    assert _frame(back, name).equals(_frame(fake_tables(24)[name], name))


@pytest.mark.parametrize("name", FILLED)
def test_habitus_reads_the_table_as_declared(published: Path, name: str) -> None:
    release = habitus.open_release(published)
    read = release.sealed(name) if RELEASED[name].layer == "sealed" else release.table(name)
    assert read.schema.equals(RELEASED[name].schema())
    assert _frame(read, name).equals(_frame(fake_tables(24)[name], name))


LOAD = """
import json, sys
import datasets, pyarrow.parquet as pq
folder, found = sys.argv[1], {}
for name in datasets.get_dataset_config_names(folder):
    loaded = datasets.load_dataset(folder, name)
    found[name] = {
        split: {"rows": part.num_rows, "types": [str(field.type) for field in part.data.table.schema]}
        for split, part in loaded.items()
    }
    first = next(iter(loaded.values()))
    found[name]["first"] = json.loads(json.dumps(first[0], default=str))
print(json.dumps({"configs": found, "default": datasets.get_dataset_default_config_name(folder)}))
"""


def test_datasets_loads_every_config_offline_with_the_declared_types_and_rows(published: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path),
        "HF_DATASETS_CACHE": str(tmp_path / "d"),
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(published)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    loaded = json.loads(done.stdout.splitlines()[-1])
    files = json.loads((published / "reports/files.json").read_text())["tables"]
    assert loaded["default"] == "events"
    assert sorted(loaded["configs"]) == FILLED
    for name, splits in loaded["configs"].items():
        assert splits.pop("first")[RELEASED[name].key[-1]] is not None or name == "posteriors"
        assert {split: part["rows"] for split, part in splits.items()} == files[name]["splits"], name
        for part in splits.values():
            assert [_plain(text) for text in part["types"]] == [
                _plain(str(f.type)) for f in RELEASED[name].columns.values()
            ]


def _plain(text: str) -> str:
    """The type without the names and nulls of list elements, which `datasets` does not keep."""
    return text.replace(" not null", "").replace("item: ", "").replace("element: ", "")


def test_a_table_of_many_files_and_row_groups_reads_whole(published: Path) -> None:
    files = sorted(_folder(published, "events").glob("train-*.parquet"))
    assert len(files) > 2
    assert {pq.read_metadata(path).row_group(0).num_rows for path in files} <= {
        50,
        pq.read_metadata(files[-1]).num_rows,
    }
