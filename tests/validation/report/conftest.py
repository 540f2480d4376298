"""Judgements that several tests look at: each takes seconds, as Great Expectations does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from validation.report.judge import Judgement, judge


@pytest.fixture(scope="session")
def sound(new_tiny: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Judgement]:
    """A release with nothing wrong, and its judgement."""
    tiny = new_tiny()
    folder = tiny.write(tmp_path_factory.mktemp("sound"))
    return folder, judge(folder, tiny.config.data)


@pytest.fixture(scope="session")
def spoilt(new_tiny: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Judgement]:
    """A release with a price below zero, an order of a thing that is not, and nothing else wrong."""
    tiny = new_tiny()
    tiny.rows["events"][0].update(price_cents=-5, item_id="<i9>")
    folder = tiny.write(tmp_path_factory.mktemp("spoilt"))
    return folder, judge(folder, tiny.config.data)


@pytest.fixture(scope="session")
def unreadable(new_tiny: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Judgement]:
    """A release whose sessions lack a column."""
    tiny = new_tiny()
    folder = tiny.write(tmp_path_factory.mktemp("unreadable"))
    path = folder / "data/sessions/train-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["device"]), path, store_schema=False)
    return folder, judge(folder, tiny.config.data)
