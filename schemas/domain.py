"""The shape of a domain file: an area of life, declared as data."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from schemas.config.core import Positive, Rate, Section, broken
from schemas.tables.fields import ACTIONS

Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
Precondition = Literal[
    "item_is_offered",
    "balance_covers_price",
    "item_is_in_cart",
    "cart_is_not_empty",
    "balance_covers_cart",
    "order_exists",
    "order_is_open",
]
"""What a tool can require of the tool state. `validation/world/verbs.py` says what each means."""
Effect = Literal[
    "add_order",
    "charge_balance",
    "add_cart_line",
    "remove_cart_line",
    "order_cart",
    "clear_cart",
    "close_order",
    "refund_balance",
]
"""What a tool can do to the tool state, likewise."""


class ValueSpec(Section):
    """One value of a dimension."""

    share: Annotated[float, Field(ge=0)]
    """Share of people who like this value best. The shares of a dimension sum to 1."""
    words: Annotated[list[str], Field(min_length=1)]
    """How people say it. The first stands in titles; no two values of a domain share a word."""


class Tilt(Section):
    """An effect of an attribute of the person on which value they like best."""

    attribute: str
    """Column of `personas`."""
    multiply: dict[str, dict[str, Positive]]
    """For a value of the attribute (numeric ones as bands `low..high`, high exclusive), factors on shares by value."""
    basis: Annotated[str, Field(min_length=4)]
    """Source of the effect, or `assumed`."""


class DimensionSpec(Section):
    """Something one can prefer inside the domain."""

    noun: str
    """What people call the dimension."""
    kind: Literal["categorical", "ordinal", "numeric"]
    """Ordinal and numeric values are listed from low to high, and neighbours are half liked."""
    values: Annotated[dict[str, ValueSpec], Field(min_length=2)]
    strength: Positive = 1.0
    """Multiplies the strength of the person."""
    clock: Literal["trait", "habit"] = "trait"
    """Whether a life event may change it (habit) or not (trait)."""
    sensitive: bool = False
    """Belongs to health, religion, money or the like."""
    tilts: list[Tilt] = Field(default_factory=list)

    @model_validator(mode="after")
    def _shares(self) -> DimensionSpec:
        total = sum(v.share for v in self.values.values())
        if abs(total - 1) > 1e-6:
            raise broken(f"shares of the values sum to {total:.6g}; must sum to 1", "scale them")
        for tilt in self.tilts:
            for factors in tilt.multiply.values():
                unknown = set(factors) - set(self.values)
                if unknown:
                    raise broken(f"tilt on unknown values {sorted(unknown)}", f"values are {list(self.values)}")
        if self.kind == "numeric":
            for name in self.values:
                if not name.lstrip("-").replace(".", "", 1).isdigit():
                    raise broken(f"numeric value `{name}` is no number", "write a number, in quotes")
        return self


class DistractorSpec(Section):
    """An attribute of items that nobody's taste depends on."""

    noun: str
    words: Annotated[dict[str, str], Field(min_length=2)]
    """Value to how a description says it."""


class CatalogueSpec(Section):
    """The things of the domain: one for each category and combination of values."""

    categories: Annotated[dict[str, list[str]], Field(min_length=1)]
    """Category to the nouns its titles use."""
    titles: Annotated[list[str], Field(min_length=1)]
    """Templates over `{noun}` and the dimensions."""
    descriptions: Annotated[list[str], Field(min_length=1)]
    """Templates over `{title}`, `{noun}`, the dimensions and the distractors."""
    popularity_exponent: Annotated[float, Field(ge=0, le=2)]
    """Exponent of the Zipf law of how often a thing is on show."""
    base_price_cents: dict[str, int]
    """Category to price, before the factors."""
    price_factors: dict[str, dict[str, Positive]] = Field(default_factory=dict)
    """Dimension to factors by value."""
    price_spread: Annotated[float, Field(ge=0, le=1)] = 0.12
    """Standard deviation of the log of the price of otherwise equal things."""


class Rhythm(Section):
    """When sessions happen."""

    mechanism: Literal["session"]
    reference: str
    """File in validation/references/ whose hours (by day type) and weekdays hold."""
    sessions_per_week: dict[str, float]
    """Quantiles over people, `q0.05` style, of sessions in an active week."""
    sessions_basis: str
    """Where they come from, or `assumed`."""
    again_soon: Rate = 0.0
    """Share of sessions followed by another within minutes."""
    again_minutes: Positive = 6.0
    """Median of those minutes."""


class SessionShape(Section):
    """What happens in a session."""

    search: Rate
    """Share of sessions that begin with a search."""
    choose: Literal["order", "add", "buy", "book", "play"]
    """The action by which an option is chosen."""
    lines: dict[str, float]
    """Share of sessions by number of choices."""
    lines_basis: str
    close: Literal["checkout", "none"]
    """Whether the session ends with an action of its own."""
    review: Rate
    """Share of sessions followed by stars."""
    seconds_per_step: Positive
    """Median of the seconds between lines."""


