"""What the attributes of people must agree on with each other: values, parents, rules, margins, segments.

The rules are judged on plain maps; a part of the wrong shape is passed over, as its own error stands already.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from schemas.behaviour.measured import ends_of
from schemas.config.numeric import AnyNumeric, NumericSpec, is_whole
from schemas.config.personas import BUILT_IN, FOLLOWS, UNDER_AGE, BuiltIn
from schemas.config.pieces import pieces_of, selectors_of
from schemas.config.selectors import band_of, grid, is_number, overlapping, parts_of, picked, uncovered
from schemas.config.written import attributes_of
from schemas.explain import Place, did_you_mean
from schemas.tables.fields import TRAITS
from schemas.tables.sealed import PERSONAS

WHOLE_NUMBERS = ("age_years", "income_usd", "household_size", "children", *TRAITS)
WORDS = tuple(name for name in BUILT_IN if name not in WHOLE_NUMBERS)
"""Columns that hold text."""
ADULT = 18
"""First age of the built-in population."""
SEGMENT = "segment"
PIECES = "\0pieces"
"""Key at which the pieces of a number are noted while a config is judged."""
TOLD_AT_MOST = 6
"""Values that one message names."""
Attributes = Mapping[str, Mapping[str, Any]]
Population = Mapping[str, BuiltIn]
_NUMBERS: TypeAdapter[AnyNumeric] = TypeAdapter(NumericSpec)


class Disagreement(NamedTuple):
    """A broken rule at a place below `data`."""

    place: Place
    rule: str
    fix: str


def map_at(value: Any, *place: str) -> Mapping[str, Any]:
    """The map at a place; an empty one where there is none."""
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def levels_of(spec: Mapping[str, Any]) -> list[str]:
    """Every value that an attribute of the config can take; of a number the pieces that it is cut into."""
    if isinstance(spec.get(PIECES), tuple):
        return list(spec[PIECES])
    if isinstance(spec.get("values"), list):
        return [value for value in spec["values"] if isinstance(value, str)]
    if isinstance(spec.get("weights"), dict):
        return list(spec["weights"])
    rows = [row for row in map_at(spec, "table").values() if isinstance(row, dict)]
    return list(dict.fromkeys(value for row in rows for value in row))


def number_of(spec: Mapping[str, Any]) -> AnyNumeric | None:
    """The family of an attribute; None where it has none, or one whose own errors stand already."""
    try:
        return _NUMBERS.validate_python(spec["number"]) if isinstance(spec.get("number"), dict) else None
    except ValidationError:
        return None


def people_disagreements(data: Mapping[str, Any]) -> list[Disagreement]:
    """Every rule between the keys of `personas` that is broken, of the population and of each segment, once."""
    personas = map_at(data, "personas")
    population = attributes_of(str(personas.get("population", "us")))
    selectors = selectors_of(personas)
    learnt = learnt_specs(personas)
    base = {**learnt, **_specs(map_at(personas, "attributes"), selectors)}
    segments = {
        name: _specs(map_at(segment, "attributes"), selectors)
        for name, segment in map_at(personas, "segments").items()
        if isinstance(segment, dict)
    }

    def in_base(name: str) -> Place:
        return ("personas", "people_from", "columns", name) if name in learnt else ("personas", "attributes", name)

    found = [*_names(base, segments, population)]
    found += _attributes(base, list(segments), population, in_base, data.get("users"))
    for segment, own in segments.items():

        def in_segment(name: str, segment: str = segment, own: Attributes = own) -> Place:
            return ("personas", "segments", segment, "attributes", name) if name in own else in_base(name)

        found += _attributes({**base, **own}, list(segments), population, in_segment, None)
    levels = attribute_levels(personas, selectors)
    found += [*_choices(data, levels), *_margins(data, levels), *_correlations(personas, base, levels)]
    found += [*_kinds(base, segments), *_unique(base, selectors)]
    return list(dict.fromkeys(found))


def attribute_levels(personas: Mapping[str, Any], selectors: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Every attribute of people to the values it can take in any segment; numbers are cut where selectors cut them."""
    population = attributes_of(str(personas.get("population", "us")))
    base = {**learnt_specs(personas), **_specs(map_at(personas, "attributes"), selectors)}
    segments = {name: map_at(spec, "attributes") for name, spec in map_at(personas, "segments").items()}
    levels: dict[str, list[str]] = {}
    for own in [_specs(attributes, selectors) for attributes in segments.values()] or [{}]:
        for name, values in _levels({**base, **own}, list(segments), population).items():
            levels[name] = list(dict.fromkeys([*levels.get(name, []), *values]))
    return levels


