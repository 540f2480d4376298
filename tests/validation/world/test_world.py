"""Claims about the world: what calls do, what is told of bad ones, and what a trajectory keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.validation.world.worlds import (
    EVERYTHING,
    IDS,
    TOOLS,
    at,
    domain_of,
    offer,
    state_of,
    tools_of,
    with_cart,
    world_of,
)
from validation.world.tools import Toolbox
from validation.world.world import World, replay

FREE: dict[str, Any] = {"orders": [], "balance_cents": 3000}


def test_an_order_is_made_charged_and_seen() -> None:
    world = world_of("food", **FREE)
    done = world.call("food_place_order", {"item_id": IDS[0], "quantity": 2})
    assert done == world.call("food_list_orders")
    line = {"item_id": IDS[0], "quantity": 2, "price_cents": 700}
    order = {"order_id": "o-1", "lines": [line], "total_cents": 1400, "status": "open", "address": "x-home",
             "fee_cents": 0}  # fmt: skip
    assert done == {"orders": [order], "balance_cents": 1600}
    assert world.call("food_get_dish", {"item_id": IDS[0]})["offers"][0]["left"] == 3


def test_a_cancelled_order_is_refunded_put_back_and_seen() -> None:
    world = world_of("food", **FREE)
    world.call("food_place_order", {"item_id": IDS[0]})
    world.call("food_place_order", {"item_id": IDS[1]})
    world.call("food_cancel_order", {"order_id": "o-1"})
    seen = world.call("food_list_orders")
    assert [order["status"] for order in seen["orders"]] == ["cancelled", "open"]
    assert seen["balance_cents"] == 3000 - 1200
    assert [offer.left for offer in world.state.offers] == [5, 4, 5, 5]


def test_a_cart_is_filled_emptied_bought_and_seen() -> None:
    world = world_of("groceries", **{**FREE, "balance_cents": 9000})
    world.call("groceries_add_to_cart", {"item_id": IDS[0]})
    world.call("groceries_add_to_cart", {"item_id": IDS[1]})
    world.call("groceries_add_to_cart", {"item_id": IDS[0], "quantity": 2})
    seen = world.call("groceries_show_cart")
    assert [(line["item_id"], line["quantity"]) for line in seen["cart"]] == [(IDS[0], 3), (IDS[1], 1)]
    assert (seen["total_cents"], seen["balance_cents"]) == (3300, 9000)
    world.call("groceries_remove_from_cart", {"item_id": IDS[1]})
    assert world.call("groceries_show_cart")["total_cents"] == 2100
    world.call("groceries_checkout", {})
    assert world.call("groceries_show_cart")["cart"] == []
    (order,) = world.call("groceries_list_orders")["orders"]
    assert (order["total_cents"], order["lines"][0]["quantity"], len(order["lines"])) == (2100, 3, 1)
    assert world.state.balance_cents == 9000 - 2100 - order["fee_cents"]
    assert world.state.offers[0].left == 2


def test_a_fee_is_charged_kept_on_the_order_and_not_refunded() -> None:
    world = world_of(EVERYTHING, **FREE)
    world.call("order", {"item_id": IDS[0], "quantity": 2})
    assert (world.state.orders[0].total_cents, world.state.orders[0].fee_cents) == (1400, 50)
    assert world.state.balance_cents == 3000 - 1450
    world.call("order_back", {"order_id": "o-1"})
    assert world.state.balance_cents == 3000 - 50
    assert [step["cost_cents"] for step in world.trajectory] == [1450, -1400]


def test_a_booking_has_the_times_and_the_way_of_its_offer() -> None:
    world = world_of(EVERYTHING, bookings=[])
    (booking,) = world.call("book", {"item_id": IDS[0], "quantity": 2})["bookings"]
    assert booking == {
        "booking_id": "b-1", "item_id": IDS[0], "quantity": 2, "total_cents": 1400, "fee_cents": 0, "status": "open",
        "starts_at": "2025-01-07T18:30:00Z", "ends_at": "2025-01-07T20:30:00Z",
        "origin": "Northport", "destination": "Southport",
    }  # fmt: skip
    world.call("book_back", {"booking_id": "b-1"})
    assert (world.state.bookings[0].status, world.state.balance_cents, world.state.offers[0].left) == (
        "cancelled", 9000, 5)  # fmt: skip


def test_what_nothing_charges_is_booked_without_a_total() -> None:
    book = tools_of(EVERYTHING).specs["book"].model_copy(update={"effects": ["add_booking"]})
    world = world_of(EVERYTHING)
    world.tools = Toolbox(EVERYTHING, {**world.tools.specs, "book": book}, world.tools.validators)
    world.call("book", {"item_id": IDS[0]})
    assert (world.state.bookings[-1].total_cents, world.state.balance_cents) == (0, 9000)


def test_the_calendar_is_written_moved_and_cancelled() -> None:
    world = world_of(EVERYTHING, calendar=[])
    world.call("plan", {"item_id": IDS[0]})
    world.call("note", {"title": "Walk", "starts_at": "2025-01-09T07:00:00-06:00", "ends_at": at(9)})
    world.call("move", {"entry_id": "c-2", "starts_at": at(3), "ends_at": at(3, 1)})
    world.call("unplan", {"entry_id": "c-1"})
    assert [(one.item_id, one.title, one.status) for one in world.state.calendar] == [
        (IDS[0], "Mild stew", "cancelled"), (None, "Walk", "open")]  # fmt: skip
    (noted,) = world.call("get_calendar", {})["calendar"][1:]
    assert noted["starts_at"] == "2025-01-09T18:30:00Z"


def test_settings_devices_messages_plays_and_logs_do_what_they_say() -> None:
    offers = [offer(0), offer(1, category="side")]
    world = world_of(EVERYTHING, messages=[], plays=[], logs=[], offers=offers)
    for name, arguments in [
        ("choose", {"item_id": IDS[0]}), ("choose", {"item_id": IDS[1]}),
        ("switch", {"device_id": "x-lamp", "is_on": True}), ("turn", {"device_id": "x-lamp", "level": 4.0}),
        ("tell", {"contact_id": "x-ann", "text": "Hi"}), ("share", {"contact_id": "x-ben", "item_id": IDS[0]}),
        ("play", {"item_id": IDS[1]}), ("log", {"item_id": IDS[0]}), ("log", {"item_id": IDS[1]}),
        ("unlog", {"log_id": "l-1"}), ("go_by", {"place_id": "x-work"}),
    ]:  # fmt: skip
        assert "error" not in world.call(name, arguments)
    state = world.state
    assert [(one.category, one.item_id) for one in state.settings] == [("main", IDS[0]), ("side", IDS[1])]
    assert [(one.is_on, one.level) for one in state.devices] == [(True, 3), (True, 4)]
    assert [(one.contact_id, one.text, one.item_id) for one in state.messages] == [
        ("x-ann", "Hi", None), ("x-ben", None, IDS[0])]  # fmt: skip
    assert [one.item_id for one in (*state.plays, *state.logs)] == [IDS[1], IDS[1]]
    assert world.call("get_account") == {
        "address": "x-work", "location": "x-home", "age_years": 34, "balance_cents": 9000, "now": "2025-01-06T18:30:00Z",
        "utc_offset_min": -360}  # fmt: skip


def test_the_way_to_a_state_does_not_show_in_it() -> None:
    offers = [offer(0), offer(1, category="side")]
    ends = []
    for order in ((0, 1), (1, 0), (0, 1, 0)):
        world = world_of(EVERYTHING, offers=offers)
        for place in order:
            world.call("choose", {"item_id": IDS[place]})
        ends.append(world.state.digest())
    assert len(set(ends)) == 1


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, [0, 1, 2, 3]),
        (None, [0, 1, 2, 3]),
        ({"query": "MILD"}, [0, 2]),
        ({"query": "stew mild"}, [0]),
        ({"query": "side"}, [0, 1, 2, 3]),
        ({"query": "soup"}, []),
        ({"max_price_cents": 1200}, [0, 1, 3]),
        ({"query": "mild", "max_price_cents": 1199}, [0]),
    ],
)
def test_a_search_finds_what_holds_every_word_and_is_cheap_enough(arguments: Any, found: list[int]) -> None:
    result = world_of("food").call("food_search", arguments)
    assert [offer["item_id"] for offer in result["offers"]] == [IDS[place] for place in found]
    assert not found or result["offers"][0]["price_cents"] == (700, 1200, 2500)[found[0]]


def test_a_get_shows_the_one_entry_that_is_named() -> None:
    assert [o["title"] for o in world_of("food").call("food_get_dish", {"item_id": IDS[2]})["offers"]] == ["Mild wrap"]


NO = "bad_arguments"


@pytest.mark.parametrize(
    ("name", "arguments", "code", "told"),
    [
        ("food_plaec_order", {}, "unknown_tool", "no tool `food_plaec_order`; did you mean 'food_place_order'? tools are"),
        ({"name": "x"}, {}, "unknown_tool", "<dict>"),
        ("food_place_order", {}, NO, "`item_id` is missing: Id of the dish."),
        ("food_place_order", {"item_id": 7}, NO, "`item_id` is 7; must be text"),
        ("food_place_order", {"item_id": IDS[0], "quantity": 0}, NO, "`quantity` is 0; must be a whole number from 1 to 10"),
        ("food_place_order", {"item_id": IDS[0], "quantity": True}, NO, "`quantity` is True; must be a whole number"),
        ("food_place_order", {"item_id": IDS[0], "tip": 2}, NO, "no argument 'tip'; it takes item_id, quantity"),
        ("food_place_order", {"itemid": IDS[0]}, NO, "no argument 'itemid'; did you mean 'item_id'? it takes item_id, qu"),
        ("food_list_orders", {"a": 1}, NO, "no argument 'a'; it takes none"),
        ("food_place_order", "{'item_id': 1}", NO, "arguments must be a JSON object"),
        ("food_search", '{"max_price_cents": 1e999}', NO, "1e999 is no finite number"),
        ("food_search", '{"max_price_cents": NaN}', NO, "NaN is no finite number"),
        ("food_search", '{"max_price_cents": 9007199254740993}', NO, "'9007199254740993' is beyond 9007199254740992"),
        ("food_search", {"max_price_cents": -1}, NO, "`max_price_cents` is -1; must be a whole number, 0 or more"),
        ("food_search", {"query": "\ud800"}, NO, "half of a character"),
        ("food_place_order", [IDS[0]], NO, "not list"),
        ("food_place_order", {"item_id": [[IDS[0]]]}, NO, "'item_id': no argument is a list or an object"),
        ("planning_move_entry", {"entry_id": "c-9", "starts_at": "2025-01-06T09:00:00", "ends_at": at(3)}, NO,
         "`starts_at` is '2025-01-06T09:00:00'; must be a date and time with its offset, in 1900 to 2199, such as 2025-"),
        ("home_switch_device", {"device_id": "x-lamp", "is_on": "yes"}, NO, "`is_on` is 'yes'; must be true or false"),
    ],
)  # fmt: skip
def test_a_bad_call_is_told_what_is_wrong_and_how_it_should_be(name: Any, arguments: Any, code: str, told: str) -> None:
    domain = name.split("_")[0] if isinstance(name, str) else "food"
    error = world_of(domain).call(name, arguments)["error"]
    assert error["code"] == code
    assert told in error["message"]


def test_everything_that_is_wrong_with_arguments_is_told_at_once() -> None:
    message = world_of("food").call("food_place_order", {"quantity": 11, "tip": 2})["error"]["message"]
    assert message.count("; ") == 4
    for name in ("`item_id` is missing", "no argument 'tip'", "`quantity` is 11; must be"):
        assert name in message


def test_a_choice_is_told_with_its_nearest() -> None:
    spec = tools_of(EVERYTHING).specs["unset"]
    category = spec.parameters["category"].model_copy(update={"enum": ["main", "side"]})
    narrowed = spec.model_copy(update={"parameters": {"category": category}})
    tools = Toolbox.of(
        domain_of(EVERYTHING).model_copy(update={"tools": [narrowed if one is spec else one for one in TOOLS]})
    )
    message = World(tools, state_of(EVERYTHING)).call("unset", {"category": "sides"})["error"]["message"]
    assert message == "`category` is 'sides'; must be one of main, side; did you mean 'side'?"


def test_arguments_that_nest_without_end_are_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    round_and_round: dict[str, Any] = {}
    round_and_round["item_id"] = round_and_round
    for arguments in ({"item_id": deep}, "[" * 9_000, round_and_round):
        assert world_of("food").call("food_get_dish", arguments)["error"]["code"] == "bad_arguments"


def test_every_call_is_recorded_with_what_it_did_and_the_state_after_it() -> None:
    world = world_of(EVERYTHING)
    start = world.state.digest()
    world.call("find", {"query": "mild"})
    world.call("play", {"item_id": "nothing"})
    world.call("order", json.dumps({"item_id": IDS[0]}))
    world.call(None, [])
    assert [step["name"] for step in world.trajectory] == ["find", "play", "order", "<NoneType>"]
    assert [step["state_digest"] == start for step in world.trajectory] == [True, True, False, False]
    assert [step["effects"] for step in world.trajectory] == [
        [], [], ["add_order", "take_stock", "charge_balance", "charge_fee"], []]  # fmt: skip
    assert [step["cost_cents"] for step in world.trajectory] == [0, 0, 750, 0]
    assert world.trajectory[2]["arguments"] == {"item_id": IDS[0]}
    json.dumps(world.trajectory, allow_nan=False)


def test_the_log_keeps_what_was_called_even_if_the_caller_changes_its_arguments_later() -> None:
    world = world_of("food")
    arguments = {"item_id": IDS[0]}
    world.call("food_place_order", arguments)
    arguments["item_id"] = IDS[1]
    assert world.trajectory[0]["arguments"] == {"item_id": IDS[0]}


def test_a_new_order_never_takes_the_id_of_an_old_one() -> None:
    old = state_of("food").orders[0].model_copy(update={"order_id": "o-2"})
    world = World(tools_of("food"), state_of("food").model_copy(update={"orders": (old,)}))
    world.call("food_place_order", {"item_id": IDS[0]})
    assert [order.order_id for order in world.state.orders] == ["o-2", "o-3"]


def test_what_is_as_it_should_be_stays_the_very_same() -> None:
    world = world_of(EVERYTHING)
    before = world.state.digest()
    world.call("go_by", {"place_id": "x-home"})
    world.call("switch", {"device_id": "x-heater", "is_on": True})
    world.call("play", {"item_id": IDS[0]})
    world.call("unplay", {"play_id": "p-2"})
    assert world.state.digest() == before


def test_a_world_of_another_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="tools of food cannot work on a state of groceries"):
        World(tools_of("food"), state_of("groceries"))


@pytest.mark.parametrize(
    "unreadable", ["{", "[]", float("nan"), {"item_id": float("inf")}, {"a": {1, 2}}, "x" * 20_000]
)
def test_a_call_that_could_not_be_read_is_not_run_in_a_replay_either(unreadable: Any) -> None:
    start = with_cart(state_of(EVERYTHING))
    world = World(tools_of(EVERYTHING), start)
    assert world.call("cart_pay", unreadable)["error"]["code"] == "bad_arguments"
    assert replay(world.tools, start, world.trajectory).state.digest() == start.digest()
