"""When things are done, and how much: our people beside the reference's tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from validation.fidelity import rhythm
from validation.fidelity.compare import (
    F64,
    Compared,
    Sample,
    known_strata,
    listed_quantiles,
    of_number,
    of_quantiles,
    of_shares,
    only_stratum,
)
from validation.fidelity.distances import (
    circular_wasserstein,
    ks_at_quantiles,
    ks_of_sample,
    total_variation,
    wasserstein_log10,
)
from validation.fidelity.keyed import permutation
from validation.fidelity.occurrences import (
    MINUTE_US,
    Occurrences,
    hour_counts,
    is_weekend,
    local_hour,
    weekday_counts,
)
from validation.references.profile import RESTING, WORKING
from validation.references.reader import Reference

HOURS, WEEK = "hour_of_day_share", "day_of_week_share"
GAPS_H, GAPS_DAYS = "inter_event_gap_hours_quantile", "inter_event_gap_days_quantile"
DAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOUR_NAMES = tuple(str(hour) for hour in range(24))
DAY_US = 1440 * MINUTE_US


def hours(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Local hours of each day type; the naive model acts at all hours alike."""
    ours = sample.occurrences
    weekend = is_weekend(ours.at_us, ours.offset_min)
    for stratum, real in _hours_by_day_type(reference).items():
        chosen = ours if stratum == "all" else ours.where(weekend == (stratum == "weekend"))
        counts = hour_counts(chosen)
        shares = of_shares(reference, HOURS, stratum, counts, 0.08, chosen.users, real)
        shares = replace(shares, events=int(chosen.at_us.size))
        yield shares
        yield _shown(shares, "circular_wasserstein", circular_wasserstein(counts, shares.real), shares.synthetic)
        if chosen.by_hour is None and chosen.user.size:
            equal = rhythm.mean_hours_by_user(chosen.user, local_hour(chosen.at_us, chosen.offset_min))
            yield _shown(shares, "total_variation_by_user", total_variation(equal, shares.real), equal)


def _shown(shares: Compared, distance: str, value: float, synthetic: F64) -> Compared:
    """Another distance of the same hours, which never decides: no distance between halves is known for it."""
    even = np.full(24, 1 / 24)
    naive = circular_wasserstein(even, shares.real) if distance == "circular_wasserstein" else shares.naive
    return replace(
        shares,
        distance=distance,
        absolute=None,
        value=value,
        naive=naive,
        synthetic=synthetic,
        halves=(HOURS, shares.stratum, distance),
    )


def _hours_by_day_type(reference: Reference) -> dict[str, Mapping[str, float]]:
    """Shares by hour of weekdays and weekends, the mean over strata of one type; else of all days."""
    strata = known_strata(reference, HOURS)
    by_type = {
        "weekday": [name for name in strata if WORKING & set(name.split("|"))],
        "weekend": [name for name in strata if RESTING & set(name.split("|"))],
    }
    chosen = by_type if all(by_type.values()) else {"all": [only_stratum(reference, HOURS)]}
    found: dict[str, Mapping[str, float]] = {}
    for day_type, names in chosen.items():
        tables = [reference.shares(HOURS, name) for name in names]
        found[day_type] = {
            hour: sum(table.get(hour, math.nan) for table in tables) / len(tables) for hour in HOUR_NAMES
        }
    return found