def _specs(attributes: Attributes, selectors: Mapping[str, set[str]]) -> Attributes:
    """The attributes that have the shape of one, numbers with the pieces that they are cut into."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, spec in attributes.items():
        if isinstance(spec, dict):
            number = number_of(spec)
            pieces = {} if number is None else {PIECES: pieces_of(number, selectors.get(name, ()))}
            found[name] = {**spec, **pieces}
    return found


def learnt_specs(personas: Mapping[str, Any]) -> Attributes:
    """Attributes learnt from a file, once it is read, as attributes that list their values."""
    learnt = map_at(personas, "people_from", "learnt")
    return {name: {"values": part["levels"]} for name, part in learnt.items() if isinstance(part, dict)}


def _listed(values: Sequence[str]) -> str:
    more = f" and {len(values) - TOLD_AT_MOST} more" if len(values) > TOLD_AT_MOST else ""
    return ", ".join(f"`{value}`" for value in values[:TOLD_AT_MOST]) + more


def _range(values: Sequence[str]) -> str:
    """The values, or from where to where they go if they are many numbers."""
    if len(values) > TOLD_AT_MOST and all(is_number(value) for value in values):
        ordered = sorted(values, key=float)
        return f"{ordered[0]} to {ordered[-1]}"
    return ", ".join(values)


def _names(base: Attributes, segments: Mapping[str, Attributes], population: Population) -> Iterator[Disagreement]:
    for name in base:
        is_filled = name in PERSONAS.columns and name not in BUILT_IN
        if is_filled or (name == SEGMENT and segments):
            yield Disagreement(
                ("personas", "attributes", name), "is a column that the build fills itself", "use another name"
            )
    for segment, own in segments.items():
        for name, spec in own.items():
            place: Place = ("personas", "segments", segment, "attributes", name)
            if name not in population and name not in base:
                fix = did_you_mean(name, [*base, *population], f"give `{name}` to everybody in personas.attributes too")
                yield Disagreement(place, "is no attribute of the population that a segment could replace", fix)
            if spec.get("unique") is True:
                yield Disagreement((*place, "unique"), "must hold for all people", "put it into personas.attributes")


def _attributes(
    attributes: Attributes,
    segments: Sequence[str],
    population: Population,
    place_of: Callable[[str], Place],
    users: Any,
) -> Iterator[Disagreement]:
    """What is wrong with attributes that hold together for the same people."""
    yield from _values(attributes, population, place_of, users)
    yield from _ages(attributes, population, place_of)
    yield from _parents(attributes, segments, population, place_of)


def _values(
    attributes: Attributes, population: Population, place_of: Callable[[str], Place], users: Any
) -> Iterator[Disagreement]:
    """What the values of one attribute must be."""
    for name, spec in attributes.items():
        here = place_of(name)
        levels = levels_of(spec)
        if isinstance(spec.get("values"), list):
            if twice := [value for value, count in Counter(levels).items() if count > 1]:
                yield Disagreement((*here, "values"), f"lists {_listed(twice)} more than once", "list each value once")
            available = len(set(levels))
            if spec.get("unique") is True and type(users) is int and available < users:
                rule = f"`{name}` is unique: {users} wanted, {available} available"
                yield Disagreement((*here, "values"), rule, "list more values, or ask for fewer users")
        if name in WORDS and number_of(spec) is not None:
            yield Disagreement((*here, "number"), f"`{name}` is words", "give it `weights` or a `table`")
        elif name in WHOLE_NUMBERS and (number := number_of(spec)) is not None:
            if not is_whole(number):
                yield Disagreement((*here, "number", "step"), f"`{name}` is a whole number", "add `step: 1`")
            low, high = _limits(name)
            for end, wrong, bound in (
                (low, min(ends_of(number))[0] < low, "low"),
                (high, _highest(number) > high, "high"),
            ):
                if wrong:
                    rule = (
                        f"`{name}` is from {low:g} to {high:g}"
                        if math.isfinite(high)
                        else f"`{name}` is {low:g} or more"
                    )
                    yield Disagreement((*here, "number"), rule, f"add `{bound}: {end:g}`")
        elif name in WHOLE_NUMBERS:
            for value in levels:
                low, high = _limits(name)
                if not _is_whole(value):
                    yield Disagreement(here, f"value `{value}` must be a whole number, 0 or more", "write it in digits")
                elif not low <= int(value) <= high:
                    yield Disagreement(
                        here, f"value `{value}` is not from {low:g} to {high:g}", "use the unit of the column"
                    )
        if name in (*FOLLOWS, "chronotype"):
            known, what = population[name].levels, "band" if name in FOLLOWS else "value"
            for value in levels:
                if value not in known:
                    yield Disagreement(here, f"value `{value}` is no {what} of `{name}`", did_you_mean(value, known))


def _limits(name: str) -> tuple[float, float]:
    """The least and the largest number that the column of an attribute holds."""
    column = PERSONAS.columns.get(name)
    low, high = (None, None) if column is None else (column.low, column.high)
    return 0.0 if low is None else float(low), math.inf if high is None else float(high)


def _highest(number: AnyNumeric) -> float:
    return max(high for _, high in ends_of(number))


def _is_whole(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit()


def _young(attributes: Attributes) -> list[str]:
    """Ages of the config that lie below the built-in population."""
    if "age_years" not in attributes or "age_group" in attributes:
        return []
    return [value for value in levels_of(attributes["age_years"]) if _is_whole(value) and int(value) < ADULT]


def _ages(attributes: Attributes, population: Population, place_of: Callable[[str], Place]) -> Iterator[Disagreement]:
    """Ages must be those of adults as long as something depends on the built-in age groups."""
    young = _young(attributes)
    depend = [
        name
        for name, part in population.items()
        if "age_group" in part.given
        and "age_group" not in part.takes_any
        and name not in attributes
        and not (name in FOLLOWS and FOLLOWS[name] in attributes)  # a band that follows from its number
    ]
    if young and depend:
        rule = f"{_listed(young)} is below {ADULT}, where the age groups begin that decide "
        rule += ", ".join(f"`{name}`" for name in depend)
        yield Disagreement(place_of("age_years"), rule, "give each of these weights, or a table given `age_years`")


def _levels(attributes: Attributes, segments: Sequence[str], population: Population) -> dict[str, list[str]]:
    """The values of every attribute that there is."""
    levels = {name: list(part.levels) for name, part in population.items()}
    levels |= {name: levels_of(spec) for name, spec in attributes.items()}
    if segments:
        levels[SEGMENT] = list(segments)
    if _young(attributes):
        levels["age_group"] = [*levels["age_group"], UNDER_AGE]
    return levels


def _given(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The parents of an attribute of the config."""
    given = spec.get("given")
    listed = given if isinstance(given, list) else [given]
    return tuple(name for name in listed if isinstance(name, str))


