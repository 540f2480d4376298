"""What the keys of a config must agree on with each other.

The rules are judged on plain maps, so that they are told together with whatever else is wrong. A part of the wrong
shape is passed over: its own error stands already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from schemas.config.personas import BUILT_IN, POPULATION
from schemas.explain import Place, did_you_mean, nearest
from schemas.tables.sealed import PERSONAS

WHOLE_NUMBERS = ("age_years", "income_usd", "household_size")
ADULT = 18
"""First age of the built-in population."""
BANDED = {"age_group": "age_years", "income_band": "income_usd"}
"""Bands to the numbers that lie in them."""
ATTRIBUTES = ("personas", "attributes")


class Disagreement(NamedTuple):
    """A broken rule at a place below `data`."""

    place: Place
    rule: str
    fix: str


def disagreements(data: Mapping[str, Any]) -> list[Disagreement]:
    """Every rule between keys that the `data` part breaks."""
    attributes = {name: spec for name, spec in map_at(data, *ATTRIBUTES).items() if isinstance(spec, dict)}
    return [
        *_domains(data),
        *_names(attributes),
        *_values(attributes, data.get("users")),
        *_ages(attributes),
        *_parents(attributes),
    ]


def map_at(value: Any, *place: str) -> Mapping[str, Any]:
    """The map at a place; an empty one where there is none."""
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _listed(values: list[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _domains(data: Mapping[str, Any]) -> Iterator[Disagreement]:
    domains = data.get("domains")
    if not isinstance(domains, list | dict):
        return
    names = [name for name in domains if isinstance(name, str)]
    for index, name in enumerate(domains if isinstance(domains, list) else []):
        if name in domains[:index]:
            yield Disagreement(("domains", index), "a domain stands once in the list", "remove one of the two")
    for name in map_at(data, "timelines", "domains"):
        if name not in names:
            near = nearest(name, names)
            fix = f"did you mean `{near}`?" if near else f"add `{name}` to `data.domains`"
            yield Disagreement(("timelines", "domains", name), "is not among the domains of this config", fix)


def _names(attributes: Mapping[str, Any]) -> Iterator[Disagreement]:
    for name in attributes:
        if name in PERSONAS.columns and name not in BUILT_IN:
            yield Disagreement((*ATTRIBUTES, name), "is a column that the build fills itself", "use another name")


def levels_of(spec: Mapping[str, Any]) -> list[str]:
    """Every value that an attribute of the config can take."""
    if isinstance(spec.get("values"), list):
        return [value for value in spec["values"] if isinstance(value, str)]
    if isinstance(spec.get("weights"), dict):
        return list(spec["weights"])
    rows = [row for row in map_at(spec, "table").values() if isinstance(row, dict)]
    return list(dict.fromkeys(value for row in rows for value in row))


def _values(attributes: Mapping[str, Any], users: Any) -> Iterator[Disagreement]:
    """What the values of one attribute must be."""
    for name, spec in attributes.items():
        here = (*ATTRIBUTES, name)
        levels = levels_of(spec)
        if isinstance(spec.get("values"), list):
            twice = list(dict.fromkeys(value for index, value in enumerate(levels) if value in set(levels[:index])))
            if twice:
                yield Disagreement((*here, "values"), f"lists {_listed(twice)} more than once", "list each value once")
            available = len(set(levels))
            if spec.get("unique") is True and type(users) is int and available < users:
                rule = f"`{name}` is unique: {users} wanted, {available} available"
                yield Disagreement((*here, "values"), rule, "list more values, or ask for fewer users")
        if name in WHOLE_NUMBERS:
            for value in levels:
                if not (value.isascii() and value.isdigit()):
                    yield Disagreement(here, f"value `{value}` must be a whole number, 0 or more", "write it in digits")
        if name in BANDED:
            for value in levels:
                if value not in POPULATION[name].levels:
                    fix = did_you_mean(value, POPULATION[name].levels)
                    yield Disagreement(here, f"value `{value}` is no band of `{name}`", fix)


def _ages(attributes: Mapping[str, Any]) -> Iterator[Disagreement]:
    """Ages must be those of adults as long as something depends on the built-in age groups."""
    if "age_years" not in attributes or "age_group" in attributes:
        return
    young = [v for v in levels_of(attributes["age_years"]) if v.isascii() and v.isdigit() and int(v) < ADULT]
    depend = [name for name, part in POPULATION.items() if part.given == "age_group" and name not in attributes]
    depend += [name for name, spec in attributes.items() if spec.get("given") == "age_group"]
    if young and depend:
        rule = f"{_listed(young)} is below {ADULT}, where the age groups begin that decide {_listed(depend)}"
        yield Disagreement((*ATTRIBUTES, "age_years"), rule, "give each of these weights, or a table given `age_years`")


def _parents(attributes: Mapping[str, Any]) -> Iterator[Disagreement]:
    """What a table and the attribute it depends on owe each other."""
    given: dict[str, str] = {name: part.given for name, part in POPULATION.items() if part.given}
    levels: dict[str, list[str]] = {name: list(part.levels) for name, part in POPULATION.items()}
    for name, spec in attributes.items():
        given.pop(name, None)
        if isinstance(spec.get("given"), str):
            given[name] = spec["given"]
        levels[name] = levels_of(spec)
    for band, number in BANDED.items():  # a band follows from the number where the config gives that
        if number in attributes and band not in attributes and band not in _way_up(given, number):
            given.pop(band, None)
    for name, parent in given.items():
        here = (*ATTRIBUTES, name)
        if parent not in levels:
            fix = _other_parent(parent, levels)
            yield Disagreement((*here, "given"), f"there is no attribute `{parent}` to depend on", fix)
        elif name not in attributes:
            if parent in BANDED:
                continue  # told by `_values`
            if lacking := [value for value in levels[parent] if value not in POPULATION[parent].levels]:
                rule = f"the built-in `{name}` depends on `{parent}` and knows no value {_listed(lacking)}"
                yield Disagreement((*ATTRIBUTES, parent), rule, f"give `{name}` a table of its own, or weights")
        elif rows := map_at(attributes[name], "table"):
            yield from _rows(here, list(rows), parent, levels[parent])
    yield from _circles(given, lambda name: name in attributes)


def _other_parent(parent: str, levels: Mapping[str, Any]) -> str:
    banded = {number: band for band, number in BANDED.items()}.get(parent)
    return f"depend on `{banded}`" if banded else did_you_mean(parent, levels)


def _rows(here: Place, rows: list[str], parent: str, wanted: list[str]) -> Iterator[Disagreement]:
    if lacking := [value for value in wanted if value not in rows]:
        rule = f"has no row for {_listed(lacking)}, which `{parent}` can be"
        yield Disagreement((*here, "table"), rule, f"add a row for {_listed(lacking)}")
    for value in rows:
        if value not in wanted:
            fix = did_you_mean(value, [w for w in wanted if w not in rows], f"`{parent}` can be {', '.join(wanted)}")
            yield Disagreement((*here, "table", value), f"`{parent}` is never `{value}`", fix)


def _way_up(given: Mapping[str, str], start: str) -> list[str]:
    """The attribute and what it depends on, up to where that ends or turns in a circle."""
    path = [start]
    while path[-1] in given and given[path[-1]] not in path:
        path.append(given[path[-1]])
    return path


def _circles(given: Mapping[str, str], is_own: Callable[[str], bool]) -> Iterator[Disagreement]:
    """One for each circle of attributes that depend on each other, at its first attribute of the config."""
    told: set[str] = set()
    for start in given:
        path = _way_up(given, start)
        if given.get(path[-1]) != start or told & set(path) or not is_own(start):
            continue
        told |= set(path)
        circle = " on ".join(f"`{name}`" for name in [*path, start])
        rule = f"attributes depend in a circle: {circle}"
        yield Disagreement((*ATTRIBUTES, start, "given"), rule, "break the circle")
