"""Makes `release_fakes` importable, and publishes one release for the tests that only read it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from release_fakes import publish_fake

    return publish_fake(tmp_path_factory.mktemp("outputs"), users=24, file_rows=100, splits=SPLITS).path


SPLITS = {"train": 0.6, "empty": 0.0, "test": 0.4}
