"""`habitus releases`: which releases there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.cli.console import terminal
from flows.release.catalogue import Entry, releases_folder, releases_on_disk

HEADINGS = ("release", "users", "events", "tasks", "gates", "content")


def releases(out: Path, json: bool) -> int:
    """0. Prints every release by name and version, from the manifests themselves: a table, or JSON."""
    console = terminal()
    entries = releases_on_disk(out)
    if json:
        console.json([entry.facts() for entry in entries])
    elif not entries:
        console.progress(f"no releases in {releases_folder(out)}")
    else:
        for line in aligned([HEADINGS, *(_cells(entry) for entry in entries)], counts=(1, 2, 3)):
            console.result(line)
    return 0


def gate_summary(gates: Mapping[str, Any]) -> str:
    """Such as `31 passed, 4 undecided`."""
    passed = sum(gate["passed"] is True for gate in gates.values())
    failed = sum(gate["passed"] is False for gate in gates.values())
    counts = ((passed, "passed"), (failed, "failed"), (len(gates) - passed - failed, "undecided"))
    return ", ".join(f"{count} {word}" for count, word in counts if count) or "none"


def _cells(entry: Entry) -> tuple[str, ...]:
    name = f"{entry.name} {entry.version}"
    if entry.fault is not None:
        return (name, "", "", "", entry.fault, "")
    counts = [f"{number:,}" for number in (entry.users, entry.events, entry.tasks)]
    return (name, *counts, gate_summary(entry.gates or {}), (entry.content_digest or "")[:12])


def aligned(rows: Sequence[tuple[str, ...]], counts: Collection[int]) -> list[str]:
    """Lines with columns under each other, counts to the right. Not cut at any width, so that it can be piped."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if place in counts else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
