"""Claims about the tools of every domain: whatever is called the world stays whole, and what changes can be seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.domain import Domain
from schemas.tooling import EFFECTS, PRECONDITIONS, Effect, ToolSpec
from tests.validation.world.worlds import (
    EVERYTHING,
    GOOD,
    IDS,
    NAMES,
    TOOLS,
    at,
    good_arguments,
    state_of,
    tools_of,
    with_cart,
)
from validation.world.checker import Gold, Task, path_to, score
from validation.world.effects import EFFECT_RULES
from validation.world.state import ToolState
from validation.world.surprises import Surprise
from validation.world.tools import Toolbox
from validation.world.views import READING
from validation.world.world import Step, World, replay

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JUNK = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.text(max_size=2), LEAVES, max_size=1)
MORE: dict[str, list[Any]] = {
    "item_id": [*IDS, "i-old", "I-0000000001", ""],
    "order_id": ["o-9", "o-2", "o-3"],
    "booking_id": ["b-9", "b-2", "b-3"],
    "entry_id": ["c-9", "c-2", "c-3"],
    "contact_id": ["x-ann", "x-ben"],
    "place_id": ["x-home", "x-work"],
    "device_id": ["x-heater", "x-lamp"],
    "category": ["main", "side"],
    "play_id": ["p-9", "p-2"],
    "log_id": ["l-9", "l-2"],
    "text": ["", "On my way.", "é\0𝄞", "\ud800"],
    "starts_at": [at(0, 3), at(1), at(20), at(30), at(-1), "2025-01-06", "0001-01-01T00:00:00+05:00"],
    "ends_at": [at(0, 4), at(1, 1), at(30, 1), "9999-12-31T23:59:59-10:00", at(-1, 1)],
    "is_on": [True, False, "true"],
    "level": [0, 7, 7.0, 10**400, -1],
    "quantity": [1, 2, 5, 10, 2.0, 0, True, "2", 2.5, 2**60],
    "query": ["mild", "STEW", "", "zzz"],
    "max_price_cents": [0, 1200, 2500.5, -1],
}
ODD: list[Any] = [
    None,
    "",
    "{}",
    "[]",
    "{",
    "null",
    '{"item_id": NaN}',
    '{"max_price_cents": 1e999}',
    '{"text": "\\ud800", "contact_id": "x-ann"}',
    "\ud800",
    "x" * 20_000,
    "9" * 5000,
    [],
    7,
    {1: 2},
    {b"k"},
]
STRANGE_NAMES: list[Any] = [None, "", "rm", 3, ("a",), "x" * 500, "\ud800"]


@st.composite
def calls(draw: st.DrawFn, tools: list[ToolSpec]) -> list[tuple[Any, Any]]:
    """Mostly tools with what they take, in values that mostly are there; now and then anything at all."""
    out: list[tuple[Any, Any]] = []
    for _ in range(draw(st.integers(0, 10))):
        spec = draw(st.sampled_from(tools))
        odd = draw(st.integers(0, 11))
        if odd == 0:
            out.append((draw(st.sampled_from([spec.name, *STRANGE_NAMES])), draw(st.sampled_from(ODD))))
            continue
        arguments: dict[str, Any] = {}
        for name, parameter in spec.parameters.items():
            if parameter.required or draw(st.booleans()):
                arguments[name] = draw(st.sampled_from([GOOD.get(name, "x"), *MORE.get(name, [])]))
        if odd == 1:
            arguments[draw(st.sampled_from([*spec.parameters, "colour"]))] = draw(JUNK)
        out.append((spec.name, arguments))
    return out


SURPRISES = st.lists(
    st.sampled_from([0, 1, 2, 3, 5]).flatmap(
        lambda after: st.sampled_from(
            [
                Surprise(kind="sold_out", item_id=IDS[0], after_calls=after),
                Surprise(kind="price_changed", item_id=IDS[0], price_cents=4000, after_calls=after),
                Surprise(kind="price_changed", item_id=IDS[1], price_cents=0, after_calls=after),
            ]
        )
    ),
    max_size=2,
)


def gist(step: Step) -> tuple[Any, ...]:
    """A step without the words of its error, which say what arguments were like that nobody could read."""
    code = step["result"].get("error", {}).get("code")
    return step["name"], code or step["result"], step["state_digest"], step["effects"], step["cost_cents"]


def owed(state: ToolState) -> int:
    """What was paid for all that stands, and the fees that were kept."""
    paid = [*state.orders, *state.bookings]
    return sum(one.fee_cents + (one.total_cents if one.status == "open" else 0) for one in paid)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_is_called_the_world_answers_stays_whole_and_replays(name: str, data: st.DataObject) -> None:
    tools, start = tools_of(name), state_of(name)
    kinds = {spec.name: spec.verb for spec in tools.specs.values()}
    broken = Surprise(kind="unavailable", tool=next(iter(tools.specs)), after_calls=1)
    surprises = [*data.draw(SURPRISES), broken]
    world = World(tools, start, surprises)
    for tool, arguments in data.draw(calls(list(tools.specs.values()))):
        before = world.state
        result = world.call(tool, arguments)
        step = world.trajectory[-1]
        json.dumps(result, allow_nan=False)
        if "error" in result or kinds.get(tool) in READING:
            assert step["state_digest"] == before.digest()
            assert (step["effects"], step["cost_cents"]) == ([], 0)
        if "error" in result:
            assert set(result["error"]) == {"code", "message"}
            assert result["error"]["message"]
        assert ToolState.model_validate_json(world.state.to_json()) == world.state  # still as declared
        assert world.state.balance_cents + owed(world.state) == start.balance_cents + owed(start)
    assert start == state_of(name)
    texts = [
        {
            **step,
            "arguments": json.dumps(step["arguments"]) if isinstance(step["arguments"], dict) else step["arguments"],
        }
        for step in world.trajectory
    ]
    for trajectory in (world.trajectory, texts, json.loads(json.dumps(world.trajectory))):
        again = replay(tools, start, trajectory, surprises)
        assert again.state.digest() == world.state.digest()
        assert list(map(gist, again.trajectory)) == list(map(gist, world.trajectory))


def answers(tools: Toolbox, state: ToolState) -> list[dict[str, Any]]:
    """What every `get` of the domain answers, of every id there is."""
    found = []
    for spec in tools.specs.values():
        if spec.verb == "get":
            needed = [name for name, parameter in spec.parameters.items() if parameter.required]
            for values in zip(*(MORE[name] for name in needed), strict=True) if needed else [()]:
                found.append(World(tools, state).call(spec.name, dict(zip(needed, values, strict=True))))
    return found


def acting(name: str) -> Iterator[ToolSpec]:
    return (spec for spec in tools_of(name).specs.values() if spec.effects)


def ready(name: str, spec: ToolSpec) -> ToolState:
    """A state on which the tool works."""
    cart = {"order_cart", "remove_cart_line"} & set(spec.effects)
    return with_cart(state_of(name)) if cart else state_of(name)


@pytest.mark.parametrize(("name", "spec"), [(name, spec) for name in NAMES for spec in acting(name)])
def test_every_part_that_a_tool_changes_is_shown_by_a_get_of_its_domain(name: str, spec: ToolSpec) -> None:
    tools, start = tools_of(name), ready(name, spec)
    world = World(tools, start)
    done = world.call(spec.name, good_arguments(spec))
    assert "error" not in done
    assert world.trajectory[-1]["effects"] == spec.effects
    changed = [part for part in ToolState.model_fields if getattr(start, part) != getattr(world.state, part)]
    assert changed
    for part in changed:  # each by itself, so that no other change speaks for it
        only = start.model_copy(update={part: getattr(world.state, part)})
        assert answers(tools, only) != answers(tools, start), part


@pytest.mark.parametrize("effect", EFFECTS)
def test_no_effect_is_for_nothing(effect: Effect, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call leaves another state where that effect does nothing."""
    spec = next(spec for spec in TOOLS if effect in spec.effects)
    ends = []
    for apply in (EFFECT_RULES[effect].apply, lambda state, *_: state):
        monkeypatch.setitem(EFFECT_RULES, effect, replace(EFFECT_RULES[effect], apply=apply))
        world = World(tools_of(EVERYTHING), ready(EVERYTHING, spec))
        assert "error" not in world.call(spec.name, good_arguments(spec))
        ends.append(world.state.digest())
    assert ends[0] != ends[1]


