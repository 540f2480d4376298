"""What people are inclined to, and how their attributes shape it.

effects:
  - {attribute: diet, dimension: food.base, multiply: {vegan: {tofu: 20, chicken: 0.05}}}
  - {attribute: commute, domain: mobility, rate: {bike: 1.6, car: 0.7}}

An effect is judged in two places: here, against the people and the names of the domains, and against the content of the
domains where they are loaded (:mod:`schemas.shaped`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import pyarrow as pa
from pydantic import Field, model_validator

from schemas.config.core import Basis, Positive, Rate, Section, broken
from schemas.config.people import Disagreement, attribute_levels, map_at
from schemas.config.pieces import selectors_of
from schemas.config.selectors import band_of, is_number, picked
from schemas.explain import NAME_PATTERN, Place, did_you_mean
from schemas.tables.sealed import PERSONAS

UNSHAPING = ("user_id", "sample_weight", "given_name", "family_name")
"""Columns of `personas` that say nothing of what somebody is like."""
TOLD_AT_MOST = 6


class Effect(Section):
    """What an attribute of people does to one of their tastes, or to how much they do in a domain."""

    attribute: Annotated[str, Field(pattern=NAME_PATTERN)]
    """An attribute of people, built in or the config's own; `segment` for the segment they belong to."""
    dimension: str | None = None
    """The taste that is moved, such as `food.base`."""
    multiply: Annotated[dict[str, Annotated[dict[str, Positive], Field(min_length=1)]], Field(min_length=1)] | None = (
        None
    )
    """For a value of the attribute, or a band `low..high` of numbers, what the shares of values of the taste are
    multiplied by. A value that has no row, or no factor in it, has 1. Effects on one taste multiply with each other, and
    with the tilts of the domain file."""
    domain: str | None = None
    """The domain in which people do more or less."""
    rate: Annotated[dict[str, Positive], Field(min_length=1)] | None = None
    """For a value of the attribute, or a band, what multiplies how often people do anything there. A value that has no
    row has 1. All people together do as much more or less as comes of it."""
    basis: Basis = "assumed"
    """Where the factors come from: a source, or `assumed`."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Effect:
        taste = (self.dimension is not None, self.multiply is not None)
        amount = (self.domain is not None, self.rate is not None)
        if (taste, amount) not in (((True, True), (False, False)), ((False, False), (True, True))):
            rule = "an effect has `dimension` and `multiply`, or `domain` and `rate`"
            raise broken(rule, "keep one of the two pairs")
        return self


class DispositionsConfig(Section):
    """What people are inclined to."""

    strength_mean: Positive = 1.8
    """Mean strength of a taste: what a full match adds to the log-odds of an option."""
    strength_spread: Annotated[float, Field(ge=0, le=1)] = 0.35
    """Standard deviation of the log of the strength over people and dimensions."""
    household_actor_share: Rate = 1.0
    """Of the people who live with somebody of six or older, the share whose account one such member can use."""
    shared_taste: Rate = 0.35
    """Share of dimensions in which a partner has the person's own taste; children and others in proportion to it."""
    interests_mean: Annotated[float, Field(ge=0, le=30)] = 6.0
    """Interests a person, on average."""
    recent_share: Rate = 0.2
    """Share of interests that are recent: no older than three months when the window begins."""
    disliked_share: Rate = 0.2
    """Share of interests that are aversions, among tags that one can like and dislike."""
    interest_factor: Annotated[float, Field(ge=1, le=10)] = 1.6
    """What an interest multiplies the odds of the values by that it is linked to; an aversion divides by it."""
    activity_spread: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Standard deviation over people of the log of how much they do in a domain."""
    absent_share: Annotated[float, Field(ge=0, le=0.9)] = 0.12
    """Share of (person, domain) without any activity in the apps. Nobody is absent from all domains."""
    late_start_share: Rate = 0.1
    """Share of (person, domain) that begin within the window."""
    early_end_share: Rate = 0.05
    """Share of (person, domain) that end within the window."""
    effects: list[Effect] = Field(default_factory=list)
    """What attributes of people do to tastes and to how much is done, besides what the domain files say."""

    @model_validator(mode="after")
    def _come_or_go(self) -> DispositionsConfig:
        if self.late_start_share + self.early_end_share > 1:
            rule = "`late_start_share` and `early_end_share` together are above 1, and nobody does both in one domain"
            raise broken(rule, "lower one of the two")
        return self


class Choices(NamedTuple):
    """What an attribute can be: some values, or any number."""

    values: Sequence[str]
    is_any: bool = False
    """Whether any value goes: numbers of a family, texts that nobody lists."""


def effect_disagreements(data: Mapping[str, Any]) -> Iterator[Disagreement]:
    """What effects want that the people or the domains of the config do not have. Parts of the wrong shape are passed
    over, as their own errors stand already."""
    effects = map_at(data, "dispositions").get("effects")
    if not isinstance(effects, list) or not effects:
        return
    known = choices_of(data, _rows_of(effects))
    domains = [name for name in data.get("domains") or [] if isinstance(name, str)]
    for index, effect in enumerate(effects):
        if not isinstance(effect, dict):
            continue
        here: Place = ("dispositions", "effects", index)
        name, domain = effect.get("attribute"), effect.get("domain")
        if isinstance(domain, str) and domain not in domains:
            fix = did_you_mean(domain, domains, f"add `{domain}` to `data.domains`")
            yield Disagreement((*here, "domain"), "is not among the domains of this config", fix)
        if not isinstance(name, str):
            continue
        if name not in known:
            yield Disagreement((*here, "attribute"), f"there is no attribute `{name}`", did_you_mean(name, known))
            continue
        for key in ("multiply", "rate"):
            rows = [row for row in map_at(effect, key) if isinstance(row, str)]
            for row, rule, fix in row_problems(name, rows, known[name]):
                yield Disagreement((*here, key, row), rule, fix)


def _rows_of(effects: Sequence[Any]) -> dict[str, set[str]]:
    """Attribute to the values and bands that effects name."""
    found: dict[str, set[str]] = {}
    for effect in effects:
        name = effect.get("attribute") if isinstance(effect, dict) else None
        if isinstance(name, str):
            rows = (*map_at(effect, "multiply"), *map_at(effect, "rate"))
            found.setdefault(name, set()).update(row for row in rows if isinstance(row, str))
    return found


def choices_of(data: Mapping[str, Any], rows: Mapping[str, set[str]]) -> dict[str, Choices]:
    """Every attribute that people of the config have, with what it can be. ``rows`` by attribute are the values and
    bands in question: the range of a number is cut at them."""
    personas = map_at(data, "personas")
    cuts = {name: set(named) for name, named in selectors_of(personas).items()}
    for name, named in rows.items():
        cuts.setdefault(name, set()).update(named)
    known = {name: Choices(levels) for name, levels in attribute_levels(personas, cuts).items()}
    for name, field in PERSONAS.columns.items():
        if name not in known and name not in UNSHAPING and _is_plain(field.type):
            known[name] = Choices(field.values or (), is_any=field.values is None)
    learnt = map_at(personas, "people_from", "learnt")
    for name in map_at(personas, "people_from", "columns"):
        if name not in learnt or map_at(learnt, name, "numbers"):
            known[name] = Choices((), is_any=True)
    return known


def _is_plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind))


def row_problems(name: str, rows: Sequence[str], choices: Choices) -> Iterator[tuple[str, str, str]]:
    """Rows by an attribute that pick nobody, or people whom another row picks: the row, the rule and the fix."""
    for row in rows:
        band = band_of(row)
        if band is not None and band[0] >= band[1] and row not in choices.values:
            yield row, "is an empty band: its high end is not in it", "write it `low..high`"
        elif not choices.is_any and not picked(row, choices.values):
            values = ", ".join(choices.values[:TOLD_AT_MOST]) + (", …" if len(choices.values) > TOLD_AT_MOST else "")
            fix = did_you_mean(row, [v for v in choices.values if v not in rows], f"`{name}` can be {values}")
            yield row, f"`{name}` is never `{row}`", fix
    for one, other in overlaps(rows):
        rule = f"overlaps the row `{one}`: some values are in both"
        yield other, rule, "let each value be in one; the high end of a band is not in it"


def overlaps(rows: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of rows that a number can be in at once, the earlier first."""
    spans = [(row, *span) for row in rows if (span := _span(row)) is not None]
    return [
        (one, other)
        for place, (one, low, high) in enumerate(spans)
        for other, its_low, its_high in spans[place + 1 :]
        if low < its_high and its_low < high
    ]


def _span(row: str) -> tuple[float, float] | None:
    """From where to where a row picks numbers, the end excluded; None where it picks a word."""
    if is_number(row):
        return float(row), math.nextafter(float(row), math.inf)
    return band_of(row)
