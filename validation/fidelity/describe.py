"""A sample of people as a reference: the tables of the shared schema, and how far halves of the people lie apart."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from validation.fidelity import habits, identity, rhythm
from validation.fidelity.compare import F64, Quick, has_table
from validation.fidelity.compare_rhythm import DAY_NAMES, HOUR_NAMES, count_autocorrelation
from validation.fidelity.exposure import Exposure, weeks_of
from validation.fidelity.keyed import uniforms
from validation.fidelity.metrics import METRICS
from validation.fidelity.occurrences import ITEM, Occurrences, hour_counts, is_weekend, weekday_counts
from validation.references.reader import Reference, ReferenceTable, SelfDistance

WIDE = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
NARROW = WIDE[1:-1]
SPLITS = 20
UNITS = {
    "events_per_user_": "events",
    "events_per_active_week_": "events per week",
    "inter_event_gap_hours_": "hours",
    "gini_": "gini",
    "burstiness_": "coefficient",
    "memory_": "coefficient",
    "daily_count_": "coefficient",
    "zipf_": "exponent",
    "second_order_": "bits",
    "entropy_rate_": "bits",
    "monthly_js_": "bits",
    "within_user_js": "bits",
    "between_user_js": "bits",
}
"""Of tables, by how their names begin; all others hold shares."""


def describe(
    reference_id: str,
    domain: str,
    occurrences: Occurrences,
    *,
    at_least: int = 20,
    splits: int = SPLITS,
    only: Collection[str] = tuple(METRICS),
) -> Reference:
    """The reference that these people are, for `measure` to take.

    Lines of one user at one time count once where only times matter, and all where it matters what was chosen.
    ``at_least`` events tell a month; ``splits`` halvings, by digest, tell how far halves lie apart, for the metrics in
    ``only``. Its window is theirs: give `measure` an `Exposure` of as many weeks.
    """
    bare = _reference(reference_id, domain, occurrences, at_least, ())
    return dataclasses.replace(bare, self_distances=tuple(_self_distances(bare, occurrences, at_least, splits, only)))


def _reference(
    reference_id: str, domain: str, occurrences: Occurrences, at_least: int, halves: tuple[SelfDistance, ...]
) -> Reference:
    return Reference(
        reference_id=reference_id,
        domain=domain,
        source="a sample",
        licence="that of the sample",
        note="",
        n_users=occurrences.users,
        n_events=int(occurrences.at_us.size),
        tables=tuple(tables_of(occurrences, at_least)),
        self_distances=halves,
    )


def _self_distances(
    whole: Reference, ours: Occurrences, at_least: int, splits: int, only: Collection[str]
) -> Iterator[SelfDistance]:
    people, number = np.unique(ours.user, return_inverse=True)
    if people.size < 2:
        return
    found: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    for split in range(splits):
        order = np.argsort(uniforms(f"half {split}", people.size), kind="stable")
        in_left = np.zeros(people.size, np.bool_)
        in_left[order[: people.size // 2]] = True
        left, right = ours.where(in_left[number]), ours.where(~in_left[number])
        half = _reference(whole.reference_id, whole.domain, left, at_least, ())
        every, once = (Quick(one, ITEM, weeks_of(one), Exposure(weeks_of(one))) for one in (right, _once(right)))
        for metric in (METRICS[name] for name in METRICS if name in only):
            if has_table(half, metric.tables):
                for part in metric.compare(every if metric.choices else once, half):
                    found.setdefault(part.halves, []).append((part.value, part.users))
    for (metric_name, stratum, distance), told in found.items():
        values = [value for value, _ in told]
        if len(values) == splits and np.isfinite(values).all():  # else it is one that not every half can tell
            yield SelfDistance(
                metric_name,
                stratum,
                distance,
                splits,
                mean=float(np.mean(values)),
                p95=float(np.quantile(values, 0.95)),
                users_per_half=sum(users for _, users in told) // splits,
                events=int(ours.at_us.size),
                sd=float(np.std(values)),
                largest=float(np.max(values)),
            )


def tables_of(ours: Occurrences, at_least: int = 20) -> Iterator[ReferenceTable]:
    """Every table that the arrays allow, computed as the shared references' `how_computed` says; of nobody none.

    Lines of one user at one time count once where only times matter.
    """
    if not ours.at_us.size:
        return
    once = _once(ours)
    weekend = is_weekend(once.at_us, once.offset_min)
    for stratum, chosen in (("all", once), ("weekday", once.where(~weekend)), ("weekend", once.where(weekend))):
        if chosen.at_us.size:
            yield _shares("hour_of_day_share", stratum, HOUR_NAMES, hour_counts(chosen))
    yield _shares("day_of_week_share", "all", DAY_NAMES, weekday_counts(once))
    yield from _rhythm(once)
    if ours.size is not None:
        sizes = np.bincount(np.minimum(ours.size, 31), minlength=32)[1:]
        yield _shares("basket_size_share", "all", [*map(str, range(1, 31)), "31+"], sizes)
    if ours.rating is not None and np.isfinite(ours.rating).any():
        stars = ours.rating[np.isfinite(ours.rating)].astype(np.int64)
        yield _shares("rating_share", "all", "12345", np.bincount(stars, minlength=6)[1:6])
    if ours.unit is not None:
        known = ours.where(ours.unit >= 0)
        assert known.unit is not None
        yield from _habits(known, known.unit)
        yield from _identity(known, known.unit, at_least)


def _once(ours: Occurrences) -> Occurrences:
    """The first line of each user and time; all lines where a device summed up days, as each has its own part of a sum."""
    if ours.by_hour is not None:
        return ours
    new = np.ones(ours.user.size, np.bool_)
    new[1:] = (ours.user[1:] != ours.user[:-1]) | (ours.at_us[1:] != ours.at_us[:-1])
    return ours.where(new)


def _rhythm(ours: Occurrences) -> Iterator[ReferenceTable]:
    user, at = ours.user, ours.at_us
    counts = rhythm.events_per_user(user)
    yield from _quantiles("events_per_user_quantile", "all", counts.astype(np.float64), WIDE)
    yield _numbers("top10pct_user_event_share", "all", {"share": rhythm.top_share(counts)}, counts.size)
    yield _numbers("gini_events_per_user", "all", {"gini": rhythm.gini(counts)}, counts.size)
    yield from _quantiles("events_per_active_week_quantile", "all", rhythm.events_per_active_week(user, at), WIDE)
    yield from _quantiles("inter_event_gap_hours_quantile", "all", rhythm.gaps_h(user, at), WIDE)
    yield from _quantiles("burstiness_B", "all", rhythm.burstiness(user, at), NARROW)
    yield from _quantiles("burstiness_Bn", "all", rhythm.burstiness_finite(user, at), NARROW)
    yield from _quantiles("memory_M", "all", rhythm.memory(user, at), NARROW)
    lags = {lag: count_autocorrelation(ours, lag) for lag in (1, 7)}
    if all(values.size for values in lags.values()):
        for lag, values in lags.items():
            yield from _quantiles(f"daily_count_lag{lag}_autocorr", "all", values, WIDE)
    share = rhythm.dormant_share(user, at)
    if np.isfinite(share):
        yield _numbers("dormant_14d_share", "all", {"share": share}, ours.users_with_two)


def _habits(ours: Occurrences, unit: npt.NDArray[np.int64]) -> Iterator[ReferenceTable]:
    stratum = "second half of each history (users>=10 events)"
    repeats, events = habits.repeat_share_by_user(ours.user, unit)
    if events.size:
        share = float(repeats.sum() / events.sum())
        yield _numbers("repeat_event_share", stratum, {"share": share}, int(events.sum()))
        yield from _quantiles("user_repeat_share_quantile", "users>=10 events", repeats / events, WIDE)
        lags = habits.repeat_lag_counts(ours.user, ours.at_us, unit)
        if lags.sum():
            yield _shares("repeat_lag_share", "repeat events", habits.LAG_NAMES, lags)
    ranks, users = habits.rank_shares(ours.user, unit)
    if users:
        named = {str(rank + 1): float(value) for rank, value in enumerate(ranks[: habits.RANKS])}
        yield _numbers("user_item_rank_share", "users>=20 events", named, users)
    slope = habits.zipf_slope(np.bincount(unit)) if unit.size else float("nan")
    if np.isfinite(slope):
        yield _numbers("zipf_exponent_item_popularity", "all", {"slope_top1000": slope}, int(np.unique(unit).size))
    bits = habits.second_order_excess(ours.user, unit)
    if np.isfinite(bits):
        yield _numbers("second_order_excess_bits", "all", {"bits": bits}, int(unit.size))
    yield from _quantiles("entropy_rate_bits_quantile", "rows of 64", habits.entropy_rates(ours.user, unit), NARROW)


def _identity(ours: Occurrences, unit: npt.NDArray[np.int64], at_least: int) -> Iterator[ReferenceTable]:
    month = identity.month_of(ours.at_us, ours.offset_min)
    lags = {lag: identity.drift(ours.user, month, unit, lag, at_least) for lag in (1, 2, 3)}
    if all(one.pairs for one in lags.values()):
        for lag, one in lags.items():
            yield _numbers(
                "monthly_js_divergence",
                f"lag {lag} month",
                {"mean": one.observed, "permutation_null_mean": one.null, "excess_over_null": one.excess},
                one.pairs,
                f">= {at_least} events in both",
            )
    found = identity.recognition(ours.user, month, unit, at_least)
    stratum = f"consecutive months, >= {at_least} events in each"
    if found.within.size:
        yield from _quantiles("within_user_js", stratum, found.within, NARROW)
        yield from _quantiles("between_user_js", stratum, found.between, NARROW)
        yield from _quantiles("self_recognition_rate", stratum, found.recognised, NARROW)


def _shares(metric: str, stratum: str, bins: Sequence[str], counts: npt.ArrayLike) -> ReferenceTable:
    number = np.asarray(counts, dtype=np.float64)
    return _numbers(metric, stratum, dict(zip(bins, number / number.sum(), strict=True)), int(number.sum()))


def _quantiles(metric: str, stratum: str, values: F64, p: Sequence[float]) -> Iterator[ReferenceTable]:
    """Nothing of an empty sample."""
    if values.size:
        named = {f"q{one:.2f}": value for one, value in zip(p, np.quantile(values, p), strict=True)}
        yield _numbers(metric, stratum, {**named, "mean": float(values.mean())}, int(values.size))


def _numbers(metric: str, stratum: str, values: Mapping[str, float], n: int, how: str = "") -> ReferenceTable:
    numbers = tuple(float(value) for value in values.values())
    unit = next((unit for begins, unit in UNITS.items() if metric.startswith(begins)), "share")
    return ReferenceTable(metric, stratum, unit, how, n, tuple(values), numbers)
