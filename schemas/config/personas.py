"""Who the people are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from schemas.config.core import WEIGHT_TOLERANCE, Positive, Rate, Section, Weights, broken
from schemas.config.correlations import Correlations
from schemas.config.numeric import NumericSpec, is_whole
from schemas.config.people_file import PeopleFile
from schemas.tables.fields import TRAIT_SCORES, TRAITS

BUILT_IN = (
    "age_years",
    "sex",
    "education",
    "income_usd",
    "occupation",
    "labour_status",
    "household_size",
    "marital_status",
    "region",
    "home_type",
    "time_zone",
    "chronotype",
    *TRAITS,
    "locale",
)
"""Columns of `personas` that an attribute of the config may replace."""


GROUP_YEARS: Mapping[str, tuple[int, int]] = {
    "18-24": (18, 25),
    "25-34": (25, 35),
    "35-44": (35, 45),
    "45-54": (45, 55),
    "55-64": (55, 65),
    "65-74": (65, 75),
    "75+": (75, 91),
}
"""First and last age, the last excluded. Within a group ages are taken as equally likely, the oldest as 75 to 90: assumed."""
INCOME_BANDS: Mapping[str, tuple[int, int]] = {
    "< 5000": (0, 5000),
    "5000-7499": (5000, 7500),
    "7500-9999": (7500, 10000),
    "10000-12499": (10000, 12500),
    "12500-14999": (12500, 15000),
    "15000-19999": (15000, 20000),
    "20000-24999": (20000, 25000),
    "25000-29999": (25000, 30000),
    "30000-34999": (30000, 35000),
    "35000-39999": (35000, 40000),
    "40000-49999": (40000, 50000),
    "50000-59999": (50000, 60000),
    "60000-74999": (60000, 75000),
    "75000-99999": (75000, 100000),
    "100000-149999": (100000, 150000),
    "150000+": (150000, 300000),
}
"""Bounds in USD. The top band is open in the reference; 300,000 is assumed. Within a band in even steps of 500."""
INCOME_STEP = 500
CHILDREN_AT_MOST = 8
UNDER_AGE = "under 18"
"""The age group of people whom the built-in population does not have."""


class BuiltIn(NamedTuple):
    """An attribute of the built-in population: what it depends on, and the values it takes."""

    given: tuple[str, ...]
    levels: tuple[str, ...]
    takes_any: frozenset[str] = frozenset()
    """Parents of whom it takes any value, those of a config too."""


POPULATION: Mapping[str, BuiltIn] = {
    "age_group": BuiltIn((), ("18-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+")),
    "sex": BuiltIn(("age_group",), ("female", "male")),
    "education": BuiltIn(
        ("age_group", "sex"),
        (
            "< hs diploma",
            "hs diploma",
            "some college",
            "associate degree",
            "bachelor's degree",
            "master's degree",
            "prof degree",
            "doctoral degree",
        ),
    ),
    "marital_status": BuiltIn(("age_group",), ("divorced", "married", "never married", "separated", "widowed")),
    "household_size": BuiltIn(
        ("age_group", "marital_status"),
        ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "15"),
        frozenset({"marital_status"}),
    ),
    "children": BuiltIn(
        ("age_group", "marital_status", "household_size"),
        tuple(str(count) for count in range(CHILDREN_AT_MOST + 1)),
        frozenset({"age_group", "marital_status", "household_size"}),
    ),
    "labour_status": BuiltIn(
        ("age_group", "sex"),
        ("employed-absent", "employed-at work", "not_in_labor_force", "unemployed-layoff", "unemployed-looking"),
    ),
    "occupation": BuiltIn(
        ("sex",),
        (
            "construction",
            "farming_forestry_fishing",
            "install_repair_maint",
            "mgmt_biz_finance",
            "office_admin",
            "production",
            "professional",
            "sales",
            "service",
            "transport",
        ),
    ),
    "income_band": BuiltIn(("age_group", "education"), tuple(INCOME_BANDS)),
    "region": BuiltIn((), ("midwest", "northeast", "south", "west")),
    "home_type": BuiltIn(("region",), ("occupy without rent", "own", "rent")),
    "time_zone": BuiltIn(
        ("region",),
        (
            "America/Anchorage",
            "America/Boise",
            "America/Chicago",
            "America/Denver",
            "America/Detroit",
            "America/Indiana/Indianapolis",
            "America/Kentucky/Louisville",
            "America/Los_Angeles",
            "America/New_York",
            "America/Phoenix",
            "Pacific/Honolulu",
        ),
    ),
    "chronotype": BuiltIn(("age_group",), ("morning", "intermediate", "evening"), frozenset({"age_group"})),
    **{
        name: BuiltIn((), tuple(str(score) for score in range(TRAIT_SCORES[0], TRAIT_SCORES[1] + 1))) for name in TRAITS
    },
    "age_years": BuiltIn(("age_group",), tuple(str(age) for age in range(18, 91))),
    "income_usd": BuiltIn(("income_band",), tuple(str(usd) for usd in range(0, 300_000, INCOME_STEP))),
    "locale": BuiltIn((), ("en_US",)),
}
"""What a table of the config can depend on; `age_group`, `income_band` and `children`, the number of children under 18 at
home, are no columns. The shares stand in the reference that the population is drawn from. Values that have an order stand
in it, so that an attribute rises with its uniform."""
FOLLOWS: Mapping[str, str] = {"age_group": "age_years", "income_band": "income_usd"}
"""Bands, and the numbers that lie in them. A band and its number are drawn by one uniform, where the number depends on
the band, so that they can be correlated as one."""


def _as_list(given: Any) -> Any:
    """One name stands for a list of one."""
    return [given] if isinstance(given, str) else given


def _as_texts(given: Any) -> Any:
    """One value stands for a list of one, and a number for its digits."""
    listed = given if isinstance(given, list) else [given]
    return [str(value) if type(value) is int else value for value in listed]


Names = Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]
Choice = Annotated[list[str], BeforeValidator(_as_texts), Field(min_length=1)]
"""A value, a list of values, or a band of numbers `low..high` with the high end excluded."""
Choices = Annotated[dict[str, Choice], Field(min_length=1)]
"""Attribute to the values that are meant."""


class AttributeSpec(Section):
    """One attribute of a person: its shares or its distribution, overall or given other attributes."""

    weights: Weights | None = None
    """Share of each value. Sums to 1."""
    given: Names | None = None
    """The attribute that `table`, or `by` of `number`, depends on; or a list of them."""
    table: dict[str, Weights] | None = None
    """For every value of `given`, the share of each value. With several parents a key reads `18-24 | female`, in the
    order of `given`. Of a parent that is a number a key can be a band `low..high`, the high end excluded; an end that
    is left out is open. Every possible value of the parents is in one row and no more."""
    values: Annotated[list[str], Field(min_length=1)] | None = None
    """Values of equal share; with `unique`, each is given to one person at most."""
    unique: bool = False
    """No two people share a value."""
    number: NumericSpec | None = None
    """A number by a family: normal, lognormal, beta, gamma, poisson, or its quantiles (`empirical`)."""

    @model_validator(mode="after")
    def _one_way(self) -> AttributeSpec:
        ways = [self.weights, self.table, self.values, self.number]
        if sum(way is not None for way in ways) != 1:
            fix = "keep one of the four; an inherited one goes with `weights: null`"
            raise broken("an attribute has exactly one of `weights`, `table`, `values`, `number`", fix)
        by = self.number.by if self.number is not None else None
        if (self.given is None) != (self.table is None and by is None):
            fix = "name the attribute that the rows depend on; without `given` there are no rows"
            raise broken("`given` goes together with `table`, or with `by` of `number`", fix)
        if self.unique and self.values is None:
            raise broken("`unique` needs a list of `values`", "list the values, at least as many as users")
        return self

    def levels(self) -> list[str]:
        """Every value the attribute can take, in the order of the config; those of a number have no list."""
        if self.weights is not None:
            return list(self.weights)
        if self.values is not None:
            return self.values
        return list(dict.fromkeys(value for row in (self.table or {}).values() for value in row))

    def rows(self) -> dict[str, Any]:
        """What stands for each value of `given`."""
        return dict(self.table or (self.number.by if self.number is not None else None) or {})


class RuleSpec(Section):
    """What cannot be: people for whom `when` holds and `need` does not. They are taken out of the tables before anybody
    is drawn, and the shares of the others grow in proportion."""

    name: Annotated[str, Field(min_length=1)]
    """What errors and reports call the rule."""
    when: Choices
    """Attributes and their values (one, a list, or a band `low..high`) for which the rule speaks, all of them at once."""
    need: Choices
    """Attributes and the values they must then have, all of them."""


class RakeSpec(Section):
    """Known shares to which the population is fitted, by iterative proportional fitting, before anybody is drawn."""

    attribute: str | None = None
    """One attribute, whose shares are known."""
    weights: Weights | None = None
    """Its shares: every possible value, or band `low..high` of numbers, once. Sums to 1."""
    given: Names | None = None
    """Attributes whose shares are known jointly."""
    table: Weights | None = None
    """Their joint shares: keys read `female | 18-24`, in the order of `given`. All shares together sum to 1."""

    @model_validator(mode="after")
    def _one_way(self) -> RakeSpec:
        one = (self.attribute is not None, self.weights is not None)
        joint = (self.given is not None, self.table is not None)
        if (one, joint) not in (((True, True), (False, False)), ((False, False), (True, True))):
            raise broken("a margin has `attribute` and `weights`, or `given` and `table`", "keep one of the two pairs")
        return self


class SegmentSpec(Section):
    """A kind of people, with attributes of their own."""

    share: Rate
    """Share of people who belong to it. The shares of all segments sum to 1."""
    attributes: dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], AttributeSpec] = Field(default_factory=dict)
    """What differs for them: these replace the population's attributes of the same name."""


