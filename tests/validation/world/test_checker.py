"""Claims about grading: exactly the gold answers pass, and every other one fails with its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.domain import Domain
from schemas.load import load_domain
from tests.validation.world.worlds import EVERYTHING, IDS, domain_of, state_of, tools_of
from validation.world.checker import CALLS_AT_MOST, Gold, Task, gold_path, path_to, score
from validation.world.paths import PathRules
from validation.world.state import ToolState
from validation.world.surprises import Surprise

OFFER = {"title": "t", "description": "d", "price_cents": 100, "currency": "USD", "category": "main"}
ONLY_A = Gold(frozenset({"A"}))
ITEMS: dict[str, str | None] = {"A": IDS[0], "B": IDS[1], "C": IDS[2]}
AWKWARD = ("H-1", "H-10", "h-1", "007", "7", "1e5", "100000", "null", "None", "EU/West", "EU", "", " H-1", "H-1.")


def act(domain: Domain, state: ToolState, gold: Gold | None = None) -> Task:
    return Task("act", ITEMS, gold or ONLY_A, domain, tools_of(domain.name), state)


def know(gold: Gold, options: tuple[str, ...] = ("A", "B", "C")) -> Task:
    domain = load_domain("food")
    return Task("know", dict.fromkeys(options), gold, domain, tools_of(domain.name))


def test_the_gold_path_passes_costs_its_price_and_fee_and_makes_no_error(domain: Domain, state: ToolState) -> None:
    result = score(act(domain, state), {"calls": gold_path(domain, IDS[0])})
    assert (result.passed, result.tool_errors, result.reasons) == (True, 0, ())
    called = [tool for tool in domain.tools if tool.name in {call["name"] for call in path_to(domain, IDS[0])}]
    fees = sum(tool.fee_cents for tool in called)
    charged = any("charge_balance" in tool.effects for tool in called)
    assert result.cost_cents == (700 + fees if charged else 0)


def test_every_option_of_a_gold_set_passes(domain: Domain, state: ToolState) -> None:
    task = act(domain, state, Gold(frozenset({"A", "C"})))
    assert [score(task, {"calls": path_to(domain, str(item))}).passed for item in ITEMS.values()] == [True, False, True]


EMPTY: list[Any] = [
    None,
    {},
    "",
    [],
    0,
    {"calls": []},
    {"option_id": ""},
    {"option_id": None},
    {"ask": False},
    {"note": "A"},
]


@pytest.mark.parametrize("answer", EMPTY)
def test_no_answer_is_worth_nothing(answer: Any, domain: Domain, state: ToolState) -> None:
    for task in (act(domain, state), act(domain, state, Gold(ask=True)), know(ONLY_A), know(Gold(ask=True))):
        result = score(task, answer)
        assert not result.passed
        assert result.reasons == ("there is no answer",)


def test_calls_that_take_nothing_are_worth_nothing(domain: Domain, state: ToolState) -> None:
    looking = next(tool.name for tool in domain.tools if tool.verb == "search")
    result = score(act(domain, state), {"calls": [{"name": looking, "arguments": {}}] * 5})
    assert not result.passed
    assert result.reasons == ("0 results stand; must be 1",)


def test_asking_is_right_only_where_it_is_gold(domain: Domain, state: ToolState) -> None:
    for gold, right in ((ONLY_A, False), (Gold(ask=True), True), (Gold(frozenset({"A"}), ask=True), True)):
        assert score(act(domain, state, gold), {"ask": True}).passed == right
        assert score(know(gold), {"ask": True}).passed == right
    assert not score(act(domain, state, Gold(ask=True)), {"calls": path_to(domain, IDS[0])}).passed
    assert not score(know(Gold(ask=True)), {"option_id": "A"}).passed
    assert not score(know(Gold(ask=True)), {"ask": "yes"}).passed


def test_several_answers_at_once_are_none(domain: Domain, state: ToolState) -> None:
    gold = Gold(frozenset({"A"}), ask=True)
    both = score(know(gold), {"option_id": "A", "ask": True})
    assert not both.passed
    assert both.reasons == ("the answer is several at once: option_id, ask",)
    assert not score(act(domain, state, gold), {"calls": path_to(domain, IDS[0]), "ask": True}).passed
    assert not score(know(gold), {"option_id": ["A", "B"]}).passed


def test_the_form_of_the_task_must_be_met(domain: Domain, state: ToolState) -> None:
    assert not score(act(domain, state), {"option_id": "A"}).passed
    assert not score(know(ONLY_A), {"calls": path_to(domain, IDS[0])}).passed


def test_a_rationale_beside_the_answer_does_no_harm() -> None:
    assert score(know(ONLY_A), {"option_id": "A", "rationale": "not B", "calls": None}).passed


def test_awkward_ids_are_compared_letter_by_letter() -> None:
    for gold in AWKWARD:
        if gold:
            task = know(Gold(frozenset({gold})), AWKWARD)
            assert [option for option in AWKWARD if score(task, {"option_id": option}).passed] == [gold]
    everything = know(Gold(frozenset(AWKWARD)), AWKWARD)
    for odd in (7, 100000, 1e5, None, True, ["H-1"], {"id": "H-1"}):
        assert not score(everything, {"option_id": odd}).passed


@pytest.mark.parametrize("text", ["not A", "A, B or C", "A.", "a", " A", "option A"])
def test_text_around_an_id_is_another_id(text: str) -> None:
    result = score(know(ONLY_A), {"option_id": text})
    assert not result.passed
    assert "is no option" in result.reasons[0]


def test_awkward_item_ids_are_taken_and_judged_letter_by_letter() -> None:
    domain = load_domain("food")
    ids = [item for item in AWKWARD if item]
    state = ToolState.model_validate(
        {"domain": "food", "offers": [{**OFFER, "item_id": item} for item in ids], "balance_cents": 500}
    )
    task = Task("act", {item: item for item in ids}, Gold(frozenset({"H-1"})), domain, tools_of(domain.name), state)
    assert [item for item in ids if score(task, {"calls": path_to(domain, item)}).passed] == ["H-1"]


def test_taking_more_than_was_asked_for_fails(domain: Domain, state: ToolState) -> None:
    once = path_to(domain, IDS[0])
    other = score(act(domain, state), {"calls": once + path_to(domain, IDS[1])})
    assert not other.passed
    assert any(f"took {IDS[1]}, which is not right" in reason for reason in other.reasons)
    if "quantity" in next(tool for tool in domain.tools if tool.name == once[0]["name"]).parameters:
        two = [{**once[0], "arguments": {"item_id": IDS[0], "quantity": 2}}, *once[1:]]
        assert "one piece of one thing" in score(act(domain, state), {"calls": two}).reasons[0]
        assert "2 results stand" in score(act(domain, state), {"calls": once + once}).reasons[0]


def test_a_basket_with_another_thing_or_a_thing_left_in_it_fails() -> None:
    domain = load_domain("groceries")
    state = state_of("groceries")
    add = [{"name": "groceries_add_to_cart", "arguments": {"item_id": item}} for item in IDS]
    pay = {"name": "groceries_checkout", "arguments": {}}
    drop = {"name": "groceries_remove_from_cart", "arguments": {"item_id": IDS[1]}}
    task = act(domain, state)
    assert not score(task, {"calls": [add[0], add[1], pay]}).passed
    assert score(task, {"calls": [add[0], add[1], drop, pay]}).passed
    left = score(task, {"calls": [add[0], pay, add[2]]})
    assert left.reasons == (f"left in the cart: {IDS[2]}",)


def test_a_wrong_order_that_was_cancelled_is_forgiven_and_costs_nothing() -> None:
    domain = load_domain("food")
    state = ToolState.model_validate(
        {
            "domain": "food",
            "balance_cents": 100,
            "offers": [{**OFFER, "item_id": "x"}, {**OFFER, "item_id": IDS[0], "price_cents": 70}],
        }
    )
    cancel = {"name": "food_cancel_order", "arguments": {"order_id": "o-1"}}
    result = score(act(domain, state), {"calls": [*path_to(domain, "x"), cancel, *path_to(domain, IDS[0])]})
    assert result.passed
    assert (result.cost_cents, result.tool_errors) == (70, 0)


def test_bad_calls_are_counted_and_do_not_spoil_a_right_end(domain: Domain, state: ToolState) -> None:
    looking = next(tool.name for tool in domain.tools if tool.verb == "search")
    bad: list[Any] = [None, 5, "food_search", {}, {"name": "x"}, {"name": looking, "arguments": "{"}]
    result = score(act(domain, state), {"calls": [*bad, *path_to(domain, IDS[0])]})
    assert result.passed
    assert result.tool_errors == len(bad)


def test_arguments_as_json_text_are_understood(domain: Domain, state: ToolState) -> None:
    first, *rest = path_to(domain, IDS[0])
    assert score(act(domain, state), {"calls": [{**first, "arguments": f'{{"item_id": "{IDS[0]}"}}'}, *rest]}).passed


def test_an_endless_list_of_calls_is_not_run(domain: Domain, state: ToolState) -> None:
    calls = path_to(domain, IDS[0]) + [{"name": "food_search"}] * CALLS_AT_MOST
    assert "at the most" in score(act(domain, state), {"calls": calls}).reasons[0]


ACT = act(load_domain("food"), ToolState.model_validate({"domain": "food", "offers": [], "balance_cents": 0}))
KNOW = know(ONLY_A)


@settings(max_examples=150, deadline=None)
@given(
    answer=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["A", "food_place_order"]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(st.sampled_from(["calls", "option_id", "ask", "name", "arguments"]), inner, max_size=2)
        ),
        max_leaves=6,
    )
)
def test_no_answer_makes_the_checker_fall_over(answer: Any) -> None:
    assert not score(ACT, answer).passed
    assert score(KNOW, answer).passed == (
        isinstance(answer, dict) and answer.get("option_id") == "A" and not (answer.get("calls") or answer.get("ask"))
    )


def test_gold_is_read_from_its_json_and_nonsense_is_refused() -> None:
    assert Gold.of({"option_ids": ["A"]}) == Gold(frozenset({"A"}))
    assert Gold.of({"ask": True}) == Gold(ask=True)
    nonsense: list[dict[str, Any]] = [{}, {"option_ids": []}, {"option_ids": [1]}, {"ask": False}, {"option_id": "A"}]
    for bad in nonsense:
        with pytest.raises(ValueError, match="is none"):
            Gold.of(bad)
    with pytest.raises(ValueError, match="not among the options"):
        know(Gold(frozenset({"Z"})))


def surprised(*surprises: Surprise, rules: PathRules | None = None) -> Task:
    domain = domain_of(EVERYTHING)
    task = act(domain, state_of(EVERYTHING), Gold(frozenset({"A", "B"})))
    return replace(task, surprises=surprises, rules=rules or task.rules)


def test_the_surprises_of_a_task_happen_to_every_answer() -> None:
    gone = surprised(Surprise(kind="sold_out", item_id=IDS[0], after_calls=1))
    order = [{"name": "order", "arguments": {"item_id": item}} for item in IDS[:2]]
    find = {"name": "find", "arguments": {}}
    assert score(gone, {"calls": order[:1]}).passed
    late = score(gone, {"calls": [find, order[0]]})
    assert (late.passed, late.tool_errors) == (False, 1)
    assert score(gone, {"calls": [find, *order]}).passed  # the other right one is still there
    assert score(surprised(Surprise(kind="price_changed", item_id=IDS[0], price_cents=1)), {"calls": order[:1]}).passed


def test_the_rules_of_a_task_hold_for_the_way() -> None:
    order = {"name": "order", "arguments": {"item_id": IDS[0]}}
    look = {"name": "get_orders", "arguments": {}}
    assert score(surprised(rules=PathRules(forbidden=frozenset({"tell"}))), {"calls": [look, order]}).passed
    result = score(surprised(rules=PathRules(forbidden=frozenset({"get_orders"}))), {"calls": [look, order]})
    assert result.reasons == ("called `get_orders`, which is forbidden",)
