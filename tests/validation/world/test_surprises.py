"""Claims about surprises: they happen once, when they are due, can be seen, and are no call's doing."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.validation.world.worlds import EVERYTHING, IDS, state_of, tools_of
from validation.world.surprises import Surprise
from validation.world.world import World, replay

ITEM = {"item_id": IDS[0]}


def world_with(*surprises: Surprise) -> World:
    return World(tools_of(EVERYTHING), state_of(EVERYTHING), surprises)


def test_what_was_found_is_sold_out_when_it_is_ordered() -> None:
    world = world_with(Surprise(kind="sold_out", item_id=IDS[0], after_calls=1))
    assert world.call("find")["offers"][0]["left"] == 5
    error = world.call("order", ITEM)["error"]
    assert (error["code"], error["message"]) == ("item_is_in_stock", f"{IDS[0]!r} is sold out; take something else")
    assert world.call("get_offers")["offers"][0]["left"] == 0
    assert world.call("order", {"item_id": IDS[1]})["balance_cents"] == 9000 - 1250


def test_a_new_price_is_seen_asked_and_charged_in_the_cart_too() -> None:
    world = world_with(Surprise(kind="price_changed", item_id=IDS[0], price_cents=900, after_calls=2))
    assert world.call("find")["offers"][0]["price_cents"] == 700
    assert world.call("cart_add", {**ITEM, "quantity": 2})["total_cents"] == 1400
    assert world.call("get_cart")["total_cents"] == 1800
    assert world.call("get_offers")["offers"][0]["price_cents"] == 900
    assert world.call("cart_pay")["orders"][-1]["total_cents"] == 1800


def test_a_tool_does_not_answer_once_whenever_it_is_called() -> None:
    world = world_with(Surprise(kind="unavailable", tool="order", after_calls=1))
    assert world.call("find")["offers"]
    assert world.call("get_orders")["orders"]
    assert world.call("order", ITEM)["error"] == {
        "code": "unavailable",
        "message": "`order` does not answer just now; nothing happened, call it again",
    }
    assert len(world.state.orders) == 1
    assert "error" not in world.call("order", ITEM)


@pytest.mark.parametrize("after_calls", [0, 1, 2, 3, 9])
def test_a_surprise_happens_after_so_many_calls_whatever_they_were(after_calls: int) -> None:
    world = world_with(Surprise(kind="sold_out", item_id=IDS[0], after_calls=after_calls))
    seen = []
    for name in ("find", "rm", "find"):
        seen.append(world.state.offers[0].left)
        world.call(name, None)
    assert seen == [0 if calls >= after_calls else 5 for calls in range(3)]


def test_no_call_is_blamed_for_what_the_world_did() -> None:
    world = world_with(Surprise(kind="sold_out", item_id=IDS[0], after_calls=1))
    before = world.state.digest()
    world.call("find")
    assert world.trajectory[0]["state_digest"] == before != world.state.digest()
    assert world.untouched == world.state
    world.call("get_offers")
    assert world.trajectory[1]["state_digest"] == world.state.digest()


def test_a_replay_with_the_same_surprises_ends_the_same_and_without_them_it_does_not() -> None:
    surprises = [Surprise(kind="sold_out", item_id=IDS[0], after_calls=1), Surprise(kind="unavailable", tool="log")]
    world = world_with(*surprises)
    for name in ("order", "order", "log", "log"):
        world.call(name, ITEM)
    again = replay(world.tools, state_of(EVERYTHING), world.trajectory, surprises)
    assert again.trajectory == world.trajectory
    assert replay(world.tools, state_of(EVERYTHING), world.trajectory).state.digest() != world.state.digest()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "sold_out"},
        {"kind": "sold_out", "item_id": "x", "price_cents": 3},
        {"kind": "price_changed", "item_id": "x"},
        {"kind": "unavailable", "item_id": "x"},
        {"kind": "unavailable", "tool": "x", "after_calls": -1},
        {"kind": "stolen", "item_id": "x"},
    ],
)
def test_a_surprise_names_just_what_it_changes(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Surprise.model_validate(wrong)


def test_surprises_about_what_is_not_there_are_refused_all_at_once() -> None:
    with pytest.raises(
        ValueError, match=r"`sold_out` is about 'i-0', which is not there; .*`unavailable` is about 'rm'"
    ):
        world_with(Surprise(kind="sold_out", item_id="i-0"), Surprise(kind="unavailable", tool="rm"))
