from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from validation.fidelity import habits
from validation.fidelity.keyed import permutation, uniforms
from validation.references.reader import load_reference

DAY_US = 86_400_000_000
GOLDEN = [0.4388188317316528, 0.08793405634293872]
HISTORIES = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=30), min_size=1, max_size=6)


def flat(histories: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    user = np.repeat(np.arange(len(histories)), [len(one) for one in histories])
    return user, np.array([unit for one in histories for unit in one], np.int64)


@settings(max_examples=30)
@given(HISTORIES)
def test_previous_and_repeats_are_those_of_a_loop(histories: list[list[int]]) -> None:
    user, unit = flat(histories)
    seen: dict[tuple[int, int], int] = {}
    expected = []
    for place, key in enumerate(zip(user.tolist(), unit.tolist(), strict=True)):
        expected.append(seen.get(key, -1))
        seen[key] = place
    assert habits.previous(user, unit).tolist() == expected
    late = [one[len(one) // 2 :] for one in histories if len(one) >= 10]
    early = [one[: len(one) // 2] for one in histories if len(one) >= 10]
    again = sum(
        unit in before + after[:place]
        for before, after in zip(early, late, strict=True)
        for place, unit in enumerate(after)
    )
    total = sum(map(len, late))
    share = habits.repeat_share(user, unit)
    assert math.isnan(share) if not total else share == pytest.approx(again / total)


@settings(max_examples=30)
@given(HISTORIES, st.integers(1, 9))
def test_names_of_units_do_not_matter(histories: list[list[int]], shift: int) -> None:
    user, unit = flat(histories)
    renamed = (unit * 7 + shift) % 11
    assert habits.rank_shares(user, unit)[0].tolist() == pytest.approx(
        habits.rank_shares(user, renamed)[0].tolist(), nan_ok=True
    )
    assert habits.entropy_rates(user, unit, 8).tolist() == habits.entropy_rates(user, renamed, 8).tolist()


def test_lags_fall_into_their_bins() -> None:
    days = [0, 0.5, 1.5, 4.5, 11.5, 400]
    user, unit = np.zeros(6, np.int64), np.full(6, 3)
    counts = habits.repeat_lag_counts(user, np.rint(np.array(days) * DAY_US).astype(np.int64), unit)
    named = dict(zip(habits.LAG_NAMES, counts.tolist(), strict=True))
    assert named == {**dict.fromkeys(habits.LAG_NAMES, 0), "<1d": 1, "1-2d": 1, "3-7d": 1, "7-14d": 1, ">=365d": 1}


def test_ranks_are_means_over_users_with_enough() -> None:
    user, unit = flat([[1] * 15 + [2] * 5, [3] * 10 + [4] * 10, [5] * 19])
    shares, users = habits.rank_shares(user, unit)
    assert users == 2
    assert shares[:3].tolist() == [0.625, 0.375, 0.0]
    many, _ = habits.rank_shares(*flat([list(range(40))]))
    assert many[0] == 1 / 40 and many[-1] == pytest.approx(30 / 40)


def test_slopes_are_the_published_ones() -> None:
    apps = load_reference("apps_lsapp_published")
    shares = next(list(table.values) for table in apps.tables if table.metric == "app_share")
    assert habits.zipf_slope(shares) == pytest.approx(0.7727, abs=1e-4)
    for name in ("grocery_dunnhumby_cj", "mobility_foursquare_nyc", "media_movielens_100k"):
        known = load_reference(name)
        stratum = "users>=20 events"
        slope = known.shares("zipf_exponent_user_category_rank", stratum)["slope"]
        ranks = list(known.shares("user_category_rank_share", stratum).values())
        assert habits.rank_slope(ranks) == pytest.approx(slope, abs=2e-4)


@settings(max_examples=30)
@given(st.floats(0.1, 2.0))
def test_a_power_law_has_its_exponent(exponent: float) -> None:
    assert habits.zipf_slope(np.arange(1.0, 2001.0) ** -exponent) == pytest.approx(exponent, rel=1e-6)


def test_one_of_a_kind_a_session_is_kept() -> None:
    session, unit = np.array([0, 0, 0, 1, 1]), np.array([5, 6, 5, 5, 5])
    assert habits.once_per_session(session, unit).tolist() == [True, True, False, True, False]


def test_only_a_second_order_chain_has_second_order_excess() -> None:
    first = np.array([0, 0, 1, 1] * 300)  # the next is told by the last two, and half told by the last one
    assert habits.second_order_excess(np.zeros(1200, np.int64), first) == pytest.approx(1.0, abs=0.01)
    chain = np.array([0, 1, 2] * 400)
    assert habits.second_order_excess(np.zeros(1200, np.int64), chain) == pytest.approx(0.0, abs=1e-9)
    chance = (uniforms("test", 6000) * 3).astype(np.int64)
    assert abs(habits.second_order_excess(np.zeros(6000, np.int64), chance)) < 0.005


def lempel_ziv(row: list[int]) -> float:
    total = 0
    for i in range(len(row)):
        length = 1
        while i + length <= len(row) and any(row[j : j + length] == row[i : i + length] for j in range(i - length + 1)):
            length += 1
        total += length
    return len(row) * math.log2(len(row)) / total


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3), min_size=16, max_size=20))
def test_entropy_rates_are_those_of_a_loop(row: list[int]) -> None:
    user = np.zeros(len(row), np.int64)
    assert habits.entropy_rates(user, np.array(row), 16).tolist() == pytest.approx([lempel_ziv(row[:16])])


def test_a_die_is_less_predictable_than_a_habit() -> None:
    user = np.repeat([0, 1, 2], [64, 64, 63])
    unit = np.r_[np.full(64, 4), (uniforms("die", 64) * 6).astype(np.int64), np.zeros(63, np.int64)]
    still, die = habits.entropy_rates(user, unit)
    assert still < 0.4 and 2.0 < die < 3.2
    best = habits.predictability(np.array([0.5, math.log2(6)]), [6, 6])
    assert best[0] > 0.9 and best[1] == pytest.approx(1 / 6, abs=1e-3)


def test_keyed_numbers_hang_on_their_label_alone() -> None:
    assert uniforms("a", 3).tolist() == uniforms("a", 5)[:3].tolist() != uniforms("b", 3).tolist()
    assert uniforms("golden", 2).tolist() == pytest.approx(GOLDEN, abs=0)
    assert sorted(permutation("a", 50).tolist()) == list(range(50))
    many = uniforms("spread", 20_000)
    assert abs(many.mean() - 0.5) < 0.01 and many.min() >= 0 and many.max() < 1
