"""What is known of real people: the published distributions beside this file, read through one typed door."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


class UnknownReference(KeyError):
    """A reference, table or distance that does not exist. The message names those that do."""

    def __init__(self, wanted: str, known: Iterable[str]) -> None:
        self.wanted = wanted
        self.known = tuple(known)
        super().__init__(wanted)

    def __str__(self) -> str:
        return f"there is no {self.wanted}; there is: {', '.join(self.known) or 'nothing'}"


@dataclass(frozen=True)
class ReferenceTable:
    """One distribution. ``bins`` are labels, or quantiles such as `q0.05` with a `mean` after them.

    ``n`` counts the observations behind it; 0 where the source does not say, the smallest where it differs by bin.
    """

    metric: str
    stratum: str
    unit: str
    how_computed: str
    n: int
    bins: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class SelfDistance:
    """How far two random halves of the same real people lie apart, over ``splits`` splits.

    ``users_per_half`` counts people; days or weeks where the source has no people. ``sd`` and ``largest`` are NaN where the
    file does not say.
    """

    metric: str
    stratum: str
    distance: str
    splits: int
    mean: float
    p95: float
    users_per_half: int
    events: int
    sd: float = math.nan
    largest: float = math.nan


@dataclass(frozen=True)
class Reference:
    """One source with its licence, its tables and the distances between its halves."""

    reference_id: str
    domain: str
    source: str
    licence: str
    note: str
    n_users: int
    n_events: int
    tables: tuple[ReferenceTable, ...]
    self_distances: tuple[SelfDistance, ...]

    def table(self, metric: str, stratum: str = "all") -> ReferenceTable:
        """The distribution of a metric in a stratum. Raises UnknownReference."""
        for table in self.tables:
            if table.metric == metric and table.stratum == stratum:
                return table
        strata = [table.stratum for table in self.tables if table.metric == metric]
        known = [f"stratum `{stratum}`" for stratum in strata] or sorted({f"`{table.metric}`" for table in self.tables})
        raise UnknownReference(f"`{metric}` of stratum `{stratum}` in {self.reference_id}", known)

    def shares(self, metric: str, stratum: str = "all") -> dict[str, float]:
        """Bin to value, in the order of the source."""
        table = self.table(metric, stratum)
        return dict(zip(table.bins, table.values, strict=True))

    def self_distance(self, metric: str, stratum: str, distance: str) -> SelfDistance:
        """How far two halves of the real people lie apart. Raises UnknownReference."""
        for record in self.self_distances:
            if (record.metric, record.stratum, record.distance) == (metric, stratum, distance):
                return record
        known = [
            f"{r.distance} of `{r.metric}` of stratum `{r.stratum}`" for r in self.self_distances if r.metric == metric
        ]
        raise UnknownReference(
            f"{distance} between halves of {self.reference_id} for `{metric}` of stratum `{stratum}`", known
        )


def reference_ids() -> tuple[str, ...]:
    """Every reference, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


@cache
def load_reference(reference_id: str) -> Reference:
    """The reference of that name. Raises UnknownReference."""
    if reference_id not in reference_ids():
        raise UnknownReference(f"reference `{reference_id}`", reference_ids())
    return reference_of(json.loads((FOLDER / f"{reference_id}.json").read_text(encoding="utf-8")))


def reference_of(raw: dict[str, Any]) -> Reference:
    """The content of a reference file, taken to be right."""
    return Reference(
        reference_id=raw["reference_id"],
        domain=raw["domain"],
        source=raw["source"],
        licence=raw["licence"],
        note=raw["note"],
        n_users=raw["n_users"],
        n_events=raw["n_events"],
        tables=tuple(_table(entry) for entry in raw["tables"]),
        self_distances=tuple(_self_distance(entry) for entry in raw["self_distance"]),
    )


def _table(entry: dict[str, Any]) -> ReferenceTable:
    count = entry["n"]
    return ReferenceTable(
        metric=entry["metric"],
        stratum=entry["stratum"],
        unit=entry["unit"],
        how_computed=entry["how_computed"],
        n=min(count) if isinstance(count, list) else count,
        bins=tuple(str(label) for label in entry["bins"]),  # a few sources have a bin without a label, written NaN
        values=tuple(float(value) for value in entry["values"]),
    )


def _self_distance(entry: dict[str, Any]) -> SelfDistance:
    return SelfDistance(
        metric=entry["metric"],
        stratum=entry["stratum"],
        distance=entry["distance"],
        splits=entry["splits"],
        mean=entry["mean"],
        p95=entry["p95"],
        users_per_half=entry["users_per_half"],
        events=entry["n_events_total"],
        sd=entry.get("sd", math.nan),
        largest=entry.get("max", math.nan),
    )
