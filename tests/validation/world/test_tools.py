"""Claims about declared tools: clients take them as they are, and one that cannot work is told with its fix."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas.domain import Domain
from schemas.tooling import EFFECTS, PRECONDITIONS, Precondition, ToolSpec
from tests.validation.world.worlds import TOOLS, tool
from validation.world.effects import EFFECT_RULES, TAKING
from validation.world.preconditions import PRECONDITION_RULES
from validation.world.tools import Toolbox, argument_schema, tool_problems, tool_schema

ITEM = {"item_id": {"type": "string", "description": "Id."}}
BUY = {
    "name": "buy",
    "verb": "create",
    "target": "orders",
    "description": "Buys.",
    "parameters": ITEM,
    "requires": ["item_is_offered", "item_is_in_stock", "balance_covers_price"],
    "effects": ["add_order", "take_stock", "charge_balance"],
}
SEEN = [tool(f"get_{target}", "get", target) for target in ("offers", "orders", "cart", "devices", "calendar")]


def problems_of(change: dict[str, Any]) -> list[str]:
    return tool_problems([ToolSpec.model_validate({**BUY, **change}), *SEEN])


def test_a_tool_has_the_form_that_clients_of_language_models_take(domain: Domain) -> None:
    for spec in domain.tools:
        shown = tool_schema(spec)
        assert set(shown) == {"type", "function"}
        assert set(shown["function"]) == {"name", "description", "parameters"}
        schema = shown["function"]["parameters"]
        Draft202012Validator.check_schema(schema)
        assert set(schema["properties"]) == set(spec.parameters)
        assert schema["additionalProperties"] is False


def test_a_schema_says_formats_choices_and_bounds() -> None:
    parameters = {
        **ITEM,
        "quantity": {"type": "integer", "description": "n", "minimum": 1, "maximum": 9, "required": False},
        "starts_at": {"type": "string", "description": "when", "format": "date-time"},
        "category": {"type": "string", "description": "shelf", "enum": ["a", "b"]},
    }
    schema = argument_schema(ToolSpec.model_validate({**BUY, "parameters": parameters}))
    assert schema["required"] == ["item_id", "starts_at", "category"]
    quantity = {"type": "integer", "description": "n", "minimum": 1, "maximum": 9}
    assert schema["properties"]["quantity"] == quantity
    assert repr(schema["properties"]["quantity"]["maximum"]) == "9"
    assert schema["properties"]["starts_at"]["format"] == "date-time"
    assert schema["properties"]["category"]["enum"] == ["a", "b"]


def test_preconditions_and_effects_are_closed_lists_that_the_schema_knows() -> None:
    assert set(PRECONDITION_RULES) == set(PRECONDITIONS)
    assert set(EFFECT_RULES) == set(EFFECTS)
    assert set(TAKING) <= set(EFFECTS)


def test_the_tools_of_a_domain_can_work(domain: Domain) -> None:
    assert tool_problems(domain.tools) == []


def number(**more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": "n", **more}


def text(**more: Any) -> dict[str, Any]:
    return {"type": "string", "description": "t", **more}


TURN = {
    "verb": "set",
    "target": "devices",
    "parameters": {"device_id": text(), "level": number(minimum=0, maximum=9)},
    "requires": ["device_exists"],
    "effects": ["set_device_level"],
}
NOTE = {
    "verb": "create",
    "target": "calendar",
    "parameters": {"title": text(), "starts_at": text(format="date-time"), "ends_at": text(format="date-time")},
    "requires": ["ends_after_start", "hours_are_free"],
    "effects": ["add_entry"],
}
CART = {
    "verb": "pay",
    "parameters": {},
    "requires": ["cart_is_not_empty", "cart_is_in_stock", "balance_covers_cart"],
    "effects": ["order_cart", "take_stock", "charge_balance", "clear_cart"],
}


def with_parameter(base: dict[str, Any], name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {**base, "parameters": {**base["parameters"], name: spec}}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"verb": "get"}, "`get` only reads"),
        ({"effects": []}, "`create` does nothing"),
        ({"verb": "search", "effects": [], "target": "orders"}, "`search` looks through `offers`"),
        ({"target": "plays"}, "its answer shows `plays`, which it does not change; make the target one of"),
        ({"parameters": {}}, "its preconditions read `item_id`; make it a required parameter"),
        ({"parameters": {"item_id": text(required=False)}}, "make it a required parameter"),
        ({"parameters": {"item_id": number()}}, "`item_id` is an id; make it a string"),
        ({"parameters": {**ITEM, "colour": text()}}, "nothing reads its parameter `colour`; take it away; what it can"),
        ({"parameters": {**ITEM, "quantity": number()}}, "make it an integer with `minimum: 1`"),
        ({"parameters": {**ITEM, "quantity": number(minimum=3, maximum=2)}}, "`minimum` above its `maximum`"),
        ({"parameters": {"item_id": text(format="date-time")}}, "`item_id` is no instant; take its `format` away"),
        ({"parameters": {"item_id": text(minimum=1)}}, "`item_id` has bounds and is no number"),
        ({"parameters": {"item_id": text(enum=["a", "a"])}}, "an `enum` that is no list of different texts"),
        ({"requires": ["item_is_offered", "item_is_in_stock"]}, "`charge_balance` needs the precondition `balance_"),
        ({"requires": ["item_is_offered", "balance_covers_price"]}, "`take_stock` needs the precondition `item_is_in_"),
        ({"requires": [*BUY["requires"], "item_is_offered"]}, "`item_is_offered` is required twice"),
        ({"requires": ["item_is_in_stock", "item_is_offered", "balance_covers_price"]}, "relies on `item_is_offered`"),
        ({"effects": ["charge_balance", "add_order"]}, "`charge_balance` must come after"),
        ({"effects": [*BUY["effects"], "charge_balance"]}, "`charge_balance` happens twice"),
        ({"effects": ["refund_balance"]}, "`refund_balance` must come after"),
        ({"effects": ["return_stock"]}, "`return_stock` must come after"),
        ({"effects": ["add_order", "take_stock"]}, "`add_order` costs something; add `charge_balance`"),
        ({"effects": [*BUY["effects"], "charge_fee"]}, "`charge_fee` charges nothing; give it `fee_cents`"),
        ({"fee_cents": 5}, "nothing charges its fee of 5 cents; add `charge_fee`"),
        ({"effects": [*BUY["effects"], "add_play"]}, "take an item in several ways; keep one"),
        ({**CART, "effects": CART["effects"][:-1]}, "leaves the cart full; add `clear_cart`"),
        ({**CART, "effects": ["clear_cart", *CART["effects"][:-1]]}, "leaves nothing for `order_cart`"),
        ({**CART, "requires": CART["requires"][:1]}, "`take_stock` needs the precondition `cart_is_in_stock`"),
        ({**CART, "requires": CART["requires"][:2]}, "`charge_balance` needs the precondition `balance_covers_cart`"),
        (with_parameter(TURN, "level", number()), "make it an integer with `minimum` and `maximum`"),
        ({**TURN, "parameters": {"device_id": text()}}, "its effects read `level`; make it a required parameter"),
        ({**TURN, "effects": ["switch_device"]}, "its effects read `is_on`"),
        (with_parameter({**TURN, "effects": ["switch_device"]}, "is_on", text()), "`is_on` says yes or no; make it a bool"),
        (with_parameter(NOTE, "ends_at", text()), "`ends_at` is an instant; give it `format: date-time`"),
        (with_parameter(NOTE, "ends_at", number()), "`ends_at` is an instant; make it a string"),
        ({**NOTE, "requires": ["hours_are_free"]}, "`hours_are_free` relies on `ends_after_start`; require that before"),
        ({**NOTE, "effects": ["add_entry", "add_play"]}, "nothing shows what `add_play` changes; add a `get` of plays"),
        (
            {"target": "orders", "parameters": {"order_id": text(), "booking_id": text()}, "verb": "cancel",
             "requires": ["order_exists", "order_is_open", "booking_exists", "booking_is_open"],
             "effects": ["close_order", "close_booking"]},
            "closes an order and a booking; make two tools",
        ),
    ],
)  # fmt: skip
def test_a_tool_that_cannot_work_is_told_with_its_fix(change: dict[str, Any], told: str) -> None:
    assert problems_of({}) == []
    problems = problems_of(change)
    assert any(told in problem for problem in problems), problems
    assert all(problem.startswith("tool `buy`: ") for problem in problems)


@pytest.mark.parametrize("base", [TURN, NOTE, CART], ids=["turn", "note", "cart"])
def test_the_tools_that_are_spoilt_above_are_sound(base: dict[str, Any]) -> None:
    assert problems_of(base) == []


@pytest.mark.parametrize("spec", [spec for spec in TOOLS if spec.requires and spec.effects], ids=lambda spec: spec.name)
def test_a_tool_that_requires_less_than_its_effects_need_is_refused(spec: ToolSpec) -> None:
    """All but what is only a rule of the house: the age, the hour, the way."""
    free: set[Precondition] = {"age_allows", "is_open_now", "starts_in_future", "place_is_elsewhere"}
    free |= {"booking_is_ahead", "device_is_on"}
    if "add_cart_line" in spec.effects:
        free |= {"item_is_in_stock"}
    others = [one for one in TOOLS if one is not spec]
    for name in set(spec.requires) - free:
        less = spec.model_copy(update={"requires": [one for one in spec.requires if one != name]})
        assert any(name in problem for problem in tool_problems([less, *others])), name


def test_what_nothing_shows_and_what_nothing_takes_is_told() -> None:
    buy = ToolSpec.model_validate(BUY)
    assert tool_problems([buy]) == [
        "tool `buy`: nothing shows what `add_order` changes; add a `get` of orders",
        "tool `buy`: nothing shows what `take_stock` changes; add a `get` of offers",
        "tool `buy`: nothing shows what `charge_balance` changes; add a `get` of account or cart or orders or bookings",
    ]
    back = next(spec for spec in TOOLS if spec.name == "order_back")
    careless = buy.model_copy(update={"effects": ["add_order", "charge_balance"]})
    assert tool_problems([buy, back, *SEEN]) == []
    assert tool_problems([careless, back, *SEEN]) == [
        "tool `buy`: it takes no stock that a tool with `return_stock` puts back; add `take_stock`"
    ]


def test_a_limit_that_is_no_number_and_a_name_that_stands_twice_are_told() -> None:
    limit = {"max_price_cents": {"type": "string", "description": "l", "required": False}}
    find = {**BUY, "verb": "search", "target": "offers", "requires": [], "effects": [], "parameters": limit}
    problems = tool_problems([ToolSpec.model_validate(find), ToolSpec.model_validate(BUY), *SEEN])
    assert problems == [
        "tool `buy`: `max_price_cents` is an amount; make it an integer",
        "two tools are called `buy`; rename one",
    ]


def test_a_toolbox_is_refused_with_every_reason_at_once(domain: Domain) -> None:
    tools = [ToolSpec.model_validate({**BUY, "requires": []}), ToolSpec.model_validate({**BUY, "effects": []})]
    with pytest.raises(ValueError, match=r"item_is_offered.*balance_covers_price.*called `buy`.*does nothing"):
        Toolbox.of(domain.model_copy(update={"tools": tools}))
