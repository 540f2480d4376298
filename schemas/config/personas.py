"""Who the people are."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from schemas.config.core import Section, Weights, broken

BUILT_IN = (
    "age_years", "sex", "education", "income_usd", "occupation", "labour_status", "household_size", "marital_status",
    "region", "home_type",
)


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
            raise broken("an attribute has exactly one of `weights`, `table`, `values`", "keep one of the three")
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
