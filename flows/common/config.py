"""Configs: read from a preset or a file, changed by the command line, judged in full, shown and compared.

A file may say ``extends: smoke`` (a preset, or a path beside the file) and then only what differs. Maps are merged key
by key. Lists, maps of shares (`weights`, `splits`, `locales`) and `table` are replaced whole: part of a distribution
means nothing. ``key: null`` takes an inherited key away. ``--set a.b.c=VALUE`` reaches any single key, shares included;
``--set domains.D=FILE`` is short for ``--set data.domains.D=FILE``.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from flows.common.learn_people import learn, stated
from flows.common.names import has_names
from flows.common.read_people import PeopleFileError, read_people
from schemas.config import Config
from schemas.config.agreement import disagreements, levels_of, map_at
from schemas.config.data import BUILT_IN, NINE_DOMAINS, TimelinesConfig
from schemas.config.people_file import PeopleFile
from schemas.config.personas import GROUP_YEARS, INCOME_BANDS, POPULATION
from schemas.config.pieces import selectors_of
from schemas.domain import Domain
from schemas.explain import Place, Slot, did_you_mean, inside, nearest
from schemas.links import link_problems
from schemas.load import domain_names, load_domains
from schemas.market import load_markets
from schemas.shaped import effect_problems
from schemas.source import Source, SourceError, Violation, core_scalar, judge, read_text, read_yaml, shown, unreadable
from schemas.tables.sealed import PERSONAS
from validation.structure.domain_file import check_domain

DOMAINS = inside(inside(Slot(Config), "data"), "domains")
PRESETS = Path(__file__).parents[1] / "presets"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*")
_OLD_BOOLEANS = ("y", "n", "yes", "no", "on", "off")
"""Text in YAML 1.2, but readers of YAML 1.1 would take them for true and false."""


class Difference(NamedTuple):
    """One key that two configs disagree on; ``None`` where a config does not have it."""

    path: str
    old: Any
    new: Any


def preset_names() -> list[str]:
    """The presets, by name."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def load_config(
    preset_or_file: str | Path,
    sets: Sequence[str] = (),
    seed: int | None = None,
    users: int | None = None,
    workers: int | None = None,
) -> Config:
    """The complete config of a preset or a file with the changes of the command line.

    Raises :class:`SourceError` with every violation, those that need other files included.
    """
    path = _find(str(preset_or_file), Path())
    if path is None:
        raise SourceError([_not_found(str(preset_or_file), str(preset_or_file), None, "")])
    source = _named_after(path, _read(path, ()))
    for text in sets:
        source = _with_set(source, text)
    options = (("seed", "data", seed), ("users", "data", users), ("workers", "execution", workers))
    for name, part, number in options:
        if number is not None:
            given = read_text(str(number), f"--{name}", has_lines=False, at=(part, name))
            source = _merged(source, given, depth=2)
    source = _with_people(_with_own_domains(source))
    config, violations = judge(Config, source)
    violations += _beyond(source)
    if config is None or violations:
        raise SourceError(violations)
    return config


def _find(name: str, folder: Path) -> Path | None:
    """The preset of that name, or else the file at that path from the folder."""
    if name in preset_names():
        return PRESETS / f"{name}.yaml"
    path = folder / name
    return path if path.exists() else None


def _not_found(name: str, file: str, line: int | None, field: str) -> Violation:
    near = nearest(name, preset_names())
    fix = (f"did you mean `{near}`? " if near else "") + f"Presets are {', '.join(preset_names())}"
    return Violation(file, line, field, name if field else "", "there is no such preset or file", fix)


def _read(path: Path, below: tuple[Path, ...]) -> Source:
    """The file on top of what it extends. ``below`` are the files that led here.

    Where that cannot be read, the preset `smoke` stands in, so that the file's own errors are told with this one.
    """
    source = read_yaml(path)
    if not isinstance(source.value, dict) or "extends" not in source.value:
        return source
    name = source.value.pop("extends")
    mark = source.mark(("extends",))
    chain = (*below, path.resolve())
    base = _find(name, path.parent) if isinstance(name, str) else None
    if not isinstance(name, str):
        wrong = Violation(mark.file, mark.line, "extends", shown(name), "must be one name", "write smoke")
    elif base is None:
        wrong = _not_found(name, mark.file, mark.line, "extends")
    elif base.resolve() in chain:
        rule = "the file extends itself in the end"
        wrong = Violation(mark.file, mark.line, "extends", name, rule, "break the circle")
    else:
        under = _read(base, chain)
        return _merged(under if under.is_readable else _instead(*under.violations), source)
    return _merged(_instead(wrong), source)


