"""The shape of a domain file: an area of life, declared as data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from schemas.activities import Action, Activity, Choosing, Counts, RoutineActivity, SessionActivity, TripActivity
from schemas.config.core import Basis, Positive, Rate, Section, broken
from schemas.hours import hours_problem, is_open_at
from schemas.tooling import Name, ToolSpec

OWN_LINES = ("search", "review", "say", "reply")
"""Actions that no activity declares: searches and stars come by their rates, talks from the assistant."""
LINES_AT_MOST = 200
"""Choices of one session."""
ITEMS_AT_MOST = 40_000
"""Items of one domain: its catalogue is the full grid of its values, which grows fast."""
NAME_PARTS = ("given_name", "family_name", "street")
"""What the title of a personal thing may name, from the pools of the owner's locale."""


class ValueSpec(Section):
    """One value of a dimension."""

    share: Annotated[float, Field(ge=0)]
    """Share of people who like this value best. The shares of a dimension sum to 1."""
    words: Annotated[list[str], Field(min_length=1)]
    """How people and catalogues say it, the usual way first. No two values of a domain share a word."""


class Tilt(Section):
    """An effect of an attribute of the person, or of a taste in another domain, on which value they like best."""

    attribute: str | None = None
    """Attribute of the person: a column of `personas`, or one that follows from them, such as `children`, a number."""
    dimension: str | None = None
    """Dimension of another domain, such as `food.price_level`: a link. It counts where a build has that domain."""
    multiply: dict[str, dict[str, Positive]]
    """For a value of it (numeric attributes as bands `low..high`, high exclusive), factors on shares by value."""
    basis: Basis

    @model_validator(mode="after")
    def _one_of_both(self) -> Tilt:
        if (self.attribute is None) == (self.dimension is None):
            raise broken("a tilt is by `attribute` or by `dimension`", "give one of the two")
        if self.dimension is not None and "." not in self.dimension:
            raise broken(f"`{self.dimension}` is no full name", "write domain.dimension")
        return self


class RateTilt(Section):
    """An effect of an attribute of the person on how much they do in the domain."""

    attribute: str
    """Attribute of the person, as in `tilts` of a dimension."""
    rate: Annotated[dict[str, Positive], Field(min_length=1)]
    """For a value of it, or a band `low..high` of numbers, what multiplies how often they do anything here; 1 for others.
    The mean over the people the file is made for should be 1, as the rates of the activities are those of everybody."""
    basis: Basis


class ParticipationSpec(Section):
    """Who does more here, and who less."""

    tilts: list[RateTilt] = Field(default_factory=list)


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
    says: list[str] = Field(default_factory=list)
    """Sentences of a description over `{value}` and `{noun}`, for a dimension that titles do not name."""
    contrasts: list[str] = Field(default_factory=list)
    """Sentences that also name another value, `{other}`, so that a text must be read and not only searched for words.
    They name `{value}` too, unless titles do."""

    @model_validator(mode="after")
    def _shares(self) -> DimensionSpec:
        total = math.fsum(v.share for v in self.values.values())
        if abs(total - 1) > 1e-6:
            raise broken(f"shares of the values sum to {total:.6g}; must sum to 1", "scale them")
        for tilt in self.tilts:
            for factors in tilt.multiply.values():
                unknown = set(factors) - set(self.values)
                if unknown:
                    raise broken(f"tilt on unknown values {sorted(unknown)}", f"values are {list(self.values)}")
        if self.kind == "numeric":
            numbers = [_number(name) for name in self.values]
            if None in numbers:
                wrong = list(self.values)[numbers.index(None)]
                raise broken(f"numeric value `{wrong}` is no number", "write a number, in quotes")
            if numbers != sorted(numbers, key=lambda n: n or 0.0):
                raise broken("numeric values must rise", "list them from low to high")
        return self


def _number(text: str) -> float | None:
    return float(text) if text.lstrip("-").replace(".", "", 1).isdigit() else None


class DistractorSpec(Section):
    """An attribute of items that nobody's taste depends on."""

    noun: str
    words: Annotated[dict[str, str], Field(min_length=2)]
    """Value to how a description says it, as in `packed in paper`."""


class CategorySpec(Section):
    """A shelf of the catalogue."""

    nouns: Annotated[list[str], Field(min_length=1)]
    """What its things are called."""
    popularity: Positive = 1.0
    """How often its things are on show, relative to the other categories."""
    base_price_cents: Annotated[int, Field(ge=0)] = 0
    """Price before the factors, in US cents; 0 where nothing is paid."""
    opens: Annotated[int, Field(ge=0, le=23)] | None = None
    """Local hour from which its things can be had, if not at all hours."""
    closes: Annotated[int, Field(ge=1, le=28)] | None = None
    """Local hour at which that ends; beyond 24 after midnight."""
    min_age: Annotated[int, Field(ge=0, le=99)] | None = None
    """Age from which people may have them."""

    @model_validator(mode="after")
    def _hours(self) -> CategorySpec:
        if problem := hours_problem("a category", self.opens, self.closes):
            raise broken(*problem)
        return self

    def is_open(self, hour: int) -> bool:
        """Whether its things can be had in that hour of the local day."""
        return is_open_at(self.opens, self.closes, hour)

    @property
    def is_free_to_all(self) -> bool:
        """Whether its things can be had at all hours by every adult."""
        return self.opens is None and self.min_age is None


