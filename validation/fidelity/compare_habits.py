"""What is chosen, again and anew: our people beside the reference's tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from validation.fidelity import habits, identity
from validation.fidelity.compare import (
    F64,
    Compared,
    Sample,
    known_strata,
    of_number,
    of_quantiles,
    of_shares,
    only_stratum,
)
from validation.fidelity.exposure import Exposure
from validation.fidelity.occurrences import CATEGORY, Occurrences
from validation.references.reader import Reference, UnknownReference

RANK_TABLES = ("user_category_rank_share", "user_item_rank_share")


def table_of(reference: Reference, table: str, of: str) -> str:
    """The table of categories where those are asked for and the reference tells them apart from items."""
    named = f"category_{table}"
    return named if of == CATEGORY and known_strata(reference, named) else table


def chosen_in(occurrences: Occurrences, reference: Reference, table: str) -> tuple[Occurrences, np.ndarray]:
    """What is about something, and its units; once a session where the table counts so. Raises UnknownReference."""
    if occurrences.unit is None:
        raise UnknownReference(f"unit of what was chosen, as `{table}` needs", ["`of` of the gate"])
    known = occurrences.where(occurrences.unit >= 0)
    assert known.unit is not None
    how = reference.table(table, only_stratum(reference, table)).how_computed
    if "one per basket" in how and known.session is not None:
        known = known.where(habits.once_per_session(known.session, known.unit))
    assert known.unit is not None
    return known, known.unit


def repeat_share(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Share of the second half of each history about what was chosen before; the naive model chooses as the crowd does."""
    table = table_of(reference, "repeat_event_share", sample.of)
    stratum = only_stratum(reference, table)
    ours, naive = (chosen_in(one, reference, table) for one in (sample.occurrences, sample.naive))
    repeats, events = habits.repeat_share_by_user(ours[0].user, ours[1])
    share = float(repeats.sum() / events.sum()) if events.size else math.nan
    real = reference.shares(table, stratum).get("share", math.nan)
    yield of_number(
        "share",
        stratum,
        real,
        share,
        habits.repeat_share(naive[0].user, naive[1]),
        0.05,
        int(events.size),
        int(events.sum()),
        (table, stratum, "abs_diff"),
    )
    each = table_of(reference, "user_repeat_share_quantile", sample.of)
    if known_strata(reference, each):
        again, of_all = habits.repeat_share_by_user(naive[0].user, naive[1])
        limits = {"wasserstein": None}
        yield from of_quantiles(
            reference, each, only_stratum(reference, each), repeats / events, again / of_all, limits, int(events.size)
        )


