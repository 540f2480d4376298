"""One release for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.release.release_fakes import publish_fake


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_fake(tmp_path_factory.mktemp("outputs")).path
