"""The arguments of a call: read from whatever a client sends, and what is wrong with them in words that help."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from schemas.tooling import ParameterSpec, ToolSpec
from validation.world.instants import EXAMPLE, FIRST_YEAR, LAST_YEAR, read_instant
from validation.world.preconditions import meant, quoted

ARGUMENTS_LENGTH = 10_000
"""No tool needs longer arguments, and a log should not keep them."""
LARGEST = 2**53
"""The largest whole number that every reader of JSON understands alike."""
FORMATS = FormatChecker(formats=())
FORMATS.checks("date-time")(lambda value: not isinstance(value, str) or read_instant(value) is not None)


def read_arguments(given: Any) -> tuple[dict[str, Any], str | None]:
    """The arguments as JSON values of their own, and None; or nothing and what is wrong. Nothing means no arguments.

    ``given`` is a mapping or its JSON text. Never raises.
    """
    if given is None or given == "":
        return {}, None
    try:
        if not isinstance(given, str):
            given = json.dumps(dict(given) if isinstance(given, Mapping) else given, allow_nan=False)
        if len(given) > ARGUMENTS_LENGTH:
            return {}, f"arguments are longer than {ARGUMENTS_LENGTH} characters"
        plain = json.loads(given, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
    except (TypeError, ValueError, RecursionError) as error:
        return {}, f"arguments must be a JSON object: {error}"
    if not isinstance(plain, dict):
        return {}, f"arguments must be a JSON object, not {type(plain).__name__}"
    nested = [name for name, value in plain.items() if isinstance(value, (dict, list))]
    if nested:
        return {}, f"{', '.join(map(quoted, nested))}: no argument is a list or an object"
    if not all(_is_text(value) for pair in plain.items() for value in pair if isinstance(value, str)):
        return {}, "arguments hold half of a character (a lone surrogate), which is no text"
    return plain, None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no finite number")
    return number


def _whole(text: str) -> int:
    number = int(text)
    if abs(number) > LARGEST:
        raise ValueError(f"{quoted(text)} is beyond {LARGEST}")
    return number


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def argument_problems(tool: ToolSpec, validator: Draft202012Validator, arguments: Mapping[str, Any]) -> list[str]:
    """What is wrong with the arguments of a tool, a sentence each with what is allowed; empty if nothing is."""
    if validator.is_valid(arguments):
        return []
    known = tool.parameters
    unknown = [name for name in arguments if name not in known]
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    problems = [f"there is no argument {quoted(name)}; {meant(name, known)}{takes}" for name in unknown]
    for name, spec in known.items():
        if spec.required and name not in arguments:
            problems.append(f"`{name}` is missing: {spec.description}")
    wrong = {str(error.path[0]) for error in validator.iter_errors(arguments) if error.path}
    problems += [
        f"`{name}` is {quoted(arguments[name])}; must be {_allowed(spec)}{_near(spec, arguments[name])}"
        for name, spec in known.items()
        if name in wrong
    ]
    return problems


def _allowed(spec: ParameterSpec) -> str:
    if spec.enum is not None:
        return f"one of {', '.join(spec.enum)}"
    if spec.format == "date-time":
        return f"a date and time with its offset, in {FIRST_YEAR} to {LAST_YEAR}, such as {EXAMPLE}"
    if spec.type == "boolean":
        return "true or false"
    if spec.type == "string":
        return "text"
    kind = "a whole number" if spec.type == "integer" else "a number"
    if spec.minimum is not None and spec.maximum is not None:
        return f"{kind} from {spec.minimum:.15g} to {spec.maximum:.15g}"
    if spec.minimum is not None:
        return f"{kind}, {spec.minimum:.15g} or more"
    return f"{kind}, {spec.maximum:.15g} or less" if spec.maximum is not None else kind


def _near(spec: ParameterSpec, value: Any) -> str:
    if spec.enum is None or not isinstance(value, str):
        return ""
    hint = meant(value, spec.enum).strip()
    return f"; {hint}" if hint else ""
