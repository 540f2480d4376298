"""The shape of the file of life events and seasons: how people change, declared as data."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.config.core import Positive, Section
from schemas.tooling import Name


class Chance(Section):
    """An effect of an attribute of the person on how often a life event happens to them."""

    attribute: str
    """Attribute of the person, as in `tilts` of a dimension, at the start of the window."""
    multiply: Annotated[dict[str, Annotated[float, Field(ge=0)]], Field(min_length=1)]
    """For a value of it, or a band `low..high` of numbers, what multiplies the hazard; 0 where it cannot happen, 1 for
    others."""


class LifeEvent(Section):
    """Something that happens to a person and moves several tastes together."""

    per_year: Positive
    """Hazard: how often it happens a year to people for whom no chance counts."""
    chances: list[Chance] = Field(default_factory=list)
    """To whom it happens more often, and to whom less or never."""
    share: Positive
    """Its part of all life events of the built-in people, as hazards and chances give it. The observer reads this, for
    which people's attributes are sealed."""
    moves: Annotated[dict[str, str], Field(min_length=1)]
    """Dimension to the value it moves to."""
    sensitive: bool = False
    basis: str
    """Source of the hazard, or `assumed`. What it moves is assumed."""


Season = Literal["winter", "spring", "summer", "autumn"]


class LifeEvents(Section):
    """How people change: life events, each with what it moves, and what comes with a season."""

    schema_version: Literal[1]
    mean_per_year: Positive
    """Life events a year of the built-in people on average, as the hazards give them. The rate of the config stands for
    this many, so that what happens to a person does not depend on who else is there."""
    events: dict[Name, LifeEvent]
    seasons: dict[str, Annotated[dict[Season, str], Field(min_length=1)]] = Field(default_factory=dict)
    """Dimension to the value that some people like best in a season, by season. Assumed."""
