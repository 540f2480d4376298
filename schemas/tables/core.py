"""What a table is: columns, types, keys, and the one function that refuses a table that is not what it says."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
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

        Casts only where no value changes: a coarser time unit, a narrower integer, large strings, codes of a dictionary.
        Raises TableError for missing, repeated or unknown columns, nulls where none may be, NaN, values outside a closed
        set or a range, and repeated keys, all of them in one error. Arrow itself checks none of these.
        """
        problems: list[str] = []
        repeated = sorted({name for name in table.column_names if table.column_names.count(name) > 1})
        missing = [name for name in self.columns if name not in table.column_names]
        unknown = [name for name in table.column_names if name not in self.columns]
        if missing:
            problems.append(f"missing columns: {', '.join(missing)}")
        if unknown:
            problems.append(f"undeclared columns: {', '.join(unknown)}")
        if repeated:
            problems.append(f"columns given more than once: {', '.join(repeated)}")
        arrays: dict[str, pa.ChunkedArray] = {}
        for name, field in self.columns.items():
            if name in missing or name in repeated:
                continue
            column = table.column(name)
            try:
                column = cast_exactly(column, field.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
                problems.append(f"{name}: {column.type} does not become {field.type} without loss ({error})")
                continue
            arrays[name] = column
            problems.extend(_violations(name, field, column, nullable=name in self.optional))
        if check_key and arrays.keys() >= set(self.key):
            twice = _repeated_keys(pa.table([arrays[name] for name in self.key], names=list(self.key)))
            if twice:
                problems.append(f"key {', '.join(self.key)} repeats: {'; '.join(twice)}")
        if problems:
            raise TableError(self.name, problems)
        return pa.table([arrays[name] for name in self.columns], schema=self.schema())


def cast_exactly(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    """The column in the target type; raises ArrowInvalid where a value would change or turn into another kind of thing.

    Struct children come in the declared order, and one that is missing becomes null.
    """
    if column.type == target:
        return column
    refusal = _refusal(column.type, target)
    if refusal:
        raise pa.ArrowInvalid(refusal)
    return column.cast(target, safe=True)


def _refusal(source: pa.DataType, target: pa.DataType) -> str | None:
    """Why Arrow must not cast, although it would: text from `false`, instants from times without a zone, lost children."""
    if pa.types.is_dictionary(source):
        source = source.value_type
    if pa.types.is_null(source):
        return None
    if _is_list(source) and _is_list(target):
        return _refusal(source.value_type, target.value_type)
    if pa.types.is_struct(source) and pa.types.is_struct(target):
        return _refusal_of_children(source, target)
    if pa.types.is_timestamp(source) and pa.types.is_timestamp(target) and source.tz is None:
        return "a time without a zone is not an instant"
    if pa.types.is_floating(source) and pa.types.is_floating(target) and source.bit_width > target.bit_width:
        return f"{target} holds fewer digits than {source}"
    if _sort_of(source) != _sort_of(target):
        return f"{source} and {target} are different kinds of things"
    return None


def _refusal_of_children(source: pa.StructType, target: pa.StructType) -> str | None:
    known = {field.name: field.type for field in target}
    unknown = sorted({field.name for field in source} - set(known))
    if unknown:
        return f"undeclared struct fields {unknown}"
    refusals = ((field.name, _refusal(field.type, known[field.name])) for field in source)
    return "; ".join(f"{name}: {refusal}" for name, refusal in refusals if refusal) or None


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _sort_of(kind: pa.DataType) -> str:
    """Types of one sort differ in how they store a value, not in what it is."""
    sorts = {
        "number": (pa.types.is_integer, pa.types.is_floating),
        "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
        "bytes": (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
        "instant": (pa.types.is_timestamp,),
        "date": (pa.types.is_date,),
    }
    return next((sort for sort, tests in sorts.items() if any(test(kind) for test in tests)), str(kind))


def _violations(name: str, field: Field, column: pa.ChunkedArray, *, nullable: bool) -> Iterator[str]:
    if not nullable and column.null_count:
        yield f"{name}: {column.null_count} nulls where none may be"
    flat = pc.list_flatten(column) if pa.types.is_list(field.type) else column
    if field.values is not None:
        allowed = pa.array(field.values, pa.string())
        strange = pc.unique(flat.filter(pc.invert(pc.is_in(flat, value_set=allowed)))).drop_null().to_pylist()
        if strange:
            yield f"{name}: {sorted(strange)[:5]} not among {list(field.values)}"
    if field.low is not None or field.high is not None:
        bounds = pc.min_max(flat).as_py()
        if field.low is not None and bounds["min"] is not None and bounds["min"] < field.low:
            yield f"{name}: {bounds['min']} is below {field.low:g}"
        if field.high is not None and bounds["max"] is not None and bounds["max"] > field.high:
            yield f"{name}: {bounds['max']} is above {field.high:g}"
    yield from _inner_violations(name, column)


def _inner_violations(path: str, column: pa.ChunkedArray) -> Iterator[str]:
    """NaN at any depth, and nulls in children that may not hold any."""
    if pa.types.is_list(column.type):
        yield from _inner_violations(f"{path}[]", pc.list_flatten(column))
    elif pa.types.is_struct(column.type):
        for child, values in zip(column.type, column.flatten(), strict=True):
            excess = values.null_count - column.null_count  # a struct that is null makes its children null
            if excess and not child.nullable:
                yield f"{path}.{child.name}: {excess} nulls where none may be"
            yield from _inner_violations(f"{path}.{child.name}", values)
    elif pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        yield f"{path}: NaN is not a value"


def _repeated_keys(keys: pa.Table) -> list[str]:
    """The first three keys that stand on more than one row."""
    if _rises(keys):
        return []
    names = keys.column_names
    counts = keys.group_by(names).aggregate([([], "count_all")])
    repeated = (
        counts.filter(pc.greater(counts["count_all"], 1)).select(names).sort_by([(k, "ascending") for k in names])
    )
    return [", ".join(str(value) for value in row.values()) for row in repeated.slice(0, 3).to_pylist()]


def _rises(keys: pa.Table) -> bool:
    """Whether every key is above the one before, as in a table that is in order: then none repeats."""
    if keys.num_rows < 2:
        return True
    rises: pa.Array | None = None
    for name in reversed(keys.column_names):
        column = keys[name].combine_chunks()
        before, after = column[:-1], column[1:]
        here = pc.greater(after, before)
        rises = here if rises is None else pc.or_(here, pc.and_(pc.equal(after, before), rises))
    return bool(pc.all(rises, skip_nulls=False).as_py())


def sort_rows(table: pa.Table, declared: Table) -> pa.Table:
    """Rows in the order of the key. Text sorts by its bytes, so no locale can move a row."""
    return table.sort_by([(name, "ascending") for name in declared.key])


def schema_digest(tables: Mapping[str, Table]) -> str:
    """A digest of everything that is declared: of columns and tables alike, their meanings included."""
    lines = []
    for name in sorted(tables):
        declared = tables[name]
        whole = (declared.layer, declared.key, declared.doc, declared.minimum_rows, sorted(declared.references.items()))
        lines.append(f"{name} {whole}")
        for column, field in declared.columns.items():
            limits = (field.unit, field.values, field.low, field.high)
            lines.append(f"{column} {field.type} {column in declared.optional} {limits} {field.doc!r}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def replaced(table: pa.Table, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """The table with other values in some of its columns, under the same schema."""
    return pa.table([columns.get(name, table[name]) for name in table.column_names], schema=table.schema)
