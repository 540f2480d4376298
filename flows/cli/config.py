"""``habitus config``: check, show, compare and explain configs, and make nothing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any, get_origin

from flows.cli.console import terminal
from flows.common.config import diff as differences
from flows.common.config import load_config
from flows.common.config import show as as_yaml
from schemas.config import Config
from schemas.config.effects import effect_of, unit_of
from schemas.explain import Slot, inside, nearest, slot_at
from schemas.keys import declarations, default_text, first_line, is_section, keys_of, range_text, sections, value_text
from schemas.source import InputError, SourceError


def check(preset_or_file: str, sets: Sequence[str], as_json: bool) -> int:
    """0 and `ok` with the digest of the data part; 2 and every violation, of the population too.

    Raises SourceError unless it prints JSON. What will be rare among the people gets a notice.
    """
    from flows.cli.unfit import notices

    console = terminal()
    try:
        loaded = load_config(preset_or_file, sets)
        rare = notices(loaded, preset_or_file)
    except SourceError as error:
        if not as_json:
            raise
        console.json({"ok": False, "violations": [dataclasses.asdict(violation) for violation in error.violations]})
        return 2
    if as_json:
        console.json({"ok": True, "name": loaded.name, "data_digest": loaded.data_digest(), "notices": rare})
        return 0
    console.result(f"ok: {loaded.name}, data digest {loaded.data_digest()}")
    for notice in rare:
        console.progress(f"notice: {notice}", "yellow")
    return 0


def show(preset_or_file: str, sets: Sequence[str]) -> int:
    """0. Prints the complete config, defaults included, as a file that can be edited and built."""
    terminal().result(as_yaml(load_config(preset_or_file, sets)).rstrip("\n"))
    return 0


def diff(old: str, new: str, as_json: bool) -> int:
    """0. Prints the keys on which two configs differ, and whether their data digests do."""
    console = terminal()
    before, after = load_config(old), load_config(new)
    found = differences(before, after)
    same_data = before.data_digest() == after.data_digest()
    if as_json:
        console.json({"same_data": same_data, "differences": [difference._asdict() for difference in found]})
        return 0
    for path, one, other in found:
        console.result(f"{path}: {_told(one)} -> {_told(other)}")
    console.result("same data digest" if same_data else "data digests differ")
    return 0


def _told(value: Any) -> str:
    return "(not set)" if value is None else json.dumps(value, ensure_ascii=False)


def explain(key: str, as_json: bool) -> int:
    """0. Prints what a key or a section is. Raises InputError, with the nearest key, if there is none of that name."""
    console = terminal()
    facts = _facts_of(key)
    if as_json:
        console.json(facts)
        return 0
    console.result(key)
    for name in ("meaning", "type", "unit", "range", "default", "effect"):
        if facts.get(name):
            console.result(f"  {name:<8} {facts[name]}")
    keys = facts.get("keys", [])
    if keys:
        console.result("  keys")
        width = max(len(one["key"]) for one in keys)
        for one in keys:
            default = f" [{one['default']}]" if one["default"] and one["default"] != "not set" else ""
            console.result(f"    {one['key']:<{width}}  {one['meaning'] or one['type']}{default}")
        console.progress("next: `habitus config explain` with one of these keys")
    return 0


def _facts_of(key: str) -> dict[str, Any]:
    place = tuple(key.split("."))
    slot = slot_at(Config, place)
    if slot is None or not all(place):
        raise InputError(f"there is no key `{key}`. {_meant(key)}")
    above = slot_at(Config, place[:-1])
    field = declarations(above.annotation).get(place[-1]) if above is not None and is_section(above) else None
    model = slot.annotation if is_section(slot) else None
    meaning = field.description if field is not None and field.description else None
    if meaning is None:
        meaning = first_line(model) if model is not None else f"One entry of `{'.'.join(place[:-1])}`."
    facts: dict[str, Any] = {
        "key": key,
        "meaning": " ".join(meaning.split()),
        "type": value_text(slot),
        "unit": unit_of(key),
        "range": range_text(slot),
        "default": "" if field is None or model is not None else default_text(field).strip("`"),
        "effect": effect_of(key),
    }
    inner, path = _inner(slot, key)
    if inner:
        facts["keys"] = [
            {
                "key": name,
                "type": value_text(part),
                "default": "" if is_section(part) else default_text(given).strip("`"),
                "meaning": " ".join(
                    (given.description or (first_line(part.annotation) if is_section(part) else "")).split()
                ),
            }
            for name, part, given in keys_of(inner, path)
        ]
    return facts


def _inner(slot: Slot, key: str) -> tuple[Any, str]:
    """The section whose keys stand below the key, with its path: the key's own, or that of each entry."""
    if is_section(slot):
        return slot.annotation, key
    part = inside(slot, 0)
    if part is None or not is_section(part):
        return None, key
    return part.annotation, f"{key}.{'<name>' if get_origin(slot.annotation) is dict else '<number>'}"


def _meant(key: str) -> str:
    """The keys that end like this one, or else the nearest."""
    known = [name for path, model in sections(Config) for name, _, _ in keys_of(model, path)]
    last = key.rpartition(".")[2]
    same = [name for name in known if name.rpartition(".")[2] == last]
    if not same:
        near = nearest(key, known) or nearest(last, {name.rpartition(".")[2] for name in known})
        same = [name for name in known if near is not None and near in (name, name.rpartition(".")[2])]
    if not same:
        return f"Sections are {', '.join(path for path, _ in sections(Config) if path and '<' not in path)}"
    return f"Did you mean {' or '.join(f'`{name}`' for name in same)}?"
