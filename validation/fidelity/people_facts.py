"""What the people of a release are beside what they should be: shares, correlations, and names and birthdays that repeat."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.config.correlations import Correlation
from validation.fidelity.people import spearman
from validation.fidelity.realised import PEOPLE_AT_LEAST, Realised, Values, blocks_of, compare, deviations
from validation.structure.folder import Violation

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

F64 = npt.NDArray[np.float64]
ROWS_AT_ONCE = 50_000
NAMED_ALIKE = 0.2
"""Share of pairs of people who may have one name, within locale and sex. The poorest pools of names that can be chosen
reach 0.13 (ten family names in Vietnamese), those of English 0.015; where one name is repeated it is 1."""
DAYS = 365
SOLVED_WITHIN = 0.005
"""How near the tables come to a wanted correlation before anybody is drawn, about."""


class Alike(NamedTuple):
    """How often two people have the same value."""

    column: str
    among: str
    people: int
    distinct: int
    top_ten_share: float
    """Share of people with one of the ten most frequent values."""
    entropy_bits: float
    pairs: float
    """Share of pairs of people with the same value."""
    limit: float
    ok: bool | None
    """None where people are too few to judge by."""

    def violation(self) -> Violation:
        """What to say of it if it is not ok."""
        rule = f"{self.pairs:.2%} of pairs have the same among {self.among}, at most {self.limit:.2%} may"
        return Violation("personas", self.column, f"{rule}; {self.distinct:,} distinct", self.people)


class Correlated(NamedTuple):
    """A rank correlation as configured and as it is."""

    between: tuple[str, str]
    among: str
    people: int
    configured: float
    realised: float
    bound: float
    ok: bool | None

    def told(self) -> str:
        """The pair with its figures."""
        among = f" in segment {self.among}" if self.among else ""
        between = " and ".join(self.between)
        return f"{between}{among}: configured {self.configured:.3f} ± {self.bound:.3f}, realised {self.realised:.3f}"

    def violation(self) -> Violation:
        """What to say of it if it is not ok."""
        return Violation("personas", "", f"rank correlation of {self.told()}", self.people)


@dataclass(frozen=True)
class PeopleFacts:
    """Everything that is known of the people."""

    people: int
    shares: tuple[Realised, ...]
    names: tuple[Alike, ...]
    birthdays: tuple[Alike, ...]
    correlations: tuple[Correlated, ...]

    @property
    def margins(self) -> list[Realised]:
        """Shares among everybody."""
        return [row for row in self.shares if not row.given]

    @property
    def conditionals(self) -> list[Realised]:
        """Shares given something."""
        return [row for row in self.shares if row.given]


def people_facts(database: DuckDBPyConnection, correlations: Sequence[Correlation]) -> PeopleFacts:
    """The facts of `personas`, which the database has as a view, beside `population` and the config's correlations."""
    population = database.sql("SELECT * EXCLUDE (_split) FROM population").to_arrow_table()
    shares = compare(population, _portions(database))
    [[people]] = database.execute("SELECT count(*) FROM personas").fetchall()
    return PeopleFacts(
        people,
        tuple(shares),
        tuple(_names(database)),
        tuple(_birthdays(database)),
        tuple(correlated(population, pa.concat_tables(_portions(database)), correlations) if correlations else ()),
    )


def _portions(database: DuckDBPyConnection) -> Iterator[pa.Table]:
    reader = database.sql("SELECT * EXCLUDE (_split) FROM personas").to_arrow_reader(ROWS_AT_ONCE)
    for batch in reader:
        yield pa.Table.from_batches([batch])


def _names(database: DuckDBPyConnection) -> Iterator[Alike]:
    """First names by locale and sex, last names by locale."""
    for column, among in (("family_name", "locale"), ("given_name", "locale || ' | ' || sex")):
        counted = database.execute(f"SELECT {among} AS a, {column}, count(*) FROM personas GROUP BY ALL ORDER BY ALL")
        by_group: dict[str, list[int]] = {}
        for group, _, count in counted.fetchall():
            by_group.setdefault(str(group), []).append(count)
        for group, counts in by_group.items():
            yield alike(column, group, counts, NAMED_ALIKE)


def _birthdays(database: DuckDBPyConnection) -> Iterator[Alike]:
    """Day and month, beside what chance gives if all days are equally likely."""
    days = database.execute(
        "SELECT month(birth_date), day(birth_date), count(*) FROM personas GROUP BY ALL ORDER BY ALL"
    )
    counts = [count for *_, count in days.fetchall()]
    pairs = sum(counts) * (sum(counts) - 1) / 2
    sure = deviations(1)
    expected = pairs / DAYS
    most = expected + sure * math.sqrt(expected) + (sure**2 - 1) / 6 + 0.5
    yield alike("birth_date", "day and month", counts, most / max(pairs, 1))


def alike(column: str, among: str, counts: Sequence[int], limit: float) -> Alike:
    """From how many people have each value."""
    people = sum(counts)
    pairs = sum(count * (count - 1) for count in counts) / max(people * (people - 1), 1)
    top = sum(sorted(counts, reverse=True)[:10]) / max(people, 1)
    entropy = -sum(count / people * math.log2(count / people) for count in counts)
    ok = pairs <= limit if people >= PEOPLE_AT_LEAST else None
    told = [round(number, 6) for number in (top, entropy + 0.0, pairs, limit)]
    return Alike(column, among, people, len(counts), told[0], told[1], told[2], told[3], ok)


def correlated(population: pa.Table, people: pa.Table, correlations: Sequence[Correlation]) -> Iterator[Correlated]:
    """Each pair of the config whose attributes can be seen, within each segment."""
    values = {block.attribute: block.values for block in blocks_of(population) if not block.given}
    groups = people["segment"] if "segment" in people.column_names else pa.repeat("", people.num_rows)
    names = sorted(pc.unique(groups).to_pylist())
    sure = deviations(len(correlations) * len(names))
    for one in correlations:
        if not all(_column(name, values) in people.column_names for name in one.between):
            continue
        left, right = (_numbers(people, name, values.get(name)) for name in one.between)
        for group in names:
            here = np.asarray(pc.equal(groups, group).to_numpy(zero_copy_only=False), np.bool_)
            here &= ~(np.isnan(left) | np.isnan(right))
            count = int(here.sum())
            found = spearman(left[here], right[here]) if count > 1 else math.nan
            bound = SOLVED_WITHIN + sure / math.sqrt(max(count - 3, 1))
            ok = bool(abs(found - one.spearman) <= bound) if count >= PEOPLE_AT_LEAST else None
            pair = one.between[0], one.between[1]
            yield Correlated(pair, group, count, one.spearman, round(found, 6), round(bound, 6), ok)


def _column(name: str, values: Mapping[str, Values]) -> str:
    """The column in which the attribute is to be found."""
    return values[name].column if name in values else name


def _numbers(people: pa.Table, name: str, values: Values | None) -> F64:
    """(n,) the attribute's numbers, or the places of its values in their order; NaN for none."""
    column = people[name] if values is None else values.of(people)
    if not pa.types.is_string(column.type):
        return np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    if values is None:
        return np.full(people.num_rows, math.nan)
    places = values.places(people).astype(np.float64)
    places[(places < 0) | (places == len(values.labels))] = math.nan
    return places
