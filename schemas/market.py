"""The shape of the file of markets: in which currency things are sold, and how dear they are."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from schemas.config.core import Basis, Positive, Section
from schemas.explain import did_you_mean
from schemas.source import SourceError, Violation, check, display, read_yaml
from schemas.tooling import Name

FILE = Path(__file__).with_name("markets.yaml")


class Market(Section):
    """A country or area with one currency."""

    title: str
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    """ISO 4217 code."""
    price_factor: Positive
    """Smallest units of the currency that stand for one US cent of a domain file's base price."""
    step: Annotated[int, Field(ge=1)]
    """Prices are whole multiples of so many smallest units."""
    basis: Basis
    """Where the factor comes from: a source, or `assumed`."""


class Markets(Section):
    """All markets, by name."""

    schema_version: Literal[1]
    markets: Annotated[dict[Name, Market], Field(min_length=1)]


@cache
def load_markets() -> dict[str, Market]:
    """The declared markets. Raises :class:`SourceError` if their file is wrong."""
    return check(Markets, read_yaml(FILE)).markets


def load_market(name: str) -> Market:
    """The market of that name. Raises :class:`SourceError` if there is none."""
    markets = load_markets()
    if name not in markets:
        fix = did_you_mean(name, markets)
        raise SourceError([Violation(display(FILE), None, "market", name, "there is no such market", fix)])
    return markets[name]
