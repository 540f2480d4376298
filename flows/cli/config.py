"""``habitus config``: check, show and compare configs, and make nothing."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from flows.cli.console import terminal
from flows.cli.options import Json, PresetOrFile, Sets
from flows.common.config import diff as differences
from flows.common.config import load_config
from flows.common.config import show as as_yaml
from schemas.source import SourceError


def check(preset_or_file: PresetOrFile, /, *, sets: Sets | None = None, as_json: Json = False) -> int:
    """Print `ok` and the digest of the data part, or every violation at once (exit code 2).

    Examples: `habitus config check mine.yaml`, `habitus config check smoke --set data.users=50 --json`
    """
    console = terminal()
    try:
        loaded = load_config(preset_or_file, sets or [])
    except SourceError as error:
        if not as_json:
            raise
        console.json({"ok": False, "violations": [dataclasses.asdict(violation) for violation in error.violations]})
        return 2
    if as_json:
        console.json({"ok": True, "name": loaded.name, "data_digest": loaded.data_digest()})
    else:
        console.result(f"ok: {loaded.name}, data digest {loaded.data_digest()}")
    return 0


def show(preset_or_file: PresetOrFile, /, *, sets: Sets | None = None) -> int:
    """Print the complete config, defaults included, as a file that can be edited and built.

    Examples: `habitus config show smoke > mine.yaml`
    """
    terminal().result(as_yaml(load_config(preset_or_file, sets or [])).rstrip("\n"))
    return 0


def diff(old: PresetOrFile, new: PresetOrFile, /, *, as_json: Json = False) -> int:
    """Print the keys on which two configs differ, and whether the data they make can differ.

    Examples: `habitus config diff smoke mine.yaml`
    """
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
