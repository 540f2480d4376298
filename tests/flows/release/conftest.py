"""One release for the tests that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.release.release_fakes import publish_fake

SPLITS = {"train": 0.6, "empty": 0.0, "test": 0.4}


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_fake(tmp_path_factory.mktemp("outputs"), users=24, file_rows=100, splits=SPLITS).path
