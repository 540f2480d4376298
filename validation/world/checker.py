"""Judges answers by exact ids and by what they do to the world. No model judges anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas.domain import Domain
from validation.world.outcome import Verdict, check_final_state
from validation.world.paths import ANY_WAY, PathRules, check_path, gold_path, path_to
from validation.world.state import ToolState
from validation.world.surprises import Surprise
from validation.world.tools import Toolbox
from validation.world.world import World

__all__ = ["Gold", "Score", "Task", "Verdict", "check_final_state", "gold_path", "path_to", "score"]

FORMS = ("option_id", "calls", "ask")
CALLS_AT_MOST = 100
"""An answer with more calls fails unread."""


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
    surprises: tuple[Surprise, ...] = ()
    """What the world does of itself while the calls of an answer are run."""
    rules: PathRules = ANY_WAY
    """What the calls must keep to."""

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
    world = World(task.tools, task.state, task.surprises)
    errors = 0
    for call in calls:
        name, arguments = (call.get("name"), call.get("arguments")) if isinstance(call, Mapping) else (None, None)
        errors += "error" in world.call(name, arguments)
    gold_items = {item for option in task.gold.option_ids if (item := task.items[option]) is not None}
    end = check_final_state(world.state, gold_items, before=world.untouched)
    way = check_path(world.trajectory, task.tools, task.rules)
    return Score(
        end.passed and way.passed,
        tool_errors=errors,
        reasons=(*end.reasons, *way.reasons),
        cost_cents=task.state.balance_cents - world.state.balance_cents,
    )
