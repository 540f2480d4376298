"""Each table against its declaration: a Great Expectations suite derived from it, and Arrow for what that cannot see.

Great Expectations reads pandas, so lists and structs, and the types of all columns, are judged by Arrow. Tables above
``ROWS_IN_MEMORY`` are counted by DuckDB in one query, and the expectations are about those counts; the report says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from schemas.tables import Table, TableError
from validation.structure.folder import EXAMPLES, Violation, connect, literal, quoted, table_files

if TYPE_CHECKING:
    from great_expectations.core import ExpectationValidationResult
    from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext
    from great_expectations.expectations.expectation import Expectation

Route = Literal["rows", "counts"]
ROWS_IN_MEMORY = 1_000_000


@dataclass(frozen=True)
class Check:
    """One claim of a declaration about a table's scalar columns.

    ``low`` and ``high`` bound the values, for `row_count` the number of rows; ``values`` closes the set.
    """

    kind: Literal["exist", "not_null", "in_set", "between", "unique", "row_count"]
    columns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """The rule in words."""
        sides = (("at least", self.low), ("at most", self.high))
        bounds = [f"{word} {bound:g}" for word, bound in sides if bound is not None]
        return {
            "exist": "exist",
            "not_null": "has no nulls",
            "in_set": f"is one of {', '.join(self.values)}",
            "between": f"is {' and '.join(bounds)}",
            "unique": "names a row once",
            "row_count": f"has {' and '.join(bounds)} rows",
        }[self.kind]


@dataclass(frozen=True)
class TableReport:
    """What came of one table. ``route`` says whether rows or counts were judged; ``evaluated`` counts the expectations
    that gave an answer, and must be ``expectations``. ``errors`` are expectations, or reads, that broke.
    """

    table: str
    rows: int
    route: Route
    expectations: int
    evaluated: int
    violations: tuple[Violation, ...]
    errors: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.violations and not self.errors and self.evaluated == self.expectations


def is_scalar(kind: pa.DataType) -> bool:
    """Whether pandas, and so Great Expectations, has one value a row for it."""
    return not (pa.types.is_list(kind) or pa.types.is_struct(kind))


def checks_of(declared: Table) -> list[Check]:
    """Every claim that the declaration makes about scalar columns, about the key, and about the number of rows."""
    scalar = {name: field for name, field in declared.columns.items() if is_scalar(field.type)}
    checks = [Check("row_count", low=declared.minimum_rows), Check("exist", tuple(scalar))]
    for name, field in scalar.items():
        if name not in declared.optional:
            checks.append(Check("not_null", (name,)))
        if field.values is not None:
            checks.append(Check("in_set", (name,), values=field.values))
        if field.low is not None or field.high is not None:
            checks.append(Check("between", (name,), low=field.low, high=field.high))
    checks.append(Check("unique", declared.key))
    return checks


def open_context() -> EphemeralDataContext:
    """A Great Expectations context that keeps nothing, sends nothing and draws no progress bars."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def check_table(
    folder: Path, declared: Table, context: EphemeralDataContext, rows_in_memory: int = ROWS_IN_MEMORY
) -> TableReport:
    """The table of a release against its declaration. Its files must have the declared schema."""
    import pyarrow.parquet as pq

    paths = [path for _, path in table_files(folder, declared)]
    rows = sum(pq.read_metadata(path).num_rows for path in paths)
    checks = checks_of(declared)
    if rows <= rows_in_memory:
        table, violations = _read(paths, declared)
        frame = _frame(table, declared)
        return _validated(declared, rows, "rows", checks, _expectations(checks), frame, violations, context)
    violations = [violation for path in paths for violation in _read([path], declared)[1]]
    counts = count_violations(paths, checks)
    return _validated(declared, rows, "counts", checks, _count_expectations(checks), counts, violations, context)


def _read(paths: list[Path], declared: Table) -> tuple[pa.Table, list[Violation]]:
    """The files as one table, and what Arrow finds in it: nulls, sets and ranges also inside lists, and NaN."""
    import pyarrow.parquet as pq

    parts = [pq.read_table(path, partitioning=None, use_threads=False) for path in paths]
    table = pa.concat_tables(parts) if parts else declared.empty()
    try:
        declared.conform(table, check_key=False)
    except TableError as error:
        return table, [Violation(declared.name, "", line) for line in error.violations]
    return table, []


def _frame(table: pa.Table, declared: Table) -> Any:
    """The scalar columns as a pandas frame in which no whole number becomes a float.

    Times are NumPy's: Great Expectations hashes every frame it is given, which takes minutes for Arrow's times.
    """
    import pandas as pd

    numbers = {
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }

    def kind(arrow: pa.DataType) -> Any:
        return pd.ArrowDtype(arrow) if pa.types.is_string(arrow) else numbers.get(arrow)

    scalar = [name for name, field in declared.columns.items() if is_scalar(field.type)]
    return table.select(scalar).to_pandas(types_mapper=kind, date_as_object=False)


def _vocabulary() -> Any:
    """The module of all expectations. It does not mark its exports, so a type checker sees none of them."""
    from great_expectations import expectations

    return expectations