def _parents(
    attributes: Attributes, segments: Sequence[str], population: Population, place_of: Callable[[str], Place]
) -> Iterator[Disagreement]:
    """What a table and the attributes it depends on owe each other."""
    levels = _levels(attributes, segments, population)
    given = {name: part.given for name, part in population.items()} | {n: _given(s) for n, s in attributes.items()}
    for band, number in FOLLOWS.items():  # a band follows from the number where the config gives that
        if number in attributes and band not in attributes and band not in _ancestors(given, number):
            given[band] = ()
    for name, parents in given.items():
        here = place_of(name)
        if name not in attributes:
            yield from _kept(name, parents, levels, attributes, population, place_of)
            continue
        strange = [parent for parent in parents if parent not in levels]
        for parent in strange:
            listed = attributes[name].get("given")
            is_many = isinstance(listed, list) and len(listed) > 1  # a single name is read as a list of one
            step = ("given", parents.index(parent)) if is_many else ("given",)
            yield Disagreement(
                (*here, *step), f"there is no attribute `{parent}` to depend on", did_you_mean(parent, levels)
            )
        for key in (("table",), ("number", "by")):
            rows = [row for row in map_at(attributes[name], *key) if isinstance(row, str)]
            if rows and parents and not strange:
                yield from _rows((*here, *key), rows, parents, [levels[parent] for parent in parents], "row")
    yield from _circles(given, lambda name: name in attributes, place_of)


