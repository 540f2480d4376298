"""What to know of the people of a config beforehand, and where in its file stands what they cannot be."""

from __future__ import annotations

from pathlib import Path

from flows.personas.copula import CorrelationError
from flows.personas.report import people_notices
from flows.personas.tables import PopulationError
from schemas.config import Config
from schemas.config.personas import FOLLOWS, PersonasConfig
from schemas.explain import Place
from schemas.source import Source, SourceError, Violation, dotted, read_yaml, shown, value_at

PERSONAS: Place = ("data", "personas")


def notices(config: Config, file: str) -> list[str]:
    """What to know of the people. Raises SourceError where they cannot be as the config has them, before any is made."""
    try:
        return people_notices(config.data)
    except (PopulationError, CorrelationError) as error:
        raise SourceError(unfit(error, config.data.personas, file)) from error


def unfit(error: PopulationError | CorrelationError, config: PersonasConfig, file: str) -> list[Violation]:
    """The problems of an error as violations, each with the line of the file where its part of the config begins; without
    a line where the file is a preset or inherits that part."""
    source = read_yaml(Path(file)) if Path(file).is_file() else None
    plain = config.model_dump(mode="json", exclude_unset=True)
    found: list[tuple[Place, str, str]] = []
    if isinstance(error, CorrelationError):
        for names, rule, fix in error.problems:
            place = _pair(names, config)
            found.append((place, rule if len(place) > 1 else f"{' and '.join(names)}: {rule}", fix))
    else:
        for name, value, rule, fix in error.problems:
            found.append((_part(name, config), f"{name}{value and f', {value}'}: {rule}", fix))
    return [
        Violation(
            file,
            _line(source, (*PERSONAS, *place)),
            dotted((*PERSONAS, *place)),
            shown(value_at(plain, place)) if place else "",
            rule,
            fix,
        )
        for place, rule, fix in found
    ]


def _pair(names: tuple[str, ...], config: PersonasConfig) -> Place:
    """Which correlation is meant. A number and the band that it lies in are drawn as one."""
    drawn = {FOLLOWS.get(name, name) for name in names}
    for index, one in enumerate(config.correlations):
        if {FOLLOWS.get(name, name) for name in one.between} == drawn:
            return ("correlations", index)
    return ("correlations",)


def _part(name: str, config: PersonasConfig) -> Place:
    """Which rule or attribute is meant, or the known shares."""
    for index, rule in enumerate(config.rules):
        if name == f"rule `{rule.name}`":
            return ("rules", index)
    if name.startswith("rake of "):
        return ("rake",)
    return ("attributes", name) if name in config.attributes else ()


def _line(source: Source | None, place: Place) -> int | None:
    if source is None:
        return None
    while place and place not in source.marks:
        place = place[:-1]
    return source.marks[place].line if len(place) > len(PERSONAS) else None
