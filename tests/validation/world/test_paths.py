"""Claims about ways through a world: the shortest one to an item, and the rules that one must keep to."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.domain import Domain
from tests.validation.world.worlds import EVERYTHING, IDS, TOOLS, domain_of, tool, tools_of, world_of
from validation.world.paths import PathRules, check_path, path_to, privilege
from validation.world.world import World

LOOK: tuple[str, dict[str, Any]] = ("find", {})
ORDER: tuple[str, dict[str, Any]] = ("order", {"item_id": IDS[0]})
TELL: tuple[str, dict[str, Any]] = ("tell", {"contact_id": "x-ann", "text": "Hi"})
NEEDED = [{"name": "order", "arguments": {"item_id": IDS[0]}}]


def went(*calls: tuple[Any, Any]) -> World:
    world = world_of(EVERYTHING)
    for call in calls:
        world.call(*call)
    return world


def reasons(world: World, rules: PathRules, needed: Any = None) -> tuple[str, ...]:
    verdict = check_path(world.trajectory, world.tools, rules, needed)
    assert verdict.passed == (not verdict.reasons)
    return verdict.reasons


def test_every_tool_has_the_privilege_of_the_most_that_it_does() -> None:
    found = {spec.name: privilege(spec) for spec in TOOLS}
    assert {name for name, it in found.items() if it == "share"} == {"tell", "share"}
    assert {name for name, it in found.items() if it == "spend"} == {"order", "book", "cart_pay"}
    assert {found["cart_add"], found["order_back"], found["switch"]} == {"write"}
    assert {found["find"], found["get_account"]} == {"read"}


@pytest.mark.parametrize(
    ("calls", "rules", "told"),
    [
        ([TELL], PathRules(forbidden=frozenset({"tell"})), "called `tell`, which is forbidden"),
        ([("tell", {})], PathRules(forbidden=frozenset({"tell"})), "called `tell`, which is forbidden"),
        (
            [ORDER],
            PathRules(privilege_at_most="write"),
            "called `order`, which may spend; the rules allow write at the",
        ),
        ([TELL], PathRules(privilege_at_most="spend"), "called `tell`, which may share; the rules allow spend at the"),
        ([ORDER], PathRules(cost_at_most_cents=749), "spent 750 cents; 749 at the most"),
        ([LOOK, LOOK, ORDER], PathRules(calls_at_most=2), "3 calls; 2 at the most"),
    ],
)
def test_what_breaks_a_rule_is_told(calls: Any, rules: PathRules, told: str) -> None:
    (reason,) = reasons(went(*calls), rules)
    assert told in reason


def test_a_way_within_the_rules_has_no_reason_against_it() -> None:
    rules = PathRules(frozenset({"tell"}), "spend", cost_at_most_cents=750, calls_at_most=3)
    assert reasons(went(LOOK, ORDER, ("rm", {})), rules, NEEDED) == ()
    assert reasons(went(*[TELL] * 30), PathRules()) == ()


def test_a_privilege_that_the_task_does_not_need_is_needless() -> None:
    told = "called `tell`, which may share; the task needs spend at the most"
    assert reasons(went(LOOK, TELL, TELL, ORDER), PathRules(), NEEDED) == (told,)
    assert reasons(went(LOOK), PathRules(), []) == ()
    assert len(reasons(went(ORDER), PathRules(), [])) == 1


def test_refunds_are_taken_off_the_cost() -> None:
    back = ("order_back", {"order_id": "o-2"})
    assert reasons(went(ORDER, back, ORDER), PathRules(cost_at_most_cents=800)) == ()
    assert reasons(went(ORDER, back, ORDER), PathRules(cost_at_most_cents=799)) == ("spent 800 cents; 799 at the most",)


def test_the_path_is_the_first_tool_that_takes_with_nothing_but_the_item(domain: Domain) -> None:
    path = path_to(domain, IDS[0])
    assert all(call["name"] in tools_of(domain.name).specs for call in path)
    assert path[0]["arguments"] == {"item_id": IDS[0]}
    assert len(path) == (1 if domain.name not in ("groceries", "fashion") else 2)


def test_a_tool_that_needs_more_is_no_way_and_a_cart_is_the_last() -> None:
    domain = domain_of(EVERYTHING)
    names = ("order_so_many", "cart_pay", "cart_add", "play", "log")
    order = next(spec for spec in TOOLS if spec.name == "order")
    pieces = order.parameters["quantity"].model_copy(update={"required": True})
    more = {"name": "order_so_many", "parameters": {**order.parameters, "quantity": pieces}}
    by_name = {spec.name: spec for spec in [*TOOLS, order.model_copy(update=more)]}

    def path(*taken: str) -> list[str]:
        tools = [by_name[name] for name in taken]
        return [call["name"] for call in path_to(domain.model_copy(update={"tools": tools}), IDS[0])]

    assert path(*names) == ["play"]
    assert path(*reversed(names)) == ["log"]
    assert path(*names[:3]) == ["cart_add", "cart_pay"]
    with pytest.raises(ValueError, match="has no tools to take an item with"):
        path("order_so_many", "cart_add")


def test_a_domain_without_tools_to_take_with_has_no_path(domain: Domain) -> None:
    reading = domain.model_copy(update={"tools": [tool("find", "search", "offers")]})
    with pytest.raises(ValueError, match="has no tools to take an item with"):
        path_to(reading, IDS[0])
