"""The declared files are found from anywhere, checked, and read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.load import domain_names, load_domain, load_domains, load_life_events
from schemas.source import SourceError


@pytest.mark.parametrize("name", domain_names())
def test_every_domain_file_is_valid_and_named_after_its_domain(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    domain = load_domain(name)
    assert domain.name == name
    assert all(dimension.startswith(f"{name}.") for dimension in domain.dimension_ids())
    assert load_domain(name) is domain


def test_domains_come_in_the_order_asked_for() -> None:
    names = list(reversed(domain_names()))
    assert list(load_domains(names)) == names


def test_an_unknown_domain_is_answered_with_the_nearest() -> None:
    with pytest.raises(SourceError, match="Did you mean `food`"):
        load_domain("fod")
    with pytest.raises(SourceError, match="Known are .*food"):
        load_domain("../config")


def test_life_events_move_values_that_exist() -> None:
    events = load_life_events()
    for name, event in events.events.items():
        for dimension, value in event.moves.items():
            domain, _, short = dimension.partition(".")
            assert value in load_domain(domain).dimensions[short].values, f"{name} moves {dimension} to {value}"
