"""The declared files of `schemas`, read and checked once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from schemas.config.data import BUILT_IN
from schemas.domain import Domain
from schemas.explain import did_you_mean
from schemas.life_events import LifeEvents
from schemas.source import SourceError, Violation, check, display, read_yaml

FOLDER = Path(__file__).parent


def domain_names() -> list[str]:
    """The declared areas of life, by name."""
    return sorted(path.stem for path in (FOLDER / "domains").glob("*.yaml"))


@cache
def load_domain(name: str) -> Domain:
    """The area of life of that name. Raises :class:`SourceError` if there is none or its file is wrong."""
    path = FOLDER / "domains" / f"{name}.yaml"
    if name not in domain_names():
        fix = did_you_mean(name, domain_names())
        raise SourceError([Violation(display(path.parent), None, "domain", name, "there is no such domain", fix)])
    source = read_yaml(path)
    domain = check(Domain, source)
    if domain.name != name:
        raise SourceError([source.violation(("name",), "must be the name of the file", f"write {name}")])
    return domain


def load_domains(domains: Iterable[str] | Mapping[str, str | dict[str, Any]]) -> dict[str, Domain]:
    """The areas of life of those names, in their order; of a config also those that it brings itself, as plain maps."""
    brought = domains if isinstance(domains, Mapping) else dict.fromkeys(domains, BUILT_IN)
    return {
        name: load_domain(name) if isinstance(given, str) else _own_domain(json.dumps(given))
        for name, given in brought.items()
    }


@cache
def _own_domain(text: str) -> Domain:
    return Domain.model_validate_json(text)


@cache
def load_life_events() -> LifeEvents:
    """What can happen to people."""
    return check(LifeEvents, read_yaml(FOLDER / "life_events.yaml"))
