from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.validation.fidelity.samples import lively
from validation.fidelity import rhythm
from validation.fidelity.naive import constant_rate
from validation.fidelity.rhythm import HOUR_US, WEEK_US

GAPS = st.lists(st.integers(1, 10_000), min_size=10, max_size=40)
DAY_US = 24 * HOUR_US


def row(gaps: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """One user whose gaps are so many hours."""
    at = np.r_[0, np.cumsum(gaps)] * HOUR_US
    return np.zeros(at.size, np.int64), at


@settings(max_examples=30)
@given(GAPS, st.integers(2, 50))
def test_burstiness_and_memory_ignore_the_unit_of_time(gaps: list[int], scale: int) -> None:
    for figure in (rhythm.burstiness, rhythm.burstiness_finite, rhythm.memory):
        short, long = figure(*row(gaps)), figure(*row([gap * scale for gap in gaps]))
        assert short.shape == long.shape and np.allclose(short, long, atol=1e-9)
        assert (np.abs(short) <= 1 + 1e-9).all()


@settings(max_examples=30)
@given(GAPS)
def test_burstiness_is_the_formula_of_one_user(gaps: list[int]) -> None:
    r, n = np.std(gaps) / np.mean(gaps), len(gaps)
    user, at = row(gaps)
    assert rhythm.burstiness(user, at).tolist() == pytest.approx([(r - 1) / (r + 1)], abs=1e-9)
    kim_jo = ((n + 1) ** 0.5 * r - (n - 1) ** 0.5) / (((n + 1) ** 0.5 - 2) * r + (n - 1) ** 0.5)
    assert rhythm.burstiness_finite(user, at).tolist() == pytest.approx([kim_jo], abs=1e-9)


def test_a_clock_is_minus_one_and_a_single_long_gap_among_none_is_one() -> None:
    assert rhythm.burstiness(*row([7] * 12)).tolist() == [-1.0]
    assert rhythm.burstiness_finite(*row([7] * 12)).tolist() == pytest.approx([-1.0])
    assert rhythm.burstiness_finite(*row([0] * 11 + [9])).tolist() == pytest.approx([1.0])


def test_few_gaps_tell_nothing_and_gaps_end_with_the_user() -> None:
    assert rhythm.burstiness(*row([3, 4] * 4)).size == 0
    user, at = np.array([0, 0, 1, 1]), np.array([0, 2, 9, 10]) * HOUR_US
    assert rhythm.gaps_h(user, at).tolist() == [1.0, 2.0]
    assert rhythm.gaps_in_order(user, at)[0].tolist() == [0, 1]


def test_memory_is_the_correlation_of_neighbours() -> None:
    gaps = [1, 2, 4, 3, 9, 8, 7, 20, 22, 5, 6]
    expected = np.corrcoef(gaps[:-1], gaps[1:])[0, 1]
    user, at = row(gaps)
    twice = np.r_[user, user + 3], np.r_[at, at + 5 * HOUR_US]
    assert rhythm.memory(*twice).tolist() == pytest.approx([expected, expected])
    assert rhythm.memory(*row([1, 5] * 8)).tolist() == pytest.approx([-1.0])


@settings(max_examples=30)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=60))
def test_shares_of_heavy_users_lie_between_equality_and_one(counts: list[int]) -> None:
    some = np.array(counts)
    assert rhythm.gini(some) + 1e-12 >= 0 and rhythm.gini(some) < 1
    assert rhythm.gini(some) == pytest.approx(rhythm.gini(some * 3))
    assert rhythm.top_share(some) >= max(1, round(0.1 * some.size)) / some.size - 1e-12


def test_gini_and_top_share_of_a_handful() -> None:
    assert rhythm.gini(np.array([1, 3])) == pytest.approx(0.25)
    assert rhythm.top_share(np.array([1] * 18 + [10, 20])) == pytest.approx(30 / 48)
    assert math.isnan(rhythm.gini(np.empty(0, np.int64)))


def test_a_weekly_rate_needs_four_weeks() -> None:
    user = np.array([0, 0, 0, 1, 1])
    at = np.array([0, WEEK_US, 4 * WEEK_US, 0, 4 * WEEK_US - 1])
    assert rhythm.events_per_active_week(user, at).tolist() == [0.75]
    assert rhythm.events_per_user(user).tolist() == [3, 2]


def test_autocorrelation_takes_days_that_lie_so_far_apart_and_no_others() -> None:
    day = np.array([0, 1, 2, 3, 5, 6, 7, 8, 9, 10])
    value = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3])
    pairs = [(3, 1), (1, 4), (4, 1), (5, 9), (9, 2), (2, 6), (6, 5), (5, 3)]
    expected = np.corrcoef(*np.array(pairs, dtype=float).T)[0, 1]
    assert rhythm.autocorrelation(np.zeros(10, np.int64), day, value, 1).tolist() == pytest.approx([expected])
    weekly = np.tile([5.0, 0, 0, 0, 1, 0, 2], 6)
    assert rhythm.autocorrelation(np.zeros(42, np.int64), np.arange(42), weekly, 7).tolist() == pytest.approx([1.0])


def test_daily_counts_have_the_empty_days_too() -> None:
    user, day, count = rhythm.daily_counts(np.array([4, 4, 9]), np.array([11, 11, 12]), 10, 12)
    assert user.tolist() == [0, 0, 0, 1, 1, 1] and day.tolist() == [10, 11, 12] * 2
    assert count.tolist() == [0, 2, 0, 0, 0, 1]


def test_dormant_are_those_with_one_long_pause() -> None:
    user = np.array([0, 0, 0, 1, 1, 2])
    at = np.array([0, 14, 15, 0, 13, 0]) * DAY_US
    assert rhythm.dormant_share(user, at) == 0.5
    assert math.isnan(rhythm.dormant_share(user[-1:], at[-1:]))


def test_users_weigh_equally_where_it_says_so() -> None:
    hours = rhythm.mean_hours_by_user(np.array([0, 0, 0, 0, 1]), np.array([3, 3, 3, 9, 9]))
    assert hours[3] == 0.375 and hours[9] == 0.625
    user, at = row([1] * 10 + [100] * 10)
    more = np.r_[user, user + 1, user + 2], np.r_[at, at, np.arange(21) * HOUR_US]
    assert rhythm.gap_quantiles_by_user(*more, [0.0, 0.9]).tolist() == [1.0, 100.0]


def test_a_constant_rate_has_neither_bursts_nor_heavy_users() -> None:
    ours = lively(1)
    naive = constant_rate(ours)
    assert naive.at_us.size == ours.at_us.size and naive is constant_rate(ours)
    assert abs(float(np.median(rhythm.burstiness_finite(naive.user, naive.at_us)))) < 0.03
    assert np.median(rhythm.burstiness_finite(ours.user, ours.at_us)) > 0.2
    assert rhythm.gini(rhythm.events_per_user(naive.user)) < 0.15 < rhythm.gini(rhythm.events_per_user(ours.user))
    assert sorted(naive.unit.tolist()) == sorted(ours.unit.tolist())  # type: ignore[union-attr]
