"""Claims about how things are written, read back and digested."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.draws import Draws, base32
from flows.common.files import (
    ROW_GROUP,
    ContentDigest,
    content_digest,
    file_sha256,
    open_output,
    read_json,
    read_table,
    remove_tree,
    tables_digest,
    write_json,
    write_table,
    write_text,
)
from schemas.tables import Field, Table, TableError
from schemas.tables.core import TIMESTAMP

PAIR = pa.struct(
    [pa.field("name", pa.string()), pa.field("tags", pa.list_(pa.string())), pa.field("weight", pa.float64())]
)
TYPES: dict[str, pa.DataType] = {
    "whole": pa.int64(),
    "small": pa.int16(),
    "real": pa.float64(),
    "text": pa.string(),
    "raw": pa.binary(),
    "flag": pa.bool_(),
    "moment": TIMESTAMP,
    "day": pa.date32(),
    "words": pa.list_(pa.string()),
    "numbers": pa.list_(pa.int32()),
    "pair": PAIR,
    "pairs": pa.list_(PAIR),
}
DECLARED = Table(
    name="things",
    layer="internal",
    key=("whole",),
    doc="For tests.",
    optional=frozenset(TYPES),
    columns={name: Field(kind, "For tests.") for name, kind in TYPES.items()},
)
INNER = st.none() | st.fixed_dictionaries(
    {
        "name": st.none() | st.text(max_size=3),
        "tags": st.none() | st.lists(st.none() | st.text(max_size=2), max_size=3),
        "weight": st.none() | st.floats(-5, 5),
    }
)


def maybe_list(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(st.none() | values, max_size=3)


ROW = st.fixed_dictionaries(
    {
        "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
        "small": st.none() | st.integers(-(2**15), 2**15 - 1),
        "real": st.none() | st.floats(allow_nan=False),
        "text": st.none() | st.text(max_size=4),
        "raw": st.none() | st.binary(max_size=3),
        "flag": st.none() | st.booleans(),
        "moment": st.none() | st.integers(-(10**15), 10**15),
        "day": st.none() | st.integers(-50_000, 50_000),
        "words": maybe_list(st.text(max_size=2)),
        "numbers": maybe_list(st.integers(-9, 9)),
        "pair": INNER,
        "pairs": st.none() | st.lists(INNER, max_size=3),
    }
)
ROWS = st.lists(ROW, min_size=1, max_size=6)
calm = settings(deadline=None, max_examples=30)
"""Machines can be busy."""


def table(rows: list[dict[str, Any]]) -> pa.Table:
    columns = {}
    for name, kind in TYPES.items():
        stored = {"moment": pa.int64(), "day": pa.int32()}.get(name, kind)
        columns[name] = pa.array([row[name] for row in rows], stored).cast(kind)
    return pa.table(columns, schema=DECLARED.schema())


def cut(whole: pa.Table, borders: list[int]) -> pa.Table:
    """The same rows in other chunks, empty ones among them; each chunk is a slice of its array."""
    places = [0, *sorted(borders), whole.num_rows]
    return pa.concat_tables([whole[0:0], *(whole[a:b] for a, b in itertools.pairwise(places))])


# Writing.


def test_a_file_exists_under_its_name_only_once_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file.txt"
    with open_output(target) as stream:
        stream.write(b"half")
        assert not target.exists()
        stream.write(b" and half")
    assert target.read_bytes() == b"half and half"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [None, b"the old content"])
def test_an_exception_leaves_nothing_new_and_the_old_file_as_it_was(
    tmp_path: Path, error: type[BaseException], before: bytes | None
) -> None:
    target = tmp_path / "file.txt"
    if before is not None:
        target.write_bytes(before)
    with pytest.raises(error), open_output(target) as stream:
        stream.write(b"half")
        raise error
    assert [path.read_bytes() for path in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_table_that_is_not_as_declared_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(TableError):
        write_table(tmp_path / "things.parquet", DECLARED, pa.table({"whole": [1]}))
    assert list(tmp_path.iterdir()) == []


def test_json_has_sorted_keys_its_own_letters_and_a_final_newline(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": ["é"], "a": 1})
    assert (tmp_path / "a.json").read_bytes() == '{\n "a": 1,\n "b": [\n  "é"\n ]\n}\n'.encode()
    assert read_json(tmp_path / "a.json") == {"a": 1, "b": ["é"]}
    write_text(tmp_path / "a.txt", "é\r\n")
    assert (tmp_path / "a.txt").read_bytes() == "é\r\n".encode()


def test_a_hash_of_a_file_is_its_sha256_and_a_tree_goes_away_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "tree" / "file", "content")
    assert file_sha256(tmp_path / "tree" / "file") == hashlib.sha256(b"content").hexdigest()
    remove_tree(tmp_path / "tree")
    remove_tree(tmp_path / "tree")
    assert list(tmp_path.iterdir()) == []


@calm
@given(rows=ROWS, borders=st.lists(st.integers(0, 6), max_size=3))
def test_what_is_written_reads_back_equal_with_equal_bytes_however_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], borders: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole = table(rows)
    write_table(folder / "whole.parquet", DECLARED, whole)
    write_table(folder / "cut.parquet", DECLARED, cut(whole, [min(border, len(rows)) for border in borders]))
    assert (folder / "whole.parquet").read_bytes() == (folder / "cut.parquet").read_bytes()
    back = read_table(folder / "whole.parquet")
    assert back.schema == DECLARED.schema()
    assert back.to_pylist() == whole.to_pylist()
    assert content_digest(DECLARED, back) == content_digest(DECLARED, whole)


def test_a_file_of_many_pages_and_row_groups_has_equal_bytes_however_it_is_cut(tmp_path: Path) -> None:
    count = ROW_GROUP + 9_000
    text = pa.array(base32(Draws(1, "test").bits("text", np.arange(count)), 12).astype(str).tolist())
    lists = pa.ListArray.from_arrays(np.arange(0, 2 * count + 1, 2, dtype=np.int32), pa.concat_arrays([text, text]))
    big = Table(
        name="big",
        layer="internal",
        key=("text",),
        doc="For tests.",
        columns={"text": Field(pa.string(), "Text."), "lists": Field(pa.list_(pa.string()), "Lists.")},
    )
    whole = pa.table({"text": text, "lists": lists})
    crumbs = [1, 1000, 1025, 7777, ROW_GROUP - 1, ROW_GROUP + 1]
    ways = {"whole": whole, "halves": cut(whole, [count // 2]), "crumbs": cut(whole, crumbs)}
    for name, way in ways.items():
        write_table(tmp_path / name, big, way)
    assert len({file_sha256(tmp_path / name) for name in ways}) == 1
    file = pq.ParquetFile(tmp_path / "whole")
    assert [file.metadata.row_group(group).num_rows for group in range(2)] == [ROW_GROUP, 9_000]
    assert {file.metadata.row_group(0).column(place).compression for place in range(2)} == {"ZSTD"}


# Digests.


@calm
@given(rows=ROWS, borders=st.lists(st.integers(0, 6), max_size=3))
def test_the_digest_does_not_depend_on_chunks_or_on_how_often_it_is_fed(
    rows: list[dict[str, Any]], borders: list[int]
) -> None:
    whole = table(rows)
    parts = cut(whole, [min(border, len(rows)) for border in borders])
    assert content_digest(DECLARED, parts) == content_digest(DECLARED, whole)
    fed = ContentDigest(DECLARED)
    for place in range(whole.num_rows):
        fed.update(whole[place : place + 1])
        fed.update(whole[0:0])
    assert fed.hexdigest() == content_digest(DECLARED, whole)
    assert fed.rows == len(rows)


@calm
@given(one=ROWS, two=ROWS)
def test_other_rows_have_another_digest_and_equal_rows_the_same(
    one: list[dict[str, Any]], two: list[dict[str, Any]]
) -> None:
    first, second = table(one), table(two)
    same = json.dumps(first.to_pylist(), default=repr) == json.dumps(second.to_pylist(), default=repr)
    assert (content_digest(DECLARED, first) == content_digest(DECLARED, second)) == same


@calm
@given(rows=ROWS, data=st.data())
def test_one_changed_cell_changes_the_digest(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    before = content_digest(DECLARED, table(rows))
    row, name = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.sampled_from(list(TYPES)))
    new = data.draw(ROW)[name]
    changed = [{**values, name: new} if place == row else values for place, values in enumerate(rows)]
    equal = repr(new) == repr(rows[row][name])
    assert (content_digest(DECLARED, table(changed)) == before) == equal


def one(name: str, *values: Any) -> str:
    """Digest of rows that are null but for one column."""
    return content_digest(DECLARED, table([{**dict.fromkeys(TYPES), name: value} for value in values]))


MOVES = [  # what a sloppy digest would take for equal
    ("text", ("ab", "c"), ("a", "bc")),
    ("text", ("", "ab"), ("ab", "")),
    ("text", (None, "a"), ("", "a")),
    ("text", ("a", "b"), ("b", "a")),
    ("raw", (b"\0", b""), (b"", b"\0")),
    ("whole", (0, 1), (None, 1)),
    ("whole", (1, 2), (2, 1)),
    ("flag", (False,), (None,)),
    ("real", (0.0,), (None,)),
    ("day", (0,), (None,)),
    ("real", (1.0,), (float(np.nextafter(1, 2)),)),
    ("moment", (1,), (2,)),
    ("words", (["a", "b"], ["c"]), (["a"], ["b", "c"])),
    ("words", ([], ["a"]), (["a"], [])),
    ("words", (None,), ([],)),
    ("words", (["ab", "c"],), (["a", "bc"],)),
    ("words", ([None],), ([""],)),
    ("words", (["a", "b"],), (["b", "a"],)),
    ("numbers", ([1], [2, 3]), ([1, 2], [3])),
    ("numbers", ([0],), ([None],)),
    ("numbers", ([0],), ([],)),
    ("pair", ({"name": "ab"}, {"name": "c"}), ({"name": "a"}, {"name": "bc"})),
    ("pair", (None,), ({"name": None},)),
    ("pair", ({"name": None},), ({"name": ""},)),
    ("pair", ({"name": "a", "tags": ["b"]},), ({"name": "b", "tags": ["a"]},)),
    ("pair", ({"tags": ["a", "b"]}, {"tags": []}), ({"tags": ["a"]}, {"tags": ["b"]})),
    ("pairs", ([{"name": "a"}, {"name": "b"}], []), ([{"name": "a"}], [{"name": "b"}])),
    ("pairs", ([{"name": "a", "weight": 0.0}],), ([{"name": "a", "weight": None}],)),
    ("pairs", ([None],), ([{"name": None}],)),
    ("pairs", ([{"tags": ["a"]}, {"tags": []}],), ([{"tags": []}, {"tags": ["a"]}],)),
    ("pairs", ([],), (None,)),
]


@pytest.mark.parametrize(("name", "before", "after"), MOVES)
def test_what_moves_between_neighbours_changes_the_digest(
    name: str, before: tuple[Any, ...], after: tuple[Any, ...]
) -> None:
    assert one(name, *before) != one(name, *after)
    assert one(name, *before) == one(name, *before)


def test_values_that_change_columns_change_the_digest() -> None:
    assert one("whole", 7) != one("small", 7)
    assert one("text", "a") != one("raw", b"a")


def test_what_lies_beneath_a_null_is_of_no_account(tmp_path: Path) -> None:
    hidden = pa.StructArray.from_arrays(
        [pa.array(["seen", "hidden"]), pa.array([["a"], ["hidden"]]), pa.array([1.0, 2.0])],
        fields=list(PAIR),
        mask=pa.array([False, True]),
    )
    plain = table(
        [{**dict.fromkeys(TYPES), "pair": pair} for pair in ({"name": "seen", "tags": ["a"], "weight": 1.0}, None)]
    )
    veiled = plain.set_column(plain.column_names.index("pair"), "pair", hidden)
    assert veiled.to_pylist() == plain.to_pylist()
    write_table(tmp_path / "veiled.parquet", DECLARED, veiled)
    digests = {content_digest(DECLARED, way) for way in (plain, veiled, read_table(tmp_path / "veiled.parquet"))}
    assert len(digests) == 1


def empties() -> Iterator[pa.Table]:
    yield DECLARED.empty()
    yield pa.table([pa.chunked_array([], kind) for kind in TYPES.values()], schema=DECLARED.schema())
    yield table([dict.fromkeys(TYPES)])[0:0]


def test_no_rows_have_one_digest_in_however_many_chunks() -> None:
    assert len({content_digest(DECLARED, way) for way in empties()} | {ContentDigest(DECLARED).hexdigest()}) == 1
    assert content_digest(DECLARED, DECLARED.empty()) != one("whole", None)


def varied() -> Iterator[Callable[[], Table]]:
    first, *_ = DECLARED.columns
    renamed = {"other" if name == first else name: field for name, field in DECLARED.columns.items()}
    retyped = {**DECLARED.columns, "small": Field(pa.int32(), "For tests.")}
    yield lambda: dataclasses.replace(DECLARED, columns=renamed, key=("other",), optional=frozenset(renamed))
    yield lambda: dataclasses.replace(DECLARED, columns=retyped)
    yield lambda: dataclasses.replace(DECLARED, optional=frozenset())


def test_the_schema_is_part_of_the_digest() -> None:
    digests = {ContentDigest(make()).hexdigest() for make in varied()} | {ContentDigest(DECLARED).hexdigest()}
    assert len(digests) == 4


def test_one_digest_over_all_tables_knows_their_names_and_not_their_order() -> None:
    assert tables_digest({"a": "1", "b": "2"}) == tables_digest({"b": "2", "a": "1"})
    others: list[dict[str, str]] = [{"a": "1", "b": "2"}, {"a": "2", "b": "1"}, {"a": "1"}, {"a": "1", "c": "2"}, {}]
    assert len({tables_digest(digests) for digests in others}) == 5
