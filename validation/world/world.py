"""A world in which answers are tried: tools of a domain over a typed state, deterministic and replayable."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from validation.world.state import ToolState
from validation.world.tools import Toolbox
from validation.world.verbs import EFFECTS, PRECONDITIONS, READING, search, view

ARGUMENTS_LENGTH = 10_000
NAME_LENGTH = 100
"""No tool needs longer arguments or has a longer name, and a log should not keep them."""


class Step(TypedDict):
    """One call of a trajectory, what it answered, and the state after it."""

    name: str
    arguments: dict[str, Any] | str
    """Text that is no JSON if they could not be read, so that a replay refuses them too."""
    result: dict[str, Any]
    state_digest: str


class World:
    """Tools over a state. Every call answers with a dict; ``{"error": {"code", "message"}}`` means nothing happened."""

    def __init__(self, tools: Toolbox, state: ToolState) -> None:
        if tools.domain != state.domain:
            raise ValueError(f"tools of {tools.domain} cannot work on a state of {state.domain}")
        self.tools = tools
        self.state = state
        self.trajectory: list[Step] = []

    def call(self, name: Any, arguments: Any = None) -> dict[str, Any]:
        """The tool's answer. Arguments are a mapping or its JSON text, as clients of either kind send them.

        Codes of errors: `unknown_tool`, `bad_arguments`, and the name of the first precondition that does not hold.
        """
        plain, result = _plain(arguments)
        if result is None:
            result = self._run(name, plain)
        else:
            plain = f"<unreadable: {_shown(arguments)}>"
        digest = self.state.digest()
        self.trajectory.append(Step(name=_shown(name), arguments=plain, result=result, state_digest=digest))
        return result

    def _run(self, name: Any, arguments: Any) -> dict[str, Any]:
        spec = self.tools.specs.get(name) if isinstance(name, str) else None
        if spec is None:
            return _error("unknown_tool", f"there is no tool `{_shown(name)}`; tools are {', '.join(self.tools.specs)}")
        wrong = sorted(self.tools.validators[spec.name].iter_errors(arguments), key=lambda error: error.json_path)
        if wrong:
            return _error("bad_arguments", "; ".join(f"{error.json_path}: {error.message}" for error in wrong))
        for precondition in spec.requires:
            reason = PRECONDITIONS[precondition].broken(self.state, arguments)
            if reason is not None:
                return _error(precondition, reason)
        if spec.verb == "search":
            return search(self.state, arguments)
        if spec.verb in READING:
            return view(self.state, spec.target, arguments)
        state = self.state
        for effect in spec.effects:
            state = EFFECTS[effect].apply(state, arguments)
        self.state = state
        return view(state, spec.target, {})


def replay(tools: Toolbox, state: ToolState, trajectory: Iterable[Mapping[str, Any]]) -> World:
    """A new world after the calls of a trajectory, given as steps or as plain ``{"name", "arguments"}``."""
    world = World(tools, state)
    for step in trajectory:
        world.call(step.get("name"), step.get("arguments"))
    return world


def _plain(arguments: Any) -> tuple[Any, dict[str, Any] | None]:
    """The arguments as JSON values of their own, and None; or None and the error. Nothing at all means no arguments."""
    if arguments is None or arguments == "":
        return {}, None
    try:
        if not isinstance(arguments, str):
            arguments = json.dumps(dict(arguments) if isinstance(arguments, Mapping) else arguments, allow_nan=False)
        if len(arguments) > ARGUMENTS_LENGTH:
            return None, _error("bad_arguments", f"arguments are longer than {ARGUMENTS_LENGTH} characters")
        plain = json.loads(arguments, parse_constant=_finite, parse_float=_finite)
    except (TypeError, ValueError, RecursionError) as error:
        return None, _error("bad_arguments", f"arguments must be a JSON object: {error}")
    if not isinstance(plain, dict):
        return None, _error("bad_arguments", f"arguments must be a JSON object, not {type(plain).__name__}")
    nested = [name for name, value in plain.items() if isinstance(value, (dict, list))]
    if nested:
        return None, _error("bad_arguments", f"{', '.join(nested)}: no argument is a list or an object")
    return plain, None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no finite number")
    return number


def _shown(name: Any) -> str:
    """The name as it can be logged: text as it is, cut if very long, and of anything else only what it is."""
    return name[:NAME_LENGTH] if isinstance(name, str) else f"<{type(name).__name__}>"


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
