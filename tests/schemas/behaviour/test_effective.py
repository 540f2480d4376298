"""Claims about what holds for a person at an instant, against a naive lookup."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.behaviour.effective import NEVER, EffectiveValues, effective_values
from schemas.tables.sealed import DISPOSITIONS

DIMENSIONS = {"food.heat": ["mild", "medium", "hot"], "food.base": ["fish", "tofu"]}
PEOPLE = ["a0", "a1", "a2"]
END = 100


class Fact(NamedTuple):
    person: str
    dimension: str
    value: str
    clock: str
    begins: int
    ends: int | None
    strength: float = 1.0


def table_of(facts: list[Fact]) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {
            "disposition_id": f"d{n}",
            "user_id": "u000000",
            "actor_id": f.person,
            "dimension": f.dimension,
            "value": f.value,
            "weights": [],
            "strength": f.strength,
            "clock": f.clock,
            "valid_from": f.begins,
            "valid_to": f.ends,
            "is_sensitive": False,
        }
        for n, f in enumerate(facts)
    ]
    return DISPOSITIONS.conform(pa.Table.from_pylist(rows, schema=DISPOSITIONS.schema()), check_key=False)


def values_of(facts: list[Fact]) -> EffectiveValues:
    return effective_values(table_of(facts), pa.array(PEOPLE), "actor_id", DIMENSIONS)


@st.composite
def lives(draw: st.DrawFn) -> list[Fact]:
    """For every person and dimension lasting values without a gap, at times a passing state, and rows of strangers."""
    facts = []
    for person in [*PEOPLE, "stranger"]:
        for dimension, values in [*DIMENSIONS.items(), ("groceries.sugar", ["none", "some"])]:
            borders = draw(st.lists(st.integers(1, END), max_size=4, unique=True).map(sorted))
            liked = draw(st.lists(st.sampled_from(values), min_size=len(borders) + 1, max_size=len(borders) + 1))
            strengths = draw(
                st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(borders) + 2, max_size=len(borders) + 2)
            )
            clocks = ["trait", *["habit"] * len(borders)]
            for value, clock, begins, ends, strength in zip(
                liked, clocks, [0, *borders], [*borders, None], strengths[1:], strict=True
            ):
                facts.append(Fact(person, dimension, value, clock, begins, ends, strength))
            if draw(st.booleans()):
                begins = draw(st.integers(0, END - 1))
                ends = draw(st.integers(begins + 1, END))
                facts.append(
                    Fact(person, dimension, draw(st.sampled_from(values)), "state", begins, ends, strengths[0])
                )
    return draw(st.permutations(facts))


def holding(facts: list[Fact], person: str, dimension: str, at: int, clocks: tuple[str, ...]) -> list[int]:
    """Rows that hold then, the strongest claim first: state over habit over trait."""
    rows = [
        n
        for n, f in enumerate(facts)
        if (f.person, f.dimension) == (person, dimension)
        and f.clock in clocks
        and f.begins <= at
        and (f.ends is None or at < f.ends)
    ]
    return sorted(rows, key=lambda n: ("state", "habit", "trait").index(facts[n].clock))


@settings(deadline=None, max_examples=60)
@given(lives(), st.lists(st.tuples(st.integers(0, 2), st.integers(0, END + 5)), min_size=1, max_size=12))
def test_exactly_one_value_holds_and_it_is_that_of_a_naive_lookup(
    facts: list[Fact], asked: list[tuple[int, int]]
) -> None:
    tastes = values_of(facts)
    person, at = np.array([p for p, _ in asked]), np.array([t for _, t in asked])
    value, row, strength = tastes.held_at(person, at)
    assert all((one == other).all() for one, other in zip(tastes.at(person, at), (value, row), strict=True))
    lasting, lasting_row = tastes.lasting_at(person, at)
    assert value.shape == row.shape == lasting.shape == (len(asked), len(DIMENSIONS))
    for n, (who, when) in enumerate(asked):
        for place, (dimension, values) in enumerate(DIMENSIONS.items()):
            first, *below = holding(facts, PEOPLE[who], dimension, when, ("state", "habit", "trait"))
            assert len(below) == (facts[first].clock == "state")
            assert row[n, place] == first and values[value[n, place]] == facts[first].value
            assert strength[n, place] == facts[first].strength
            [only] = holding(facts, PEOPLE[who], dimension, when, ("habit", "trait"))
            assert lasting_row[n, place] == only and values[lasting[n, place]] == facts[only].value


@settings(deadline=None, max_examples=60)
@given(lives(), st.integers(0, 2), st.integers(0, END + 5), st.integers(0, END))
def test_the_last_change_is_that_of_the_lasting_value(facts: list[Fact], who: int, at: int, start: int) -> None:
    changes = values_of(facts).last_change(np.array([who]), np.array([at]), start)
    for place, dimension in enumerate(DIMENSIONS):
        own = [f for f in facts if (f.person, f.dimension) == (PEOPLE[who], dimension) and f.clock != "state"]
        own.sort(key=lambda f: f.begins)
        changes_value = [not n or f.value != own[n - 1].value for n, f in enumerate(own)]
        past = [f.begins for f, is_change in zip(own, changes_value, strict=True) if is_change and f.begins <= at]
        assert changes[0, place] == max([start, *past])


@settings(deadline=None, max_examples=30)
@given(lives())
def test_the_order_of_the_rows_is_of_no_account(facts: list[Fact]) -> None:
    tastes, turned = values_of(facts), values_of(facts[::-1])
    person, at = np.repeat(np.arange(3), END), np.tile(np.arange(END), 3)
    assert (tastes.at(person, at)[0] == turned.at(person, at)[0]).all()
    assert (tastes.at(person, at)[1] == len(facts) - 1 - turned.at(person, at)[1]).all()
    assert (tastes.strength == turned.strength).all()


def test_borders_belong_to_what_begins_there() -> None:
    tastes = values_of(
        [
            Fact("a0", "food.heat", "mild", "trait", 0, 10),
            Fact("a0", "food.heat", "hot", "habit", 10, None),
            Fact("a0", "food.heat", "medium", "state", 5, 8),
            Fact("a0", "food.base", "fish", "trait", 0, None),
        ]
    )
    at = np.array([4, 5, 7, 8, 9, 10])
    assert tastes.at(np.zeros(6, np.int64), at)[0][:, 0].tolist() == [0, 1, 1, 0, 0, 2]
    assert tastes.at(np.zeros(6, np.int64), at)[1][:, 0].tolist() == [0, 2, 2, 0, 0, 1]


def test_before_its_first_interval_a_value_holds_already() -> None:
    other = [Fact("a1", "food.heat", "mild", "trait", 0, 60), Fact("a1", "food.heat", "hot", "habit", 60, None)]
    tastes = values_of([Fact("a0", "food.heat", "hot", "trait", 50, None), *other])
    assert tastes.at(np.array([0]), np.array([1]))[0].tolist() == [[2, 0]]


def test_what_changed_before_the_window_did_not_change_in_it() -> None:
    tastes = values_of([Fact("a0", "food.heat", "hot", "trait", 3, None)])
    assert tastes.last_change(np.array([0]), np.array([70]), 50)[0, 0] == 50
    assert tastes.last_change(np.array([0]), np.array([70]), 2)[0, 0] == 3


def test_who_has_no_row_has_the_first_value_without_strength() -> None:
    tastes = values_of([Fact("a1", "food.base", "tofu", "trait", 0, None, strength=1.5)])
    assert tastes.at(np.arange(3), np.full(3, 9))[0].tolist() == [[0, 0], [0, 1], [0, 0]]
    assert tastes.strength.tolist() == [[0, 0], [0, 1.5], [0, 0]]
    assert (tastes.since[0] == NEVER).all()
    table = table_of([Fact("a1", "food.base", "tofu", "trait", 0, None)])
    nobody = effective_values(
        table, pa.array([None, "a1"]), "actor_id", DIMENSIONS
    )  # a household without another person
    assert nobody.strength.tolist() == [[0, 0], [0, 1]]
    nothing = values_of([])
    assert nothing.at(np.arange(3), np.full(3, 9))[0].tolist() == [[0, 0]] * 3


def test_real_instants_are_looked_up_in_microseconds() -> None:
    noon = datetime(2025, 1, 6, 12, tzinfo=UTC)
    rows = table_of([Fact("a0", "food.heat", "hot", "trait", 0, None)]).to_pylist()
    rows.append({**rows[0], "value": "mild", "clock": "state", "valid_from": noon, "valid_to": noon.replace(hour=13)})
    table = DISPOSITIONS.conform(pa.Table.from_pylist(rows, schema=DISPOSITIONS.schema()), check_key=False)
    tastes = effective_values(table, pa.array(PEOPLE), "actor_id", DIMENSIONS)
    us = int(noon.timestamp()) * 1_000_000
    assert tastes.at(np.zeros(3, np.int64), np.array([us - 1, us, us + 3_600_000_000]))[0][:, 0].tolist() == [2, 0, 2]


def test_a_value_that_the_dimension_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"food\.base has no value seitan"):
        values_of([Fact("a0", "food.base", "seitan", "trait", 0, None)])


def test_a_second_state_of_one_person_and_dimension_is_refused() -> None:
    states = [Fact("a0", "food.base", "tofu", "state", begins, begins + 5) for begins in (0, 50)]
    with pytest.raises(ValueError, match="two passing states"):
        values_of(states)
    assert values_of([states[0], states[1]._replace(person="a1")]).state_from[:2, 1].tolist() == [0, 50]
