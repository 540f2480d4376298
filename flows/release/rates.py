"""How often each kind of disturbance was asked for, and how often it is in the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.config import DataConfig
from schemas.config.core import Section
from schemas.load import load_domains, load_life_events
from schemas.tables.fields import CONTRADICTION_KINDS, DRIFT_KINDS, NOISE_KINDS

if TYPE_CHECKING:
    import polars

_FAMILIES = {"noise": NOISE_KINDS, "drift": DRIFT_KINDS, "contradiction": CONTRADICTION_KINDS}
_SECTIONS = {"noise": "noise", "drift": "drift", "contradiction": "contradictions"}
_SUFFIXES = ("", "_per_year", "_share")
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
    lines, users = (files["tables"][name]["rows"] for name in ("events", "users"))
    copies = rows.get(("noise", "duplicate"), 0)
    hit, life_events, seasons = _ledger_sums(staging, files)
    habits, seasonal = _dimensions_that_change(config)
    pairs = _pairs(staging, files)
    choices, sittings = _changeable(staging, files, config)
    pair_text = "ledger rows per person and dimension, of those that are spoken of"
    return {
        "accidental": _Count(
            rows.get(("noise", "accidental"), 0),
            choices,
            "ledger rows per choice that can be changed: a line with options on show that no habit rests on",
        ),
        "other_person": _Count(
            rows.get(("noise", "other_person"), 0),
            sittings,
            "ledger rows per session with a choice that can be changed, of households where somebody else has access",
        ),
        "duplicate": _Count(copies, lines - copies, "ledger rows per line that is no copy"),
        "corrupt": _Count(hit, _typed_letters(staging, files), "letters hit per letter typed by a user"),
        "abrupt": _Count(
            life_events,
            users * config.window.weeks / _WEEKS_PER_YEAR,
            "life events that changed a taste, per person and year",
        ),
        "gradual": _Count(
            rows.get(("drift", "gradual"), 0), users * habits, "slow changes per person and dimension that is a habit"
        ),
        "seasonal": _Count(
            seasons, users * seasonal, "people and dimensions with a season in the window, of those that have seasons"
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


def _ledger_sums(staging: Path, files: Mapping[str, Any]) -> tuple[int, int, int]:
    """Letters that `corrupt` hit; life events, of which one may move several tastes, and is then several ledger rows; and
    (person, dimension) with a season, which has a ledger row each year."""
    import polars as pl

    ledger = _scan(staging, files, "injections")
    if ledger is None:
        return 0, 0, 0
    letters = pl.col("parameters").str.extract(r'"letters": (\d+)').cast(pl.Int64)
    counted = ledger.select(
        letters.filter(pl.col("kind") == "corrupt").sum().alias("letters"),
        pl.struct("user_id", "onset_at", "cause").filter(pl.col("kind") == "abrupt").n_unique().alias("life_events"),
        pl.struct("user_id", "dimension").filter(pl.col("kind") == "seasonal").n_unique().alias("seasons"),
    ).collect()
    return int(counted["letters"][0]), int(counted["life_events"][0]), int(counted["seasons"][0])


def _changeable(staging: Path, files: Mapping[str, Any], config: DataConfig) -> tuple[int, int]:
    """Choices that noise could change, and sessions with one in which somebody else could have used the account.

    A choice that is a user's first take of a thing that they take again without options never changes. Which those are in
    the clean record can be told from the release: they and lines without options stand as they were, so that of the lines
    that neither kind touched the first take of such a thing is the same.
    """
    import polars as pl

    events, items, actors = (_scan(staging, files, name) for name in ("events", "items", "actors"))
    if events is None or items is None or actors is None:
        return 0, 0
    touched, copies = _listed(staging, files, "accidental", "other_person"), _listed(staging, files, "duplicate")
    acts = pl.any_horizontal(
        (pl.col("domain") == name) & pl.col("action").is_in(domain.choice_actions())
        for name, domain in load_domains(config.domains).items()
    )
    shows = pl.col("options").is_not_null()
    catalogue = items.filter(pl.col("owner_user_id").is_null()).select("item_id")
    takes = (
        events.filter(shows | acts)
        .select("event_id", "user_id", "session_id", "item_id", "at", shows=shows)
        .join(copies, on="event_id", how="anti")
    )
    choices = takes.filter("shows")
    begins = (
        takes.join(touched, on="event_id", how="anti")
        .join(catalogue, on="item_id", how="semi")
        .group_by("user_id", "item_id")
        .agg(pl.col("event_id", "shows").sort_by("at", "event_id").first(), is_repeated=~pl.col("shows").all())
        .filter("is_repeated", "shows")
    )
    changeable = choices.join(begins, on="event_id", how="anti")
    shared = actors.filter(pl.col("relation") != "self", "has_account_access")
    sittings = changeable.join(shared, on="user_id", how="semi").select(pl.col("session_id").n_unique())
    return int(changeable.select(pl.len()).collect().item()), int(sittings.collect().item())


def _listed(staging: Path, files: Mapping[str, Any], *kinds: str) -> polars.LazyFrame:
    """``event_id`` of the lines that the ledger rows of these kinds of noise list."""
    import polars as pl

    ledger = _scan(staging, files, "injections")
    if ledger is None:
        return pl.LazyFrame(schema={"event_id": pl.String})
    rows = ledger.filter(pl.col("family") == "noise", pl.col("kind").is_in(kinds))
    return rows.select(event_id=pl.col("event_ids").cast(pl.List(pl.String))).explode("event_id").drop_nulls()


def _dimensions_that_change(config: DataConfig) -> tuple[int, int]:
    """How many dimensions of the build are habits, and how many of them have seasons."""
    habits = {
        name
        for domain in load_domains(config.domains).values()
        for name, spec in zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)
        if spec.clock == "habit"
    }
    return len(habits), len(habits & load_life_events().seasons.keys())


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
