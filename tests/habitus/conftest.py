"""Makes the fake tables of the release tests importable, and publishes one release for all tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "flows" / "release"))


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from release_fakes import publish_fake

    return publish_fake(tmp_path_factory.mktemp("outputs")).path
