"""Every metric, on people like those of the reference and on the naive model of them."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest

from tests.validation.fidelity.samples import WEEKS, lively
from validation.fidelity.describe import describe, tables_of
from validation.fidelity.exposure import Exposure
from validation.fidelity.keyed import uniforms
from validation.fidelity.metrics import METRICS, Measurement, measure
from validation.fidelity.naive import chosen_by_the_crowd, constant_rate
from validation.fidelity.occurrences import Occurrences
from validation.references.reader import Reference, load_reference

LIVELY = (
    *("hour_of_day", "day_of_week", "inter_event_gap", "events_per_user", "events_per_active_week", "top_share"),
    *("burstiness", "memory", "dormancy", "daily_autocorrelation", "repeat_share", "repeat_lag", "user_ranks", "drift"),
    *("self_recognition", "predictability"),
)


@cache
def known() -> Reference:
    return describe("made", "media", lively(1), at_least=5, splits=2, only=LIVELY)


def measured(metric: str, occurrences: Occurrences) -> Measurement:
    return measure("media", metric, known(), occurrences, exposure=Exposure(WEEKS), weeks=WEEKS)


@pytest.mark.parametrize("metric", LIVELY)
def test_others_of_the_same_kind_pass_and_the_naive_model_of_them_does_not(metric: str) -> None:
    naive = (
        chosen_by_the_crowd if metric == "predictability" else constant_rate
    )  # which nobody's 64 choices would survive
    good, bad = measured(metric, lively(2)), measured(metric, naive(lively(2)))
    assert good.passed is True, good
    assert good.verdict in ("indistinguishable", "close")
    assert bad.passed is False, bad


def test_the_very_people_lie_at_no_distance_from_themselves() -> None:
    ours = lively(1)
    once = ours.where(np.r_[True, (np.diff(ours.user) != 0) | (np.diff(ours.at_us) != 0)])
    for metric in LIVELY:
        very = ours if METRICS[metric].choices else once  # as they are read from a build
        parts = [part for part in measured(metric, very).parts if part.counts]
        assert parts and max(part.value for part in parts) < 2e-3, (metric, parts)


def drawn(shares: dict[str, float], events: int = 6000) -> np.ndarray:
    """Whole numbers in the shares of a table, the open bin at its lower end."""
    sums = np.cumsum(list(shares.values()))
    low = int(next(iter(shares)))
    return np.searchsorted(sums / sums[-1], uniforms("drawn", events), side="right") + low


@pytest.mark.parametrize(
    ("metric", "reference", "table", "column"),
    [
        ("basket_size", "food_takeaway_london", "basket_size_share", "size"),
        ("basket_size", "media_cdnow_purchases", "basket_size_share", "size"),
        ("rating", "media_movielens_100k", "rating_share", "rating"),
        ("nights", "travel_hotel_bookings", "stay_nights_share", "nights"),
        ("party_size", "travel_hotel_bookings", "party_size_share", "party"),
        ("lead_time", "travel_hotel_bookings", "booking_lead_time_days_quantile", "lead_days"),
        ("day_of_week", "travel_hotel_bookings", "day_of_week_share", "arrives"),
    ],
)
def test_what_a_line_says_is_held_against_the_table_about_it(
    metric: str, reference: str, table: str, column: str
) -> None:
    source = load_reference(reference)
    shares = source.shares(table, next(one.stratum for one in source.tables if one.metric == table))
    user = np.repeat(np.arange(4000), 8)
    at = np.tile(np.arange(8), 4000) * 86_400_000_000
    if metric == "lead_time":
        quantiles = [(float(name[1:]), value) for name, value in shares.items() if name != "mean"]
        right = np.interp(uniforms("lead", user.size), [p for p, _ in quantiles], [days for _, days in quantiles])
        wrong = uniforms("even", user.size) * 400
    elif metric == "day_of_week":
        right = drawn(dict(zip("1234567", shares.values(), strict=True)), user.size)
        wrong = 1 + (uniforms("even", user.size) * 7).astype(np.int64)
    else:
        right = drawn(shares, user.size)
        wrong = drawn(dict.fromkeys(shares, 1.0), user.size)
    for values, passes in ((right, True), (wrong, False)):
        ours = dataclasses.replace(
            Occurrences(user, at, np.zeros(user.size, np.int64)),
            **{column: values if column == "size" else values.astype(np.float64)},
        )
        found = measure("any", metric, reference, ours)
        assert found.passed is passes, found


def test_popularity_is_that_of_the_crowd_and_an_even_one_is_none() -> None:
    ours = lively(1)
    source = load_reference("media_movielens_100k")
    exponent = next(iter(source.shares("zipf_exponent_item_popularity").values()))
    unit = np.floor((uniforms("items", ours.user.size) * (2000 ** (1 - exponent) - 1) + 1) ** (1 / (1 - exponent)))
    good = dataclasses.replace(ours, unit=unit.astype(np.int64))
    even = dataclasses.replace(ours, unit=(uniforms("items", ours.user.size) * 400).astype(np.int64))
    assert measure("media", "popularity", source, good).passed is True
    assert measure("media", "popularity", source, even).passed is False


def walkers(seed: str, users: int = 300, days: int = 31, same: float = 0.0) -> Occurrences:
    """Steps by hour in the reference's shape, totals from its quantiles, or all alike."""
    source = load_reference("health_fitbit_furberg2016")
    hours = np.array(list(source.shares("hour_of_day_share").values()))
    quantiles = source.shares("daily_steps_quantile", "days with steps>0")
    named = [(float(name[1:]), value) for name, value in quantiles.items() if name != "mean"]
    total = (
        np.interp(uniforms(seed, users * days), [p for p, _ in named], [steps for _, steps in named])
        if not same
        else np.full(users * days, same)
    )
    user, day = np.repeat(np.arange(users), days), np.tile(np.arange(days), users)
    nothing = np.zeros(user.size, np.int64)
    return Occurrences(user, day * 86_400_000_000, nothing, by_hour=total[:, None] * hours)


