"""`habitus releases`: which releases there are."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.release.catalogue import Entry, releases_folder, releases_on_disk


def releases(out: Path, json: bool) -> int:
    """0. Prints every release by name and version, from the manifests themselves: a table, or JSON."""
    entries = releases_on_disk(out)
    if json:
        print(jsonlib.dumps([entry.facts() for entry in entries], indent=1, ensure_ascii=False))
        return 0
    if not entries:
        print(f"no releases in {releases_folder(out)}")
        return 0
    _print_table(entries)
    return 0


def _print_table(entries: list[Entry]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for heading in ("release", "users", "events", "tasks", "gates", "content"):
        shown.add_column(heading, justify="right" if heading in ("users", "events", "tasks") else "left")
    for entry in entries:
        name = f"{entry.name} {entry.version}"
        if entry.fault is not None:
            shown.add_row(name, "", "", "", entry.fault, "")
            continue
        counts = (f"{number:,}" for number in (entry.users, entry.events, entry.tasks))
        shown.add_row(name, *counts, gate_summary(entry.gates or {}), (entry.content_digest or "")[:12])
    Console(soft_wrap=True, markup=False).print(shown)


def gate_summary(gates: Mapping[str, Any]) -> str:
    """Such as `31 passed, 4 undecided`."""
    passed = sum(gate["passed"] is True for gate in gates.values())
    failed = sum(gate["passed"] is False for gate in gates.values())
    counts = ((passed, "passed"), (failed, "failed"), (len(gates) - passed - failed, "undecided"))
    return ", ".join(f"{count} {word}" for count, word in counts if count) or "none"
