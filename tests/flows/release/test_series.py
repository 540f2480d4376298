from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.release.series import Limits, Series, row_bytes
from schemas.tables import RELEASED, TableError
from schemas.tables.visible import ITEMS
from tests.flows.release.release_fakes import fake_tables, tree

CONSTANT = {"domain": "food", "category": "main", "title": "Dish", "price_cents": 1, "currency": "USD"}
EVENTS = fake_tables(8)["events"]
ANSWERS = fake_tables(8)["answers"]


def _write(folder: Path, rows: pa.Table, cuts: list[int], limits: Limits, name: str = "events") -> Series:
    with Series(folder, "train", RELEASED[name], limits) as series:
        bounds = sorted({0, rows.num_rows, *(cut % (rows.num_rows + 1) for cut in cuts)})
        for start, end in itertools.pairwise(bounds):
            series.add(rows.slice(start, end - start))
        series.finish()
    return series


def _groups(path: Path) -> list[int]:
    footer = pq.read_metadata(path)
    return [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]


def test_files_and_row_groups_end_at_exactly_so_many_rows(tmp_path: Path) -> None:
    _write(tmp_path, EVENTS, [1, 50, 51], Limits(file_rows=70, group_rows=30))
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [f"train-{n:05d}-of-00003.parquet" for n in range(3)]
    assert [_groups(path) for path in files] == [[30, 30, 10], [30, 30, 10], [30, 22]]


def test_a_last_file_is_not_empty_when_the_rows_fill_the_files(tmp_path: Path) -> None:
    _write(tmp_path, EVENTS.slice(0, 120), [60], Limits(file_rows=60, group_rows=60))
    assert [_groups(path) for path in sorted(tmp_path.iterdir())] == [[60], [60]]


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 10_000), max_size=8), by_bytes=st.booleans(), nested=st.booleans())
def test_bytes_and_digest_do_not_depend_on_how_the_rows_arrive(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], by_bytes: bool, nested: bool
) -> None:
    limits = Limits(50, file_bytes=6_000, group_rows=20, group_bytes=2_500) if by_bytes else Limits(50, group_rows=20)
    name, rows = ("answers", ANSWERS) if nested else ("events", EVENTS)
    one, other = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    whole, cut = _write(one, rows, [], limits, name), _write(other, rows, cuts, limits, name)
    assert tree(one) == tree(other)
    assert whole.digest.hexdigest() == cut.digest.hexdigest()
    assert whole.nulls == cut.nulls


def test_pages_inside_a_row_group_fall_the_same_way_however_the_rows_arrive(tmp_path: Path) -> None:
    """Texts of several pages: written as they arrive, each portion would begin its own batches of values."""
    texts = [hashlib.sha256(str(number).encode()).hexdigest() * 3 for number in range(20_000)]
    items = pa.table(
        {
            "item_id": [f"i{number:05d}" for number in range(20_000)],
            "description": texts,
            **{name: pa.nulls(20_000, field.type) for name, field in ITEMS.columns.items() if name in ITEMS.optional},
            **{name: pa.repeat(value, 20_000) for name, value in CONSTANT.items()},
        }
    )
    rows = ITEMS.conform(items.select(list(ITEMS.columns)))
    _write(tmp_path / "one", rows, [], Limits(20_000), "items")
    _write(tmp_path / "other", rows, [97, 777, 5_000, 5_001, 11_003], Limits(20_000), "items")
    assert tree(tmp_path / "one") == tree(tmp_path / "other")


def test_files_end_before_so_many_bytes(tmp_path: Path) -> None:
    _write(tmp_path, EVENTS, [], Limits(1_000, file_bytes=6_000, group_bytes=2_500))
    files = sorted(tmp_path.iterdir())
    tables = [pq.read_table(path) for path in files]
    assert len(files) > 2
    assert max(int(row_bytes(table).sum()) for table in tables) <= 6_000
    assert pa.concat_tables(tables).equals(EVENTS)


def test_a_row_that_no_file_can_hold_is_named(tmp_path: Path) -> None:
    texts = EVENTS["text"].to_pylist()
    texts[33] = "x" * 9_000
    rows = EVENTS.set_column(EVENTS.column_names.index("text"), "text", pa.array(texts, pa.string()))
    with pytest.raises(TableError, match=f"{rows['event_id'][33].as_py()}.*a file holds 8,000"):
        _write(tmp_path, rows, [10], Limits(1_000, file_bytes=8_000))


def test_an_error_leaves_no_file_under_its_name(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError),
        Series(tmp_path, "train", RELEASED["events"], Limits(50, group_rows=20)) as series,
    ):
        series.add(EVENTS.slice(0, 45))
        raise RuntimeError("the disk is full")
    assert list(tmp_path.iterdir()) == []


def test_row_bytes_count_what_is_in_lists_and_structs() -> None:
    rows = pa.table(
        {
            "text": pa.array(["ab", None, ""]),
            "many": pa.array([["x", "yz"], None, []], pa.list_(pa.string())),
            "pairs": pa.array(
                [[{"a": "k", "b": 1}], [], None], pa.list_(pa.struct([("a", pa.string()), ("b", pa.int16())]))
            ),
        }
    )
    assert row_bytes(rows).tolist() == [2 + 3 + 1 + 2, 0, 0]
    assert row_bytes(rows.slice(1)).tolist() == [0, 0]
