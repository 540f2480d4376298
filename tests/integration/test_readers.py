"""Every file of a built release, read with every reader that a user may take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from schemas.tables import RELEASED
from tests.integration.builds import STARTUP, Ran, table

LAYERS = {"visible": "data", "sealed": "sealed"}


def with_polars(files: list[str]) -> pa.Table:
    return pl.read_parquet(files, glob=False).to_arrow()


def with_duckdb(files: list[str]) -> pa.Table:
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.read_parquet(files).to_arrow_table()


def with_pandas(files: list[str]) -> pa.Table:
    frame = pd.concat([pd.read_parquet(path, dtype_backend="pyarrow") for path in files])
    return pa.table({name: pa.array(column) for name, column in frame.items()})


def with_pyarrow(files: list[str]) -> pa.Table:
    return ds.dataset(files, format="parquet").to_table()


READERS = [with_pyarrow, with_polars, with_duckdb, with_pandas]


def plain(kind: pa.DataType) -> str:
    """The type without what readers choose for themselves: width of offsets, names of list elements, nulls of structs."""
    text = str(kind)
    for long, short in (
        ("large_", ""),
        ("string_view", "string"),
        (" not null", ""),
        ("item: ", ""),
        ("element: ", ""),
        ("l: ", ""),
    ):
        text = text.replace(long, short)
    return text


@pytest.mark.parametrize("read", READERS, ids=lambda reader: reader.__name__)
@pytest.mark.parametrize("name", sorted(RELEASED))
def test_a_table_reads_as_declared_and_equal(name: str, read: Callable[[list[str]], pa.Table], base: Ran) -> None:
    declared = RELEASED[name]
    folder = base.release / LAYERS[declared.layer] / name
    files = sorted(str(path) for path in folder.glob("*"))
    rows = json.loads((base.release / "reports/files.json").read_text())["tables"][name]["rows"]
    assert bool(files) == bool(rows)
    if not files:
        return
    found = read(files)
    expected = table(base.release, LAYERS[declared.layer], name)
    assert expected.schema.equals(declared.schema()) and found.num_rows == expected.num_rows == rows
    assert [plain(kind) for kind in found.schema.types] == [plain(field.type) for field in declared.columns.values()]
    assert found.to_pylist() == expected.to_pylist()


LOAD = """
import json, sys
import datasets
folder = sys.argv[1]
found = {}
for name in datasets.get_dataset_config_names(folder):
    for split, part in datasets.load_dataset(folder, name).items():
        key = [column for column in part.column_names if column.endswith("_id")]
        found[f"{name}/{split}"] = [part.num_rows, part.column_names, [part[0][column] for column in key]]
print(json.dumps(found))
"""


def test_datasets_loads_every_config_offline(base: Ran, tmp_path: Path) -> None:
    settings = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "HF_DATASETS_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": str(STARTUP),
        "HABITUS_AUDIT": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(base.release)],
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    offered = {}
    for name, listed in json.loads((base.release / "reports/files.json").read_text())["tables"].items():
        for split, rows in listed["splits"].items():
            first = min((base.release / LAYERS[RELEASED[name].layer] / name).glob(f"{split}-*.parquet"))
            expected = pq.read_table(first)
            key = [column for column in expected.column_names if column.endswith("_id")]
            offered[f"{name}/{split}"] = [rows, expected.column_names, [expected[column][0].as_py() for column in key]]
    assert found == offered
    logs = [log.read_text().splitlines() for log in tmp_path.iterdir() if log.is_file()]
    assert logs and all(len(log) == 1 for log in logs), "it reached for something else than files"
