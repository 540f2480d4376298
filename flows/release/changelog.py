"""CHANGELOG.md of a release: what its users will see change, found by comparing two manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HEADING = "# Changelog\n\n"


def changelog(manifest: Mapping[str, Any], previous: Mapping[str, Any] | None, earlier: str | None) -> str:
    """The whole file: this version's entry above ``earlier``, the text of the previous version's file."""
    title = f"## {manifest['version']}\n\n"
    if previous is None:
        return HEADING + title + f"First version of `{manifest['name']}`.\n"
    lines = list(_changes(manifest, previous))
    entry = f"Changed since {previous['version']}:\n\n" + "".join(f"- {line}\n" for line in lines)
    rest = (earlier or "").removeprefix(HEADING).strip()
    return HEADING + title + entry + (f"\n{rest}\n" if rest else "")


def read_previous(folder: Path) -> str | None:
    """The previous version's changelog; None where it has none that can be read."""
    try:
        return (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _changes(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    yield from _table_changes(new["tables"], old["tables"])
    if new["schema_digest"] != old["schema_digest"]:
        yield "The declared schema changed: columns, types, keys, limits or meanings."
    yield from _setting_changes("Config", dict(_flat(new["config"]["data"])), dict(_flat(old["config"]["data"])))
    yield from _setting_changes("Package", new["packages"], old["packages"])
    if new["prompt_digest"] != old["prompt_digest"]:
        yield "Prompts or phrase banks changed."
    if new["code_digest"] != old["code_digest"]:
        yield f"Code changed: {old['code_digest'][:12]} → {new['code_digest'][:12]}."


def _table_changes(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(set(new) | set(old)):
        if name not in old:
            yield f"Table `{name}` is new: {new[name]['rows']:,} rows."
        elif name not in new:
            yield f"Table `{name}` is gone."
        elif new[name]["rows"] != old[name]["rows"]:
            yield f"Table `{name}`: {old[name]['rows']:,} → {new[name]['rows']:,} rows."
        elif new[name]["digest"] != old[name]["digest"]:
            yield f"Table `{name}`: other content in as many rows, {new[name]['rows']:,}."


def _setting_changes(what: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(set(new) | set(old)):
        if new.get(key) != old.get(key):
            yield f"{what} `{key}`: {_shown(old, key)} → {_shown(new, key)}."


def _shown(settings: Mapping[str, Any], key: str) -> str:
    return f"`{settings[key]}`" if key in settings else "not set"


def _flat(section: Mapping[str, Any], path: str = "data") -> Iterator[tuple[str, Any]]:
    for key, value in section.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{path}.{key}")
        else:
            yield f"{path}.{key}", value
