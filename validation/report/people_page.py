"""The part of the report about people: plots of margins, and a line for each table of shares given something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from validation.fidelity.people_facts import PeopleFacts
from validation.fidelity.realised import Realised
from validation.report.drawing import Bar, bars

BY_BANDS = {"age_group": "age_years", "income_band": "income_usd"}
"""Bands, and the columns of the numbers in them."""


class Table(NamedTuple):
    """The shares of one attribute given others, in short."""

    attribute: str
    given: str
    groups: int
    """Groups of people with enough people to judge by, of ``all_groups``."""
    all_groups: int
    shares: int
    off: tuple[Realised, ...]
    nearest: float
    """How far out the share lies that is nearest to its bound, or beyond: 1 is the bound."""


def people_rows(facts: PeopleFacts) -> dict[str, Any]:
    """The facts for programmes; of shares given something those that are judged."""
    return {
        "people": facts.people,
        "margins": [row._asdict() for row in facts.margins],
        "conditionals": [row._asdict() for row in facts.conditionals if row.ok is not None],
        "conditionals_not_judged": sum(row.ok is None for row in facts.conditionals),
        **{name: [row._asdict() for row in getattr(facts, name)] for name in ("names", "birthdays", "correlations")},
    }


def margin_plots(facts: PeopleFacts) -> list[str]:
    """An SVG for each attribute, to stand in a page. A band is left out where the number behind it is drawn by the same bands."""
    by_name = {name: list(rows) for name, rows in groupby(facts.margins, key=lambda row: row.attribute)}
    plots = [margin_plot(name, rows) for name, rows in by_name.items() if BY_BANDS.get(name) not in by_name]
    return [svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1) for svg in plots]


def margin_plot(name: str, rows: Sequence[Realised]) -> str:
    """Bars of one attribute, with the configured shares and how far chance may carry them."""
    off = sum(row.ok is False for row in rows)
    judged = "too few to judge by" if all(row.ok is None for row in rows) else f"{off} of {len(rows)} out of bounds"
    return bars(name, f"{rows[0].people:,} people; {judged}", [bar_of(row) for row in rows])


def bar_of(row: Realised) -> Bar:
    """A share as a bar."""
    low, high = max(row.configured - row.bound, 0.0), min(row.configured + row.bound, 1.0)
    return Bar(row.value, row.realised, row.having, row.configured, low, high)


def conditional_tables(facts: PeopleFacts) -> Iterator[Table]:
    """A line for each attribute and what it is given."""
    for (attribute, given), rows in groupby(facts.conditionals, key=lambda row: (row.attribute, row.given)):
        every = list(rows)
        judged = [row for row in every if row.ok is not None]
        out = tuple(row for row in judged if row.ok is False)
        nearest = max((abs(row.configured - row.realised) / row.bound for row in judged if row.bound > 0), default=0.0)
        groups, judged_groups = ({row.among for row in some} for some in (every, judged))
        yield Table(attribute, given, len(judged_groups), len(groups), len(judged), out, nearest)