class OversampleSpec(Section):
    """A group of which more people are wanted than the population has."""

    where: Choices
    """Attributes and the values (one, a list, or a band `low..high`) that people of the group have, all of them."""
    times: Positive
    """How many times as frequent they become against everybody else. `sample_weight` undoes it: weighted shares are
    those of the population, and the mean weight is 1."""


def _told_apart(rules: list[RuleSpec]) -> list[RuleSpec]:
    names = [rule.name for rule in rules]
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise broken(f"two rules are called `{twice[0]}`", "give each a name of its own")
    return rules


def _shared_out(segments: dict[str, SegmentSpec]) -> dict[str, SegmentSpec]:
    total = sum(segment.share for segment in segments.values())
    if segments and abs(total - 1) > WEIGHT_TOLERANCE:
        scaled = ", ".join(f"{name} {segment.share / total:.6g}" for name, segment in segments.items()) if total else ""
        fix = f"scaled to 1 they are {scaled}" if scaled else "give each its share"
        raise broken(f"shares of the segments sum to {total:.6g}; must sum to 1", fix)
    return segments


class PersonasConfig(Section):
    """Who the people are: a built-in population, and what differs from it."""

    population: Literal["us", "eurozone"] = "us"
    """The built-in population to start from: people of the United States or of the euro area."""
    locales: Weights | None = None
    """Share of each Faker locale, for names and the account's language; short for the attribute `locale`."""
    attributes: dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], AttributeSpec] = Field(default_factory=dict)
    """Attributes that replace built-in ones of the same name, or are added as columns of their own."""
    rules: Annotated[list[RuleSpec], AfterValidator(_told_apart)] = Field(default_factory=list)
    """What cannot be, such as a doctoral degree at 20. Applied one after the other, before `rake`."""
    rake: list[RakeSpec] = Field(default_factory=list)
    """Shares that the population must have, of one attribute or of several jointly."""
    segments: Annotated[
        dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], SegmentSpec], AfterValidator(_shared_out)
    ] = Field(default_factory=dict)
    """Kinds of people. Each person belongs to one, named in the column `segment`."""
    oversample: list[OversampleSpec] = Field(default_factory=list)
    """Groups of which more people are drawn than the population has."""
    correlations: Correlations = Field(default_factory=list)
    """Rank correlations between attributes, which keep the shares of each. Of segments, they hold within each; where
    groups are oversampled, among the people drawn."""
    people_from: PeopleFile | None = None
    """Attributes learnt from a file of people, jointly. No row is copied."""

    def own_attributes(self) -> dict[str, bool | None]:
        """Attributes that become columns of their own, in the order of the config, those of `people_from` first: whether
        the values are whole numbers, None for text."""
        learnt = self.people_from.kinds() if self.people_from is not None else {}
        stated = {n: None if spec.number is None else is_whole(spec.number) for n, spec in self.attributes.items()}
        return {name: kind for name, kind in {**learnt, **stated}.items() if name not in BUILT_IN}