class CatalogueSpec(Section):
    """The things of the domain: one for each category and combination of values."""

    categories: Annotated[dict[Name, CategorySpec], Field(min_length=1)]
    titles: Annotated[list[str], Field(min_length=1)]
    """Templates over `{noun}` and some dimensions, the same ones in all."""
    asides: Annotated[list[str], Field(min_length=1)]
    """Sentences over `{a}`, `{b}` and `{c}`: how a description tells three attributes that nobody's taste depends on."""
    contrast_share: Rate = 0.45
    """Share of (item, dimension) whose description names another value too."""
    popularity_exponent: Annotated[float, Field(ge=0, le=2)]
    """Exponent of the Zipf law of how often a thing is on show."""
    popularity_basis: Basis
    price_for: Literal["piece", "meal", "night", "trip", "month", "play", "nothing"]
    """What one pays for."""
    price_factors: dict[Name, dict[str, Positive]] = Field(default_factory=dict)
    """Dimension to factors by value."""
    price_spread: Annotated[float, Field(ge=0, le=1)] = 0.12
    """Standard deviation of the log of the price of otherwise equal things."""
    price_basis: Basis = "assumed"

    @property
    def is_free_to_all(self) -> bool:
        """Whether everything can be had at all hours by every adult."""
        return all(category.is_free_to_all for category in self.categories.values())

    def headline(self) -> set[str]:
        """The dimensions that titles name."""
        return _fields(self.titles[0]) - {"noun"}


class PersonalSpec(Section):
    """A kind of thing that people have of their own: a home, contacts, devices."""

    noun: str
    count: Counts
    """Share of people by how many they have."""
    count_by: Name | None = None
    """An activity: whoever does it more often than others has more of these than they; if left out, chance decides."""
    titles: Annotated[list[str], Field(min_length=1)]
    """What they are called; templates over `{given_name}`, `{family_name}` and `{street}`."""
    description: str
    attributes: dict[Name, dict[str, Positive]] = Field(default_factory=dict)
    """Attribute to shares of its values."""
    holds: Literal["contacts", "places", "devices"]
    """The part of the tool state in which it stands."""