def _expectations(checks: list[Check]) -> list[Expectation]:
    """One expectation a check, about rows."""
    gxe = _vocabulary()

    def of(check: Check) -> Any:
        column = check.columns[0] if check.columns else ""
        match check.kind:
            case "exist":
                return gxe.ExpectTableColumnsToMatchSet(column_set=list(check.columns), exact_match=False)
            case "not_null":
                return gxe.ExpectColumnValuesToNotBeNull(column=column)
            case "in_set":
                return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(check.values))
            case "between":
                return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=check.low, max_value=check.high)
            case "unique" if len(check.columns) == 1:
                return gxe.ExpectColumnValuesToBeUnique(column=column)
            case "unique":
                return gxe.ExpectCompoundColumnsToBeUnique(column_list=list(check.columns), ignore_row_if="never")
            case "row_count":
                return gxe.ExpectTableRowCountToBeBetween(min_value=int(check.low or 0))

    return [of(check) for check in checks]


def _count_expectations(checks: list[Check]) -> list[Expectation]:
    """One expectation a check, about the row of counts: no row breaks it, or there are enough rows."""
    gxe = _vocabulary()
    return [
        gxe.ExpectColumnValuesToBeBetween(column=f"c{place}", min_value=int(check.low or 0))
        if check.kind == "row_count"
        else gxe.ExpectColumnValuesToBeBetween(column=f"c{place}", max_value=0)
        for place, check in enumerate(checks)
    ]


def count_violations(paths: list[Path], checks: list[Check]) -> Any:
    """A frame of one row: for each check `c0`, `c1`, … how many rows break it; for `row_count` how many there are."""
    source = f"read_parquet([{', '.join(literal(str(path)) for path in paths)}], hive_partitioning = false)"
    with connect() as database:
        present = {name for name, *_ in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        counts = ", ".join(f"{_count(check, source, present)} AS c{place}" for place, check in enumerate(checks))
        return database.execute(f"SELECT {counts} FROM {source}").df()


def _count(check: Check, source: str, present: set[str]) -> str:
    """SQL for the number of rows that break the check."""
    column = quoted(check.columns[0]) if check.columns else ""
    match check.kind:
        case "row_count":
            return "count(*)"
        case "exist":
            return str(len(set(check.columns) - present))
        case "not_null":
            return f"count(*) FILTER (WHERE {column} IS NULL)"
        case "in_set":
            return f"count(*) FILTER (WHERE {column} NOT IN ({', '.join(literal(value) for value in check.values)}))"
        case "between":
            sides = (("<", check.low), (">", check.high))
            outside = [f"{column} {sign} {bound!r}" for sign, bound in sides if bound is not None]
            return f"count(*) FILTER (WHERE {' OR '.join(outside)})"
        case "unique":
            key = ", ".join(quoted(name) for name in check.columns)
            repeated = f"SELECT count(*) AS n FROM {source} GROUP BY {key} HAVING count(*) > 1"
            return f"(SELECT coalesce(sum(n), 0)::BIGINT FROM ({repeated}))"


def _validated(
    declared: Table,
    rows: int,
    route: Route,
    checks: list[Check],
    expectations: list[Expectation],
    frame: Any,
    violations: list[Violation],
    context: EphemeralDataContext,
) -> TableReport:
    """The suite run, with what Arrow found before."""
    import great_expectations as gx

    for place, expectation in enumerate(expectations):
        expectation.meta = {"check": place}
    suite = gx.ExpectationSuite(name=f"{declared.name} by {route}", expectations=expectations)
    source = context.data_sources.add_or_update_pandas("release")
    batch = source.add_dataframe_asset(declared.name).add_batch_definition_whole_dataframe("whole")
    # BASIC has the few examples that a report shows, and costs half of the default.
    results = batch.get_batch(batch_parameters={"dataframe": frame}).validate(suite, result_format="BASIC").results
    found, errors = list(violations), []
    for result in sorted(results, key=_place):
        check = checks[_place(result)]
        problem = next(_raised(result), None)
        if problem is not None:
            errors.append(f"{declared.name}.{', '.join(check.columns)}: `{check}` could not be evaluated ({problem})")
        elif not result.success:
            found.append(_violation(declared, check, result, route))
    evaluated = len(results) - len(errors)
    if len(results) != len(expectations):
        errors.append(f"{declared.name}: {len(results)} of {len(expectations)} expectations came back")
    return TableReport(declared.name, rows, route, len(expectations), evaluated, tuple(found), tuple(errors))


def _place(result: ExpectationValidationResult) -> int:
    config = result.expectation_config
    assert config is not None and config.meta is not None
    return int(config.meta["check"])


def _raised(result: ExpectationValidationResult) -> Iterator[str]:
    """Messages of what went wrong in evaluating, which is not a failure of the data."""
    info: dict[str, Any] = result.exception_info or {}
    for part in [info, *(value for value in info.values() if isinstance(value, dict))]:
        if part.get("raised_exception"):
            yield str(part.get("exception_message", "no message")).splitlines()[0]


def _violation(declared: Table, check: Check, result: ExpectationValidationResult, route: Route) -> Violation:
    """What the data got wrong, with some of the values."""
    facts = result.result or {}
    shown = facts.get("partial_unexpected_list") or []
    where = declared.name, ", ".join(check.columns), str(check)
    if check.kind == "row_count":
        return Violation(*where, examples=(str(shown[0] if route == "counts" else facts.get("observed_value")),))
    if route == "counts":
        return Violation(*where, count=int(shown[0]))
    texts = [", ".join(str(v) for v in value.values()) if isinstance(value, dict) else str(value) for value in shown]
    examples = tuple(dict.fromkeys(texts))[:EXAMPLES]
    return Violation(*where, count=int(facts.get("unexpected_count") or 1), examples=examples)
