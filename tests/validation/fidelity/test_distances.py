from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from validation.fidelity.distances import (
    floor,
    ks_at_quantiles,
    limit,
    share_at_or_below,
    total_variation,
    verdict,
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
