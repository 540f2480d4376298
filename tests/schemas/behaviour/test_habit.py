"""The equations of habit: how exploration fades, how long ago one returns to, and what is given up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schemas.behaviour.habit import DAY, explorers, kept_share, lag_seconds, new_share


def test_exploration_fades_with_every_choice_and_is_a_probability() -> None:
    before = np.array([0, 1, 2, 4, 100])
    assert new_share(before, 0.8, 0.5) == pytest.approx([0.8, 0.8, 0.8 / math.sqrt(2), 0.4, 0.08])
    assert new_share(before, 3.0, 0.5).tolist() == [1.0, 1.0, 1.0, 1.0, pytest.approx(0.3)]
    assert np.array_equal(new_share(before, 0.8, 0.0), new_share(np.zeros(5, np.int64), 0.8, 2.0))


def test_new_shares_can_differ_between_people() -> None:
    assert new_share(np.array([4, 4]), np.array([0.2, 0.6]), 0.5) == pytest.approx([0.1, 0.3])


def test_half_of_the_people_are_more_eager_than_the_median() -> None:
    assert explorers(np.array([-1.0, 0.0, 1.0]), 0.5, math.log(2)) == pytest.approx([0.25, 0.5, 1.0])
    assert explorers(np.array([-3.0, 3.0]), 0.5, 0.0).tolist() == [0.5, 0.5]


def test_lags_are_log_normal_and_whole_days_from_half_a_day_on() -> None:
    spread = math.log(4)
    assert lag_seconds(np.array([-1.0, 0.0, 1.0, 2.0]), 1.1, spread).tolist() == [
        round(1.1 / 4 * DAY),
        DAY,
        4 * DAY,
        18 * DAY,
    ]
    assert lag_seconds(np.array([60.0]), 30.0, 2.0).tolist() == [36_500 * DAY]


def test_what_lost_nothing_is_kept_and_what_lost_much_is_given_up() -> None:
    assert kept_share(np.array([-2.0, 0.0, math.log(2), 50.0])).tolist() == [1.0, 1.0, pytest.approx(0.5), 0.0]
