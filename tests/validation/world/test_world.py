"""Claims about the world: what calls do, what they leave alone, and that nothing makes it fall over."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.domain import Domain
from schemas.load import load_domain
from validation.world.state import ToolState
from validation.world.tools import Toolbox
from validation.world.verbs import PRECONDITIONS, READING
from validation.world.world import World, replay

StateOf = Callable[..., ToolState]
WorldOf = Callable[..., World]
IDS = ("i-0000000001", "i-0000000002", "i-0000000003")
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JUNK = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2))
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "item_id": st.sampled_from(IDS) | st.text(max_size=3) | JUNK,
        "quantity": st.integers(1, 4) | st.sampled_from([0, 1.0, 2.5, True, "2", 11, None]),
        "order_id": st.sampled_from(["o-1", "o-2", "o-3", "O-1"]) | JUNK,
        "query": st.sampled_from(["mild", "STEW", "", "zzz"]) | JUNK,
        "max_price_cents": st.integers(-5, 3000) | JUNK,
        "colour": st.just("red"),
    },
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        "",
        "{}",
        "[]",
        "{",
        "null",
        '{"item_id": NaN}',
        '{"max_price_cents": 1e999}',
        "x" * 20_000,
        "9" * 5000,
        [],
        7,
        {1: 2},
        {b"k"},
    ]
)


@st.composite
def calls(draw: st.DrawFn, domain: str) -> list[tuple[Any, Any]]:
    tools = {tool.name: tool for tool in load_domain(domain).tools}
    out: list[tuple[Any, Any]] = []
    for _ in range(draw(st.integers(0, 12))):
        name = draw(st.sampled_from(sorted(tools)) | st.sampled_from([None, "", "rm", 3, ("a",), "x" * 500]))
        if not draw(st.integers(0, 5)):
            out.append((name, draw(ODD)))
            continue
        arguments = draw(ARGUMENTS)
        if isinstance(name, str) and name in tools and draw(st.integers(0, 3)):  # mostly the arguments that it takes
            arguments = {key: value for key, value in arguments.items() if key in tools[name].parameters}
            for key, spec in tools[name].parameters.items():
                if spec.required:
                    arguments[key] = draw(st.sampled_from(IDS if key == "item_id" else ["o-1", "o-2"]))
        out.append((name, json.dumps(arguments) if not draw(st.integers(0, 4)) else arguments))
    return out


@pytest.mark.parametrize("name", ["food", "groceries"])
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_is_called_the_world_answers_and_stays_whole(
    name: str, data: st.DataObject, state_of: StateOf
) -> None:
    domain, start = load_domain(name), state_of(name)
    tools = Toolbox.of(domain)
    world = World(tools, start)
    readers = {tool.name for tool in domain.tools if tool.verb in READING}
    for tool, arguments in data.draw(calls(name)):
        before = world.state
        result = world.call(tool, arguments)
        json.dumps(result, allow_nan=False)
        if "error" in result or (isinstance(tool, str) and tool in readers):
            assert world.state is before
        if "error" in result:
            assert set(result["error"]) == {"code", "message"}
            assert result["error"]["message"]
        assert world.state.balance_cents >= 0
        ToolState.model_validate_json(world.state.to_json())  # still as declared
        spent = sum(order.total_cents for order in world.state.orders if order.status == "open")
        assert world.state.balance_cents + spent == start.balance_cents
    assert start == state_of(name)
    again = replay(tools, start, world.trajectory)
    assert again.state.digest() == world.state.digest()
    assert [step["state_digest"] for step in again.trajectory] == [step["state_digest"] for step in world.trajectory]


FAILING: dict[str, tuple[str, int, list[tuple[str, Any]], tuple[str, Any], str]] = {
    # precondition: (domain, balance, calls before, the call that fails, what the message says)
    "item_is_offered": ("food", 3000, [], ("food_get_dish", {"item_id": "i-0"}), "nothing on offer has the item_id"),
    "balance_covers_price": (
        "food",
        3000,
        [],
        ("food_place_order", {"item_id": IDS[1], "quantity": 3}),
        "3600 cents and the balance is 3000 cents",
    ),
    "item_is_in_cart": (
        "groceries",
        3000,
        [],
        ("groceries_remove_from_cart", {"item_id": IDS[0]}),
        f"the cart holds no '{IDS[0]}'",
    ),
    "cart_is_not_empty": ("groceries", 3000, [], ("groceries_checkout", {}), "the cart is empty"),
    "balance_covers_cart": (
        "groceries",
        1300,
        [("groceries_add_to_cart", {"item_id": IDS[0], "quantity": 2})],
        ("groceries_checkout", {}),
        "1400 cents and the balance is 1300 cents",
    ),
    "order_exists": (
        "food",
        3000,
        [("food_place_order", {"item_id": IDS[0]})],
        ("food_cancel_order", {"order_id": "o-7"}),
        "no order has the order_id 'o-7'; orders so far: o-1",
    ),
    "order_is_open": (
        "food",
        3000,
        [("food_place_order", {"item_id": IDS[0]}), ("food_cancel_order", {"order_id": "o-1"})],
        ("food_cancel_order", {"order_id": "o-1"}),
        "order 'o-1' is not open",
    ),
}


@pytest.mark.parametrize("precondition", PRECONDITIONS)
def test_every_precondition_can_fail_and_says_why(precondition: str, world_of: WorldOf) -> None:
    domain, balance, before, (name, arguments), told = FAILING[precondition]
    world = world_of(domain, balance)
    for step in before:
        assert "error" not in world.call(*step)
    error = world.call(name, arguments)["error"]
    assert error["code"] == precondition
    assert told in error["message"]


def test_an_order_is_made_charged_and_seen(world_of: WorldOf) -> None:
    world = world_of("food")
    done = world.call("food_place_order", {"item_id": IDS[0], "quantity": 2})
    assert done == world.call("food_list_orders")
    line = {"item_id": IDS[0], "quantity": 2, "price_cents": 700}
    order = {"order_id": "o-1", "lines": [line], "total_cents": 1400, "status": "open", "address": "home"}
    assert done == {"orders": [order], "balance_cents": 1600}


def test_a_cancelled_order_is_refunded_and_seen(world_of: WorldOf) -> None:
    world = world_of("food")
    world.call("food_place_order", {"item_id": IDS[0]})
    world.call("food_place_order", {"item_id": IDS[1]})
    world.call("food_cancel_order", {"order_id": "o-1"})
    seen = world.call("food_list_orders")
    assert [order["status"] for order in seen["orders"]] == ["cancelled", "open"]
    assert seen["balance_cents"] == 3000 - 1200


def test_a_cart_is_filled_emptied_bought_and_seen(world_of: WorldOf) -> None:
    world = world_of("groceries")
    world.call("groceries_add_to_cart", {"item_id": IDS[0]})
    world.call("groceries_add_to_cart", {"item_id": IDS[1]})
    world.call("groceries_add_to_cart", {"item_id": IDS[0], "quantity": 2})
    seen = world.call("groceries_show_cart")
    assert [(line["item_id"], line["quantity"]) for line in seen["cart"]] == [(IDS[0], 3), (IDS[1], 1)]
    assert (seen["total_cents"], seen["balance_cents"]) == (3300, 3000)
    world.call("groceries_remove_from_cart", {"item_id": IDS[1]})
    assert world.call("groceries_show_cart")["total_cents"] == 2100
    world.call("groceries_checkout", {})
    assert world.call("groceries_show_cart") == {"cart": [], "total_cents": 0, "balance_cents": 900}
    (order,) = world.call("groceries_list_orders")["orders"]
    assert (order["total_cents"], order["lines"][0]["quantity"], len(order["lines"])) == (2100, 3, 1)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, [0, 1, 2]),
        (None, [0, 1, 2]),
        ({"query": "MILD"}, [0, 2]),
        ({"query": "stew mild"}, [0]),
        ({"query": "side"}, [0, 1, 2]),
        ({"query": "soup"}, []),
        ({"max_price_cents": 1200}, [0, 1]),
        ({"query": "mild", "max_price_cents": 1199}, [0]),
    ],
)
def test_a_search_finds_what_holds_every_word_and_is_cheap_enough(
    arguments: Any, found: list[int], world_of: WorldOf
) -> None:
    result = world_of("food").call("food_search", arguments)
    assert [offer["item_id"] for offer in result["offers"]] == [IDS[place] for place in found]
    assert not found or result["offers"][0]["price_cents"] == (700, 1200, 2500)[found[0]]


def test_a_get_shows_the_one_entry_that_is_named(world_of: WorldOf) -> None:
    assert [o["title"] for o in world_of("food").call("food_get_dish", {"item_id": IDS[2]})["offers"]] == ["Mild wrap"]


@pytest.mark.parametrize(
    ("name", "arguments", "code", "told"),
    [
        ("food_plaec_order", {}, "unknown_tool", "no tool `food_plaec_order`; tools are food_search, food_get_dish"),
        ({"name": "x"}, {}, "unknown_tool", "<dict>"),
        ("food_place_order", {}, "bad_arguments", "'item_id' is a required property"),
        ("food_place_order", {"item_id": 7}, "bad_arguments", "$.item_id: 7 is not of type 'string'"),
        ("food_place_order", {"item_id": IDS[0], "quantity": 0}, "bad_arguments", "$.quantity: 0 is less than"),
        ("food_place_order", {"item_id": IDS[0], "quantity": True}, "bad_arguments", "$.quantity: True is not of type"),
        ("food_place_order", {"item_id": IDS[0], "tip": 2}, "bad_arguments", "('tip' was unexpected)"),
        ("food_place_order", "{'item_id': 1}", "bad_arguments", "arguments must be a JSON object"),
        ("food_search", '{"max_price_cents": 1e999}', "bad_arguments", "1e999 is no finite number"),
        ("food_search", '{"max_price_cents": NaN}', "bad_arguments", "NaN is no finite number"),
        ("food_place_order", [IDS[0]], "bad_arguments", "not list"),
        ("food_place_order", {"item_id": [[IDS[0]]]}, "bad_arguments", "item_id: no argument is a list or an object"),
    ],
)
def test_a_bad_call_is_told_what_is_wrong_and_how_it_should_be(
    name: Any, arguments: Any, code: str, told: str, world_of: WorldOf
) -> None:
    error = world_of("food").call(name, arguments)["error"]
    assert error["code"] == code
    assert told in error["message"]


def test_arguments_that_nest_without_end_are_refused(world_of: WorldOf) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    round_and_round: dict[str, Any] = {}
    round_and_round["item_id"] = round_and_round
    for arguments in ({"item_id": deep}, "[" * 9_000, round_and_round):
        assert world_of("food").call("food_get_dish", arguments)["error"]["code"] == "bad_arguments"


def test_the_log_keeps_what_was_called_even_if_the_caller_changes_its_arguments_later(world_of: WorldOf) -> None:
    world = world_of("food")
    arguments = {"item_id": IDS[0]}
    world.call("food_place_order", arguments)
    arguments["item_id"] = IDS[1]
    assert world.trajectory[0]["arguments"] == {"item_id": IDS[0]}
    assert json.loads(json.dumps(world.trajectory)) == world.trajectory


def test_tools_of_one_domain_do_not_work_on_the_state_of_another(domain: Domain, state_of: StateOf) -> None:
    with pytest.raises(ValueError, match="cannot work on a state of travel"):
        World(Toolbox.of(domain), state_of("travel"))


def test_a_new_order_never_takes_the_id_of_an_old_one(world_of: WorldOf) -> None:
    world = world_of("food")
    world.call("food_place_order", {"item_id": IDS[0]})
    old = world.state.orders[0].model_copy(update={"order_id": "o-2"})
    world = World(world.tools, world.state.model_copy(update={"orders": (old,)}))
    world.call("food_place_order", {"item_id": IDS[0]})
    assert [order.order_id for order in world.state.orders] == ["o-2", "o-3"]


@pytest.mark.parametrize("unreadable", [[], "[]", "{", 7, "{}" + " " * 10_000])
def test_a_call_that_was_refused_is_refused_again_in_a_replay(unreadable: Any, world_of: WorldOf) -> None:
    world, start = world_of("groceries"), world_of("groceries").state
    world.call("groceries_add_to_cart", {"item_id": IDS[0]})
    assert world.call("groceries_checkout", unreadable)["error"]["code"] == "bad_arguments"
    assert replay(world.tools, start, world.trajectory).state.digest() == world.state.digest()
