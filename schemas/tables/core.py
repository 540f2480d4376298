"""What a table is: columns, types, keys, and the one function that refuses a table that is not what it says."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

Layer = Literal["visible", "sealed", "internal"]

TIMESTAMP = pa.timestamp("us", tz="UTC")


class TableError(ValueError):
    """A table differs from its declaration. ``violations`` lists every difference, not only the first."""

    def __init__(self, table: str, violations: list[str]) -> None:
        self.table = table
        self.violations = violations
        super().__init__(f"table {table} is not as declared:\n" + "\n".join(f"  - {line}" for line in violations))


@dataclass(frozen=True)
class Field:
    """One name with one meaning, wherever it appears.

    ``values`` closes the set of allowed strings (for lists: of their elements). ``low`` and ``high`` bound numbers,
    both inclusive, in ``unit``.
    """

    type: pa.DataType
    doc: str
    unit: str | None = None
    values: tuple[str, ...] | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Table:
    """A declared table. ``key`` is unique and is also the order of the rows on disk.

    ``optional`` names the columns that may hold nulls; every other column may not. ``references`` maps a column to the
    ``table.column`` that must hold its values. ``minimum_rows`` is what a release must have to be one.
    """

    name: str
    layer: Layer
    key: tuple[str, ...]
    doc: str
    columns: Mapping[str, Field]
    optional: frozenset[str] = frozenset()
    references: Mapping[str, str] = dataclasses.field(default_factory=dict)
    minimum_rows: int = 0

    def __post_init__(self) -> None:
        unknown = (set(self.key) | set(self.optional) | set(self.references)) - set(self.columns)
        if unknown:
            raise ValueError(f"table {self.name} names columns it does not have: {sorted(unknown)}")

    @property
    def has_users(self) -> bool:
        """Whether the rows belong to a user, and so fall into that user's split."""
        return "user_id" in self.columns

    def schema(self) -> pa.Schema:
        """Arrow schema of every file of this table: same names, order and types in all shards."""
        return pa.schema(
            [pa.field(name, field.type, nullable=name in self.optional) for name, field in self.columns.items()]
        )

    def with_columns(self, extra: Mapping[str, Field], optional: frozenset[str] = frozenset()) -> Table:
        """The same table with columns of the user's own after the declared ones."""
        clash = set(extra) & set(self.columns)
        if clash:
            raise ValueError(f"table {self.name} already has {sorted(clash)}")
        return dataclasses.replace(self, columns={**self.columns, **extra}, optional=self.optional | optional)

    def empty(self) -> pa.Table:
        return self.schema().empty_table()

    def conform(self, table: pa.Table, *, check_key: bool = True) -> pa.Table:
        """The table with exactly the declared columns and types, in the declared order.

        Casts only where no value changes (a coarser time unit, a narrower integer, large strings). Raises TableError
        for missing or unknown columns, nulls where none may be, values outside a closed set or a range, and repeated
        keys. Arrow itself checks none of these.
        """
        problems: list[str] = []
        missing = [name for name in self.columns if name not in table.column_names]
        unknown = [name for name in table.column_names if name not in self.columns]
        if missing:
            problems.append(f"missing columns: {', '.join(missing)}")
        if unknown:
            problems.append(f"undeclared columns: {', '.join(unknown)}")
        arrays: dict[str, pa.ChunkedArray] = {}
        for name, field in self.columns.items():
            if name in missing:
                continue
            column = table.column(name)
            try:
                column = cast_exactly(column, field.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
                problems.append(f"{name}: {column.type} does not become {field.type} without loss ({error})")
                continue
            arrays[name] = column
            problems.extend(_violations(name, field, column, nullable=name in self.optional))
        if problems:
            raise TableError(self.name, problems)
        result = pa.table([arrays[name] for name in self.columns], schema=self.schema())
        if check_key and result.num_rows:
            repeated = _repeated_keys(result, self.key)
            if repeated:
                raise TableError(self.name, [f"key {', '.join(self.key)} repeats: {'; '.join(repeated)}"])
        return result


def cast_exactly(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    """The column in the target type; raises ArrowInvalid where a value would change."""
    if column.type == target:
        return column
    if pa.types.is_timestamp(column.type) and column.type.tz is None and pa.types.is_timestamp(target):
        raise pa.ArrowInvalid("a time without a zone is not an instant")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_struct(target) and pa.types.is_struct(column.type):
        return _cast_struct(column, target)
    return column.cast(target, safe=True)


def _cast_struct(column: pa.ChunkedArray, target: pa.StructType) -> pa.ChunkedArray:
    """Children in the declared order; a child that is missing becomes null; an unknown child is refused."""
    known = {target.field(i).name for i in range(target.num_fields)}
    have = {column.type.field(i).name for i in range(column.type.num_fields)}
    if have - known:
        raise pa.ArrowInvalid(f"undeclared struct fields {sorted(have - known)}")
    chunks = []
    for chunk in column.chunks:
        children = [
            cast_exactly(pa.chunked_array([chunk.field(f.name)]), f.type).combine_chunks()
            if f.name in have
            else pa.nulls(len(chunk), f.type)
            for f in (target.field(i) for i in range(target.num_fields))
        ]
        flat = [child.combine_chunks() if isinstance(child, pa.ChunkedArray) else child for child in children]
        chunks.append(pa.StructArray.from_arrays(flat, fields=list(target), mask=pc.is_null(chunk)))
    return pa.chunked_array(chunks, type=target)


def _violations(name: str, field: Field, column: pa.ChunkedArray, *, nullable: bool) -> list[str]:
    problems: list[str] = []
    if not nullable and column.null_count:
        problems.append(f"{name}: {column.null_count} nulls where none may be")
    if field.values is not None:
        flat = pc.list_flatten(column) if pa.types.is_list(field.type) else column
        allowed = pa.array(field.values, pa.string())
        strange = pc.unique(flat.filter(pc.invert(pc.is_in(flat, value_set=allowed)))).drop_null().to_pylist()
        if strange:
            problems.append(f"{name}: {sorted(strange)[:5]} not among {list(field.values)}")
    if field.low is not None or field.high is not None:
        flat = pc.list_flatten(column) if pa.types.is_list(field.type) else column
        bounds = pc.min_max(flat).as_py()
        if field.low is not None and bounds["min"] is not None and bounds["min"] < field.low:
            problems.append(f"{name}: {bounds['min']} is below {field.low:g}")
        if field.high is not None and bounds["max"] is not None and bounds["max"] > field.high:
            problems.append(f"{name}: {bounds['max']} is above {field.high:g}")
    if pa.types.is_floating(field.type) and pc.any(pc.is_nan(column)).as_py():
        problems.append(f"{name}: NaN is not a value")
    return problems


def _repeated_keys(table: pa.Table, key: tuple[str, ...]) -> list[str]:
    counts = table.group_by(list(key)).aggregate([([], "count_all")])
    repeated = counts.filter(pc.greater(counts["count_all"], 1)).select(list(key)).sort_by([(k, "ascending") for k in key])
    return [", ".join(str(value) for value in row.values()) for row in repeated.slice(0, 3).to_pylist()]


def sort_rows(table: pa.Table, declared: Table) -> pa.Table:
    """Rows in the order of the key. Text sorts by its bytes, so no locale can move a row."""
    return table.sort_by([(name, "ascending") for name in declared.key])


def schema_digest(tables: Mapping[str, Table]) -> str:
    """A digest of all declarations: names, types, nullability, closed sets, keys."""
    lines = []
    for name in sorted(tables):
        declared = tables[name]
        lines.append(f"{name} {declared.layer} {declared.key}")
        lines.extend(f"{c} {f.type} {c in declared.optional} {f.values}" for c, f in declared.columns.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def replaced(table: pa.Table, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """The table with other values in some of its columns, under the same schema."""
    return pa.table([columns.get(name, table[name]) for name in table.column_names], schema=table.schema)
