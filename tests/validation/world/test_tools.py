from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas.domain import Domain, ToolSpec
from validation.world.tools import Toolbox, argument_schema, tool_problems, tool_schema
from validation.world.verbs import EFFECTS, PRECONDITIONS

ITEM = {"item_id": {"type": "string", "description": "Id."}}
BUY = {
    "name": "buy",
    "verb": "create",
    "target": "orders",
    "description": "Buys.",
    "parameters": ITEM,
    "requires": ["item_is_offered", "balance_covers_price"],
    "effects": ["add_order", "charge_balance"],
}


def test_a_tool_has_the_form_that_clients_of_language_models_take(domain: Domain) -> None:
    for tool in domain.tools:
        shown = tool_schema(tool)
        assert set(shown) == {"type", "function"}
        assert set(shown["function"]) == {"name", "description", "parameters"}
        Draft202012Validator.check_schema(shown["function"]["parameters"])
        assert set(shown["function"]["parameters"]["properties"]) == set(tool.parameters)


def test_bounds_of_whole_numbers_are_whole_numbers() -> None:
    tool = ToolSpec.model_validate(
        {**BUY, "parameters": {**ITEM, "quantity": {"type": "integer", "description": "n", "minimum": 1, "maximum": 9}}}
    )
    assert repr(argument_schema(tool)["properties"]["quantity"]["maximum"]) == "9"


def test_preconditions_and_effects_are_closed_lists_that_the_schema_knows() -> None:
    required = ToolSpec.model_json_schema()["properties"]
    assert required["requires"]["items"]["enum"] == list(PRECONDITIONS)
    assert set(required["effects"]["items"]["enum"]) == set(EFFECTS)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"verb": "get"}, "`get` only reads"),
        ({"effects": []}, "`create` does nothing"),
        ({"verb": "search", "effects": [], "target": "orders"}, "`search` looks through `offers`"),
        ({"parameters": {}}, "its preconditions read `item_id`; make it a required parameter"),
        ({"parameters": {"item_id": {**ITEM["item_id"], "required": False}}}, "make it a required parameter"),
        ({"parameters": {"item_id": {**ITEM["item_id"], "type": "integer"}}}, "`item_id` is an id; make it a string"),
        ({"parameters": {**ITEM, "colour": ITEM["item_id"]}}, "nothing reads its parameter `colour`"),
        ({"parameters": {**ITEM, "quantity": {"type": "integer", "description": "n"}}}, "integer with `minimum: 1`"),
        ({"requires": ["item_is_offered"]}, "`add_order` needs the precondition `balance_covers_price`"),
        ({"effects": ["charge_balance", "add_order"]}, "`charge_balance` must come after"),
        ({"effects": ["add_order", "charge_balance", "charge_balance"]}, "`charge_balance` happens twice"),
        ({"effects": ["refund_balance"]}, "`refund_balance` must come after"),
    ],
)
def test_a_tool_that_cannot_work_is_told_with_its_fix(change: dict[str, Any], told: str) -> None:
    assert tool_problems([ToolSpec.model_validate(BUY)]) == []
    problems = tool_problems([ToolSpec.model_validate({**BUY, **change})])
    assert any(told in problem for problem in problems), problems
    assert all(problem.startswith("tool `buy`: ") for problem in problems)


def test_a_limit_that_is_no_number_and_a_name_that_stands_twice_are_told() -> None:
    limit = {"max_price_cents": {"type": "string", "description": "l", "required": False}}
    find = {**BUY, "verb": "search", "target": "offers", "requires": [], "effects": [], "parameters": limit}
    problems = tool_problems([ToolSpec.model_validate(find), ToolSpec.model_validate(BUY)])
    assert problems == [
        "tool `buy`: `max_price_cents` is an amount; make it an integer",
        "two tools are called `buy`; rename one",
    ]


def test_a_toolbox_is_refused_with_every_reason_at_once(domain: Domain) -> None:
    tools = [ToolSpec.model_validate({**BUY, "requires": []}), ToolSpec.model_validate({**BUY, "effects": []})]
    with pytest.raises(ValueError, match=r"item_is_offered.*balance_covers_price.*called `buy`.*does nothing"):
        Toolbox.of(domain.model_copy(update={"tools": tools}))
