"""People from the user's own file: which file, and which of its columns are which attributes.

people_from: {file: people.csv, columns: {age_years: AGE, income_usd: income, job: OCC}}
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from schemas.config.core import Section, broken
from schemas.explain import NAME_PATTERN

ENDINGS = (".csv", ".parquet")
MICRO = 1_000_000
"""Numbers are whole multiples of a millionth."""


def _readable(file: str) -> str:
    if not file.lower().endswith(ENDINGS):
        raise broken("a file of people is CSV or Parquet", "name one that ends with .csv or .parquet")
    return file


def _each_once(columns: dict[str, str]) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for attribute, column in columns.items():
        if column in attributes:
            raise broken(f"the column `{column}` stands for `{attributes[column]}` already", "name each column once")
        attributes[column] = attribute
    return columns


class LearntTable(Section):
    """Shares of an attribute's levels for combinations of its parents' levels."""

    parents: list[str]
    """Attributes before it. None in the first table, which has one row."""
    cells: list[list[int]]
    """For each row the places of the parents' levels, in rising order."""
    weights: list[list[float]]
    """For each row the share of each level, to six digits."""


class LearntNumbers(Section):
    """The numbers that each level stands for: pieces of `low` + 0 to `count` - 1 steps."""

    weights: list[list[float]]
    """For each level the rows of the file in each piece; fewer pieces than others have are filled up with zeros."""
    low: list[list[int]]
    """In millionths."""
    count: list[list[int]]
    """How many steps each piece has."""
    step: Annotated[int, Field(gt=0)]
    """In millionths."""

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.step % MICRO == 0 and not any(low % MICRO for row in self.low for low in row)


class LearntAttribute(Section):
    """What is known of one attribute of the file: shares of at least `least_rows` rows, and no row."""

    levels: Annotated[list[str], Field(min_length=1)]
    """Its values; of a number, the lowest one of each band."""
    tables: Annotated[list[LearntTable], Field(min_length=1)]
    """From the one without parents to that with most. A person goes by the last one that has a row for them."""
    numbers: LearntNumbers | None = None
    """What the levels of a number stand for; null for text."""
    cut_at: list[str] = Field(default_factory=list)
    """Values and bands that the config speaks of: numbers are cut there."""


class PeopleFile(Section):
    """The people whose joint distribution is learnt. No row of theirs is copied."""

    file: Annotated[str, AfterValidator(_readable)]
    """A CSV or Parquet file with one row a person; a path from the folder of the config. The order of rows has no effect."""
    columns: Annotated[
        dict[Annotated[str, Field(pattern=NAME_PATTERN)], str], Field(min_length=1), AfterValidator(_each_once)
    ]
    """For each attribute, the column of the file. Attributes are learnt in this order, each given those before it."""
    bands: Annotated[int, Field(ge=2, le=100)] = 20
    """A numeric column with more different values than this is learnt in so many bands of equal numbers of rows."""
    least_rows: Annotated[int, Field(ge=2, le=1000)] = 10
    """A combination of values with fewer rows is not taken over: its share follows from smaller combinations."""
    learnt: dict[str, LearntAttribute] | None = None
    """What the file says, filled in when the config is loaded. With it a dataset can be made again without the file."""

    def kinds(self) -> dict[str, bool | None]:
        """Whether the values of each attribute are whole numbers; None for text."""
        return {
            name: None if part.numbers is None else part.numbers.is_whole for name, part in (self.learnt or {}).items()
        }
