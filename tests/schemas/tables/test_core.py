"""Claims about what a declared table refuses, what it casts, and what its digest knows."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.tables.core import TIMESTAMP, Field, Table, TableError, cast_exactly, replaced, schema_digest, sort_rows

NOON = datetime(2025, 1, 6, 12, tzinfo=UTC)
PAIR = pa.struct([pa.field("name", pa.string(), nullable=False), pa.field("weight", pa.float64())])
DECLARED = Table(
    name="things",
    layer="internal",
    key=("user", "number"),
    doc="For tests.",
    optional=frozenset({"note", "pair"}),
    columns={
        "user": Field(pa.string(), "Whose."),
        "number": Field(pa.int16(), "Which."),
        "at": Field(TIMESTAMP, "When."),
        "size": Field(pa.string(), "How large.", values=("small", "large")),
        "tags": Field(pa.list_(pa.string()), "Tags.", values=("red", "blue")),
        "share": Field(pa.float64(), "Share.", low=0, high=1),
        "stars": Field(pa.list_(pa.int32()), "Stars.", low=1, high=5),
        "belief": Field(pa.list_(pa.float64()), "Beliefs."),
        "note": Field(pa.string(), "What was said."),
        "pair": Field(PAIR, "A pair."),
        "pairs": Field(pa.list_(PAIR), "Pairs."),
    },
)
GOOD: dict[str, Any] = {
    "user": ["u1", "u1", "u2"],
    "number": [1, 2, 1],
    "at": [NOON] * 3,
    "size": ["small", "large", "small"],
    "tags": [["red"], [], ["blue", "red"]],
    "share": [0.0, 0.5, 1.0],
    "stars": [[1, 5], [], [3]],
    "belief": [[0.5, 0.5], [], [1.0]],
    "note": ["hello", None, None],
    "pair": [{"name": "a", "weight": None}, None, {"name": "b", "weight": 1.0}],
    "pairs": [[{"name": "a", "weight": 1.0}], [], []],
}


def things(**columns: Any) -> pa.Table:
    """Good rows but for the columns given; a column of None is left out."""
    made = {}
    for name, values in {**GOOD, **columns}.items():
        if values is not None:
            kind = DECLARED.columns[name].type if name in DECLARED.columns else None
            made[name] = pa.array(values, kind) if isinstance(values, list) else values
    return pa.table(made)


def violations(table: pa.Table, declared: Table = DECLARED) -> list[str]:
    with pytest.raises(TableError) as caught:
        declared.conform(table)
    assert caught.value.table == declared.name
    assert str(caught.value).splitlines()[0] == f"table {declared.name} is not as declared:"
    assert str(caught.value).splitlines()[1:] == [f"  - {line}" for line in caught.value.violations]
    return caught.value.violations


def test_good_rows_come_back_in_the_declared_order_and_schema() -> None:
    turned = things().select(sorted(DECLARED.columns, reverse=True))
    made = DECLARED.conform(turned)
    assert made.schema == DECLARED.schema()
    assert made.schema.names == list(DECLARED.columns)
    assert [field.name for field in made.schema if field.nullable] == ["note", "pair"]
    assert made.to_pylist() == things().to_pylist()
    assert DECLARED.conform(DECLARED.empty()).num_rows == 0


ONE = [  # what is wrong, and the one violation told
    ({"share": None}, "missing columns: share"),
    ({"more": [1, 2, 3]}, "undeclared columns: more"),
    ({"user": ["u1", None, "u2"]}, "user: 1 nulls where none may be"),
    ({"tags": [["red"], None, None]}, "tags: 2 nulls where none may be"),
    ({"size": ["small", "huge", "tiny"]}, "size: ['huge', 'tiny'] not among ['small', 'large']"),
    ({"tags": [["red"], ["green", "blue"], []]}, "tags: ['green'] not among ['red', 'blue']"),
    ({"share": [0.0, -0.001, 1.0]}, "share: -0.001 is below 0"),
    ({"share": [0.0, 1.5, 1.0]}, "share: 1.5 is above 1"),
    ({"stars": [[1], [0, 3], []]}, "stars: 0 is below 1"),
    ({"stars": [[1], [6, 3], []]}, "stars: 6 is above 5"),
    ({"share": [0.0, float("nan"), 1.0]}, "share: NaN is not a value"),
    ({"belief": [[0.5], [float("nan")], []]}, "belief[]: NaN is not a value"),
    ({"pair": [None, {"name": "a", "weight": float("nan")}, None]}, "pair.weight: NaN is not a value"),
    ({"pairs": [[], [{"name": "a", "weight": float("nan")}], []]}, "pairs[].weight: NaN is not a value"),
    ({"user": ["u1", "u2", "u2"], "number": [1, 7, 7]}, "key user, number repeats: u2, 7"),
]


@pytest.mark.parametrize(("columns", "told"), ONE)
def test_what_is_not_as_declared_is_told(columns: dict[str, Any], told: str) -> None:
    assert violations(things(**columns)) == [told]


LOSSY = [  # a column of another type, and a word of the reason
    ("number", pa.array([1, 2, 2**15]), "2**15"),
    ("number", pa.array([1.0, 2.5, 3.0]), "truncated"),
    ("number", pa.array(["1", "2", "3"]), "different kinds"),
    ("number", pa.array([True, False, True]), "different kinds"),
    ("user", pa.array([False, True, False]), "different kinds"),
    ("user", pa.array([1, 2, 3]), "different kinds"),
    ("user", pa.array([b"a", b"b", b"c"]), "different kinds"),
    ("note", pa.array([b"\xff", None, None]), "different kinds"),
    ("at", pa.array([NOON.replace(tzinfo=None)] * 3, pa.timestamp("us")), "a time without a zone is not an instant"),
    ("at", pa.array([1, 2, 1001], pa.timestamp("ns", "UTC")), "lose data"),
    ("at", pa.array([1, 2, 3]), "different kinds"),
    ("at", pa.array([date(2025, 1, 6)] * 3), "different kinds"),
    ("at", pa.array(["2025-01-06T00:00:00Z"] * 3), "different kinds"),
    ("share", pa.array([2**53 + 1, 0, 0]), "not in range"),
    ("share", pa.array([Decimal("0.1")] * 3), "different kinds"),
    ("tags", pa.array(["red", "red", "red"]), "different kinds"),
    ("stars", pa.array([[1], [2**40], [1]]), "2**40"),
    ("stars", pa.array([["1"], ["2"], []]), "different kinds"),
    ("belief", pa.array([[True], [False], []]), "different kinds"),
    ("pair", pa.array([{"name": "a", "mood": "good"}] * 3), "undeclared struct fields ['mood']"),
    ("pair", pa.array([{"name": 1}] * 3), "name: int64 and string"),
    ("pairs", pa.array([[{"name": "a", "weight": 1.0, "mood": "good"}]] * 3), "undeclared struct fields ['mood']"),
    ("pair", pa.array([{"weight": 1.0}] * 3), "non-nullable"),
    ("pairs", pa.array([[{"weight": 1.0}]] * 3), "non-nullable"),
]


@pytest.mark.parametrize(("name", "column", "reason"), LOSSY)
def test_a_cast_that_would_change_a_value_or_its_kind_is_refused(name: str, column: pa.Array, reason: str) -> None:
    [told] = violations(things(**{name: column}))
    assert told.startswith(f"{name}: {column.type} does not become {DECLARED.columns[name].type} without loss (")
    number = reason.partition("**")
    assert (str(int(number[0]) ** int(number[2])) if number[1] else reason) in told


def small_table(key: tuple[str, ...], optional: frozenset[str] = frozenset(), **types: pa.DataType) -> Table:
    columns = {name: Field(kind, "For tests.") for name, kind in types.items()}
    return Table("small", "internal", key, "For tests.", columns, optional)


def test_a_time_without_a_zone_is_refused_inside_a_list_as_well() -> None:
    times = pa.table({"n": [1], "at": pa.array([[1]], pa.list_(pa.timestamp("us")))})
    [told] = violations(times, small_table(("n",), n=pa.int8(), at=pa.list_(TIMESTAMP)))
    assert "a time without a zone is not an instant" in told


def test_a_float_of_fewer_digits_is_refused() -> None:
    with pytest.raises(pa.ArrowInvalid, match="holds fewer digits"):
        cast_exactly(pa.chunked_array([[0.1]]), pa.float32())


ALLOWED = [  # a column of another type, and the values it becomes
    ("number", pa.array([1, 2, 2**15 - 1], pa.int64()), [1, 2, 2**15 - 1]),
    ("number", pa.array([1, 2, 3], pa.uint8()), [1, 2, 3]),
    ("number", pa.array([1.0, 2.0, 3.0]), [1, 2, 3]),
    ("share", pa.array([0, 1, 0]), [0.0, 1.0, 0.0]),
    ("share", pa.array([0.5, 0.25, 0], pa.float32()), [0.5, 0.25, 0.0]),
    ("user", pa.array(["a", "b", "c"], pa.large_string()), ["a", "b", "c"]),
    ("user", pa.array(["a", "b", "c"], pa.string_view()), ["a", "b", "c"]),
    ("size", pa.array(["small", "large", "small"]).dictionary_encode(), ["small", "large", "small"]),
    (
        "at",
        pa.array([1, 2, 3], pa.timestamp("ms", "UTC")),
        [datetime(1970, 1, 1, 0, 0, 0, n * 1000, UTC) for n in (1, 2, 3)],
    ),
    (
        "at",
        pa.array([1, 2, 3], pa.timestamp("us", "Europe/Madrid")),
        [datetime(1970, 1, 1, 0, 0, 0, n, UTC) for n in (1, 2, 3)],
    ),
    (
        "tags",
        pa.array([["red"], [], None], pa.large_list(pa.large_string()))[:2].take([0, 1, 0]),
        [["red"], [], ["red"]],
    ),
    ("tags", pa.array([["red"], [], []], pa.list_(pa.dictionary(pa.int8(), pa.string()))), [["red"], [], []]),
    ("stars", pa.array([[1], [], [2]], pa.list_(pa.int64())), [[1], [], [2]]),
    ("note", pa.nulls(3), [None] * 3),
    ("pair", pa.nulls(3), [None] * 3),
]


@pytest.mark.parametrize(("name", "column", "values"), ALLOWED)
def test_a_cast_that_changes_no_value_is_made(name: str, column: pa.Array, values: list[Any]) -> None:
    assert column.type != DECLARED.columns[name].type
    made = DECLARED.conform(things(**{name: column}))
    assert made.schema == DECLARED.schema()
    assert made[name].to_pylist() == values


def test_struct_fields_come_in_the_declared_order_and_missing_ones_are_null() -> None:
    """Case G6-S02, in columns and inside lists."""
    turned = pa.struct([pa.field("weight", pa.float64()), pa.field("name", pa.string())])
    pair = pa.array([{"weight": 2.0, "name": "a"}, None, {"weight": 3.0, "name": "b"}], turned)
    pairs = pa.array([[{"weight": 2.0, "name": "a"}], [], []], pa.list_(turned))
    made = DECLARED.conform(things(pair=pair, pairs=pairs))
    assert made.schema == DECLARED.schema()
    assert made["pair"].to_pylist() == [{"name": "a", "weight": 2.0}, None, {"name": "b", "weight": 3.0}]
    assert made["pairs"].to_pylist() == [[{"name": "a", "weight": 2.0}], [], []]
    names = pa.array([{"name": "a"}, None, {"name": "b"}])
    short = DECLARED.conform(things(pair=names, pairs=pa.array([[{"name": "a"}]] * 3)))
    assert short["pair"].to_pylist() == [{"name": "a", "weight": None}, None, {"name": "b", "weight": None}]
    assert short["pairs"].to_pylist() == [[{"name": "a", "weight": None}]] * 3
    assert pa.concat_tables([made, short]).num_rows == 6


def test_a_slice_of_a_struct_keeps_its_own_rows() -> None:
    turned = pa.struct([pa.field("weight", pa.float64()), pa.field("name", pa.string())])
    rows = [{"weight": 9.0, "name": "before"}, {"weight": 2.0, "name": "a"}, None, {"weight": 3.0, "name": "b"}]
    longer = pa.array(rows, turned)
    assert DECLARED.conform(things(pair=longer[1:]))["pair"].to_pylist() == longer[1:].to_pylist()


def test_nulls_in_children_that_may_hold_none_are_refused_even_in_the_declared_type() -> None:
    hidden = pa.StructArray.from_arrays([pa.array(["a", None, None]), pa.array([1.0, 1.0, 1.0])], fields=list(PAIR))
    assert violations(things(pair=hidden)) == ["pair.name: 2 nulls where none may be"]
    beneath = pa.StructArray.from_arrays(
        [pa.array(["a", None, None]), pa.array([1.0, 1.0, 1.0])], fields=list(PAIR), mask=pa.array([False, True, True])
    )
    assert DECLARED.conform(things(pair=beneath))["pair"].null_count == 2
    inside = pa.ListArray.from_arrays(pa.array([0, 3, 3, 3], pa.int32()), hidden, type=DECLARED.columns["pairs"].type)
    assert violations(things(pairs=inside)) == ["pairs[].name: 2 nulls where none may be"]


def test_nulls_where_they_may_be_break_no_closed_set_and_no_range() -> None:
    declared = dataclasses.replace(
        DECLARED, optional=frozenset({"note", "pair", "size", "tags", "share", "stars", "belief"})
    )
    nothing = {name: [None, None, None] for name in ("size", "tags", "share", "stars", "belief")}
    assert declared.conform(things(**nothing))["share"].null_count == 3


def test_every_violation_is_told_in_one_error() -> None:
    wrong = things(
        at=None,
        more=[1, 2, 3],
        user=["u1", "u1", "u1"],
        number=[1, 1, 1],
        size=["huge", "small", "small"],
        share=[-1.0, 2.0, float("nan")],
        tags=pa.array([1, 2, 3]),
        note=pa.array([True, False, None]),
        stars=[[0], [6], []],
    )
    tags = "list<item: string>"
    assert violations(wrong) == [
        "missing columns: at",
        "undeclared columns: more",
        "size: ['huge'] not among ['small', 'large']",
        f"tags: int64 does not become {tags} without loss (int64 and {tags} are different kinds of things)",
        "share: -1.0 is below 0",
        "share: 2.0 is above 1",
        "share: NaN is not a value",
        "stars: 0 is below 1",
        "stars: 6 is above 5",
        "note: bool does not become string without loss (bool and string are different kinds of things)",
        "key user, number repeats: u1, 1",
    ]


def test_a_column_given_twice_is_told_and_not_chosen_from() -> None:
    twice = things().append_column("user", pa.array(["x", "y", "z"]))
    assert violations(twice) == ["columns given more than once: user"]


def test_repeated_keys_are_told_up_to_three_in_order() -> None:
    rows = things().take([2, 1, 0, 2, 1, 0, 0])
    more = pa.concat_tables([things(user=["u9"] * 3), things(user=["u8"] * 3), rows])
    assert violations(more) == ["key user, number repeats: u1, 1; u1, 2; u2, 1"]
    assert DECLARED.conform(more, check_key=False).num_rows == more.num_rows
    assert violations(things(number=[1, 1, 2])) == ["key user, number repeats: u1, 1"]


def test_a_key_that_is_null_once_repeats_nothing() -> None:
    declared = small_table(("a", "b"), frozenset({"b"}), a=pa.string(), b=pa.string())
    assert declared.conform(pa.table({"a": ["x", "x"], "b": [None, "y"]})).num_rows == 2
    twice = pa.table({"a": ["x", "x"], "b": pa.nulls(2, pa.string())})
    assert violations(twice, declared) == ["key a, b repeats: x, None"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=12), st.integers(1, 4))
def test_keys_are_refused_exactly_if_one_repeats_however_the_rows_are_cut(
    keys: list[tuple[str, int]], parts: int
) -> None:
    declared = small_table(("a", "b"), a=pa.string(), b=pa.int32())
    rows = [
        pa.table({"a": [a for a, _ in keys[part::parts]], "b": pa.array([b for _, b in keys[part::parts]], pa.int32())})
        for part in range(parts)
    ]
    table = pa.concat_tables([part.cast(declared.schema()) for part in rows if part.num_rows] or [declared.empty()])
    if len(set(keys)) == len(keys):
        assert declared.conform(table).num_rows == len(keys)
    else:
        assert violations(table, declared)[0].startswith("key a, b repeats: ")


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5))
def test_a_narrower_integer_is_the_same_integer_or_an_error(values: list[int]) -> None:
    column = pa.chunked_array([pa.array(values, pa.int64())])
    for kind, bits in ((pa.int8(), 8), (pa.int16(), 16), (pa.int32(), 32)):
        if all(-(2 ** (bits - 1)) <= value < 2 ** (bits - 1) for value in values):
            assert cast_exactly(column, kind).to_pylist() == values
        else:
            with pytest.raises(pa.ArrowInvalid):
                cast_exactly(column, kind)


# Declarations.


STRANGE: list[dict[str, Any]] = [
    {"key": ("nothing",)},
    {"optional": frozenset({"nothing"})},
    {"references": {"nothing": "a.b"}},
]


@pytest.mark.parametrize("part", STRANGE)
def test_a_declaration_that_names_columns_it_does_not_have_is_refused(part: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"things names columns it does not have: \['nothing'\]"):
        dataclasses.replace(DECLARED, **part)


def test_columns_are_added_after_the_declared_ones() -> None:
    mood = {"mood": Field(pa.string(), "Mood.")}
    assert list(DECLARED.with_columns(mood).columns) == [*DECLARED.columns, "mood"]
    assert not DECLARED.with_columns(mood).schema().field("mood").nullable
    assert DECLARED.with_columns(mood, frozenset(mood)).schema().field("mood").nullable
    with pytest.raises(ValueError, match=r"already has \['size'\]"):
        DECLARED.with_columns({"size": Field(pa.string(), "Size.")})


def test_a_table_has_users_if_it_has_their_ids() -> None:
    assert not DECLARED.has_users
    assert DECLARED.with_columns({"user_id": Field(pa.string(), "Whose.")}).has_users


def field(name: str, **changes: Any) -> Table:
    changed = dataclasses.replace(DECLARED.columns[name], **changes)
    return dataclasses.replace(DECLARED, columns={**DECLARED.columns, name: changed})


WHOLE: dict[str, Any] = {
    "name": "others",
    "layer": "sealed",
    "key": ("number", "user"),
    "doc": "Others.",
    "optional": frozenset({"note"}),
    "references": {"user": "users.user_id"},
    "minimum_rows": 1,
}
PAIR_OF_NULLS = pa.struct([pa.field("name", pa.string()), pa.field("weight", pa.float64())])
CHANGES: dict[str, Table] = {
    **{name: dataclasses.replace(DECLARED, **{name: value}) for name, value in WHOLE.items()},
    "order": dataclasses.replace(DECLARED, columns={name: DECLARED.columns[name] for name in sorted(DECLARED.columns)}),
    "column": DECLARED.with_columns({"more": Field(pa.string(), "More.")}),
    "type": field("number", type=pa.int32()),
    "child nullable": field("pair", type=PAIR_OF_NULLS),
    "field doc": field("note", doc="Else."),
    "unit": field("share", unit="%"),
    "low": field("share", low=0.1),
    "high": field("share", high=2),
    "no high": field("share", high=None),
    "values": field("size", values=("small",)),
    "order of values": field("size", values=("large", "small")),
}


def test_the_digest_changes_with_everything_that_is_declared() -> None:
    digests = {name: schema_digest({table.name: table}) for name, table in CHANGES.items()}
    digests["as it was"] = schema_digest({"things": DECLARED})
    digests["two tables"] = schema_digest({"things": DECLARED, "more": DECLARED})
    digests["no table"] = schema_digest({})
    assert len(set(digests.values())) == len(digests)
    parts = {declared.name for declared in dataclasses.fields(Table)} | {
        declared.name for declared in dataclasses.fields(Field)
    }
    assert parts - set(CHANGES) == {"columns"}  # so that a new part of a declaration cannot be forgotten here


def test_the_digest_does_not_know_the_order_in_which_tables_are_listed() -> None:
    other = dataclasses.replace(DECLARED, name="others")
    assert schema_digest({"a": DECLARED, "b": other}) == schema_digest({"b": other, "a": DECLARED})


def test_rows_sort_by_key_and_text_by_its_bytes() -> None:
    rows = pa.table({"a": ["b", "B", "ä", "a", "u10", "u9"], "b": pa.array(range(6), pa.int32())})
    assert sort_rows(rows, small_table(("a",), a=pa.string(), b=pa.int32()))["a"].to_pylist() == [
        "B",
        "a",
        "b",
        "u10",
        "u9",
        "ä",
    ]


def test_other_values_come_under_the_same_schema() -> None:
    table = DECLARED.conform(things())
    made = replaced(table, {"number": pa.array([7, 8, 9], pa.int16())})
    assert (
        made.schema == table.schema and made["number"].to_pylist() == [7, 8, 9] and made["user"].equals(table["user"])
    )
