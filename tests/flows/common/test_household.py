"""Claims about who stands for a user, and where they live."""

from __future__ import annotations

import pyarrow as pa
import pytest

from flows.common.household import other_actors, own_actors, rows_of, zones_of

USERS = pa.table({"user_id": ["u000002", "u000000", "u000001"], "time_zone": ["UTC", "Asia/Kathmandu", "UTC"]})
ACTORS = pa.table(
    {
        "actor_id": ["a0", "a0b", "a1", "a2b", "a2"],
        "user_id": ["u000000", "u000000", "u000001", "u000002", "u000002"],
        "relation": ["self", "partner", "self", "flatmate", "self"],
        "has_account_access": [True] * 5,
    }
)


def cut(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table[:2], table[2:2], table[2:]])


@pytest.mark.parametrize("users", [USERS, cut(USERS)], ids=["whole", "cut"])
@pytest.mark.parametrize("actors", [ACTORS, cut(ACTORS), ACTORS.take([4, 3, 2, 1, 0])], ids=["whole", "cut", "turned"])
def test_actors_come_in_the_order_of_the_users(users: pa.Table, actors: pa.Table) -> None:
    assert own_actors(actors, users).to_pylist() == ["a2", "a0", "a1"]
    assert other_actors(actors, users).to_pylist() == ["a2b", "a0b", None]


def test_friends_and_small_children_stand_for_nobody() -> None:
    more = {
        "actor_id": ["a0a", "a2a"],
        "user_id": ["u000000", "u000002"],
        "relation": ["child", "friend"],
        "has_account_access": [False, False],
    }
    everybody = pa.concat_tables([pa.table(more), ACTORS])
    assert other_actors(everybody, USERS).to_pylist() == ["a2b", "a0b", None]
    nobody = ACTORS.set_column(
        3, "has_account_access", pa.array([relation == "self" for relation in ACTORS["relation"].to_pylist()])
    )
    assert other_actors(nobody, USERS).to_pylist() == [None, None, None]


def test_nobody_has_no_actors() -> None:
    assert own_actors(ACTORS[:0], USERS[:0]).to_pylist() == other_actors(ACTORS[:0], USERS[:0]).to_pylist() == []
    empty = pa.table([pa.chunked_array([], one.type) for one in ACTORS.columns], names=ACTORS.column_names)
    assert other_actors(empty, USERS).to_pylist() == [None, None, None]


def test_zones_are_coded_in_alphabetical_order() -> None:
    codes, zones = zones_of(cut(USERS))
    assert zones == ["Asia/Kathmandu", "UTC"]
    assert codes.tolist() == [1, 0, 1]


def test_rows_are_found_by_the_id_of_the_user() -> None:
    ids = pa.chunked_array([["u000001", "u000002"], ["u000001"]])
    assert rows_of(ids, cut(USERS)).tolist() == [2, 0, 2]
    assert rows_of(pa.chunked_array([], pa.string()), USERS).shape == (0,)


def test_a_stranger_is_told_by_name() -> None:
    ids = pa.chunked_array([["u000001", "u000009"], ["u000007"]])
    with pytest.raises(ValueError, match="2 rows are of users who are not among the 3, such as u000009"):
        rows_of(ids, USERS)
