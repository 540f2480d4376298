"""What keys of tables pick, and whether rows cover every combination of values once."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.config.selectors import OTHERS, band_of, grid, overlapping, parts_of, picked, uncovered

AGES = [str(age) for age in range(18, 31)]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("18..21", ["18", "19", "20"]),
        ("29..", ["29", "30"]),
        ("..20", ["18", "19"]),
        ("18.5..20.5", ["19", "20"]),
        ("25", ["25"]),
        ("40..50", []),
        ("..", []),
        ("18-21", []),
    ],
)
def test_a_band_holds_its_low_end_and_not_its_high_one(selector: str, found: list[str]) -> None:
    assert [AGES[place] for place in picked(selector, AGES)] == found


def test_a_value_that_looks_like_a_band_is_that_value() -> None:
    assert picked("1..3", ["1..3", "2"]) == [0]
    assert band_of("a..b") is None and picked("1..3", ["two", "2"]) == [1]


def test_keys_are_cut_only_where_there_are_several_parents() -> None:
    assert parts_of("18-24 | female", 2) == parts_of("18-24|female", 2) == ("18-24", "female")
    assert parts_of("a | b", 1) == ("a | b",)


def test_others_are_what_no_other_key_of_the_parent_picks() -> None:
    found = grid([("1..3", "x"), (OTHERS, "x"), (OTHERS, "y"), ("1..3", "y")], [["1", "2", "3", "9"], ["x", "y"]])
    assert uncovered(found, [["1", "2", "3", "9"], ["x", "y"]]) == [] and overlapping(found) == []
    assert found.atoms[0][0] == found.atoms[0][1] != found.atoms[0][2] == found.atoms[0][3]


bands = st.tuples(st.integers(0, 9), st.integers(1, 10)).map(lambda pair: f"{pair[0]}..{pair[0] + pair[1]}")
rows = st.lists(st.tuples(bands, st.sampled_from(["x", "y", "z"])), min_size=1, max_size=8, unique=True)


@given(rows)
def test_gaps_and_overlaps_are_those_that_counting_every_value_finds(rows: list[tuple[str, str]]) -> None:
    levels = [[str(number) for number in range(10)], ["x", "y"]]
    count = {
        cell: [
            place
            for place, (band, letter) in enumerate(rows)
            if cell[1] == letter and int(band.split("..")[0]) <= int(cell[0]) < int(band.split("..")[1])
        ]
        for cell in itertools.product(*levels)
    }
    found = grid(rows, levels)
    assert set(uncovered(found, levels)) == {cell for cell, places in count.items() if not places}
    twice = {(places[0], other) for places in count.values() for other in places[1:]}
    assert set(overlapping(found)) == twice
