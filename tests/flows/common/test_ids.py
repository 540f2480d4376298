"""Claims about ids: opaque, stable, unique, and readable back to their user."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.draws import Draws
from flows.common.ids import id_keys, ids_of, opaque_ids, owner_numbers, user_ids, user_ids_of, user_numbers

NUMBERS = st.lists(st.integers(0, 2_000_000), max_size=30)
calm = settings(deadline=None)
"""Machines can be busy."""


def made(users: list[int], keys: list[int], kind: str = "event", seed: int = 7) -> list[str]:
    ids = opaque_ids(Draws(seed, "timelines"), kind, np.array(users, np.uint64), np.array(keys, np.uint64))
    assert ids.type == pa.string()
    return ids.to_pylist()


def test_users_are_counted_from_zero_with_six_digits_or_more() -> None:
    assert user_ids(0, 3).to_pylist() == ["u000000", "u000001", "u000002"]
    assert user_ids(999_999, 1_000_001).to_pylist() == ["u999999", "u1000000"]
    assert user_ids(4, 4).to_pylist() == []


@calm
@given(NUMBERS)
def test_users_and_their_numbers_go_back_and_forth(numbers: list[int]) -> None:
    ids = user_ids_of(np.array(numbers, np.uint64))
    assert ids.to_pylist() == [f"u{number:06d}" for number in numbers]
    assert user_numbers(ids).tolist() == numbers
    halves = pa.chunked_array([ids[: len(ids) // 2], ids[len(ids) // 2 :]], pa.string())
    assert user_numbers(halves).tolist() == numbers


def test_no_ids_have_no_numbers() -> None:
    assert (
        user_numbers(pa.chunked_array([], pa.string())).shape
        == id_keys(pa.chunked_array([], pa.string())).shape
        == (0,)
    )
    assert user_numbers(pa.array([], pa.string())).shape == id_keys(pa.array([], pa.string())).shape == (0,)
    assert made([], []) == []


def test_an_opaque_id_is_the_user_a_letter_and_ten_characters() -> None:
    ids = made([0, 12, 1_234_567], [5, 5, 5])
    assert all(re.fullmatch(r"u\d{6,}-e[0-9a-hjkmnp-tv-z]{10}", name) for name in ids)
    assert [name.split("-")[0] for name in ids] == ["u000000", "u000012", "u1234567"]
    assert user_numbers(pa.array(ids)).tolist() == [0, 12, 1_234_567]


def test_ids_have_golden_values() -> None:
    assert made([0, 123], [0, 2**64 - 1]) == ["u000000-e9vd0dsk0gh", "u000123-ejtdmbb3jp9"]
    assert made([0, 123], [0, 2**64 - 1], "session") == ["u000000-sfk4ndm5qp5", "u000123-saxxyfrb54p"]


def test_an_id_depends_on_seed_user_key_and_kind_and_on_nothing_else() -> None:
    [plain] = made([3], [9])
    assert made([3, 4, 3], [9, 9, 9]) == [plain, made([4], [9])[0], plain]
    by_stage = {
        opaque_ids(Draws(7, stage), "event", np.array([3], np.uint64), np.array([9], np.uint64))[0].as_py()
        for stage in ("timelines", "disturb")
    }
    assert by_stage == {plain}
    others = [made([3], [9], seed=8), made([3], [10]), made([3], [9], "exposure"), made([4], [9])]
    assert len({plain[-10:], *(name[-10:] for [name] in others)}) == 5


def test_an_id_is_the_same_beside_a_user_with_seven_digits() -> None:
    assert made([3, 999_999, 1_000_000], [9, 4, 9])[:2] == made([3, 999_999], [9, 4])


@pytest.mark.parametrize("first", [0, 999_990])
def test_several_ids_in_a_row_of_one_user_are_those_of_each(first: int) -> None:
    users, times = np.arange(first, first + 20, dtype=np.uint64), np.arange(20) % 4
    bits = np.arange(times.sum(), dtype=np.uint64) << np.uint64(50)
    assert ids_of("actor", users, bits, times).equals(ids_of("actor", np.repeat(users, times), bits))


def test_a_hundred_thousand_ids_of_one_user_are_distinct_and_so_are_their_keys() -> None:
    """By chance two tails agree in 1 of 225,000 choices of the seed, and two of the 40-bit keys in 1 of 220."""
    ids = opaque_ids(Draws(7, "test"), "event", np.full(100_000, 5, np.uint64), np.arange(100_000, dtype=np.uint64))
    assert len(ids.unique()) == 100_000
    assert np.unique(id_keys(ids)).size == 100_000


def test_keys_tell_users_apart_who_have_the_same_tail() -> None:
    tails = ["u000001-e0123456789", "u000002-e0123456789"]
    first, second = id_keys(pa.array(tails)).tolist()
    assert first != second
    assert id_keys(pa.chunked_array([tails[1:], tails[:1]])).tolist() == [second, first]


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_keys_do_not_depend_on_how_the_ids_are_cut(parts: int) -> None:
    ids = opaque_ids(Draws(7, "test"), "event", np.arange(50, dtype=np.uint64) // 7, np.arange(50, dtype=np.uint64))
    cut = pa.chunked_array([ids[start : start + 50 // parts] for start in range(0, 50, 50 // parts)])
    assert id_keys(cut).tolist() == id_keys(ids).tolist()
    assert id_keys(ids[10:20]).tolist() == id_keys(ids)[10:20].tolist()


def test_the_owner_of_an_id_is_the_user_it_begins_with_and_other_ids_are_nobodys() -> None:
    ids = ["u000012-bxyz", None, "i-u00012", "u1000000", "food-1", "under-1"]
    for column in (pa.array(ids, pa.string()), pa.chunked_array([ids[:2], ids[2:]], pa.string())):
        assert owner_numbers(column).tolist() == [12, -1, -1, 1_000_000, -1, -1]
    assert owner_numbers(pa.array([], pa.string())).tolist() == []
    assert owner_numbers(pa.array([None], pa.string())).tolist() == [-1]