def test_steps_are_read_from_the_series_of_a_day() -> None:
    good, bad = walkers("steps"), walkers("steps", same=8319.0)
    fitbit = "health_fitbit_furberg2016"
    assert measure("wellness", "daily_amount", fitbit, good).passed is True
    assert measure("wellness", "daily_amount", fitbit, bad).passed is not True
    assert measure("wellness", "hour_of_day", fitbit, good).parts[0].value < 0.05
    lag = measure("wellness", "amount_autocorrelation", fitbit, good)
    assert lag.passed is None and "the naive model" in lag.reason  # 32 people say too little


def test_tables_of_one_sample_agree_with_each_other() -> None:
    tables = {
        (one.metric, one.stratum): dict(zip(one.bins, one.values, strict=True)) for one in tables_of(lively(1), 5)
    }
    assert sum(tables["day_of_week_share", "all"].values()) == pytest.approx(1)
    drift = tables["monthly_js_divergence", "lag 3 month"]
    assert drift["excess_over_null"] == pytest.approx(drift["mean"] - drift["permutation_null_mean"])
    assert list(tables["events_per_user_quantile", "all"])[-1] == "mean"


def test_a_line_said_twice_counts_once_for_times_and_twice_for_choices() -> None:
    ours = lively(1)
    twice = Occurrences(*(np.repeat(one, 2) for one in (ours.user, ours.at_us, ours.offset_min)))
    plain = dataclasses.replace(ours, unit=None)
    assert [one.values for one in tables_of(twice)] == [one.values for one in tables_of(plain)]
    assert ours.unit is not None
    chosen = {one.metric: one for one in tables_of(dataclasses.replace(twice, unit=np.repeat(ours.unit, 2)), 5)}
    assert chosen["repeat_event_share"].values[0] > 0.5
    assert chosen["second_order_excess_bits"].n == 2 * ours.user.size
    assert chosen["repeat_event_share"].unit == "share" and chosen["memory_M"].unit == "coefficient"


def test_a_distance_is_told_by_as_many_people_as_can_tell_it() -> None:
    few = lively(1).where(lively(1).user < 200)
    records = {
        one.metric: one for one in describe("made", "media", few, splits=3, only=("memory", "top_share")).self_distances
    }
    assert records["top10pct_user_event_share"].users_per_half == 100
    assert 50 < records["memory_M"].users_per_half < 100
    assert records["memory_M"].sd > 0 and records["memory_M"].p95 <= records["memory_M"].largest
