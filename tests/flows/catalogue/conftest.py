"""The catalogue of every domain that there is, made once."""

from __future__ import annotations

import pytest

from schemas.load import domain_names, load_domains
from tests.flows.catalogue.shelves import Shelf, shelves


@pytest.fixture(scope="session")
def every_shelf() -> dict[str, Shelf]:
    return shelves(load_domains(domain_names()))


@pytest.fixture(scope="session", params=domain_names())
def shelf(request: pytest.FixtureRequest, every_shelf: dict[str, Shelf]) -> Shelf:
    """The things of one domain after the other."""
    return every_shelf[request.param]