def _named_after(path: Path, source: Source) -> Source:
    """A file that would be filed under the name of the preset it extends is called after itself."""
    inherited = isinstance(source.value, dict) and source.value.get("name") in preset_names()
    if not inherited or path.parent == PRESETS or source.mark(("name",)).file == source.file:
        return source
    name = re.sub(r"[^a-z0-9_]+", "_", path.stem.lower()).strip("_")
    return _merged(source, read_text(name, f"the name of {source.file}", has_lines=False, at=("name",)), depth=1)


def _instead(*violations: Violation) -> Source:
    return dataclasses.replace(read_yaml(PRESETS / "smoke.yaml"), violations=violations)


def _with_set(source: Source, text: str) -> Source:
    """The source with one ``--set KEY=VALUE``."""
    key, equals, value = text.partition("=")
    place = tuple(key.strip().split("."))
    if len(place) > 1 and place[0] == "domains":  # all settings of domains are of data
        place = ("data", *place)
    if equals and all(place):
        given = read_text(value, f"--set {key.strip()}", has_lines=False, at=place)
    else:
        fix = "write it like --set data.disturb.noise.corrupt=0.02"
        given = unreadable(Violation(f"--set {text}", None, "", "", "must read KEY=VALUE", fix))
    if not given.is_readable:
        return dataclasses.replace(source, violations=(*source.violations, *given.violations))
    return _merged(source, given, depth=len(place))


def _merged(base: Source, over: Source, depth: int = 0) -> Source:
    """``over`` on top of ``base``; down to ``depth`` even maps of shares are merged. Marks follow the values."""
    above = {} if not depth else {place: over.mark(place) for place in _way_to(over, base)}
    return Source(
        over.file if not depth else base.file,
        _merged_value(base.value, over.value, Slot(Config), depth),
        {**base.marks, **above, **over.marks},
        (*base.violations, *over.violations),
        base.repeated | over.repeated,
        base.is_readable and over.is_readable,
    )


def _way_to(over: Source, base: Source) -> list[Place]:
    """The sections that lead to the one value of ``over`` and change with it. `data` as a whole stays the base's."""
    leaf = min(over.marks, key=len, default=())
    return [leaf[:length] for length in range(1, len(leaf)) if length > 1 or leaf[:length] not in base.marks]


def _merged_value(base: Any, over: Any, slot: Slot | None, depth: int) -> Any:
    if isinstance(base, list) and isinstance(over, dict) and slot is not None and slot == DOMAINS:
        base = dict.fromkeys(base, BUILT_IN)  # a map of domains adds to a list of them
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if depth <= 0 and slot is not None and slot.is_shares:
        return over
    out = dict(base)
    for key, value in over.items():
        out[key] = _merged_value(base[key], value, inside(slot, key), depth - 1) if key in base else value
    return out


def _with_own_domains(source: Source) -> Source:
    """The source with every domain file that it names read, checked and put in its place, a plain map.

    A path is looked for beside the file that names it; on the command line from the current folder.
    """
    data = source.value.get("data") if source.is_readable and isinstance(source.value, dict) else None
    if not isinstance(data, dict) or not isinstance(data.get("domains"), dict):
        return source
    domains = data["domains"]
    others = load_domains(name for name, given in domains.items() if given == BUILT_IN and name in domain_names())
    read: dict[str, Any] = {}
    violations: list[Violation] = []
    for name, given in domains.items():
        place = ("data", "domains", name)
        if isinstance(given, dict):
            file = source.below(place)
        elif isinstance(given, str) and given.endswith((".yaml", ".yml")):
            file = read_yaml(Path(source.mark(place).file).parent / given)
        else:
            continue
        checked = check_domain(file, others)
        violations += checked.violations
        if checked.domain is not None and checked.domain.name != name:
            violations.append(file.violation(("name",), f"the config calls this domain `{name}`", "use one name"))
        # What is wrong is told already; the rest of the config is judged beside it.
        read[name] = checked.domain.model_dump(mode="json") if checked.domain is not None else {}
    value = {**source.value, "data": {**data, "domains": {**domains, **read}}}
    return dataclasses.replace(source, value=value, violations=(*source.violations, *violations))


