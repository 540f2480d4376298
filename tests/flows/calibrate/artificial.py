"""References of people that there are not: those of validation/references/, distorted so that their tables still agree.

Quantiles are scaled or raised to a power about their median, and burstiness is moved. Nothing comes from the generator.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammainc

from validation.references.reader import FOLDER

GAPS, RATES = "inter_event_gap_hours_quantile", "events_per_active_week_quantile"
TIMES = ("hour_of_day_share", "day_of_week_share", GAPS, RATES, "burstiness_B", "burstiness_Bn", "memory_M")
AT = np.array([0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
"""The quantiles that the tables of gaps and rates list; after them comes the mean."""


def distorted(origin: str, name: str, **by: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
    """The tables about times of a reference, each metric that is named put through its function."""
    raw = json.loads((FOLDER / f"{origin}.json").read_text(encoding="utf-8"))
    tables = _tables(origin)
    for table in tables:
        if table["metric"] in by:
            table["values"] = [round(float(value), 6) for value in by[table["metric"]](np.array(table["values"]))]
    halves = [record for record in raw["self_distance"] if record["metric"] in TIMES and "=" not in record["stratum"]]
    note = f"{origin}, distorted for a test; nobody is like that"
    return {**raw, "reference_id": name, "note": note, "tables": tables, "self_distance": halves}


def _tables(origin: str) -> list[dict[str, Any]]:
    """The tables about times of all people of a reference."""
    raw = json.loads((FOLDER / f"{origin}.json").read_text(encoding="utf-8"))
    return [table for table in raw["tables"] if table["metric"] in TIMES and "=" not in table["stratum"]]


def finite(burstiness: np.ndarray, gaps: int) -> np.ndarray:
    """The finite-size form of burstiness B of users with so many gaps (Kim & Jo 2016)."""
    r, more, less = (1 + burstiness) / (1 - burstiness), np.sqrt(gaps + 1), np.sqrt(gaps - 1)
    return np.asarray((more * r - less) / ((more - 2) * r + less))


def evening() -> dict[str, Any]:
    """Grocery shoppers who come four hours later in the day, and a quarter less often."""
    return distorted(
        "grocery_dunnhumby_cj",
        "evening",
        hour_of_day_share=lambda hours: np.roll(hours, 4),
        **{GAPS: lambda gaps: gaps * 1.25, RATES: lambda rates: rates / 1.25},
    )


def weekly() -> dict[str, Any]:
    """People who do something about once a week, more evenly than by chance: B about -.4.

    Rates are the shoppers', drawn together; gaps are what follows: those of people with such rates who each leave gamma
    distributed gaps of shape 5.5 (coefficient of variation .43, so B = -.4), which is not how the generator makes them.
    """
    shoppers = {table["metric"]: np.array(table["values"]) for table in _tables("grocery_dunnhumby_cj")}

    def rates(known: np.ndarray) -> np.ndarray:
        return np.asarray((known / 0.925) ** 0.6)

    def gaps(known: np.ndarray) -> np.ndarray:
        a_week = np.exp(np.interp((np.arange(400) + 0.5) / 400, AT, np.log(rates(shoppers[RATES][:-1])))) - 1 / 26
        hours = np.geomspace(1, 3000, 4000)
        share = (a_week * gammainc(5.5, 5.5 * hours[:, None] * a_week / 168)).sum(axis=1) / a_week.sum()
        return np.append(np.interp(AT, share, hours), 168 / a_week.mean())

    def even(burstiness: np.ndarray) -> np.ndarray:
        return 0.75 * burstiness - 0.40

    return distorted(
        "grocery_dunnhumby_cj",
        "weekly",
        burstiness_B=even,
        burstiness_Bn=lambda known: finite(even(shoppers["burstiness_B"]), 26),
        memory_M=lambda m: 0.9 * m - 0.04,
        **{GAPS: gaps, RATES: rates},
    )


def heavy() -> dict[str, Any]:
    """People who check in in bursts with long pauses: tails of gaps raised to a power of 1.12, B up by .15."""
    return distorted(
        "mobility_foursquare_nyc",
        "heavy",
        burstiness_B=lambda b: np.minimum(b + 0.15, 0.9),
        burstiness_Bn=lambda b: np.minimum(b + 0.15, 0.93),
        **{GAPS: lambda gaps: 8.4667 * (gaps / 8.4667) ** 1.12},
    )
