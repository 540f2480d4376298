"""Who the people are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from schemas.config.core import Section, Weights, broken

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
)
"""Columns of `personas` that an attribute of the config may replace."""


class BuiltIn(NamedTuple):
    """An attribute of the built-in population: what it depends on, and the values it takes."""

    given: str | None
    levels: tuple[str, ...]


POPULATION: Mapping[str, BuiltIn] = {
    "age_group": BuiltIn(None, ("18-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+")),
    "sex": BuiltIn("age_group", ("female", "male")),
    "education": BuiltIn(
        "age_group",
        (
            "< hs diploma",
            "associate degree",
            "bachelor's degree",
            "doctoral degree",
            "hs diploma",
            "master's degree",
            "prof degree",
            "some college",
        ),
    ),
    "marital_status": BuiltIn("age_group", ("divorced", "married", "never married", "separated", "widowed")),
    "household_size": BuiltIn("age_group", ("1", "10", "11", "12", "13", "15", "2", "3", "4", "5", "6", "7", "8", "9")),
    "labour_status": BuiltIn(
        "age_group",
        ("employed-absent", "employed-at work", "not_in_labor_force", "unemployed-layoff", "unemployed-looking"),
    ),
    "occupation": BuiltIn(
        "sex",
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
    "income_band": BuiltIn(
        "education",
        (
            "10000-12499",
            "100000-149999",
            "12500-14999",
            "15000-19999",
            "150000+",
            "20000-24999",
            "25000-29999",
            "30000-34999",
            "35000-39999",
            "40000-49999",
            "5000-7499",
            "50000-59999",
            "60000-74999",
            "7500-9999",
            "75000-99999",
            "< 5000",
        ),
    ),
    "region": BuiltIn(None, ("midwest", "northeast", "south", "west")),
    "home_type": BuiltIn("region", ("occupy without rent", "own", "rent")),
    "time_zone": BuiltIn(
        "region",
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
}
"""What a table of the config can depend on. The shares stand in the reference that the population is drawn from."""


class AttributeSpec(Section):
    """One attribute of a person: its shares, overall or given another attribute."""

    weights: Weights | None = None
    """Share of each value. Sums to 1."""
    given: str | None = None
    """The attribute that `table` depends on."""
    table: dict[str, Weights] | None = None
    """For every value of `given`, the share of each value."""
    values: Annotated[list[str], Field(min_length=1)] | None = None
    """Values of equal share; with `unique`, each is given to one person at most."""
    unique: bool = False
    """No two people share a value."""

    @model_validator(mode="after")
    def _one_way(self) -> AttributeSpec:
        ways = [self.weights is not None, self.table is not None, self.values is not None]
        if sum(ways) != 1:
            fix = "keep one of the three; an inherited one goes with `weights: null`"
            raise broken("an attribute has exactly one of `weights`, `table`, `values`", fix)
        if (self.given is None) != (self.table is None):
            raise broken("`given` and `table` go together", "name the attribute that the table depends on")
        if self.unique and self.values is None:
            raise broken("`unique` needs a list of `values`", "list the values, at least as many as users")
        return self

    def levels(self) -> list[str]:
        """Every value the attribute can take, in the order of the config."""
        if self.weights is not None:
            return list(self.weights)
        if self.values is not None:
            return self.values
        assert self.table is not None
        return list(dict.fromkeys(value for row in self.table.values() for value in row))


class PersonasConfig(Section):
    """Who the people are: a built-in population, and what differs from it."""

    population: Annotated[str, Field(pattern="^us$")] = "us"
    """The built-in population to start from."""
    locales: Weights = Field(default_factory=lambda: {"en_US": 1.0})
    """Share of each Faker locale, for names and the account's language."""
    attributes: dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], AttributeSpec] = Field(default_factory=dict)
    """Attributes that replace built-in ones of the same name, or are added as columns of their own."""