class ParameterSpec(Section):
    """One argument of a tool."""

    type: Literal["string", "integer", "number", "boolean"]
    description: str
    required: bool = True
    minimum: float | None = None
    maximum: float | None = None
    enum: list[str] | None = None


class ToolSpec(Section):
    """A tool: a generic verb on one part of the state."""

    name: Name
    verb: Literal["search", "get", "create", "update", "cancel", "set", "send", "pay"]
    target: Literal["offers", "cart", "orders"]
    """The collection of the tool state it works on, and whose new content it answers."""
    description: str
    parameters: dict[Name, ParameterSpec] = Field(default_factory=dict)
    requires: list[Precondition] = Field(default_factory=list)
    """Preconditions, tried in this order before anything happens."""
    effects: list[Effect] = Field(default_factory=list)
    """Effects, in the order in which they happen."""


class AppSpec(Section):
    """An app of the domain, and on what it runs."""

    name: str
    devices: dict[str, Positive]
    """Device to share."""
    share: Positive = 1.0
    """Relative share of people who use this app."""


class Domain(Section):
    """One area of life."""

    schema_version: Literal[1]
    name: Name
    title: str
    key_action: str
    """The action that references count as one occurrence."""
    currency: str
    apps: Annotated[list[AppSpec], Field(min_length=1)]
    rhythm: Rhythm
    session: SessionShape
    dimensions: Annotated[dict[Name, DimensionSpec], Field(min_length=2)]
    distractors: dict[Name, DistractorSpec] = Field(default_factory=dict)
    catalogue: CatalogueSpec
    tools: Annotated[list[ToolSpec], Field(min_length=1)]
    gates: dict[str, Any] = Field(default_factory=dict)
    """Fidelity metrics that gate: metric to reference."""

    @model_validator(mode="after")
    def _words_are_distinct(self) -> Domain:
        if self.key_action not in ACTIONS:
            raise broken(f"key_action `{self.key_action}` is no action", f"actions are {list(ACTIONS)}")
        seen: dict[str, str] = {}
        for dimension, spec in self.dimensions.items():
            for value, value_spec in spec.values.items():
                for word in value_spec.words:
                    place = f"{dimension}.{value}"
                    if word.casefold() in seen:
                        raise broken(
                            f"`{word}` says both {seen[word.casefold()]} and {place}", "use another word for one"
                        )
                    seen[word.casefold()] = place
        return self

    @model_validator(mode="after")
    def _catalogue_fits(self) -> Domain:
        """Templates name every dimension and nothing unknown; prices are for what there is."""
        shop = self.catalogue
        clash = set(self.dimensions) & set(self.distractors)
        problems = [f"`{name}` is a dimension and a distractor" for name in sorted(clash)]
        titled = {"noun", *self.dimensions}
        for template in shop.titles:
            problems += _template_problems(template, allowed=titled, needed=titled)
        for template in shop.descriptions:
            problems += _template_problems(template, allowed={"title", *titled, *self.distractors}, needed=set())
        odd = set(shop.categories) ^ set(shop.base_price_cents)
        problems += [f"category `{name}` lacks nouns or a base price" for name in sorted(odd)]
        for dimension, factors in shop.price_factors.items():
            known = self.dimensions[dimension].values if dimension in self.dimensions else {}
            problems += [f"price factor of unknown `{dimension}: {value}`" for value in factors if value not in known]
        if problems:
            raise broken("; ".join(problems), f"the dimensions are {list(self.dimensions)}")
        return self

    def dimension_ids(self) -> list[str]:
        """Full names, such as `food.cuisine`, in the order of the file."""
        return [f"{self.name}.{dimension}" for dimension in self.dimensions]

    def value_names(self) -> dict[str, list[str]]:
        """Full name of each dimension to its values, both in the order of the file."""
        return {f"{self.name}.{name}": list(spec.values) for name, spec in self.dimensions.items()}


def _template_problems(template: str, *, allowed: Iterable[str], needed: Iterable[str]) -> list[str]:
    try:
        named = {field for _, field, _, _ in Formatter().parse(template) if field is not None}
    except ValueError as error:
        return [f"template `{template}` cannot be read: {error}"]
    unknown = [f"template `{template}` names unknown `{{{name}}}`" for name in sorted(named - set(allowed))]
    return unknown + [f"template `{template}` does not name `{{{name}}}`" for name in sorted(set(needed) - named)]


class LifeEvent(Section):
    """Something that happens to a person and moves several tastes together."""

    share: Positive
    """Relative frequency among life events."""
    moves: Annotated[dict[str, str], Field(min_length=1)]
    """Dimension to the value it moves to."""
    sensitive: bool = False
    basis: str
    """Source, or `assumed`."""


class LifeEvents(Section):
    """Life events, each with what it moves."""

    schema_version: Literal[1]
    events: dict[Name, LifeEvent]
