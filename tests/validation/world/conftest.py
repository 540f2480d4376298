"""Small worlds of both domains, and anything that an agent could call in them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schemas.domain import Domain
from schemas.load import load_domain
from validation.world.state import ToolState
from validation.world.tools import Toolbox
from validation.world.world import World

IDS = ("i-0000000001", "i-0000000002", "i-0000000003")


def _state_of(domain: str, balance_cents: int = 3000) -> ToolState:
    offers = [
        {
            "item_id": item_id,
            "title": title,
            "description": "With a side.",
            "price_cents": price,
            "currency": "USD",
            "category": "main",
        }
        for item_id, title, price in zip(IDS, ("Mild stew", "Hot stew", "Mild wrap"), (700, 1200, 2500), strict=True)
    ]
    return ToolState.model_validate({"domain": domain, "offers": offers, "balance_cents": balance_cents})


@pytest.fixture(scope="session")
def state_of() -> Callable[..., ToolState]:
    """Three offers of one domain."""
    return _state_of


@pytest.fixture(scope="session")
def world_of() -> Callable[..., World]:
    """A world with those offers."""
    return lambda domain, balance_cents=3000: World(Toolbox.of(load_domain(domain)), _state_of(domain, balance_cents))


@pytest.fixture(scope="session", params=["food", "groceries"])
def domain(request: pytest.FixtureRequest) -> Domain:
    return load_domain(request.param)


@pytest.fixture(scope="session")
def state(domain: Domain) -> ToolState:
    return _state_of(domain.name)


@pytest.fixture(scope="session")
def tools(domain: Domain) -> Toolbox:
    return Toolbox.of(domain)
