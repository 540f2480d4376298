"""``habitus config``: check, show and compare configs, and make nothing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from flows.cli.console import terminal
from flows.common.config import diff as differences
from flows.common.config import load_config
from flows.common.config import show as as_yaml
from schemas.source import SourceError


def check(preset_or_file: str, sets: Sequence[str], as_json: bool) -> int:
    """0 and `ok` with the digest of the data part; 2 and every violation. Raises SourceError unless it prints JSON."""
    console = terminal()
    try:
        loaded = load_config(preset_or_file, sets)
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