class Contexts(Section):
    """On what a taste can depend besides the person. `habitus domains check` warns of hours in which nothing happens."""

    time_of_day: dict[Name, Annotated[str, Field(pattern=r"^[0-9]{1,2}\.\.[0-9]{1,2}$")]] = Field(default_factory=dict)
    """Name to local hours `first..last`, last exclusive; beyond 24 after midnight."""
    weekday: dict[Name, list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]]] = Field(default_factory=dict)
    companion: list[Literal["alone", "partner", "children", "friends", "colleagues"]] = Field(default_factory=list)
    weather: list[Literal["dry", "rain", "snow", "heat", "cold"]] = Field(default_factory=list)
    place: list[Literal["home", "work", "out", "away"]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _some(self) -> Contexts:
        if not any((self.time_of_day, self.weekday, self.companion, self.weather, self.place)):
            raise broken("there is no context", "name one at least, such as weekday")
        return self


class AppSpec(Section):
    """An app of the domain, and on what it runs."""

    name: str
    devices: Annotated[dict[str, Positive], Field(min_length=1)]
    """Device to share. Of phone, laptop, tablet, watch, tv and speaker people use those that they own, or else their phone
    or laptop; any other is nobody's own, and there for everybody."""
    share: Positive = 1.0
    """Relative share of people who use this app."""


class GateSpec(Section):
    """What a fidelity metric is held against where it may keep a release from appearing."""

    reference: str
    """File in validation/references/."""
    of: str | None = None
    """What choices are told apart by: `item`, `category`, or a dimension of the domain. For metrics of what is chosen,
    `item` if it is left out."""
    action: Action | None = None
    """The action whose lines count; the key action if it is left out, or, for what is chosen, the action of choosing."""
    per: Literal["line", "session"] | None = None
    """Whether each line is an occurrence, or each sitting with such lines; each line if it is left out."""


def _as_gates(given: Any) -> Any:
    """The short form, `metric: reference`, and a single gate, as lists of gates."""
    if not isinstance(given, dict):
        return given
    listed = {metric: one if isinstance(one, list) else [one] for metric, one in given.items()}
    return {
        metric: [{"reference": one} if isinstance(one, str) else one for one in several]
        for metric, several in listed.items()
    }


class Domain(Section):
    """One area of life."""

    schema_version: Literal[1]
    name: Name
    title: str
    key_action: Action
    """The action that references count as one occurrence."""
    records_per_day: Positive
    """Lines of the log a person and day, as the activities give them on average. `habitus domains check` compares."""
    apps: Annotated[list[AppSpec], Field(min_length=1)]
    contexts: Contexts
    activities: Annotated[dict[Name, Activity], Field(min_length=1)]
    """What people do here, by name; one at least is a choice among options."""
    participation: ParticipationSpec = Field(default_factory=ParticipationSpec)
    dimensions: Annotated[dict[Name, DimensionSpec], Field(min_length=2)]
    distractors: Annotated[dict[Name, DistractorSpec], Field(min_length=3)]
    catalogue: CatalogueSpec
    personal: dict[Name, PersonalSpec] = Field(default_factory=dict)
    """What people have of their own here, by kind."""
    tools: Annotated[list[ToolSpec], Field(min_length=1)]
    gates: Annotated[dict[str, Annotated[list[GateSpec], Field(min_length=1)]], BeforeValidator(_as_gates)] = Field(
        default_factory=dict
    )
    """Fidelity metrics that gate: metric to reference, or to what is counted against which reference, or a list of those."""

    @model_validator(mode="after")
    def _words_are_distinct(self) -> Domain:
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
        """Templates name what they must and nothing unknown, prices are for what there is, and something is always to be had."""
        shop = self.catalogue
        clash = set(self.dimensions) & set(self.distractors)
        problems = [f"`{name}` is a dimension and a distractor" for name in sorted(clash)]
        headline = shop.headline() & set(self.dimensions)
        for template in shop.titles:
            problems += _template_problems(template, {"noun", *self.dimensions}, {"noun", *headline})
            if _fields(template) - {"noun"} != shop.headline():
                problems.append(f"title `{template}` names other dimensions than the first one")
        for template in shop.asides:
            problems += _template_problems(template, {"a", "b", "c"}, {"a", "b", "c"})
        for name, spec in self.dimensions.items():
            titled = name in headline
            if not titled and not spec.says:
                problems.append(f"no title names `{name}`, and it has no `says`")
            if shop.contrast_share > 0 and not spec.contrasts:
                problems.append(f"`{name}` has no `contrasts`")
            for template in spec.says:
                problems += _template_problems(template, {"value", "noun"}, {"value"})
            for template in spec.contrasts:
                needed = {"other"} if titled else {"value", "other"}
                problems += _template_problems(template, {"other", "noun"} if titled else {*needed, "noun"}, needed)
        for dimension, factors in shop.price_factors.items():
            known = self.dimensions[dimension].values if dimension in self.dimensions else {}
            problems += [f"price factor of unknown `{dimension}: {value}`" for value in factors if value not in known]
        if not any(category.is_free_to_all for category in shop.categories.values()):
            problems.append("every category has hours or an age limit; one must be there for everybody at all times")
        if self.item_count() > ITEMS_AT_MOST:
            problems.append(f"the grid has {self.item_count():,} things; {ITEMS_AT_MOST:,} at the most")
        if problems:
            raise broken("; ".join(problems), f"the dimensions are {list(self.dimensions)}")
        return self

    @model_validator(mode="after")
    def _activities_fit(self) -> Domain:
        """Somebody chooses, somebody does the key action, and what is done to one's own is done to what there is."""
        problems: list[str] = []
        if not self.choosing():
            problems.append("no activity is a choice among options; add a session or a trip")
        if self.key_action not in self.actions():
            problems.append(f"no activity does the key action `{self.key_action}`")
        for name, activity in self.activities.items():
            problems += [f"activity `{name}`: {problem}" for problem in _activity_problems(activity)]
            kind = _personal_kind(activity)
            if kind is not None and kind not in self.personal:
                problems.append(f"activity `{name}` is about `{kind}`, which is no kind of `personal`")
            if isinstance(activity, TripActivity) and kind in self.personal:
                spec = self.personal[kind]
                if spec.holds != "places" or spec.count.get("0", 0) > 0:
                    problems.append(
                        f"activity `{name}` comes back to `{kind}`, which must be a place that everybody has"
                    )
        for kind, personal in self.personal.items():
            if personal.count_by is not None and not hasattr(self.activities.get(personal.count_by), "per_week"):
                problems.append(
                    f"`{kind}` is counted by `{personal.count_by}`, which is no activity done some times a week"
                )
            for template in personal.titles:
                problems += _template_problems(template, set(NAME_PARTS), set())
        if problems:
            raise broken(
                "; ".join(problems), f"activities are {list(self.activities)}, own things {list(self.personal)}"
            )
        return self

    @model_validator(mode="after")
    def _gates_are_about_the_domain(self) -> Domain:
        units = ["item", "category", *self.dimensions]
        problems = []
        for metric, gates in self.gates.items():
            for gate in gates:
                if gate.of is not None and gate.of not in units:
                    problems.append(f"gate `{metric}` is of `{gate.of}`, which is none of {', '.join(units)}")
                if gate.action is not None and gate.action not in (*self.actions(), *OWN_LINES):
                    problems.append(f"gate `{metric}` counts `{gate.action}`, which no activity does")
            if len({gate.reference for gate in gates}) < len(gates):
                problems.append(f"gate `{metric}` names a reference twice")
        if problems:
            raise broken("; ".join(problems), f"activities do {', '.join(self.actions())}")
        return self

    def dimension_ids(self) -> list[str]:
        """Full names, such as `food.cuisine`, in the order of the file."""
        return [f"{self.name}.{dimension}" for dimension in self.dimensions]

    def value_names(self) -> dict[str, list[str]]:
        """Full name of each dimension to its values, both in the order of the file."""
        return {f"{self.name}.{name}": list(spec.values) for name, spec in self.dimensions.items()}

    def item_count(self) -> int:
        """Items of the catalogue: every category with every combination of values."""
        return len(self.catalogue.categories) * math.prod(len(spec.values) for spec in self.dimensions.values())

    def choosing(self) -> dict[str, Choosing]:
        """The activities in which people choose among options."""
        return {name: one for name, one in self.activities.items() if isinstance(one, SessionActivity | TripActivity)}

    def choice_actions(self) -> list[str]:
        """The actions by which an option is taken. A line of such an action that shows no options is no choice: it takes
        out of habit what was chosen before."""
        return list(dict.fromkeys(activity.choose for activity in self.choosing().values()))

    def actions(self) -> list[str]:
        """Every action that the activities do, searches and reviews aside."""
        found = [action for activity in self.activities.values() for action in _actions_of(activity)]
        return list(dict.fromkeys(found))

    def choosing_action(self) -> str:
        """The action by which what the key action closes was chosen: `add` where baskets are checked out."""
        for one in self.activities.values():
            if isinstance(one, SessionActivity) and one.close == self.key_action:
                return one.choose
        return self.key_action

    def reference(self) -> str:
        """The reference of the first activity that does the key action."""
        return next(one.reference for one in self.activities.values() if self.key_action in _actions_of(one))


def _actions_of(activity: Activity) -> list[str]:
    if isinstance(activity, SessionActivity):
        return [activity.choose, *([activity.close] if activity.close is not None else [])]
    return [activity.choose if isinstance(activity, TripActivity) else activity.action]


def _activity_problems(activity: Activity) -> list[str]:
    """What an activity cannot do, whatever else the domain has."""
    does = _actions_of(activity)
    problems = [f"`{action}` is for what the log adds of itself" for action in does if action in OWN_LINES]
    if isinstance(activity, TripActivity) and activity.choose != "arrive":
        problems.append("one gets to the place of a trip by `arrive`")
    if "arrive" in does and not isinstance(activity, TripActivity | RoutineActivity):
        problems.append("only trips and routines `arrive`, since others do not set out")
    if isinstance(activity, SessionActivity):
        if any(not 1 <= int(count) <= LINES_AT_MOST for count in activity.lines):
            problems.append(f"a session has 1 to {LINES_AT_MOST} `lines`")
        if activity.close == activity.choose and activity.close_with == "choice":
            problems.append(f"it cannot close by `{activity.close}` with the choice itself, by which it chooses")
        if activity.stay is not None and any(int(size) < 1 for size in activity.stay.party):
            problems.append("nobody books for a `party` of 0")
    return problems


def _personal_kind(activity: Activity) -> str | None:
    """The kind of one's own things that an activity is about, if it is about one."""
    if isinstance(activity, SessionActivity):
        return None if activity.close_with in ("nothing", "choice") else activity.close_with
    if isinstance(activity, TripActivity):
        return activity.back_to
    return getattr(activity, "on", None)


def _fields(template: str) -> set[str]:
    try:
        return {field for _, field, _, _ in Formatter().parse(template) if field is not None}
    except ValueError:
        return set()


def _template_problems(template: str, allowed: Iterable[str], needed: Iterable[str]) -> list[str]:
    try:
        named = {field for _, field, _, _ in Formatter().parse(template) if field is not None}
    except ValueError as error:
        return [f"template `{template}` cannot be read: {error}"]
    unknown = [f"template `{template}` names unknown `{{{name}}}`" for name in sorted(named - set(allowed))]
    return unknown + [f"template `{template}` does not name `{{{name}}}`" for name in sorted(set(needed) - named)]