def weekdays(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Weekdays of the local date, or of what is booked; the naive model acts on all of them alike."""
    stratum = only_stratum(reference, WEEK)
    known = reference.shares(WEEK, stratum)
    ours = sample.occurrences
    counts = weekday_counts(ours)
    if stratum == "arrival" and ours.arrives is not None:
        arrives = ours.arrives[np.isfinite(ours.arrives)].astype(np.int64)
        counts = np.bincount(arrives - 1, minlength=7).astype(np.float64)
    real = {day: known.get(day, math.nan) for day in DAY_NAMES}
    yield replace(of_shares(reference, WEEK, stratum, counts, 0.04, ours.users, real), events=int(ours.at_us.size))


def times_of(occurrences: Occurrences, reference: Reference) -> Occurrences:
    """Only times; for a reference of dates, one event a user and local day, at its midnight."""
    ours = Occurrences(occurrences.user, occurrences.at_us, occurrences.offset_min)
    if known_strata(reference, GAPS_H) or not known_strata(reference, GAPS_DAYS):
        return ours
    day = (ours.at_us // MINUTE_US + ours.offset_min) // 1440
    new = np.ones(day.size, np.bool_)
    new[1:] = (day[1:] != day[:-1]) | (ours.user[1:] != ours.user[:-1])
    return Occurrences(ours.user[new], day[new] * DAY_US, np.zeros(int(new.sum()), np.int64))


def mean_gap_h(reference: Reference) -> float:
    """Mean hours between two events of one user; NaN if the reference does not say."""
    for table, hours_each in ((GAPS_H, 1.0), (GAPS_DAYS, 24.0)):
        if known_strata(reference, table):
            return reference.shares(table, only_stratum(reference, table)).get("mean", math.nan) * hours_each
    return math.nan


def gaps(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Time between a user's occurrences, at the listed quantiles; the naive model is a Poisson process of equal mean."""
    in_days = not known_strata(reference, GAPS_H) and bool(known_strata(reference, GAPS_DAYS))
    table, unit_h = (GAPS_DAYS, 24.0) if in_days else (GAPS_H, 1.0)
    stratum = only_stratum(reference, table)
    known = reference.shares(table, stratum)
    p, q = listed_quantiles(reference, table, stratum)
    mean = known.get("mean", math.nan)
    naive = -mean * np.log1p(-p)
    ours = times_of(sample.occurrences, reference)
    found = rhythm.gaps_h(ours.user, ours.at_us) / unit_h
    quantiles = np.quantile(found, p) if found.size else np.full(p.shape, math.nan)
    last = np.r_[q[1:] != q[:-1], True]  # of several quantiles at one value, the distribution reaches the highest there
    each = rhythm.gap_quantiles_by_user(ours.user, ours.at_us, p) / unit_h

    def compared(distance: str, absolute: float | None, value: float, other: float, synthetic: F64) -> Compared:
        return Compared(
            stratum=stratum,
            distance=distance,
            absolute=absolute,
            value=value,
            naive=other,
            users=ours.users_with_two,
            events=int(found.size),
            bins=tuple(f"q{probability:.2f}" for probability in p),
            real=q,
            synthetic=synthetic,
            naive_shape=naive,
            halves=(table, stratum, distance),
        )

    naive_ks = ks_at_quantiles(-np.expm1(-q[last] / mean), p[last])
    naive_w1 = wasserstein_log10(naive * unit_h, q * unit_h, p)
    yield compared("ks", 0.08, ks_of_sample(found, q, p), naive_ks, quantiles)
    yield compared("wasserstein_log10", 0.15, wasserstein_log10(quantiles * unit_h, q * unit_h, p), naive_w1, quantiles)
    yield compared("wasserstein_log10_by_user", None, wasserstein_log10(each * unit_h, q * unit_h, p), naive_w1, each)


def events_per_user(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """How many events each user has; the naive model deals them out at one rate."""
    ours, naive = (times_of(one, reference) for one in (sample.occurrences, sample.naive))
    counts, dull = (rhythm.events_per_user(one.user).astype(np.float64) for one in (ours, naive))
    table = "events_per_user_quantile"
    stratum = only_stratum(reference, table)
    limits = {"ks": 0.10, "wasserstein_log10": None}
    yield from of_quantiles(reference, table, stratum, counts, dull, limits, counts.size)


def events_per_active_week(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Events a week between a user's first and last, of users who span 4 weeks; the naive model has one rate."""
    ours, naive = (times_of(one, reference) for one in (sample.occurrences, sample.naive))
    rate, dull = (rhythm.events_per_active_week(one.user, one.at_us) for one in (ours, naive))
    table = "events_per_active_week_quantile"
    stratum = only_stratum(reference, table)
    yield from of_quantiles(
        reference, table, stratum, rate, dull, {"ks": 0.10, "wasserstein_log10": None}, int(rate.size)
    )


def top_users(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """What the most active tenth does, and Gini's coefficient; the naive model has one rate."""
    ours, naive = (times_of(one, reference) for one in (sample.occurrences, sample.naive))
    counts, dull = (rhythm.events_per_user(one.user) for one in (ours, naive))
    figures = (
        ("top10pct_user_event_share", "share", rhythm.top_share, 0.05),
        ("gini_events_per_user", "gini", rhythm.gini, None),
    )
    for table, name, figure, absolute in figures:
        if absolute is None and not known_strata(reference, table):
            continue
        stratum = only_stratum(reference, table)
        real = reference.shares(table, stratum).get(name, math.nan)
        yield of_number(
            name,
            stratum,
            real,
            figure(counts),
            figure(dull),
            absolute,
            int(counts.size),
            int(counts.sum()),
            (table, stratum, "abs_diff"),
        )


def burstiness(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """B of each user's gaps; its form for finite rows decides where the reference has it. The naive model is Poisson."""
    ours, naive = (times_of(one, reference) for one in (sample.occurrences, sample.naive))
    both = {"burstiness_Bn": rhythm.burstiness_finite, "burstiness_B": rhythm.burstiness}
    decides = next((table for table in both if known_strata(reference, table)), "burstiness_Bn")
    for table, figure in both.items():
        if table != decides and not known_strata(reference, table):
            continue
        values, dull = (figure(one.user, one.at_us) for one in (ours, naive))
        limits = {"wasserstein": 0.06 if table == decides else None}
        for part in of_quantiles(
            reference, table, only_stratum(reference, table), values, dull, limits, int(values.size)
        ):
            yield replace(part, stratum=table.removeprefix("burstiness_"))


def memory(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """M of each user's gaps; the naive model is Poisson."""
    ours, naive = (times_of(one, reference) for one in (sample.occurrences, sample.naive))
    values, dull = (rhythm.memory(one.user, one.at_us) for one in (ours, naive))
    stratum = only_stratum(reference, "memory_M")
    yield from of_quantiles(reference, "memory_M", stratum, values, dull, {"wasserstein": 0.06}, int(values.size))


def daily_autocorrelation(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Correlation of counts of days one and seven apart, the mean over users with 10 events or more."""
    for lag in (1, 7):
        table = f"daily_count_lag{lag}_autocorr"
        stratum = only_stratum(reference, table)
        values, dull = (count_autocorrelation(one, lag) for one in (sample.occurrences, sample.naive))
        real = reference.shares(table, stratum).get("mean", math.nan)
        mean, other = (float(x.mean()) if x.size else math.nan for x in (values, dull))
        halves = (table, stratum, "abs_diff")
        yield of_number("mean", f"lag {lag}", real, mean, other, 0.05, int(values.size), int(values.size), halves)


def count_autocorrelation(occurrences: Occurrences, lag: int) -> F64:
    """(users,) correlation of the events of local days ``lag`` apart, over the sample's days, users of 10 events or more."""
    if not occurrences.user.size:
        return np.empty(0)
    day = (occurrences.at_us // MINUTE_US + occurrences.offset_min) // 1440
    counts = np.bincount(occurrences.user)
    many = counts[occurrences.user] >= 10
    every = rhythm.daily_counts(occurrences.user[many], day[many], int(day.min()), int(day.max()))
    return rhythm.autocorrelation(*every, lag)


def dormancy(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Share of users who pause for 14 days or longer; the naive model has one rate."""
    table = "dormant_14d_share"
    stratum = only_stratum(reference, table)
    share, dull = (rhythm.dormant_share(one.user, one.at_us) for one in (sample.occurrences, sample.naive))
    real = reference.shares(table, stratum).get("share", math.nan)
    ours = sample.occurrences
    halves = (table, stratum, "abs_diff")
    yield of_number("share", stratum, real, share, dull, 0.05, ours.users_with_two, int(ours.at_us.size), halves)


def daily_amount(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """What a device counted on days with anything; in the naive model all days are like the mean."""
    table = "daily_steps_quantile"
    stratum = only_stratum(reference, table)
    total = _daily_totals(sample.occurrences)[2]
    dull = np.full(total.size, total.mean()) if total.size else total
    limits = {"ks": 0.08, "wasserstein_log10": 0.15}
    yield from of_quantiles(reference, table, stratum, total, dull, limits, sample.occurrences.users)


def amount_autocorrelation(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Correlation of what a device counted on a day and the next one that has any; the naive model permutes all days.

    The reference leaves out days without steps and takes those around them for neighbours, and so do we.
    """
    table = "daily_steps_lag1_autocorr"
    user, _, total = _daily_totals(sample.occurrences)
    place = np.arange(total.size)
    values = rhythm.autocorrelation(user, place, total, 1)
    dull = rhythm.autocorrelation(user, place, total[permutation("naive days", total.size)], 1)
    stratum = only_stratum(reference, table)
    yield from of_quantiles(reference, table, stratum, values, dull, {"wasserstein": 0.05}, int(values.size))


def _daily_totals(occurrences: Occurrences) -> tuple[np.ndarray, np.ndarray, F64]:
    """Users, local days and totals of the days on which a device counted anything, one a user and day."""
    if occurrences.by_hour is None:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    total = occurrences.by_hour.sum(axis=1)
    worn = total > 0
    user, total = occurrences.user[worn], total[worn]
    day = ((occurrences.at_us // MINUTE_US + occurrences.offset_min) // 1440)[worn]
    new = np.r_[True, (user[1:] != user[:-1]) | (day[1:] != day[:-1])] if user.size else worn[:0]
    return user[new], day[new], total[new]
