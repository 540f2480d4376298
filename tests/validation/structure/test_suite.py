from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.tables import RELEASED, Field, Table
from validation.structure import suite
from validation.structure.folder import table_folder
from validation.structure.suite import Check, check_table, checks_of, open_context

PETS = Table(
    name="pets",
    layer="visible",
    key=("owner", "pet"),
    minimum_rows=2,
    doc="For tests.",
    columns={
        "owner": Field(pa.string(), "Who."),
        "pet": Field(pa.string(), "Which; null where it has no name."),
        "kind": Field(pa.string(), "What.", values=("cat", "dog")),
        "age_years": Field(pa.int16(), "Age.", low=0, high=30),
        "weight_kg": Field(pa.float64(), "Weight.", low=0),
        "tags": Field(pa.list_(pa.string()), "Words.", values=("shy", "loud")),
    },
    optional=frozenset({"pet", "age_years"}),
)
ROWS: list[dict[str, Any]] = [
    {"owner": "a", "pet": "Tom", "kind": "cat", "age_years": 3, "weight_kg": 4.5, "tags": ["shy"]},
    {"owner": "a", "pet": None, "kind": "dog", "age_years": None, "weight_kg": 9.0, "tags": []},
    {"owner": "b", "pet": "Tom", "kind": "dog", "age_years": 30, "weight_kg": 0.0, "tags": ["shy", "loud"]},
]


@pytest.fixture(scope="module")
def context() -> Any:
    return open_context()


def written(folder: Path, rows: list[dict[str, Any]], parts: int = 1) -> Path:
    """The rows as files, nulls allowed everywhere, so that what may not be can be written."""
    schema = pa.schema([pa.field(name, field.type) for name, field in PETS.columns.items()])
    table_folder(folder, PETS).mkdir(parents=True)
    for part in range(parts):
        path = table_folder(folder, PETS) / f"all-{part:05d}-of-{parts:05d}.parquet"
        pq.write_table(pa.Table.from_pylist(rows[part::parts], schema=schema), path)
    return folder


def spoilt(**values: Any) -> list[dict[str, Any]]:
    return [{**ROWS[0], **values}, *ROWS[1:]]


BOTH_ROUTES = pytest.mark.parametrize("rows_in_memory", [1_000, 1], ids=["rows", "counts"])


@BOTH_ROUTES
def test_a_sound_table_passes_with_every_expectation_evaluated(
    rows_in_memory: int, context: Any, tmp_path: Path
) -> None:
    report = check_table(written(tmp_path, ROWS, parts=2), PETS, context, rows_in_memory)
    assert report.passed
    assert report.route == ("rows" if rows_in_memory > 3 else "counts")
    assert (report.rows, report.violations, report.errors) == (3, (), ())
    assert report.evaluated == report.expectations == len(checks_of(PETS)) == 9


SPOILT = [
    (spoilt(kind="fox"), "pets.kind: is one of cat, dog (1): fox"),
    (spoilt(owner=None), "pets.owner: has no nulls (1): <NA>"),
    (spoilt(age_years=31), "pets.age_years: is at least 0 and at most 30 (1): 31"),
    (spoilt(weight_kg=-0.5), "pets.weight_kg: is at least 0 (1): -0.5"),
    ([*ROWS, ROWS[0]], "pets.owner, pet: names a row once (2): a, Tom"),
    ([*ROWS, ROWS[1]], "pets.owner, pet: names a row once (2): a, None"),
    (ROWS[:1], "pets: has at least 2 rows (1): 1"),
]


@BOTH_ROUTES
@pytest.mark.parametrize(("rows", "told"), SPOILT, ids=[told.split(":")[0] for _, told in SPOILT])
def test_what_differs_from_the_declaration_is_a_violation(
    rows: list[dict[str, Any]], told: str, rows_in_memory: int, context: Any, tmp_path: Path
) -> None:
    report = check_table(
        written(tmp_path, rows), PETS, context, rows_in_memory if len(rows) > 1 else rows_in_memory - 1
    )
    lines = [str(violation) for violation in report.violations]
    rule = told.split(" (")[0]
    assert told in lines if report.route == "rows" else any(line.startswith(rule) for line in lines)
    assert not report.errors and not report.passed


@BOTH_ROUTES
@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"tags": ["shy", "rude"]}, "pets: tags: ['rude'] not among ['shy', 'loud']"),
        ({"tags": None}, "pets: tags: 1 nulls where none may be"),
        ({"weight_kg": float("nan")}, "pets: weight_kg: NaN is not a value"),
    ],
    ids=["closed set", "null list", "NaN"],
)
def test_lists_and_nan_are_judged_by_arrow(
    values: dict[str, Any], told: str, rows_in_memory: int, context: Any, tmp_path: Path
) -> None:
    report = check_table(written(tmp_path, spoilt(**values)), PETS, context, rows_in_memory)
    assert told in [str(violation) for violation in report.violations]
    assert report.evaluated == report.expectations


def test_a_repeat_across_files_is_found_by_either_route(context: Any, tmp_path: Path) -> None:
    folder = written(tmp_path, [*ROWS, ROWS[0]], parts=2)
    for rows_in_memory in (1_000, 1):
        report = check_table(folder, PETS, context, rows_in_memory)
        assert [violation.count for violation in report.violations] == [2]


def test_an_expectation_that_breaks_is_an_error_and_no_failure_of_the_data(
    context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = [*checks_of(PETS), Check("between", ("kind",), low=0, high=1)]  # text has no bounds
    monkeypatch.setattr(suite, "checks_of", lambda _: wrong)
    report = check_table(written(tmp_path, ROWS), PETS, context)
    assert report.violations == ()
    assert (
        len(report.errors) == 1
        and "pets.kind: `is at least 0 and at most 1` could not be evaluated" in report.errors[0]
    )
    assert (report.evaluated, report.expectations, report.passed) == (9, 10, False)


def test_an_empty_table_passes_unless_rows_are_needed(context: Any, tmp_path: Path) -> None:
    needed = check_table(tmp_path, PETS, context)
    assert [str(violation) for violation in needed.violations] == ["pets: has at least 2 rows (1): 0"]
    assert check_table(tmp_path, dataclasses.replace(PETS, minimum_rows=0), context).passed


@pytest.mark.parametrize("name", sorted(RELEASED))
def test_every_declaration_gives_a_check_for_each_of_its_claims(name: str) -> None:
    declared = RELEASED[name]
    checks = checks_of(declared)
    scalar = {column for column, field in declared.columns.items() if suite.is_scalar(field.type)}
    assert [set(check.columns) for check in checks if check.kind == "exist"] == [scalar]
    assert {check.columns[0] for check in checks if check.kind == "not_null"} == scalar - declared.optional
    assert {check.columns[0] for check in checks if check.kind == "in_set"} == {
        c for c in scalar if declared.columns[c].values
    }
    assert [check.columns for check in checks if check.kind == "unique"] == [declared.key]


def test_the_context_keeps_quiet(context: Any) -> None:
    assert os.environ["GX_ANALYTICS_ENABLED"] == "false"
    assert context.variables.progress_bars["globally"] is False
