"""Two tables of people held against each other: margin by margin, and person by person where ids are shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.texts import json_texts
from validation.fidelity.distances import total_variation
from validation.fidelity.people import by_chance, counted, edges_for, is_number, labelled, margin, natural, weights_of

KEY = "user_id"


@dataclass(frozen=True)
class ColumnDifference:
    """One column that both tables have."""

    name: str
    changed: int
    """People of both tables who have another value in the second."""
    distance: float | None
    """Total variation of the margins; None where they cannot be counted."""
    limit: float
    """What chance alone would give at the most, were both drawn from one population."""
    values: tuple[Mapping[str, Any], ...]
    """Value, people and shares in both; those that differ most come first."""

    @property
    def differs(self) -> bool:
        """Whether chance does not explain the distance."""
        return self.distance is not None and self.distance > self.limit

    def facts(self) -> dict[str, Any]:
        """The difference for a program."""
        return {
            "column": self.name,
            "differs": self.differs,
            "total_variation": None if self.distance is None else round(self.distance, 6),
            "by_chance": None if self.distance is None else round(self.limit, 6),
            "changed": self.changed,
            "values": [dict(value) for value in self.values],
        }


@dataclass(frozen=True)
class PeopleDifference:
    """All that two tables of people differ in."""

    people: tuple[int, int]
    shared: int
    only_one: tuple[str, ...]
    only_other: tuple[str, ...]
    columns: tuple[ColumnDifference, ...]
    left_out: Mapping[str, str]
    """Columns whose margins cannot be counted, with the reason."""

    def facts(self) -> dict[str, Any]:
        """Everything for a program."""
        return {
            "people": list(self.people),
            "shared_ids": self.shared,
            "only_in_first": list(self.only_one),
            "only_in_second": list(self.only_other),
            "columns": [column.facts() for column in self.columns],
            "left_out": dict(self.left_out),
        }


def compare(one: pa.Table, other: pa.Table) -> PeopleDifference:
    """Two tables of people, in the order of the first one's columns."""
    left, right = set(one.column_names), set(other.column_names)
    first, second = _paired(one, other) if KEY in left & right else (one.slice(0, 0), other.slice(0, 0))
    reasons = {**counted(one)[1], **counted(other)[1]}
    countable = set(counted(one)[0]) & set(counted(other)[0])
    columns = [
        _column(name, one, other, _changed(first[name], second[name]), name in countable)
        for name in one.column_names
        if name in right and name != KEY
    ]
    return PeopleDifference(
        people=(one.num_rows, other.num_rows),
        shared=first.num_rows,
        only_one=tuple(name for name in one.column_names if name not in right),
        only_other=tuple(name for name in other.column_names if name not in left),
        columns=tuple(columns),
        left_out={name: reason for name, reason in reasons.items() if name in left & right},
    )


def _paired(one: pa.Table, other: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of the people who are in both, in the same order."""
    keys = pc.cast(other[KEY], pa.string()).combine_chunks()
    place = pc.index_in(pc.cast(one[KEY], pa.string()), value_set=keys)
    return one.filter(pc.is_valid(place)), other.take(place.drop_null())


def _changed(before: pa.ChunkedArray, after: pa.ChunkedArray) -> int:
    """Rows with another value, as text where the types differ: a file format may not know the type."""
    before, after = (json_texts(one) if pa.types.is_nested(one.type) else one for one in (before, after))
    if before.type != after.type:
        target = pa.float64() if is_number(before) and is_number(after) else pa.string()
        before, after = pc.cast(before, target), pc.cast(after, target)
    differs = pc.fill_null(pc.not_equal(before, after), False)
    one_null = pc.xor(pc.is_null(before), pc.is_null(after))
    return pc.sum(pc.or_(differs, one_null)).as_py() or 0


def _column(name: str, one: pa.Table, other: pa.Table, changed: int, is_countable: bool) -> ColumnDifference:
    if not is_countable:
        return ColumnDifference(name, changed, None, 0.0, ())
    edges = edges_for(name, [one[name], other[name]])
    margins = [margin(labelled(table[name], edges), weights_of(table)) for table in (one, other)]
    labels = sorted({*margins[0].labels, *margins[1].labels}, key=natural)
    people = np.array([[_at(m.labels, m.people, label) for label in labels] for m in margins])
    shares = np.array([[_at(m.labels, m.shares, label) for label in labels] for m in margins])
    pooled = (shares[0] * margins[0].worth + shares[1] * margins[1].worth) / (margins[0].worth + margins[1].worth)
    order = np.argsort(-np.abs(shares[0] - shares[1]).round(9), kind="stable")
    values = tuple(
        {
            "value": labels[place],
            "people": [int(people[0, place]), int(people[1, place])],
            "shares": [round(float(shares[0, place]), 6), round(float(shares[1, place]), 6)],
        }
        for place in order
    )
    limit = by_chance(pooled, margins[0].worth, margins[1].worth)
    return ColumnDifference(name, changed, total_variation(shares[0], shares[1]), limit, values)


def _at(labels: tuple[str, ...], numbers: Any, label: str) -> float:
    return float(numbers[labels.index(label)]) if label in labels else 0.0
