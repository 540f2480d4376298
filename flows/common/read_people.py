"""A user's own file of people, read and judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from schemas.config.people_file import MICRO, PeopleFile
from schemas.explain import did_you_mean
from schemas.source import InputError, display

ROWS_AT_LEAST = 50
VALUES_AT_MOST = 200
ROWS_A_VALUE = 5
"""A categorical column has at least so many rows a value, on average."""
NUMBER = r"^ *[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? *$"
"""A number as text. With a zero in front it is a code, and stays text."""
LARGEST = 9e12
Problem = tuple[tuple[str, ...], str, str]


class PeopleFileError(InputError):
    """A file that cannot be learnt from. ``problems`` holds (place below `people_from`, rule, fix)."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        self.problems = problems
        lines = [
            f"{file}: people_from.{'.'.join(place)}: {rule}. {fix[:1].upper()}{fix[1:]}."
            for place, rule, fix in problems
        ]
        super().__init__("\n".join(lines))


def read_people(spec: PeopleFile, folder: Path) -> pa.Table:
    """One column an attribute: text in Unicode NFC, or int64 in millionths for numbers.

    A column is numeric if all its values are numbers. Raises PeopleFileError with everything that is wrong with the
    file: missing, unreadable, a column missing or twice, empty values, too few rows, too many values.
    """
    path = folder / spec.file
    shown = display(path)
    if not path.is_file():
        raise PeopleFileError(
            shown, [(("file",), "there is no such file", "check the path; it starts at the config's folder")]
        )
    try:
        names = _column_names(path)
        problems = list(_missing(spec, names))
        wanted = [column for column in spec.columns.values() if names.count(column) == 1]
        read = _read(path, wanted)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        rule = f"the file cannot be read: {str(error).splitlines()[0]}"
        raise PeopleFileError(
            shown, [(("file",), rule, "save it as CSV in UTF-8 with a line of names, or as Parquet")]
        ) from None
    if read.num_columns and read.num_rows < ROWS_AT_LEAST:
        rule = f"the file has {read.num_rows} rows; at least {ROWS_AT_LEAST} are needed to learn from"
        problems.append((("file",), rule, "give more people, or write the shares in the config"))
    columns: dict[str, pa.Array] = {}
    for attribute, column in spec.columns.items():
        if column in wanted:
            columns[attribute], found = _judged(read[column].combine_chunks(), column)
            problems += [(("columns", attribute), rule, fix) for rule, fix in found]
    if problems:
        raise PeopleFileError(shown, problems)
    return pa.table(columns)


def _column_names(path: Path) -> list[str]:
    if path.suffix.lower() == ".parquet":
        return list(pq.read_schema(path).names)
    with pacsv.open_csv(path) as reader:
        return list(reader.schema.names)


def _missing(spec: PeopleFile, names: list[str]) -> Iterator[Problem]:
    for attribute, column in spec.columns.items():
        if column not in names:
            yield ("columns", attribute), f"the file has no column `{column}`", did_you_mean(column, names)
        elif names.count(column) > 1:
            yield ("columns", attribute), f"the file has several columns `{column}`", "rename all but one"


def _read(path: Path, columns: list[str]) -> pa.Table:
    """The columns, those of CSV as text. An empty field is a null, and nothing else is."""
    if not columns:
        return pa.table({})
    if path.suffix.lower() == ".parquet":
        return pq.read_table(path, columns=columns)
    convert = pacsv.ConvertOptions(
        include_columns=columns,
        column_types=dict.fromkeys(columns, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    return pacsv.read_csv(path, convert_options=convert, parse_options=pacsv.ParseOptions(newlines_in_values=True))


def _judged(column: pa.Array, name: str) -> tuple[pa.Array, list[tuple[str, str]]]:
    """The column as text or as numbers in millionths, and rule and fix of what is wrong with it."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column, [(f"the column `{name}` holds {kind}, neither text nor numbers", "name another column")]
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if is_number:
        column = pc.cast(column, pa.float64())
        empty = column.null_count + int(np.isnan(column.drop_null().to_numpy(zero_copy_only=False)).sum())
    else:
        column = pc.utf8_normalize(pc.cast(column, pa.string()), form="NFC")
        empty = column.null_count + (pc.sum(pc.equal(column, "")).as_py() or 0)
    if empty:
        return column, [(f"the column `{name}` has {empty} empty values", "fill them, or write a word such as `none`")]
    if not is_number:
        like_number = pc.match_substring_regex(column, NUMBER)
        if pc.all(like_number).as_py() is not False and len(column):
            column = pc.cast(pc.utf8_trim_whitespace(column), pa.float64())
        else:
            return column, _too_many(column, like_number, name)
    numbers = column.to_numpy(zero_copy_only=False)
    if not (np.abs(numbers) <= LARGEST).all():
        return column, [(f"the column `{name}` has numbers beyond {LARGEST:g}", "use a larger unit")]
    return pa.array(np.rint(numbers * MICRO).astype(np.int64)), []


def _too_many(column: pa.Array, like_number: pa.Array, name: str) -> list[tuple[str, str]]:
    """Rule and fix where a column of text has so many values that they identify people."""
    values, rows = pc.count_distinct(column).as_py(), len(column)
    most = min(VALUES_AT_MOST, max(2, rows // ROWS_A_VALUE))
    if values <= most:
        return []
    rule = f"the column `{name}` has {values} different values in {rows} rows; at most {most} can be learnt"
    odd = pc.unique(column.filter(pc.invert(like_number))).to_pylist()
    if len(odd) <= 5 and pc.sum(like_number).as_py() > rows / 2:
        return [(rule, f"is it numeric? {', '.join(f'`{value}`' for value in odd)} is no number: fill or remove it")]
    return [(rule, "group them, or take the column away; names and ids are not learnt")]