def _with_people(source: Source) -> Source:
    """The source with what the file of people says put beside its name, so that the config alone makes the people.

    A path is looked for beside the file that names it; on the command line from the current folder. What a config states
    already, as that of a manifest does, is taken as it is.
    """
    place = ("data", "personas", "people_from")
    given = map_at(source.value, *place) if source.is_readable else {}
    if not given or given.get("learnt") is not None:
        return source
    try:
        spec = PeopleFile.model_validate(given)
    except ValidationError:  # told with the rest of the config
        return source
    try:
        people = read_people(spec, Path(source.mark((*place, "file")).file).parent)
    except PeopleFileError as error:
        wrong = tuple(source.violation((*place, *below), rule, fix) for below, rule, fix in error.problems)
        return dataclasses.replace(source, violations=(*source.violations, *wrong))
    selectors = selectors_of(map_at(source.value, "data", "personas"))
    for number, bounds in (("age_years", GROUP_YEARS), ("income_usd", INCOME_BANDS)):
        selectors.setdefault(number, set()).update(f"{low}.." for low, _ in bounds.values())
    learnt = stated(learn(spec, people, selectors))
    cut = {name: {**part, "cut_at": sorted(selectors.get(name, ()))} for name, part in learnt.items()}
    said = {**given, "file": Path(spec.file).name, "learnt": cut}
    data = source.value["data"]
    value = {**source.value, "data": {**data, "personas": {**data["personas"], "people_from": said}}}
    return dataclasses.replace(source, value=value)


def _beyond(source: Source) -> list[Violation]:
    """What the config breaks between its own keys and against files beside it, whatever else is wrong with it."""
    data = source.value.get("data") if source.is_readable and isinstance(source.value, dict) else None
    if not isinstance(data, dict):
        return []
    data = {"domains": dict.fromkeys(NINE_DOMAINS, BUILT_IN), "market": "us", **data}
    found: list[Violation] = []
    problems = [*disagreements(data), *_unknown_locales(data), *_unknown_zones(data)]
    if isinstance(data["market"], str) and data["market"] not in load_markets():
        problems.append((("market",), "there is no such market", did_you_mean(data["market"], load_markets())))
    missing, wrong, domains = _domains_of(data["domains"])
    found += wrong
    problems += [*missing, *_unfit(domains, _attributes(data))]
    problems += effect_problems(data, {domain.name: domain for domain in domains.values()})
    problems += _too_small(domains, map_at(data, "timelines").get("options_shown"))
    for place, rule, fix in problems:
        if ("data", *place) not in source.ambiguous:
            found.append(source.violation(("data", *place), rule, fix))
    return found


def _domains_of(listed: Any) -> tuple[list[tuple[Place, str, str]], list[Violation], dict[Place, Domain]]:
    """Of the domains of a config: names that there are not, what is wrong in files, and the others by their place."""
    entries = list(listed.items()) if isinstance(listed, dict) else []
    if isinstance(listed, list):
        entries = [(name, BUILT_IN) for name in listed]
    missing: list[tuple[Place, str, str]] = []
    wrong: list[Violation] = []
    domains: dict[Place, Domain] = {}
    for index, (name, given) in enumerate(entries):
        place = ("domains", name if isinstance(listed, dict) else index)
        if given == BUILT_IN and isinstance(name, str) and name not in domain_names():
            missing.append((place, "there is no such domain", did_you_mean(name, domain_names())))
        elif isinstance(name, str) and (given == BUILT_IN or (isinstance(given, dict) and given)):
            try:
                domains[place] = load_domains({name: given})[name]
            except SourceError as error:
                wrong += error.violations
    return missing, wrong, domains


def _attributes(data: Mapping[str, Any]) -> set[str]:
    """Every attribute that people of the config have."""
    personas = map_at(data, "personas")
    segment = ["segment"] if map_at(personas, "segments") else []
    own = (*map_at(personas, "attributes"), *map_at(personas, "people_from", "columns"))
    return {*PERSONAS.columns, *POPULATION, *own, *segment}