def _kept(
    name: str,
    parents: Sequence[str],
    levels: Mapping[str, list[str]],
    attributes: Attributes,
    population: Population,
    place_of: Callable[[str], Place],
) -> Iterator[Disagreement]:
    """A built-in attribute whose parent the config replaces knows the parent's built-in values only."""
    for parent in parents:
        if parent in FOLLOWS or parent in population[name].takes_any or parent not in attributes:
            continue  # what is wrong with bands is told already
        if lacking := [value for value in levels[parent] if value not in population[parent].levels]:
            rule = f"the built-in `{name}` depends on `{parent}` and knows no value {_listed(lacking)}"
            yield Disagreement(place_of(parent), rule, f"give `{name}` a table of its own, or weights")


def _rows(
    place: Place, keys: Sequence[str], names: Sequence[str], levels: Sequence[Sequence[str]], what: str
) -> Iterator[Disagreement]:
    """Whether keys, each a value or band of every attribute, together pick every combination of values once."""
    rows = {key: parts_of(key, len(names)) for key in keys}
    wrong = [key for key, row in rows.items() if len(row) != len(names)]
    for key in wrong:
        example = " | ".join(values[0] if values else "…" for values in levels)
        count = f"{len(rows[key])} value{'s' if len(rows[key]) > 1 else ''}"
        rule = f"has {count} where {_joined(names)} want {len(names)}"
        yield Disagreement((*place, key), rule, f"write it like `{example}`")
    if wrong:
        return
    used = [{row[place] for row in rows.values()} for place in range(len(names))]
    for key, row in rows.items():
        for name, part, values, others in zip(names, row, levels, used, strict=True):
            if not picked(part, values):
                yield Disagreement((*place, key), *_never(name, part, values, [v for v in values if v not in others]))
    found = grid(list(rows.values()), levels)
    if lacking := [" | ".join(values) for values in uncovered(found, levels)]:
        rule = f"has no {what} for {_listed(lacking)}, which {_joined(names)} can be"
        yield Disagreement(place, rule, f"add a {what} for {_listed(lacking)}")
    for one, other in overlapping(found):
        rule = f"overlaps the {what} `{keys[one]}`: some values are in both"
        yield Disagreement((*place, keys[other]), rule, "let each value be in one; the high end of a band is not in it")


def _never(name: str, selector: str, values: Sequence[str], near: Sequence[str]) -> tuple[str, str]:
    """Rule and fix where a selector picks none of the values; the fix names the most alike of ``near``."""
    band = band_of(selector)
    if band is not None and band[0] >= band[1]:
        return f"`{selector}` is an empty band: its high end is not in it", "write the low end first"
    return f"`{name}` is never `{selector}`", did_you_mean(selector, near, f"`{name}` can be {_range(values)}")


