"""People in a few lines each, as `habitus preview` and `habitus personas show` print them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

IN_SENTENCES = (
    *(
        "user_id",
        "given_name",
        "family_name",
        "sex",
        "age_years",
        "birth_date",
        "occupation",
        "labour_status",
        "education",
    ),
    *("marital_status", "household_size", "region", "home_type", "income_usd", "time_zone", "locale", "sample_weight"),
)
"""Columns that have their place on a card, or none. Others follow by their names."""


def cards(tables: Mapping[str, pa.Table]) -> Iterator[str]:
    """One card a person, from `personas`, `actors` and `dispositions`: who they are, and what they like at the start."""
    for row in tables["personas"].to_pylist():
        yield _card(row, tables)


def _card(row: dict[str, Any], tables: Mapping[str, pa.Table]) -> str:
    own = tables["dispositions"].filter(pc.equal(tables["dispositions"]["user_id"], row["user_id"]))
    selves = tables["actors"].filter(pc.equal(tables["actors"]["relation"], "self"))["actor_id"]
    own = own.filter(pc.is_in(own["actor_id"], value_set=selves.combine_chunks()))
    first = own.filter(pc.and_(pc.is_null(own["cause"]), pc.not_equal(own["clock"], "state")))
    likes: dict[str, list[str]] = {}
    for taste in first.sort_by("dimension").to_pylist():
        domain, _, name = taste["dimension"].partition(".")
        likes.setdefault(domain, []).append(f"{name} {taste['value']}")
    work = row["occupation"] or row["labour_status"].replace("_", " ")
    extra = [f"{name} {_told(value)}" for name, value in row.items() if name not in IN_SENTENCES and _told(value)]
    return (
        f"{row['user_id']}  {row['given_name']} {row['family_name']}, {row['sex']}, {row['age_years']}, {work}, "
        f"{row['education']}, {row['marital_status']}, household of {row['household_size']}\n"
        f"         {row['region']}, {row['home_type']}, {row['income_usd']:,} USD a year, {row['time_zone']}, {row['locale']}"
        + (f"\n         {', '.join(extra)}" if extra else "")
        + "".join(f"\n         {domain}: {', '.join(values)}" for domain, values in likes.items())
    )


def _told(value: Any) -> str:
    """Empty where there is nothing to tell."""
    if isinstance(value, list):
        return " and ".join(str(part) for part in value)
    return "" if value is None else str(value)
