"""House rules of the declarations: every column has a meaning, every reference leads somewhere."""

from __future__ import annotations

import pyarrow as pa
import pytest

from schemas.config import Config, DataConfig
from schemas.config.personas import BUILT_IN
from schemas.tables import INTERNAL, RELEASED, SEALED, VISIBLE, Table, sealed, visible
from schemas.tables.configured import configured, released_tables
from schemas.tables.fields import CONTRADICTION_KINDS, DRIFT_KINDS, FAILURES, FIELDS, NOISE_KINDS, POLICIES

ALL: dict[str, Table] = {**RELEASED, **INTERNAL}
TABLES = pytest.mark.parametrize("table", ALL.values(), ids=ALL)
UNIT_SUFFIXES = {"_cents": "cents", "_min": "minutes", "_days": "days", "_usd": "USD", "_years": "years", "_km": "km"}
TELLING = {*POLICIES, *NOISE_KINDS, *DRIFT_KINDS, *CONTRADICTION_KINDS, *FAILURES}
"""Words that belong to the truth."""


def data_with(**attributes: object) -> DataConfig:
    window = {"start": "2025-01-06T00:00:00Z", "end": "2025-01-20T00:00:00Z"}
    data = {"users": 5, "window": window, "personas": {"attributes": attributes}}
    return Config.model_validate({"schema_version": 1, "name": "x", "data": data}).data


def test_every_table_is_declared_in_one_layer_under_its_own_name() -> None:
    assert len(ALL) == len(VISIBLE) + len(SEALED) + len(INTERNAL)
    for layer, tables in (("visible", VISIBLE), ("sealed", SEALED), ("internal", INTERNAL)):
        assert {name: (table.name, table.layer) for name, table in tables.items()} == {
            name: (name, layer) for name in tables
        }
    assert len(VISIBLE) == 11 and len(SEALED) == 12


@TABLES
def test_tables_and_columns_have_a_meaning_in_whole_sentences(table: Table) -> None:
    assert table.doc[0].isupper() and table.doc.endswith(".")
    for name, field in table.columns.items():
        assert len(field.doc) > 5 and field.doc.endswith((".", "?")), name
        assert field.doc[0].isupper() or not field.doc[0].isalpha(), name


@TABLES
def test_the_key_is_of_columns_that_the_table_has_and_that_are_sortable(table: Table) -> None:
    assert table.key and set(table.key) <= set(table.columns)
    assert len(set(table.key)) == len(table.key)
    assert not any(pa.types.is_nested(table.columns[name].type) for name in table.key)
    assert table.key[0] not in table.optional


@TABLES
def test_rows_of_users_are_in_the_order_of_the_users_or_of_their_tasks(table: Table) -> None:
    """So that a shard's rows are a stretch of the whole."""
    if table.has_users:
        assert table.key[0] in ("user_id", "task_id", "candidate_id")


def leaves_of(kind: pa.DataType) -> list[pa.DataType]:
    if not pa.types.is_nested(kind):
        return [kind]
    children = [kind.field(place).type for place in range(kind.num_fields)]
    return [leaf for child in children for leaf in leaves_of(child)]


@TABLES
def test_types_are_plain_and_limits_fit_them(table: Table) -> None:
    for name, field in table.columns.items():
        for leaf in leaves_of(field.type):
            assert (
                not pa.types.is_dictionary(leaf)
                and not pa.types.is_large_string(leaf)
                and not pa.types.is_decimal(leaf)
            ), name
            assert not pa.types.is_timestamp(leaf) or (leaf.unit, leaf.tz) == ("us", "UTC"), name
        inner = field.type.value_type if pa.types.is_list(field.type) else field.type
        if field.values is not None:
            assert inner == pa.string() and len(set(field.values)) == len(field.values) > 0, name
        if field.low is not None or field.high is not None:
            assert pa.types.is_integer(inner) or pa.types.is_floating(inner), name
        if field.low is not None and field.high is not None:
            assert field.low < field.high, name


@TABLES
def test_names_say_their_units_and_questions_are_booleans(table: Table) -> None:
    for name, field in table.columns.items():
        for suffix, unit in UNIT_SUFFIXES.items():
            if name.endswith(suffix):
                assert field.unit == unit, name
        assert name.startswith(("is_", "has_")) == pa.types.is_boolean(field.type), name
        assert pa.types.is_timestamp(field.type) == (
            name.endswith("_at") or name in ("at", "valid_from", "valid_to")
        ), name


def test_references_lead_to_released_columns_of_the_same_type() -> None:
    for table in ALL.values():
        for column, target in table.references.items():
            other, _, name = target.partition(".")
            assert other in RELEASED, (table.name, target)
            kind = table.columns[column].type
            kind = kind.value_type if pa.types.is_list(kind) else kind
            assert RELEASED[other].columns[name].type == kind, (table.name, target)


def test_columns_that_name_released_rows_refer_to_them() -> None:
    homes = {"user_id": "users", "session_id": "sessions", "task_id": "tasks"}
    for table in RELEASED.values():
        for column, home in homes.items():
            if column in table.columns and table.name != home:
                told = column in table.references or "event_id" in table.references or "task_id" in table.references
                assert told, (table.name, column)


def test_one_name_has_one_type_in_every_table() -> None:
    types: dict[str, set[str]] = {}
    for table in RELEASED.values():
        for name, field in table.columns.items():
            types.setdefault(name, set()).add(str(field.type))
    several = {name for name, kinds in types.items() if len(kinds) > 1}
    assert several == {"options"}  # ids on show, options of a task, options with their verdicts


def test_every_field_of_the_dictionary_stands_in_a_table() -> None:
    used = {name for table in ALL.values() for name in table.columns}
    assert set(FIELDS) - used == set()


def test_no_visible_table_or_column_is_called_by_a_word_of_the_truth() -> None:
    names = {*VISIBLE, *(name for table in VISIBLE.values() for name in table.columns)}
    assert names & TELLING == set()
    assert (
        names & {"policy", "kind", "noise_kind", "failures", "injection_ids", "driver_disposition_ids", "gold"} == set()
    )


# Columns of the config's own.


def test_the_configs_own_attributes_are_columns_of_personas_alone() -> None:
    data = data_with(country={"weights": {"no": 1.0}}, mood={"values": ["a", "b"]}, sex={"weights": {"female": 1.0}})
    personas = configured(sealed.PERSONAS, data)
    assert "sex" in BUILT_IN
    assert list(personas.columns) == [*sealed.PERSONAS.columns, "country", "mood"]
    assert personas.columns["country"].type == pa.string() and "`country`" in personas.columns["country"].doc
    assert not personas.optional & {"country", "mood"}
    assert configured(visible.USERS, data) is visible.USERS
    tables = released_tables(data)
    assert list(tables) == list(RELEASED) and tables["personas"] == personas
    assert {name: table for name, table in tables.items() if name != "personas"} == {
        name: table for name, table in RELEASED.items() if name != "personas"
    }


def test_without_attributes_of_its_own_a_config_has_the_declared_tables() -> None:
    assert released_tables(data_with()) == RELEASED
