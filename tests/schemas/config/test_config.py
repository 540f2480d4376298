"""The config as a whole: what its digest covers, and what each section refuses."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.config import Config


def config(execution: dict[str, Any] | None = None, name: str = "small", **data: Any) -> Config:
    window = {"start": "2025-01-06T00:00:00Z", "end": "2025-03-03T00:00:00Z"}
    parts = {"data": {"users": 5, "window": window, **data}, "execution": execution or {}}
    return Config.model_validate({"schema_version": 1, "name": name, **parts})


def test_the_digest_covers_data_and_nothing_else() -> None:
    digest = config().data_digest()
    assert config(execution={"workers": 4, "shard_users": 1}).data_digest() == digest
    assert config(name="other").data_digest() == digest
    assert config(users=6).data_digest() != digest
    assert config(disturb={"noise": {"corrupt": 0.02}}).data_digest() != digest


def test_a_default_written_out_is_the_default() -> None:
    assert config(seed=7, timelines={"exploration": 0.05}).data_digest() == config().data_digest()


@pytest.mark.parametrize(
    ("end", "rule"),
    [
        ("2025-01-13T00:00:00Z", "two weeks or more"),
        ("2025-03-04T00:00:00Z", "whole number of weeks"),
        ("2024-12-01T00:00:00Z", "two weeks or more"),
        ("2025-03-03T00:00:00", "offset"),
    ],
)
def test_a_window_is_whole_weeks_with_offsets(end: str, rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        config(window={"start": "2025-01-06T00:00:00Z", "end": end})


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"weights": {"a": 1.0}, "values": ["a"]},
        {"table": {"male": {"a": 1.0}}},
        {"given": "sex", "values": ["a"]},
        {"weights": {"a": 1.0}, "unique": True},
    ],
)
def test_an_attribute_is_described_in_exactly_one_way(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        config(personas={"attributes": {"colour": spec}})


def test_levels_keep_the_order_of_the_config() -> None:
    rows = {"female": {"z": 0.5, "a": 0.5}, "male": {"m": 1.0}}
    attributes = config(personas={"attributes": {"colour": {"given": "sex", "table": rows}}}).data.personas.attributes
    assert attributes["colour"].levels() == ["z", "a", "m"]


@pytest.mark.parametrize("name", ["catalogue", "a-b", "1st"])
def test_a_split_has_a_usable_name(name: str) -> None:
    with pytest.raises(ValidationError, match="split"):
        config(release={"splits": {name: 1.0}})
