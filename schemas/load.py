"""The declared files of `schemas`, read and checked once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from schemas.domain import Domain, LifeEvents
from schemas.explain import did_you_mean
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


def load_domains(names: Iterable[str]) -> dict[str, Domain]:
    """The areas of life of those names, in their order."""
    return {name: load_domain(name) for name in names}


@cache
def load_life_events() -> LifeEvents:
    """What can happen to people."""
    return check(LifeEvents, read_yaml(FOLDER / "life_events.yaml"))
