from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from tests.validation.fidelity.samples import lively
from validation.fidelity import identity
from validation.fidelity.keyed import uniforms
from validation.fidelity.naive import constant_rate

COUNTS = st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any)
DAY_MIN = 1440


def two_months(left: list[int], right: list[int]) -> identity.Months:
    unit = np.r_[np.repeat(np.arange(6), left), np.repeat(np.arange(6), right)]
    month = np.r_[np.zeros(sum(left), np.int64), np.ones(sum(right), np.int64)]
    return identity.by_month(np.zeros(unit.size, np.int64), month, unit)


@settings(max_examples=40)
@given(COUNTS, COUNTS)
def test_divergence_of_two_months_is_that_of_scipy(left: list[int], right: list[int]) -> None:
    months = two_months(left, right)
    found = identity.jensen_shannon(months, np.array([0, 1, 0]), np.array([1, 0, 0]))
    expected = jensenshannon(np.array(left, float), np.array(right, float), base=2) ** 2
    assert found.tolist() == pytest.approx([expected, expected, 0], abs=1e-7)


def test_months_are_thirty_local_days_from_the_first_one() -> None:
    at = np.array([-60, 30 * DAY_MIN - 61, 30 * DAY_MIN - 60]) * 60_000_000
    assert identity.month_of(at, np.full(3, 60)).tolist() == [0, 0, 1]


def test_pairs_are_of_one_user_and_need_enough_in_both_months() -> None:
    user = np.array([0] * 5 + [1] * 4)
    month = np.array([0, 0, 1, 1, 2, 0, 0, 2, 2])
    months = identity.by_month(user, month, np.zeros(9, np.int64))
    left, right = identity.month_pairs(months, 1, 2)
    assert [(months.user[i], months.month[i], months.month[j]) for i, j in zip(left, right, strict=True)] == [(0, 0, 1)]
    left, right = identity.month_pairs(months, 2, 2)
    assert [(months.user[i], months.month[i], months.month[j]) for i, j in zip(left, right, strict=True)] == [(1, 0, 2)]


def steady(users: int, months: int, each: int, moves: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People with ten units each, drawn evenly, that move on by ``moves`` units a month."""
    user = np.repeat(np.arange(users), months * each)
    month = np.tile(np.repeat(np.arange(months), each), users)
    unit = (uniforms("steady", user.size) * 10 + month * moves).astype(np.int64) + user * 100
    return user, month, unit


def test_those_who_stay_as_they_are_show_no_excess_and_those_who_move_show_more_with_time() -> None:
    still = [identity.drift(*steady(200, 5, 30, 0.0), lag, 20) for lag in (1, 3)]
    assert all(abs(one.excess) < 0.01 and one.observed > 0.1 for one in still)
    assert (still[0].pairs, still[0].users) == (800, 200)
    moving = [identity.drift(*steady(200, 5, 30, 1.0), lag, 20).excess for lag in (1, 2, 3)]
    assert 0.02 < moving[0] < moving[1] < moving[2]
    assert identity.drift(*steady(200, 5, 30, 1.0), 1, 31).pairs == 0


def test_people_with_ways_of_their_own_are_recognised_and_dealt_out_ones_are_not() -> None:
    ours = lively(1)
    naive = constant_rate(ours)
    for one, low, high in ((ours, 0.9, 1.0), (naive, 0.45, 0.55)):
        assert one.unit is not None
        month = identity.month_of(one.at_us, one.offset_min)
        found = identity.recognition(one.user, month, one.unit, 5)
        assert low < found.recognised.mean() <= high
        assert bool(found.within.mean() < found.between.mean() - 0.1) is (one is ours)


def test_others_are_never_oneself_and_have_enough_events() -> None:
    user, month, unit = steady(2, 2, 30, 0.0)
    found = identity.recognition(user, month, unit, 20)
    assert found.between.tolist() == [1.0, 1.0] and found.recognised.tolist() == [1.0, 1.0]
    alone = identity.recognition(*(column[user == 0] for column in (user, month, unit)), 20)
    assert alone.within.size == 0