def repeat_lags(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Time since the same was last chosen; the naive model chooses as the crowd does."""
    table = table_of(reference, "repeat_lag_share", sample.of)
    stratum = only_stratum(reference, table)
    ours, naive = (chosen_in(one, reference, table) for one in (sample.occurrences, sample.naive))
    counts, dull = (habits.repeat_lag_counts(one.user, one.at_us, unit) for one, unit in (ours, naive))
    known = reference.shares(table, stratum)
    real = {name: known.get(name, math.nan) for name in habits.LAG_NAMES}
    naive_counts = dull if dull.sum() else None
    yield of_shares(reference, table, stratum, counts, 0.06, ours[0].users, real, naive_counts)


def user_ranks(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Share of a user's most frequent units, the mean over users; the naive model chooses as the crowd does."""
    table = next((name for name in RANK_TABLES if known_strata(reference, name)), RANK_TABLES[0])
    stratum = only_stratum(reference, table)
    known = list(reference.shares(table, stratum).values())[: habits.RANKS]
    real = {str(rank + 1): value for rank, value in enumerate(known)} | {"11+": max(0.0, 1 - math.fsum(known))}
    ours, naive = (chosen_in(one, reference, table) for one in (sample.occurrences, sample.naive))
    shares, users = habits.rank_shares(ours[0].user, ours[1])
    dull, _ = habits.rank_shares(naive[0].user, naive[1])
    found = of_shares(reference, table, stratum, shares, 0.04, users, real, dull if users else None)
    yield replace(found, events=int(ours[1].size))
    slopes = (habits.rank_slope(known), habits.rank_slope(shares), habits.rank_slope(dull))
    halves = (table.replace("_share", "_slope"), stratum, "abs_diff")
    yield of_number("slope", f"{stratum}, slope", *slopes, None, users, int(ours[1].size), halves)


def popularity(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Zipf's exponent of what is chosen how often; in the naive model everything is as popular as everything else."""
    table = "zipf_exponent_item_popularity"
    stratum = only_stratum(reference, table)
    real = next(iter(reference.shares(table, stratum).values()), math.nan)
    ours, unit = chosen_in(sample.occurrences, reference, table)
    slope = habits.zipf_slope(np.bincount(unit)) if unit.size else math.nan
    halves = (table, stratum, "abs_diff")
    yield of_number("slope", stratum, real, slope, 0.0, 0.08, ours.users, int(unit.size), halves)


def basket_size(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Distinct things chosen at once; in the naive model all sizes are as frequent."""
    if sample.occurrences.size is None:
        raise UnknownReference("size of baskets", ["`per: session` of the gate"])
    yield _whole_numbers(
        reference, "basket_size_share", sample.occurrences.size.astype(np.float64), 0.06, sample.occurrences.users
    )


def rating(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Stars; in the naive model all are as frequent."""
    yield _column(sample, reference, "rating_share", sample.occurrences.rating, 0.05)


def nights(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Nights of what is booked; in the naive model all numbers are as frequent."""
    yield _column(sample, reference, "stay_nights_share", sample.occurrences.nights, 0.06)


def party(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """For how many it is booked; in the naive model all numbers are as frequent."""
    yield _column(sample, reference, "party_size_share", sample.occurrences.party, 0.06)


def _column(sample: Sample, reference: Reference, table: str, values: F64 | None, absolute: float) -> Compared:
    if values is None:
        raise UnknownReference(f"column of our lines that `{table}` is about", ["`of: item` of the gate"])
    has = np.isfinite(values)
    return _whole_numbers(reference, table, values[has], absolute, int(np.unique(sample.occurrences.user[has]).size))


def _whole_numbers(reference: Reference, table: str, values: F64, absolute: float, users: int) -> Compared:
    """Shares by whole numbers; the last bin of the reference holds all above it too."""
    stratum = only_stratum(reference, table)
    real = reference.shares(table, stratum)
    low, high = int(next(iter(real))), int(next(reversed(real)).rstrip("+"))
    counts = np.bincount(np.clip(values.astype(np.int64), low, high) - low, minlength=len(real))
    return of_shares(reference, table, stratum, counts, absolute, users, real)


def lead_time(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Days from the booking to its beginning; in the naive model bookings end at a constant rate of equal mean."""
    table = "booking_lead_time_days_quantile"
    days = sample.occurrences.lead_days
    if days is None:
        raise UnknownReference("lead time of our lines", ["`of: item` of the gate"])
    has = np.isfinite(days)
    stratum = only_stratum(reference, table)
    mean = reference.shares(table, stratum).get("mean", math.nan)
    dull = np.rint(-mean * np.log1p(-(np.arange(10_000) + 0.5) / 10_000))
    users = int(np.unique(sample.occurrences.user[has]).size)
    yield from of_quantiles(reference, table, stratum, days[has], dull, {"ks": 0.08, "wasserstein": None}, users)


def drift(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Divergence of a user's months over what chance gives, one to three months apart; naive people do not change.

    Three months apart decide: there the excess must be positive, and not less than one month apart.
    """
    table = "monthly_js_divergence"
    occurrences = sample.occurrences
    if occurrences.unit is None:
        raise UnknownReference("unit of what was chosen", ["`of` of the gate"])
    occurrences = occurrences.where(occurrences.unit >= 0)
    month = identity.month_of(occurrences.at_us, occurrences.offset_min)
    found: dict[int, identity.Drift] = {}
    for lag in (1, 2, 3):
        stratum = f"lag {lag} month"
        known = reference.table(table, stratum)
        real = reference.shares(table, stratum).get("excess_over_null", math.nan)
        assert occurrences.unit is not None
        at_least = _at_least(known.how_computed, 20)
        one = found[lag] = identity.drift(occurrences.user, month, occurrences.unit, lag, at_least)
        fails = ""
        if lag == 3 and one.pairs and one.excess <= 0:
            fails = f"nobody changes: {one.excess:.4g} bits more than chance gives"
        elif lag == 3 and one.pairs and one.excess < found[1].excess:
            fails = f"the excess falls from {found[1].excess:.4g} bits one month apart to {one.excess:.4g} three apart"
        halves = (f"{table}_excess", stratum, "abs_diff")
        absolute = 0.03 if lag == 3 else None
        yield of_number("excess", stratum, real, one.excess, 0.0, absolute, one.users, one.pairs, halves, fails)


def _at_least(words: str, otherwise: int) -> int:
    """The least number of events that the words name, as in `>= 20 basket lines in both`."""
    found = re.search(r">=\s*(\d+)", words)
    return int(found[1]) if found else otherwise


def recognition(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """How surely a user's next month is told from others' by their last one; naive people cannot be told apart.

    The pool is 20 others, and lines are thinned at random to as many a person and month as the reference has.
    """
    stratum = only_stratum(reference, "self_recognition_rate")
    real = {
        name: reference.shares(name, stratum).get("mean", math.nan)
        for name in ("self_recognition_rate", "within_user_js", "between_user_js")
        if name == "self_recognition_rate" or known_strata(reference, name)
    }
    if sample.occurrences.unit is None:
        raise UnknownReference("unit of what was chosen", ["`of` of the gate"])
    ours = _matched(sample.occurrences.where(sample.occurrences.unit >= 0), sample.exposure, sample.weeks)
    assert ours.unit is not None
    month = identity.month_of(ours.at_us, ours.offset_min)
    found = identity.recognition(ours.user, month, ours.unit, _at_least(stratum, 20))
    pairs = int(found.within.size)
    values = {
        "self_recognition_rate": (found.recognised, 0.5, 0.05),
        "within_user_js": (found.within, float(found.between.mean()) if pairs else math.nan, None),
        "between_user_js": (found.between, float(found.within.mean()) if pairs else math.nan, None),
    }
    for name, there in real.items():
        column, naive, absolute = values[name]
        mean = float(column.mean()) if pairs else math.nan
        halves = (f"{name}_mean", stratum, "abs_diff")
        yield of_number("mean", name, there, mean, naive, absolute, found.users, pairs, halves)


def _matched(occurrences: Occurrences, exposure: Exposure, weeks: float) -> Occurrences:
    """Lines thinned to the reference's number a person and 30 days, where ours is greater."""
    if exposure.events_a_month is None or not occurrences.user.size or weeks <= 0:
        return occurrences
    ours = occurrences.user.size / occurrences.users / (weeks * 7 / identity.DAYS_A_MONTH)
    if ours <= exposure.events_a_month:
        return occurrences
    return occurrences.where(identity.thinned(occurrences.user.size, exposure.events_a_month / ours))


def transitions(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Bits by which the choice before last tells the next one; shown only."""
    table = "second_order_excess_bits"
    stratum = only_stratum(reference, table)
    ours, unit = chosen_in(sample.occurrences, reference, table)
    naive, dull = chosen_in(sample.crowd, reference, table)
    bits, other = habits.second_order_excess(ours.user, unit), habits.second_order_excess(naive.user, dull)
    real = reference.shares(table, stratum).get("bits", math.nan)
    yield of_number("bits", stratum, real, bits, other, None, ours.users, int(unit.size), (table, stratum, "abs_diff"))


def predictability(sample: Sample, reference: Reference) -> Iterator[Compared]:
    """Bits a choice of rows of 64, the mean over users; the naive model chooses as the crowd does."""
    table = "entropy_rate_bits_quantile"
    stratum = only_stratum(reference, table)
    (ours, unit), (naive, dull) = (chosen_in(one, reference, table) for one in (sample.occurrences, sample.crowd))
    bits, other = habits.entropy_rates(ours.user, unit), habits.entropy_rates(naive.user, dull)
    real = reference.shares(table, stratum).get("mean", math.nan)
    mean, naive_mean = (float(x.mean()) if x.size else math.nan for x in (bits, other))
    halves = (table, stratum, "abs_diff")
    yield of_number("mean", stratum, real, mean, naive_mean, 0.1, int(bits.size), int(unit.size), halves)
