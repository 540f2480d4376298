"""The page of the tool world names the closed sets, whole and in their order, and says of each what the code does."""

from __future__ import annotations

import re
from typing import get_args

from schemas.tooling import EFFECTS, PRECONDITIONS, Effect, Precondition, Target, Verb
from tests.docs.pages import ROOT
from validation.world.effects import EFFECT_RULES, TAKING
from validation.world.paths import PRIVILEGES
from validation.world.preconditions import PRECONDITION_RULES
from validation.world.surprises import Surprise
from validation.world.views import NARROWED_BY

PAGE = (ROOT / "docs" / "tool_world.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def table(title: str) -> dict[str, list[str]]:
    """First cell to the other cells, of the rows of the table below the title."""
    rows = [line.strip("|").split("|") for line in section(title).splitlines() if line.startswith("| `")]
    return {row[0].strip().strip("`"): [cell.strip() for cell in row[1:]] for row in rows}


def names(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell))


def test_every_table_has_just_the_names_of_its_set_in_their_order() -> None:
    assert tuple(table("Verbs")) == get_args(Verb)
    assert tuple(table("Targets")) == get_args(Target)
    assert tuple(table("Preconditions")) == PRECONDITIONS
    assert tuple(table("Effects")) == EFFECTS


def test_arguments_and_needs_are_those_of_the_rules() -> None:
    for target, cells in table("Targets").items():
        assert names(cells[1]) == set(NARROWED_BY[target]), target  # type: ignore[index]
    preconditions: dict[Precondition, list[str]] = table("Preconditions")  # type: ignore[assignment]
    for precondition, cells in preconditions.items():
        assert names(cells[0]) - {"quantity"} == set(PRECONDITION_RULES[precondition].arguments), precondition
    effects: dict[Effect, list[str]] = table("Effects")  # type: ignore[assignment]
    for effect, cells in effects.items():
        assert set(EFFECT_RULES[effect].needs) <= names(cells[1]), effect
        assert not EFFECT_RULES[effect].needs or set(EFFECT_RULES[effect].needs) == names(cells[1]), effect


def test_ways_to_take_surprises_and_privileges_are_named() -> None:
    assert names(section("Effects").split("A tool takes")[1]) == set(TAKING)
    assert set(get_args(Surprise.model_fields["kind"].annotation)) <= names(section("Surprises"))
    assert set(PRIVILEGES) <= names(section("What passes"))
