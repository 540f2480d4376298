"""How far what people do lies from a reference, in parts of the limits: for the search, and in full for the report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flows.calibrate.how import Chosen
from validation.fidelity.compare import Compared, Quick, has_table
from validation.fidelity.distances import floor_and_limit
from validation.fidelity.exposure import Exposure, cut
from validation.fidelity.metrics import METRICS, measure
from validation.fidelity.occurrences import CATEGORY, ITEM, Occurrences
from validation.references.reader import Reference, UnknownReference

RHYTHM = ("inter_event_gap", "burstiness", "memory", "events_per_active_week", "top_share")
HABIT = ("repeat_share", "repeat_lag", "user_ranks")
UNFITTED_TIMES = ("hour_of_day", "day_of_week", "events_per_user", "daily_autocorrelation", "dormancy")
UNFITTED_CHOICES = ("popularity", "drift", "self_recognition", "transitions", "predictability")
BURSTINESS = 0.06
"""Limit of both forms of burstiness, of which a build is judged by one: Bn, if the reference has it."""
NEAR = 0.45
"""Part of its limit within which a metric is near enough for the search, so that other people are within it as well."""
FAR = 3.0
"""Part of its limit beyond which a distance counts little more; one that cannot be told counts as twice that."""


@dataclass(frozen=True)
class Target:
    """What is aimed at: a reference, what it could see, our weeks, and what its choices are told apart by."""

    reference: Reference
    exposure: Exposure
    weeks: float

    def has(self, metric: str, of: str = ITEM) -> bool:
        """Whether the reference has a table of the metric; of categories only one of their own."""
        tables = METRICS[metric].tables
        if of == CATEGORY:
            tables = tuple(f"category_{table}" for table in tables)
        elif metric == "user_ranks":
            tables = ("user_category_rank_share", "user_item_rank_share")
        return has_table(self.reference, tables)


def loss(target: Target, metrics: Sequence[tuple[str, str, Occurrences]]) -> float:
    """Sum of the squares by which distances lie beyond ``NEAR`` of their limits. ``metrics`` are names, units, and ours."""
    total = 0.0
    for metric, of, ours in metrics:
        for ratio in ratios(target, metric, of, ours):
            total += max(0.0, ratio - NEAR) ** 2
    return total


def ratios(target: Target, metric: str, of: str, ours: Occurrences) -> Iterator[float]:
    """Each distance of a metric as a part of its limit."""
    sized = cut(ours, target.exposure, target.weeks)
    sample = Quick(sized, of, target.weeks, target.exposure)
    for compared in METRICS[metric].compare(sample, target.reference):
        absolute = _absolute(metric, compared)
        if absolute is not None:
            value = compared.value / limits(target.reference, compared, absolute)[1]
            yield _tempered(value) if math.isfinite(value) else 2 * FAR


def _tempered(ratio: float) -> float:
    """A ratio that grows slowly where it is large, so that what can never be met does not drown the rest."""
    return ratio if ratio <= FAR else FAR * (ratio / FAR) ** 0.25


def _absolute(metric: str, compared: Compared) -> float | None:
    is_burstiness = metric == "burstiness" and compared.distance == "wasserstein"
    return BURSTINESS if is_burstiness else compared.absolute


def limits(reference: Reference, compared: Compared, absolute: float) -> tuple[float, float]:
    """Floor and limit of a comparison at this sample size; the floor is NaN where the reference knows none."""
    try:
        record = reference.self_distance(*compared.halves)
    except UnknownReference:
        return floor_and_limit(absolute, 1.0, 1.0, math.nan, math.nan)
    return floor_and_limit(absolute, max(compared.users, 1), 2.0 * record.users_per_half, record.mean, record.p95)


@dataclass(frozen=True)
class Line:
    """One distance as the report has it. ``limit`` and ``floor`` are None where there is none, and so is ``is_ok``."""

    metric: str
    stratum: str
    distance: str
    value: float | None
    limit: float | None
    floor: float | None
    is_ok: bool | None
    note: str = ""

    @property
    def name(self) -> tuple[str, str, str]:
        return self.metric, self.stratum, self.distance


def lines(target: Target, metric: str, of: str, ours: Occurrences) -> list[Line]:
    """The metric's distances, each with its limit and floor; one line with a note where nothing can be compared."""
    shown = f"{metric} of categories" if of == CATEGORY else metric
    found = measure(
        "", metric, target.reference, ours, of=of, exposure=target.exposure, weeks=target.weeks, is_gate=False
    )
    if not found.parts:
        return [Line(shown, "", "", None, None, None, None, found.reason or found.verdict)]
    is_bound = all(part.is_shown_only for part in found.parts)
    told: list[Line] = []
    for part in found.parts:
        limit = part.limit
        if metric == "burstiness" and part.is_shown_only and not is_bound:
            limit = BURSTINESS
        elif part.is_shown_only and not is_bound:
            continue
        judged = not is_bound and math.isfinite(limit)
        is_ok = bool(part.value <= limit) and not part.is_broken if judged else None
        note = found.reason if is_bound else part.reason if part.is_broken else ""
        told.append(
            Line(shown, part.stratum, part.distance, _known(part.value), _known(limit), _known(part.floor), is_ok, note)
        )
    return told


def _known(number: float) -> float | None:
    return round(number, 4) if math.isfinite(number) else None


def fitted_times(target: Target) -> list[str]:
    """The metrics of times that the reference has and that are fitted."""
    return [metric for metric in RHYTHM if target.has(metric)]


def fitted_choices(target: Target, has_kin: bool) -> list[tuple[str, str]]:
    """The metrics of choices that the reference has and that are fitted, each with what its units are.

    ``has_kin`` says that the activity has returns to categories: only then can favourite categories be fitted.
    """
    found = [
        (metric, _unit(target, metric) if metric == "user_ranks" else ITEM) for metric in HABIT if target.has(metric)
    ]
    return [(metric, of) for metric, of in found if has_kin or of == ITEM]


def unfitted_times(target: Target) -> list[str]:
    """The metrics of times that the reference has and that are not fitted."""
    return [metric for metric in UNFITTED_TIMES if target.has(metric)]


def unfitted_choices(target: Target, has_kin: bool) -> list[tuple[str, str]]:
    """The metrics of choices that the reference has and that are not fitted, each with what its units are."""
    fitted = {metric for metric, _ in fitted_choices(target, has_kin)}
    found = [(metric, _unit(target, metric)) for metric in HABIT if target.has(metric) and metric not in fitted]
    found += [(metric, CATEGORY) for metric in ("repeat_share", "repeat_lag") if target.has(metric, CATEGORY)]
    return [*found, *((metric, _unit(target, metric)) for metric in UNFITTED_CHOICES if target.has(metric))]


def _unit(target: Target, metric: str) -> str:
    """Drift and the like are told of categories where the ranks of a person are."""
    of_category = any(table.metric == "user_category_rank_share" for table in target.reference.tables)
    return CATEGORY if of_category and metric != "popularity" else ITEM


def of_unit(chosen: Chosen, of: str) -> Occurrences:
    """The choices told apart by item or by category."""
    return chosen.categories if of == CATEGORY else chosen.items


def absent(target: Target) -> Mapping[str, list[str]]:
    """Metrics of which the reference says nothing, by whether they would be fitted."""
    return {
        "fitted": [metric for metric in (*RHYTHM, *HABIT) if not target.has(metric)],
        "not fitted": [metric for metric in (*UNFITTED_TIMES, *UNFITTED_CHOICES) if not target.has(metric)],
    }
