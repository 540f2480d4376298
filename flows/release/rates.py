"""How often each kind of disturbance was asked for, and how often it is in the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from schemas.config import DataConfig
from schemas.config.core import Section
from schemas.tables.fields import CONTRADICTION_KINDS, DRIFT_KINDS, NOISE_KINDS

_FAMILIES = {"noise": NOISE_KINDS, "drift": DRIFT_KINDS, "contradiction": CONTRADICTION_KINDS}
_SECTIONS = {"noise": "noise", "drift": "drift", "contradiction": "contradictions"}
_SUFFIXES = ("", "_per_year")
_WEEKS_PER_YEAR = 365.25 / 7


@dataclass(frozen=True)
class KindRate:
    """One kind of disturbance. ``configured`` and ``meaning`` are None where no key of the config sets its rate."""

    family: str
    kind: str
    configured: float | None
    meaning: str | None
    ledger_rows: int
    realised: float | None
    base: str | None
    """What the ledger rows are divided by for ``realised``."""


def disturbance_rates(staging: Path, files: Mapping[str, Any], config: DataConfig) -> list[KindRate]:
    """Every kind that the config sets a rate for or that stands in the ledger, by family in the written order."""
    counts = _ledger_counts(staging, files)
    bases = _bases(staging, files, config)
    return [
        _kind_rate(family, kind, config, counts.get((family, kind), 0), bases.get(kind))
        for family, kinds in _FAMILIES.items()
        for kind in kinds
        if (family, kind) in counts or _setting(config, family, kind) is not None
    ]


def _kind_rate(family: str, kind: str, config: DataConfig, rows: int, base: tuple[float, str] | None) -> KindRate:
    setting = _setting(config, family, kind)
    size, label = base or (0.0, None)
    return KindRate(
        family, kind, setting[0] if setting else None, setting[1] if setting else None, rows,
        round(rows / size, 6) if size else None, label,
    )


def _setting(config: DataConfig, family: str, kind: str) -> tuple[float, str] | None:
    """The rate that the config sets for the kind, and what the config says it means."""
    section: Section = getattr(config.disturb, _SECTIONS[family])
    for suffix in _SUFFIXES:
        field = type(section).model_fields.get(f"{kind}{suffix}")
        if field is not None:
            return float(getattr(section, f"{kind}{suffix}")), field.description or ""
    return None


def _bases(staging: Path, files: Mapping[str, Any], config: DataConfig) -> dict[str, tuple[float, str]]:
    """What a kind's ledger rows can be counted against on the released tables, disturbed rows included."""
    events = files["tables"]["events"]
    users = files["tables"]["users"]["rows"]
    choices = events["rows"] - events["nulls"]["options"]
    texts = events["rows"] - events["nulls"]["text"]
    taste_pairs = users * _distinct(staging, files, "dispositions", "dimension")
    return {
        "accidental": (choices, "lines with options on show"),
        "other_person": (files["tables"]["sessions"]["rows"], "sessions"),
        "duplicate": (events["rows"], "lines of the log"),
        "corrupt": (texts, "lines with text"),
        "abrupt": (users * config.window.weeks / _WEEKS_PER_YEAR, "person-years"),
        "stated_vs_done": (taste_pairs, "pairs of person and dimension"),
        "temporary_state": (taste_pairs, "pairs of person and dimension"),
    }


def _ledger_counts(staging: Path, files: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for batch in _batches(staging, files, "injections", ["family", "kind"]):
        grouped = pa.table(batch).group_by(["family", "kind"]).aggregate([([], "count_all")]).to_pylist()
        for row in grouped:
            pair = (row["family"], row["kind"])
            counts[pair] = counts.get(pair, 0) + row["count_all"]
    return counts


def _distinct(staging: Path, files: Mapping[str, Any], table: str, column: str) -> int:
    found: set[str] = set()
    for batch in _batches(staging, files, table, [column]):
        found.update(batch.column(column).unique().to_pylist())
    return len(found)


def _batches(
    staging: Path, files: Mapping[str, Any], table: str, columns: list[str]
) -> Iterator[pa.RecordBatch]:
    paths = [str(staging / entry["path"]) for entry in files["files"] if entry["table"] == table]
    if paths:
        yield from ds.dataset(paths, format="parquet").to_batches(columns=columns, use_threads=False)
