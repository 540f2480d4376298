"""What holds at an instant: exactly one value, state over lasting value."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from schemas.behaviour.effective import NEVER, effective_values
from schemas.tables.sealed import DISPOSITIONS

START = datetime(2025, 1, 1, tzinfo=UTC)
DIMENSIONS = {"food.heat": ["mild", "medium", "hot"], "food.base": ["fish", "tofu"]}


def row(nth: int, actor: str, dimension: str, value: str, clock: str, begins: int, ends: int | None) -> dict[str, Any]:
    return {
        "disposition_id": f"d{nth:03d}", "user_id": actor[:2], "actor_id": actor, "dimension": dimension, "value": value,
        "weights": [], "strength": 1.5, "clock": clock, "valid_from": START + timedelta(hours=begins),
        "valid_to": None if ends is None else START + timedelta(hours=ends), "condition": None, "cause": None, "is_sensitive": False,
    }


@st.composite
def lives(draw: st.DrawFn) -> list[dict[str, Any]]:
    """For two actors and both dimensions a chain of lasting values, and perhaps a state."""
    rows: list[dict[str, Any]] = []
    for actor in ("u0-a", "u1-a"):
        for dimension, values in DIMENSIONS.items():
            borders = sorted(draw(st.sets(st.integers(1, 99), max_size=3)))
            for begins, ends in zip([0, *borders], [*borders, None], strict=True):
                clock = "trait" if begins == 0 else "habit"
                rows.append(row(len(rows), actor, dimension, draw(st.sampled_from(values)), clock, begins, ends))
            if draw(st.booleans()):
                begins = draw(st.integers(0, 90))
                rows.append(row(len(rows), actor, dimension, draw(st.sampled_from(values)), "state", begins, begins + draw(st.integers(1, 30))))
    return draw(st.permutations(rows))


def naive(rows: list[dict[str, Any]], actor: str, dimension: str, at: datetime) -> tuple[str, str]:
    """The value and its row by looking at every row: a state if one holds, else the lasting value."""
    holding = [
        r for r in rows
        if r["actor_id"] == actor and r["dimension"] == dimension and r["valid_from"] <= at and (r["valid_to"] is None or at < r["valid_to"])
    ]
    [best] = [r for r in holding if r["clock"] == "state"] or holding
    return best["value"], best["disposition_id"]


@given(lives(), st.integers(0, 130))
def test_lookup_agrees_with_reading_every_row(rows: list[dict[str, Any]], hour: int) -> None:
    table = pa.Table.from_pylist(rows, schema=DISPOSITIONS.schema())
    actors = ["u1-a", "u0-a"]
    values = effective_values(table, pa.array(actors), "actor_id", DIMENSIONS)
    moment = START + timedelta(hours=hour)
    at = np.full(2, int(moment.timestamp()) * 1_000_000)
    code, place = values.at(np.arange(2), at)
    for person, actor in enumerate(actors):
        for column, (dimension, names) in enumerate(DIMENSIONS.items()):
            found = names[code[person, column]], table["disposition_id"][int(place[person, column])].as_py()
            assert found == naive(rows, actor, dimension, moment)
    lasting, _ = values.lasting_at(np.arange(2), at)
    without = [r for r in rows if r["clock"] != "state"]
    for person, actor in enumerate(actors):
        for column, (dimension, names) in enumerate(DIMENSIONS.items()):
            assert names[lasting[person, column]] == naive(without, actor, dimension, moment)[0]


def test_last_change_is_the_start_of_the_window_where_nothing_changed() -> None:
    rows = [row(0, "u0-a", "food.heat", "mild", "trait", 0, 50), row(1, "u0-a", "food.heat", "hot", "habit", 50, None),
            row(2, "u0-a", "food.base", "fish", "trait", 0, None)]
    values = effective_values(pa.Table.from_pylist(rows, schema=DISPOSITIONS.schema()), pa.array(["u0-a"]), "actor_id", DIMENSIONS)
    start = int((START + timedelta(hours=10)).timestamp()) * 1_000_000
    late = np.array([int((START + timedelta(hours=90)).timestamp()) * 1_000_000])
    changed = int((START + timedelta(hours=50)).timestamp()) * 1_000_000
    assert values.last_change(np.array([0]), late, start).tolist() == [[changed, start]]
    assert (values.state_from == NEVER).all()


def test_an_actor_without_rows_has_no_strength() -> None:
    table = pa.Table.from_pylist([row(0, "u0-a", "food.heat", "hot", "trait", 0, None)], schema=DISPOSITIONS.schema())
    values = effective_values(table, pa.array(["u0-a", "u9-a", None]), "actor_id", DIMENSIONS)
    assert values.strength.tolist() == [[1.5, 0], [0, 0], [0, 0]]
