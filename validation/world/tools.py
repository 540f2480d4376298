"""The tools of a domain, checked once: which there are, what arguments they take, and that each can work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from schemas.domain import Domain
from schemas.tooling import ToolSpec
from validation.world.arguments import FORMATS
from validation.world.tool_problems import tool_problems

__all__ = ["Toolbox", "argument_schema", "tool_problems", "tool_schema"]


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
            validators={
                tool.name: Draft202012Validator(argument_schema(tool), format_checker=FORMATS) for tool in domain.tools
            },
        )
