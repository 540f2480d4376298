"""The tools of a domain, checked once: which there are, what arguments they take, and that each can work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from schemas.domain import Domain, ToolSpec
from validation.world.verbs import EFFECTS, IDS, PRECONDITIONS, READING, SEARCH_FILTERS

EFFECT_ARGUMENTS = ("quantity",)
"""Arguments that effects read when they are there, besides those of the preconditions."""


def argument_schema(tool: ToolSpec) -> dict[str, Any]:
    """JSON Schema (2020-12) of the arguments of a tool: the column `tools.parameters`."""
    properties = {
        name: spec.model_dump(mode="json", exclude={"required"}, exclude_none=True)
        for name, spec in tool.parameters.items()
    }
    for spec in properties.values():
        if spec["type"] == "integer":
            spec.update({bound: int(spec[bound]) for bound in ("minimum", "maximum") if bound in spec})
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, spec in tool.parameters.items() if spec.required],
        "additionalProperties": False,
    }


def tool_schema(tool: ToolSpec) -> dict[str, Any]:
    """The tool as an OpenAI-style client takes it."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": argument_schema(tool)},
    }


@dataclass(frozen=True)
class Toolbox:
    """The tools of one domain, by name, with a checker of the arguments of each."""

    domain: str
    specs: Mapping[str, ToolSpec]
    validators: Mapping[str, Draft202012Validator]

    @classmethod
    def of(cls, domain: Domain) -> Toolbox:
        """Raises ``ValueError`` with every way in which a tool of the domain cannot work."""
        problems = tool_problems(domain.tools)
        if problems:
            raise ValueError(f"domain {domain.name}: " + "; ".join(problems))
        return cls(
            domain=domain.name,
            specs={tool.name: tool for tool in domain.tools},
            validators={tool.name: Draft202012Validator(argument_schema(tool)) for tool in domain.tools},
        )


def tool_problems(tools: Iterable[ToolSpec]) -> list[str]:
    """Why tools cannot work as declared, one sentence each with its fix; empty if all can."""
    problems: list[str] = []
    names: set[str] = set()
    for tool in tools:
        if tool.name in names:
            problems.append(f"two tools are called `{tool.name}`; rename one")
        names.add(tool.name)
        problems += [f"tool `{tool.name}`: {problem}" for problem in _problems_of(tool)]
    return problems


def _problems_of(tool: ToolSpec) -> list[str]:
    problems: list[str] = []
    if tool.verb in READING and tool.effects:
        problems.append(f"`{tool.verb}` only reads; take the effects {tool.effects} away")
    if tool.verb not in READING and not tool.effects:
        problems.append(f"`{tool.verb}` does nothing; give it effects, or make it a `get`")
    if tool.verb == "search" and tool.target != "offers":
        problems.append(f"`search` looks through `offers`, not `{tool.target}`; make it a `get`")
    read = {argument for name in tool.requires for argument in PRECONDITIONS[name].arguments}
    for argument in sorted(read):
        if argument not in tool.parameters or not tool.parameters[argument].required:
            problems.append(f"its preconditions read `{argument}`; make it a required parameter")
        elif tool.parameters[argument].type != "string":
            problems.append(f"`{argument}` is an id; make it a string")
    read |= set(SEARCH_FILTERS) if tool.verb == "search" else set()
    read |= {IDS[tool.target]} if tool.verb == "get" else set()
    read |= set(EFFECT_ARGUMENTS) if {"add_order", "add_cart_line"} & set(tool.effects) else set()
    problems += [f"nothing reads its parameter `{name}`; take it away" for name in tool.parameters if name not in read]
    quantity = tool.parameters.get("quantity")
    if quantity is not None and (quantity.type != "integer" or quantity.minimum is None or quantity.minimum < 1):
        problems.append("`quantity` counts pieces; make it an integer with `minimum: 1`")
    limit = tool.parameters.get("max_price_cents")
    if limit is not None and limit.type not in ("integer", "number"):
        problems.append("`max_price_cents` is an amount; make it an integer")
    for place, effect in enumerate(tool.effects):
        if effect in tool.effects[:place]:
            problems.append(f"`{effect}` happens twice; list it once")
        rule = EFFECTS[effect]
        lacking = [name for name in rule.needs if name not in tool.requires]
        problems += [f"`{effect}` needs the precondition `{name}`; require it" for name in lacking]
        if rule.follows and not set(rule.follows) & set(tool.effects[:place]):
            problems.append(f"`{effect}` must come after one of {list(rule.follows)}; reorder the effects")
    return problems
