"""The shape of the file of a population: who people of a country or area are, in the words of a config's attributes.

``schemas/populations/<name>.yaml`` gives every built-in attribute its shares. What is the same in every population is
not in it: ages and incomes, which lie in their groups and bands, all equally likely, and the scores of traits.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.config.core import Section, broken
from schemas.config.personas import POPULATION, AttributeSpec, BuiltIn
from schemas.config.selectors import OTHERS, parts_of
from schemas.explain import NAME_PATTERN, did_you_mean
from schemas.source import SourceError, Violation, check, display, read_yaml
from schemas.tables.fields import TRAITS

FOLDER = Path(__file__).parents[1] / "populations"
WRITTEN = ("eurozone",)
"""Populations that are files; `us` is drawn from a reference."""
OTHER = "other"
"""In the key of a table of such a file: every value that no other key names, those of a config too."""
ALIKE = ("age_years", "income_usd", *TRAITS)
"""Built-in attributes that are the same in every population."""
STATED = (*(name for name in POPULATION if name not in (*ALIKE, "locale")), "locale")


class PopulationFile(Section):
    """Who people are, where they buy, and where the shares come from."""

    schema_version: Literal[1]
    title: str
    market: Annotated[str, Field(pattern=NAME_PATTERN)]
    """The market in which these people buy; of `schemas/markets.yaml`."""
    basis: dict[str, Annotated[str, Field(min_length=4)]]
    """Of each attribute: where its shares come from, or `assumed`."""
    attributes: dict[str, AttributeSpec] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> PopulationFile:
        for what, names in (("attributes", self.attributes), ("basis", self.basis)):
            if lacking := [name for name in STATED if name not in names]:
                raise broken(f"`{what}` lacks {lacking}", "a population says something of every attribute")
            if strange := [name for name in names if name not in STATED]:
                fix = did_you_mean(strange[0], STATED)
                raise broken(f"`{what}` names {strange}, which a population does not state", fix)
        return self


@cache
def load_population(name: str) -> PopulationFile:
    """The file of that population. Raises :class:`SourceError` if there is none or it is wrong."""
    path = FOLDER / f"{name}.yaml"
    if name not in WRITTEN:
        fix = did_you_mean(name, WRITTEN)
        raise SourceError([Violation(display(FOLDER), None, "population", name, "there is no such file", fix)])
    return check(PopulationFile, read_yaml(path))


def rows_of(spec: AttributeSpec) -> dict[str, tuple[str, ...]]:
    """The selectors of each row of an attribute's table, one a parent, `other` as what it stands for."""
    given = spec.given or []
    parts = {key: parts_of(key, len(given)) for key in spec.table or {}}
    return {key: tuple(OTHERS if part == OTHER else part for part in row) for key, row in parts.items()}


@cache
def attributes_of(population: str) -> Mapping[str, BuiltIn]:
    """What each attribute of a population depends on and the values it takes, in the order of drawing."""
    if population not in WRITTEN:
        return POPULATION
    stated = {name: _built_in(spec) for name, spec in load_population(population).attributes.items()}
    return {**stated, **{name: POPULATION[name] for name in ALIKE if name in POPULATION}}


def _built_in(spec: AttributeSpec) -> BuiltIn:
    given = tuple(spec.given or ())
    rows = rows_of(spec).values()
    takes_any = {name for place, name in enumerate(given) if any(row[place] == OTHERS for row in rows)}
    takes_any |= {name for place, name in enumerate(given) if _covers_numbers([row[place] for row in rows])}
    return BuiltIn(given, tuple(spec.levels()), frozenset(takes_any))


def _covers_numbers(selectors: list[str]) -> bool:
    """Whether bands open at both ends are among the selectors: then every number has a row."""
    return any(part.startswith("..") for part in selectors) and any(part.endswith("..") for part in selectors)
