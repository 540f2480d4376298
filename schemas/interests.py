"""The shape of the interests file: fine tags in seven areas, and what they have to do with tastes in the domains."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from schemas.config.core import Section, broken
from schemas.domain import Domain
from schemas.source import check, read_yaml
from schemas.tooling import Name

FILE = Path(__file__).with_name("interests.yaml")
Area = Literal[
    "sports_outdoor",
    "entertainment",
    "gaming",
    "food_drink",
    "travel_city_exploration",
    "photography_creation",
    "pets",
]
Polarity = Literal["likes", "dislikes"]
AREAS: tuple[Area, ...] = get_args(Area)
POLARITIES: tuple[Polarity, ...] = get_args(Polarity)


class Interest(Section):
    """One fine tag."""

    words: Annotated[list[str], Field(min_length=1)]
    """How people say it, the usual way first. No two tags share a word."""
    polarity: Annotated[list[Polarity], Field(min_length=1)] = Field(default_factory=lambda: list(POLARITIES))
    """Which attitudes to it a person can have."""
    links: dict[str, str] = Field(default_factory=dict)
    """Dimension of a domain to the value that those who like it lean to."""


class AreaSpec(Section):
    """A group of tags."""

    title: str
    tags: Annotated[dict[Name, Interest], Field(min_length=1)]


class Interests(Section):
    """All tags. Links are assumed unless a comment names a source."""

    schema_version: Literal[1]
    areas: dict[Area, AreaSpec]

    @model_validator(mode="after")
    def _whole_and_distinct(self) -> Interests:
        missing = [area for area in AREAS if area not in self.areas]
        if missing:
            raise broken(f"areas {missing} are missing", f"the areas are {list(AREAS)}")
        names: dict[str, str] = {}
        words: dict[str, str] = {}
        for area, spec in self.areas.items():
            for tag, interest in spec.tags.items():
                place = f"{area}.{tag}"
                if tag in names:
                    raise broken(f"tag `{tag}` stands in {names[tag]} and in {area}", "rename one of them")
                names[tag] = area
                for word in interest.words:
                    if word.casefold() in words:
                        other = words[word.casefold()]
                        raise broken(f"`{word}` says both {other} and {place}", "use another word for one")
                    words[word.casefold()] = place
        return self

    def link_problems(self, domains: Mapping[str, Domain]) -> list[str]:
        """Links to what these domains do not have, one sentence each. Links to other domains are passed over."""
        problems: list[str] = []
        for area, spec in self.areas.items():
            for tag, interest in spec.tags.items():
                for dimension, value in interest.links.items():
                    domain, _, name = dimension.partition(".")
                    if domain not in domains:
                        continue
                    known = domains[domain].dimensions.get(name)
                    if known is None:
                        problems.append(f"{area}.{tag} links to `{dimension}`, which {domain} does not have")
                    elif value not in known.values:
                        values = list(known.values)
                        problems.append(f"{area}.{tag} links to `{dimension}: {value}`; values are {values}")
        return problems


@cache
def load_interests() -> Interests:
    """The declared interests. Raises ``SourceError`` if their file is wrong."""
    return check(Interests, read_yaml(FILE))
