"""Every domain of the tree, and the one that has a tool for everything."""

from __future__ import annotations

import pytest

from schemas.domain import Domain
from tests.validation.world.worlds import NAMES, domain_of, state_of, tools_of
from validation.world.state import ToolState
from validation.world.tools import Toolbox


@pytest.fixture(scope="session", params=NAMES)
def domain(request: pytest.FixtureRequest) -> Domain:
    return domain_of(request.param)


@pytest.fixture(scope="session")
def state(domain: Domain) -> ToolState:
    return state_of(domain.name)


@pytest.fixture(scope="session")
def tools(domain: Domain) -> Toolbox:
    return tools_of(domain.name)
