"""How often each kind of disturbance was asked for, and how often it is in the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.config import DataConfig
from schemas.config.core import Section
from schemas.tables.fields import CONTRADICTION_KINDS, DRIFT_KINDS, NOISE_KINDS

if TYPE_CHECKING:
    import polars

_FAMILIES = {"noise": NOISE_KINDS, "drift": DRIFT_KINDS, "contradiction": CONTRADICTION_KINDS}
_SECTIONS = {"noise": "noise", "drift": "drift", "contradiction": "contradictions"}
_SUFFIXES = ("", "_per_year")
_WEEKS_PER_YEAR = 365.25 / 7
_TYPED = ("search", "say", "review")
"""Actions whose text the user types, and so can mistype."""


@dataclass(frozen=True)
class KindRate:
    """One kind of disturbance. ``configured`` and ``meaning`` are None where no key of the config sets its rate."""

    family: str
    kind: str
    configured: float | None
    meaning: str | None
    ledger_rows: int
    realised: float | None
    counted: str | None
    """What was counted, and by what it was divided, for ``realised``."""


@dataclass(frozen=True)
class _Count:
    count: int
    base: float
    text: str


def disturbance_rates(staging: Path, files: Mapping[str, Any], config: DataConfig) -> list[KindRate]:
    """Every kind that the config sets a rate for or that stands in the ledger, by family in the written order."""
    rows = _ledger_rows(staging, files)
    counts = _counts(staging, files, config, rows)
    return [
        _kind_rate(family, kind, config, rows.get((family, kind), 0), counts.get(kind))
        for family, kinds in _FAMILIES.items()
        for kind in kinds
        if (family, kind) in rows or _setting(config, family, kind) is not None
    ]


def _kind_rate(family: str, kind: str, config: DataConfig, rows: int, count: _Count | None) -> KindRate:
    setting = _setting(config, family, kind)
    realised = round(count.count / count.base, 6) if count and count.base else None
    return KindRate(
        family,
        kind,
        setting[0] if setting else None,
        setting[1] if setting else None,
        rows,
        realised,
        count.text if count and realised is not None else None,
    )


def _setting(config: DataConfig, family: str, kind: str) -> tuple[float, str] | None:
    """The rate that the config sets for the kind, and what the config says it means."""
    section: Section = getattr(config.disturb, _SECTIONS[family])
    for suffix in _SUFFIXES:
        field = type(section).model_fields.get(f"{kind}{suffix}")
        if field is not None:
            return float(getattr(section, f"{kind}{suffix}")), field.description or ""
    return None


def _counts(
    staging: Path, files: Mapping[str, Any], config: DataConfig, rows: Mapping[tuple[str, str], int]
) -> dict[str, _Count]:
    """What can be counted for each kind on the released tables. Whole numbers only, so no order of summing matters."""
    described = files["tables"]
    events, users = described["events"], described["users"]["rows"]
    copies = rows.get(("noise", "duplicate"), 0)
    hit, life_events = _ledger_sums(staging, files)
    pairs = _pairs(staging, files)
    pair_text = "ledger rows per person and dimension, of those that are spoken of"
    return {
        "accidental": _Count(
            rows.get(("noise", "accidental"), 0),
            events["rows"] - events["nulls"]["options"],
            "ledger rows per line with options on show",
        ),
        "other_person": _Count(
            rows.get(("noise", "other_person"), 0),
            described["sessions"]["rows"],
            "ledger rows per session, of any household",
        ),
        "duplicate": _Count(copies, events["rows"] - copies, "ledger rows per line that is no copy"),
        "corrupt": _Count(hit, _typed_letters(staging, files), "letters hit per letter typed by a user"),
        "abrupt": _Count(
            life_events,
            users * config.window.weeks / _WEEKS_PER_YEAR,
            "life events that changed a taste, per person and year",
        ),
        "stated_vs_done": _Count(rows.get(("contradiction", "stated_vs_done"), 0), pairs, pair_text),
        "temporary_state": _Count(rows.get(("contradiction", "temporary_state"), 0), pairs, pair_text),
    }


def _ledger_rows(staging: Path, files: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    import polars as pl

    ledger = _scan(staging, files, "injections")
    if ledger is None:
        return {}
    counted = ledger.group_by("family", "kind").agg(pl.len().alias("rows")).collect()
    return {(family, kind): rows for family, kind, rows in counted.select("family", "kind", "rows").iter_rows()}


def _ledger_sums(staging: Path, files: Mapping[str, Any]) -> tuple[int, int]:
    """Letters that `corrupt` hit, and life events: one may move several tastes, and is then several ledger rows."""
    import polars as pl

    ledger = _scan(staging, files, "injections")
    if ledger is None:
        return 0, 0
    letters = pl.col("parameters").str.extract(r'"letters": (\d+)').cast(pl.Int64)
    counted = ledger.select(
        letters.filter(pl.col("kind") == "corrupt").sum().alias("letters"),
        pl.struct("user_id", "onset_at", "cause").filter(pl.col("kind") == "abrupt").n_unique().alias("life_events"),
    ).collect()
    return int(counted["letters"][0]), int(counted["life_events"][0])


def _pairs(staging: Path, files: Mapping[str, Any]) -> int:
    """People and dimensions that are spoken of: not sensitive, and of a domain in which the person takes part."""
    import polars as pl

    tastes, participation = _scan(staging, files, "dispositions"), _scan(staging, files, "participation")
    if tastes is None or participation is None:
        return 0
    domain = pl.col("dimension").str.split(".").list.first().alias("domain")
    spoken_of = tastes.group_by("dimension").agg(pl.col("is_sensitive").all()).filter(~pl.col("is_sensitive"))
    people = participation.filter(pl.col("rate_factor") > 0).select("domain")
    return int(spoken_of.select(domain).join(people, on="domain").select(pl.len()).collect().item())


def _typed_letters(staging: Path, files: Mapping[str, Any]) -> int:
    """Letters a to z in what users typed themselves."""
    import polars as pl

    events = _scan(staging, files, "events")
    if events is None:
        return 0
    typed = events.filter(pl.col("action").is_in(_TYPED), pl.col("source") == "self")
    return int(typed.select(pl.col("text").str.count_matches("[A-Za-z]").sum()).collect().item())


def _scan(staging: Path, files: Mapping[str, Any], table: str) -> polars.LazyFrame | None:
    """The table from its files; None if it has none."""
    import polars as pl

    paths = [staging / entry["path"] for entry in files["files"] if entry["table"] == table]
    return pl.scan_parquet(paths, glob=False) if paths else None