def _joined(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _choices(data: Mapping[str, Any], levels: Mapping[str, list[str]]) -> Iterator[Disagreement]:
    """Rules and oversampled groups speak of attributes and values that there are."""
    personas = map_at(data, "personas")
    for section, keys in (("rules", ("when", "need")), ("oversample", ("where",))):
        listed = personas.get(section)
        for index, entry in enumerate(listed if isinstance(listed, list) else []):
            for key in keys:
                for name, choice in map_at(entry, key).items():
                    yield from _choice(("personas", section, index, key, name), name, choice, levels)


def _choice(place: Place, name: str, choice: Any, levels: Mapping[str, list[str]]) -> Iterator[Disagreement]:
    if name not in levels:
        yield Disagreement(place, f"there is no attribute `{name}`", did_you_mean(name, levels))
        return
    for value in choice if isinstance(choice, list) else [choice]:
        selector = str(value) if type(value) is int else value
        if isinstance(selector, str) and not picked(selector, levels[name]):
            yield Disagreement(place, *_never(name, selector, levels[name], levels[name]))


def _margins(data: Mapping[str, Any], levels: Mapping[str, list[str]]) -> Iterator[Disagreement]:
    """Known shares are of attributes that there are, and cover their values."""
    listed = map_at(data, "personas").get("rake")
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        here: Place = ("personas", "rake", index)
        one = isinstance(map_at(entry).get("attribute"), str)
        names = (map_at(entry)["attribute"],) if one else _given(map_at(entry))
        strange = [name for name in names if name not in levels]
        for name in strange:
            place = (*here, "attribute" if one else "given")
            yield Disagreement(place, f"there is no attribute `{name}`", did_you_mean(name, levels))
        if len(set(names)) < len(names):
            yield Disagreement((*here, "given"), "names an attribute twice", "name each once")
        key = "weights" if one else "table"
        keys = [value for value in map_at(entry, key) if isinstance(value, str)]
        if keys and names and not strange:
            yield from _rows((*here, key), keys, names, [levels[name] for name in names], "share")


def _correlations(
    personas: Mapping[str, Any], base: Attributes, levels: Mapping[str, list[str]]
) -> Iterator[Disagreement]:
    """Correlated attributes exist and have an order to go by, and no band is correlated beside its own number."""
    listed = personas.get("correlations")
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        between = map_at(entry).get("between")
        names = [name for name in between if isinstance(name, str)] if isinstance(between, list) else []
        for place, name in enumerate(names):
            here: Place = ("personas", "correlations", index, "between", place)
            if name not in levels:
                yield Disagreement(here, f"there is no attribute `{name}`", did_you_mean(name, levels))
            elif name == SEGMENT or base.get(name, {}).get("unique") is True:
                yield Disagreement(here, f"`{name}` is not drawn by itself", "name another attribute")
            elif FOLLOWS.get(name) in {n for e in listed or [] for n in map_at(e).get("between") or []}:
                rule = f"`{name}` goes with its number `{FOLLOWS[name]}`, which is correlated already"
                yield Disagreement(here, rule, f"name `{FOLLOWS[name]}` in both places")


def _kinds(base: Attributes, segments: Mapping[str, Attributes]) -> Iterator[Disagreement]:
    """An attribute of the config's own has one kind of values for everybody: it is one column."""
    for segment, own in segments.items():
        for name, spec in own.items():
            if name in base and name not in BUILT_IN and _kind(spec) != _kind(base[name]):
                rule = f"`{name}` is {_kind(base[name])} for the others and {_kind(spec)} here"
                yield Disagreement(("personas", "segments", segment, "attributes", name), rule, "use one kind for all")


def _unique(base: Attributes, selectors: Collection[str]) -> Iterator[Disagreement]:
    """Values that one person each is given follow from a place in a list: no table can go by them."""
    for name in base:
        if base[name].get("unique") is True and name in selectors:
            rule = "gives each value to one person, and a table, rule, margin or group speaks of it"
            yield Disagreement(("personas", "attributes", name, "unique"), rule, f"let nothing speak of `{name}`")


def _kind(spec: Mapping[str, Any]) -> str:
    number = number_of(spec)
    if number is None:
        return "text"
    return "a whole number" if is_whole(number) else "a number with decimals"


def _ancestors(given: Mapping[str, Sequence[str]], start: str) -> set[str]:
    """What the attribute depends on, directly or by others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = set(given.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def _circles(
    given: Mapping[str, Sequence[str]], is_own: Callable[[str], bool], place_of: Callable[[str], Place]
) -> Iterator[Disagreement]:
    """One for each circle of attributes that depend on each other, at its first attribute of the config."""
    told: set[str] = set()
    for start in given:
        path = _way_back(given, start)
        if not path or told & set(path) or not is_own(start):
            continue
        told |= set(path)
        circle = " on ".join(f"`{name}`" for name in [*path, start])
        rule = f"attributes depend in a circle: {circle}"
        yield Disagreement((*place_of(start), "given"), rule, "break the circle")


def _way_back(given: Mapping[str, Sequence[str]], start: str) -> list[str]:
    """The shortest way from an attribute by its parents back to itself, the attribute first; empty if there is none."""
    paths, seen = [[start]], set[str]()
    while paths:
        path = paths.pop(0)
        for parent in given.get(path[-1], ()):
            if parent == start:
                return path
            if parent not in seen:
                seen.add(parent)
                paths.append([*path, parent])
    return []