def _unfit(domains: Mapping[Place, Domain], known: set[str]) -> list[tuple[Place, str, str]]:
    """What domains want that this config does not have: attributes of people, tastes of other domains."""
    problems: list[tuple[Place, str, str]] = []
    by_name = {domain.name: domain for domain in domains.values()}
    links = link_problems(by_name)
    for place, domain in domains.items():
        by = [(dimension, tilt.attribute) for dimension, spec in domain.dimensions.items() for tilt in spec.tilts]
        by += [("participation", tilt.attribute) for tilt in domain.participation.tilts]
        for what, attribute in by:
            if attribute is not None and attribute not in known:
                rule = f"the domain tilts {what} by `{attribute}`, which no person has"
                problems.append((place, rule, f"add `{attribute}` to data.personas.attributes"))
        problems += [(place, rule, fix) for rule, fix in links.get(domain.name, [])]
    return problems


def _too_small(domains: Mapping[Place, Domain], shown: Any) -> list[tuple[Place, str, str]]:
    """Domains that have fewer things of a category than a screen shows."""
    default = TimelinesConfig.model_fields["options_shown"].default
    wanted = shown if type(shown) is int else default
    problems: list[tuple[Place, str, str]] = []
    for place, domain in domains.items():
        each = domain.item_count() // len(domain.catalogue.categories)
        if each < wanted:
            rule = f"each of its categories has {each} things, and a screen shows {wanted}"
            problems.append((place, rule, "give it more values, or lower data.timelines.options_shown"))
    return problems


def _unknown_locales(data: Mapping[str, Any]) -> list[tuple[Place, str, str]]:
    """Locales of which there are no names: Faker would take English ones without a word."""
    listed: list[tuple[Place, str]] = [(("personas", "locales", n), n) for n in map_at(data, "personas", "locales")]
    for above in (("personas",), *(("personas", "segments", name) for name in map_at(data, "personas", "segments"))):
        here = (*above, "attributes", "locale")
        listed += [(here, name) for name in levels_of(map_at(data, *here))]
    listed += [
        (("personas", "people_from", "columns", "locale"), name)
        for name in levels_of({"values": map_at(data, "personas", "people_from", "learnt", "locale").get("levels")})
    ]
    if all(name == "en_US" for _, name in listed):
        return []
    from faker.config import AVAILABLE_LOCALES

    known = [name for name in sorted(AVAILABLE_LOCALES) if has_names(name)]
    found: list[tuple[Place, str, str]] = []
    for place, name in listed:
        if name not in known:
            rule = f"Faker has no locale `{name}`"
            if name in AVAILABLE_LOCALES:
                rule = f"Faker has no names for `{name}`, and would give English ones"
            found.append((place, rule, did_you_mean(name, known, "write one like en_GB")))
    return found


def _unknown_zones(data: Mapping[str, Any]) -> list[tuple[Place, str, str]]:
    place = ("personas", "attributes", "time_zone")
    spec = map_at(data, *place)
    if not spec:
        return []
    from zoneinfo import available_timezones

    known = sorted(available_timezones())
    return [
        (place, f"there is no time zone `{name}`", did_you_mean(name, known, "write one like Europe/Oslo"))
        for name in levels_of(spec)
        if name not in known
    ]


def show(config: Config) -> str:
    """The complete config as YAML, every key with what it means. Loads back equal."""
    return "\n".join(_lines(config, config.model_dump(mode="json"), "")) + "\n"


def _lines(model: BaseModel, plain: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if value is None:
            continue
        if field.description:
            yield from (f"{indent}# {line}" for line in field.description.splitlines())
        if isinstance(value, BaseModel):
            yield f"{indent}{name}:"
            yield from _lines(value, plain[name], indent + "  ")
        elif isinstance(value, dict) and value and all(isinstance(part, BaseModel) for part in value.values()):
            yield f"{indent}{name}:"
            for key, part in value.items():
                yield f"{indent}  {_yaml(key)}:"
                yield from _lines(part, plain[name][key], indent + "    ")
        else:
            yield f"{indent}{name}: {_yaml(plain[name])}"


def _yaml(value: Any) -> str:
    """The value on one line, text in quotes wherever a reader of YAML 1.1 or 1.2 could take it for something else."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_yaml(key)}: {_yaml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_yaml(part) for part in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and isinstance(core_scalar(value), str) and value.casefold() not in _OLD_BOOLEANS:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)


def diff(old: Config, new: Config) -> list[Difference]:
    """The keys on which two configs differ, in the order of the schema."""
    return list(_differences(old.model_dump(mode="json"), new.model_dump(mode="json"), ""))


def _differences(old: Any, new: Any, path: str) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield Difference(path, old, new)
