"""A world in which answers are tried: tools of a domain over a typed state, deterministic and replayable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from schemas.tooling import ToolSpec
from validation.world.arguments import argument_problems, read_arguments
from validation.world.effects import EFFECT_RULES
from validation.world.preconditions import PRECONDITION_RULES, meant
from validation.world.state import ToolState
from validation.world.surprises import Surprise, surprise_problems, surprised
from validation.world.tools import Toolbox
from validation.world.views import READING, search, view

NAME_LENGTH = 100
"""No tool has a longer name, and a log should not keep one."""


class Step(TypedDict):
    """One call of a trajectory, what it answered, what it did, and the state after it."""

    name: str
    arguments: dict[str, Any] | str
    """Text that is no JSON if they could not be read, so that a replay refuses them too."""
    result: dict[str, Any]
    state_digest: str
    effects: list[str]
    """Names of the effects it had, in their order; none if it only read, or was refused."""
    cost_cents: int
    """What it took from the balance; below 0 if it paid back."""


class World:
    """Tools over a state. Every call answers with a dict; ``{"error": {"code", "message"}}`` means nothing happened.

    ``untouched`` is the state as it would be had nobody called anything: the first one, and what ``surprises`` did to it.
    They happen after a call's answer and digest, so that no call is blamed for them.
    """

    def __init__(self, tools: Toolbox, state: ToolState, surprises: Iterable[Surprise] = ()) -> None:
        if tools.domain != state.domain:
            raise ValueError(f"tools of {tools.domain} cannot work on a state of {state.domain}")
        self._pending = list(surprises)
        problems = surprise_problems(self._pending, state, tools.specs)
        if problems:
            raise ValueError("; ".join(problems))
        self.tools = tools
        self.state = state
        self.untouched = state
        self.trajectory: list[Step] = []
        self._unavailable: list[str] = []
        self._digest = state.digest()
        self._surprise()

    def call(self, name: Any, arguments: Any = None) -> dict[str, Any]:
        """The tool's answer. Arguments are a mapping or its JSON text, as clients of either kind send them.

        Codes of errors: `unknown_tool`, `unavailable`, `bad_arguments`, and the name of the first precondition that does
        not hold.
        """
        plain, unreadable = read_arguments(arguments)
        before, effects = self.state, list[str]()
        if unreadable is None:
            result, effects = self._run(name, plain)
        else:
            result = _error("bad_arguments", unreadable)
        if self.state is not before:
            self._digest = self.state.digest()
        self.trajectory.append(
            Step(
                name=_shown(name),
                arguments=plain if unreadable is None else f"<unreadable: {_shown(arguments)}>",
                result=result,
                state_digest=self._digest,
                effects=effects,
                cost_cents=before.balance_cents - self.state.balance_cents,
            )
        )
        self._surprise()
        return result

    def _run(self, name: Any, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The answer, and the effects that happened."""
        spec = self.tools.specs.get(name) if isinstance(name, str) else None
        if spec is None:
            hint = meant(name, self.tools.specs) if isinstance(name, str) else ""
            tools = ", ".join(self.tools.specs)
            return _error("unknown_tool", f"there is no tool `{_shown(name)}`; {hint}tools are {tools}"), []
        if spec.name in self._unavailable:
            self._unavailable.remove(spec.name)
            return _error("unavailable", f"`{spec.name}` does not answer just now; nothing happened, call it again"), []
        refused = self._refused(spec, arguments)
        if refused is not None:
            return refused, []
        if spec.verb == "search":
            return search(self.state, arguments), []
        if spec.verb in READING:
            return view(self.state, spec.target, arguments), []
        state = self.state
        for effect in spec.effects:
            state = EFFECT_RULES[effect].apply(state, arguments, spec)
        if state != self.state:
            self.state = state
        return view(state, spec.target, {}), list(spec.effects)

    def _refused(self, spec: ToolSpec, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The error of a call that cannot be, by its arguments or by the state; None if it can."""
        wrong = argument_problems(spec, self.tools.validators[spec.name], arguments)
        if wrong:
            return _error("bad_arguments", "; ".join(wrong))
        for precondition in spec.requires:
            reason = PRECONDITION_RULES[precondition].broken(self.state, arguments, spec)
            if reason is not None:
                return _error(precondition, reason)
        return None

    def _surprise(self) -> None:
        """What was to happen after so many calls happens."""
        due = [one for one in self._pending if one.after_calls <= len(self.trajectory)]
        if not due:
            return
        self._pending = [one for one in self._pending if one not in due]
        self._unavailable += [one.tool for one in due if one.tool is not None]
        for one in due:
            self.state, self.untouched = surprised(self.state, one), surprised(self.untouched, one)
        self._digest = self.state.digest()


def replay(
    tools: Toolbox, state: ToolState, trajectory: Iterable[Mapping[str, Any]], surprises: Iterable[Surprise] = ()
) -> World:
    """A new world after the calls of a trajectory, given as steps or as plain ``{"name", "arguments"}``."""
    world = World(tools, state, surprises)
    for step in trajectory:
        world.call(step.get("name"), step.get("arguments"))
    return world


def _shown(name: Any) -> str:
    """The name as it can be logged: text as it is, cut if very long, and of anything else only what it is."""
    return name[:NAME_LENGTH] if isinstance(name, str) else f"<{type(name).__name__}>"


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
