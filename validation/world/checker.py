"""Judges answers by exact ids and by what they do to the world. No model judges anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas.domain import Domain, ToolSpec
from validation.world.state import ToolState
from validation.world.tools import Toolbox
from validation.world.world import World

FORMS = ("option_id", "calls", "ask")
CALLS_AT_MOST = 100
"""An answer with more calls fails unread."""


@dataclass(frozen=True)
class Verdict:
    """Whether a final state is right, and if not, why."""

    passed: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Score:
    """What an answer is worth."""

    passed: bool
    tool_errors: int = 0
    reasons: tuple[str, ...] = ()
    cost_cents: int = 0
    """What the answer spent, refunds taken off."""


@dataclass(frozen=True)
class Gold:
    """The right answers: options by id, and whether asking is right. A contested task may have both."""

    option_ids: frozenset[str] = frozenset()
    ask: bool = False

    @classmethod
    def of(cls, gold: Mapping[str, Any]) -> Gold:
        """From the JSON of `answers.gold`: ``{"option_ids": [...]}``, ``{"ask": true}``, or both."""
        unknown = set(gold) - {"option_ids", "ask"}
        options = gold.get("option_ids", [])
        ask = gold.get("ask") is True
        if unknown or not all(isinstance(option, str) for option in options) or not (options or ask):
            raise ValueError(f"gold {dict(gold)} is none: it has `option_ids`, or `ask: true`, and nothing else")
        return cls(frozenset(options), ask)


@dataclass(frozen=True)
class Task:
    """All that a checker needs of one task. ``state`` is needed for `act` only."""

    family: Literal["act", "know"]
    items: Mapping[str, str | None]
    """Option id to item id."""
    gold: Gold
    domain: Domain
    tools: Toolbox
    state: ToolState | None = None

    def __post_init__(self) -> None:
        strange = sorted(self.gold.option_ids - set(self.items))
        if strange:
            raise ValueError(f"gold options {strange} are not among the options {list(self.items)}")


def score(task: Task, answer: Any) -> Score:
    """What the answer is worth: pass or fail, with reasons. Never raises for a bad answer.

    An answer is ``{"option_id": text}`` for `know`, ``{"calls": [{"name", "arguments"}, ...]}`` for `act`, and for both
    ``{"ask": true}``; exactly one of them. Empty ones count as not given, and other keys, such as a rationale, are not
    read. Ids are compared as text, letter by letter.
    """
    given = {form: answer[form] for form in FORMS if answer.get(form)} if isinstance(answer, Mapping) else {}
    if not given:
        return Score(False, reasons=("there is no answer",))
    if len(given) > 1:
        return Score(False, reasons=(f"the answer is several at once: {', '.join(given)}",))
    if "ask" in given:
        return _score_ask(task, given["ask"])
    if "option_id" in given and task.family == "know":
        return _score_option(task, given["option_id"])
    if "calls" in given and task.family == "act":
        return _score_calls(task, given["calls"])
    return Score(False, reasons=(f"`{next(iter(given))}` does not answer a task of the form `{task.family}`",))


def _score_ask(task: Task, ask: Any) -> Score:
    if ask is not True:
        return Score(False, reasons=("`ask` is true or left out",))
    if task.gold.ask:
        return Score(True)
    return Score(False, reasons=("what was asked for follows from the history: asking is not needed",))


def _score_option(task: Task, option_id: Any) -> Score:
    if not isinstance(option_id, str) or option_id not in task.items:
        return Score(False, reasons=(f"{option_id!r} is no option",))
    if option_id in task.gold.option_ids:
        return Score(True)
    return Score(False, reasons=(f"option {option_id!r} is not right",))


def _score_calls(task: Task, calls: Any) -> Score:
    if not isinstance(calls, Sequence) or isinstance(calls, (str, bytes)):
        return Score(False, reasons=("`calls` must be a list of {name, arguments}",))
    if len(calls) > CALLS_AT_MOST:
        return Score(False, reasons=(f"{len(calls)} calls; {CALLS_AT_MOST} at the most",))
    if task.state is None:
        raise ValueError("an `act` task needs its tool state")
    world = World(task.tools, task.state)
    errors = 0
    for call in calls:
        name, arguments = (call.get("name"), call.get("arguments")) if isinstance(call, Mapping) else (None, None)
        errors += "error" in world.call(name, arguments)
    gold_items = {item for option in task.gold.option_ids if (item := task.items[option]) is not None}
    verdict = check_final_state(world.state, gold_items, task.domain.key_action)
    return Score(
        verdict.passed,
        tool_errors=errors,
        reasons=verdict.reasons,
        cost_cents=task.state.balance_cents - world.state.balance_cents,
    )


def check_final_state(state: ToolState, gold_item_ids: Collection[str], key_action: str) -> Verdict:
    """Passes if exactly one open order stands, of one piece of one gold item, and nothing is left in the cart."""
    reasons: list[str] = []
    standing = [order for order in state.orders if order.status == "open"]
    if len(standing) != 1:
        reasons.append(f"{len(standing)} standing results of `{key_action}`; must be 1")
    bought = [line for order in standing for line in order.lines]
    if bought and (len(bought) > 1 or bought[0].quantity > 1):
        listed = ", ".join(f"{line.quantity} x {line.item_id}" for line in bought)
        reasons.append(f"bought {listed}; must be one piece of one thing")
    wrong = sorted({line.item_id for line in bought if line.item_id not in gold_item_ids})
    if wrong:
        reasons.append(f"bought {', '.join(wrong)}, which is not right")
    if state.cart:
        reasons.append(f"left in the cart: {', '.join(line.item_id for line in state.cart)}")
    return Verdict(not reasons, tuple(reasons))


def path_to(domain: Domain, item_id: str) -> list[dict[str, Any]]:
    """The shortest list of calls that buys one piece of the item and nothing else, whatever the domain calls its tools.

    Raises ``ValueError`` if the domain has no tools to buy with.
    """
    order = _tool_with(domain, "add_order")
    if order is not None:
        return [{"name": order.name, "arguments": {"item_id": item_id}}]
    add, pay = _tool_with(domain, "add_cart_line"), _tool_with(domain, "order_cart")
    if add is None or pay is None:
        raise ValueError(f"domain {domain.name} has no tools to buy with: none adds an order, none orders a cart")
    return [{"name": add.name, "arguments": {"item_id": item_id}}, {"name": pay.name, "arguments": {}}]


gold_path = path_to
"""The path that proves a gold item: the same as to any other."""


def _tool_with(domain: Domain, effect: str) -> ToolSpec | None:
    return next((tool for tool in domain.tools if effect in tool.effects), None)