def test_the_domain_of_everything_has_every_name() -> None:
    assert {name for spec in TOOLS for name in spec.requires} == set(PRECONDITIONS)
    assert {name for spec in TOOLS for name in spec.effects} == set(EFFECTS)


def act(domain: Domain, state: ToolState, gold: str = "A") -> Task:
    items = dict(zip("ABCD", IDS, strict=True))
    return Task("act", items, Gold(frozenset(gold)), domain, tools_of(domain.name), state)


def test_each_of_four_offers_can_be_taken_and_only_the_gold_one_passes(domain: Domain, state: ToolState) -> None:
    for gold in "ABCD":
        task = act(domain, state, gold)
        results = {option: score(task, {"calls": path_to(domain, item)}) for option, item in task.items.items() if item}
        assert [option for option, result in results.items() if result.passed] == [gold], results
        assert {result.tool_errors for result in results.values()} == {0}


@pytest.mark.parametrize("answer", [None, {}, {"calls": []}, {"calls": [{"name": "rm"}]}])
def test_doing_nothing_is_worth_nothing(answer: Any, domain: Domain, state: ToolState) -> None:
    assert not score(act(domain, state), answer).passed
    looking = [{"name": spec.name, "arguments": good_arguments(spec)} for spec in domain.tools if spec.verb in READING]
    assert not score(act(domain, state), {"calls": looking}).passed


def test_anything_done_besides_fails(domain: Domain, state: ToolState) -> None:
    """After the gold path, or before it, any other tool that leaves something behind spoils it."""
    for spec in domain.tools:
        path = path_to(domain, IDS[0])
        other = {"name": spec.name, "arguments": {**good_arguments(spec)}}
        if "item_id" in other["arguments"]:
            other["arguments"]["item_id"] = IDS[1]
        if not spec.effects or {"remove_cart_line", "order_cart", "set_setting"} & set(spec.effects):
            continue  # on what the path leaves these have nothing to do, or put right what they did
        result = score(act(domain, state), {"calls": [*path, other]})
        assert not result.passed, spec.name
        assert result.tool_errors == 0


def test_what_is_sold_out_cannot_be_taken_where_there_is_a_stock(domain: Domain, state: ToolState) -> None:
    limited = {spec.name for spec in domain.tools if {"item_is_in_stock", "cart_is_in_stock"} & set(spec.requires)}
    path = path_to(domain, IDS[0])
    if not limited & {call["name"] for call in path}:
        return
    world = World(tools_of(domain.name), state, [Surprise(kind="sold_out", item_id=IDS[0])])
    assert "sold out" in world.call(**path[0])["error"]["message"]
