from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from validation.fidelity.distances import (
    circular_wasserstein,
    floor,
    floor_and_limit,
    ks_at_quantiles,
    ks_of_sample,
    limit,
    share_at_or_below,
    total_variation,
    verdict,
    wasserstein,
    wasserstein_log10,
)
from validation.references.reader import FOLDER, load_reference

COUNTS = st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any)


@given(COUNTS, COUNTS)
def test_total_variation_is_a_distance_in_zero_to_one_that_ignores_scale(left: list[int], right: list[int]) -> None:
    distance = total_variation(left, right)
    assert 0 <= distance <= 1 + 1e-12
    assert distance == pytest.approx(total_variation(right, np.array(left) * 7.0))
    assert total_variation(left, left) == 0


def test_total_variation_of_disjoint_shares_is_one_and_of_nothing_is_no_number() -> None:
    assert total_variation([1, 0], [0, 5]) == 1
    assert math.isnan(total_variation([0, 0], [1, 1]))
    assert math.isnan(total_variation([1, 1, 1], [1, 1]))
    assert math.isnan(total_variation([1, 1], [math.nan, 1]))


def test_floor_is_the_self_distance_between_halves_and_shrinks_with_either_sample() -> None:
    assert floor(500, 500, 0.02) == pytest.approx(0.02 * math.sqrt(0.5))
    assert floor(1e12, 1000, 0.02) == pytest.approx(0.01)
    assert floor(300, 2169, 0.0232) == pytest.approx(0.033, abs=5e-4)


def test_limit_is_the_absolute_one_until_the_sample_is_too_small_for_it() -> None:
    assert limit(0.08, 10_000, 1206, 0.0318) == 0.08
    assert limit(0.08, 50, 1206, 0.0318) == pytest.approx(2 * floor(50, 1206, 0.0318))
    assert limit(0.08, 50, 1206, 0.0318) > 0.08


@pytest.mark.parametrize(
    ("ratio", "says"),
    [
        (0.5, "indistinguishable"),
        (2, "indistinguishable"),
        (2.01, "close"),
        (4, "close"),
        (4.01, "distinguishable"),
        (math.nan, "not computable"),
        (math.inf, "not computable"),
    ],
)
def test_verdict_goes_by_the_ratio_to_the_floor(ratio: float, says: str) -> None:
    assert verdict(ratio) == says


def test_poisson_gaps_lie_as_far_as_published() -> None:
    with (FOLDER / "naive_baseline_distance.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["metric"] == "inter_event_gap_hours_quantile"]
    assert len(rows) == 5
    for row in rows:
        known = load_reference(row["reference_id"]).shares(row["metric"])
        q = np.array([value for name, value in known.items() if name != "mean"])
        p = np.array([float(name[1:]) for name in known if name != "mean"])
        assert ks_at_quantiles(-np.expm1(-q / known["mean"]), p) == pytest.approx(float(row["ks"]), abs=6e-5)


def test_distances_at_quantiles_are_the_exact_ones_where_all_quantiles_are_listed() -> None:
    p = (np.arange(2000) + 0.5) / 2000
    sample, other = np.sort(10 ** (p * 2 - 1)), np.sort(10 ** (p**2 * 2 - 0.8))
    exact = stats.wasserstein_distance(np.log10(sample), np.log10(other))
    assert wasserstein_log10(np.quantile(sample, p), np.quantile(other, p), p) == pytest.approx(exact, rel=0.01)
    ks = ks_at_quantiles(share_at_or_below(sample, np.quantile(other, p)), p)
    assert ks == pytest.approx(stats.ks_2samp(sample, other).statistic, abs=2e-3)


def test_no_gap_at_all_counts_as_one_second() -> None:
    assert wasserstein_log10([0.0, 0.0], [1 / 3600, 1 / 3600], [0.1, 0.9]) == 0


def test_the_clock_is_a_circle() -> None:
    late, early, noon = (np.eye(24)[hour] for hour in (23, 0, 12))
    assert circular_wasserstein(late, early) == pytest.approx(1)
    assert circular_wasserstein(noon, early) == pytest.approx(12)
    assert circular_wasserstein(late * 3 + early, late * 3 + early) == 0
    assert math.isnan(circular_wasserstein(late * 0, early))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=60), st.integers(1, 3))
def test_values_that_many_share_are_no_distance_from_themselves(values: list[int], times: int) -> None:
    p = np.array([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
    listed = np.quantile(values, p, method="inverted_cdf")
    assert ks_of_sample(values * times, listed, p) == pytest.approx(0, abs=1e-12)
    assert ks_of_sample([9] * 5, listed, p) == pytest.approx(0.99)
    assert ks_of_sample([-1] * 5, listed, p) == pytest.approx(0.99)


def test_the_quantile_distance_is_the_two_sided_one_where_no_value_repeats() -> None:
    p = (np.arange(2000) + 0.5) / 2000
    sample, other = p**2, p**1.5
    assert ks_of_sample(sample, other, p) == pytest.approx(stats.ks_2samp(sample, other).statistic, abs=2e-3)
    assert wasserstein(sample, other, p) == pytest.approx(stats.wasserstein_distance(sample, other), rel=0.01)


def test_without_halves_the_absolute_limit_counts_alone() -> None:
    assert floor_and_limit(0.05, 50, 1206, 0.02, 0.03) == (floor(50, 1206, 0.02), limit(0.05, 50, 1206, 0.03))
    lowest, most = floor_and_limit(0.05, 50, 1206, math.nan, math.nan)
    assert math.isnan(lowest) and most == 0.05
