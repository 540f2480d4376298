"""`habitus clean`: takes away what builds leave behind, never a release."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flows.cli.console import terminal
from flows.common.files import remove_tree
from flows.release.catalogue import releases_folder
from flows.release.lock import is_alive, is_held
from flows.release.publish import STAGING_SUFFIX

LOCK_SUFFIX = ".lock"
"""A build holds `runs/.<run id>.lock` while it works in `runs/<run id>`."""


@dataclass(frozen=True)
class Leftover:
    """Something that can go."""

    path: Path
    what: str
    files: int
    bytes: int


def clean(out: Path, everything: bool, yes: bool) -> int:
    """0 when done, when there is nothing to do, or when the answer is no; 2 when there is nobody to ask.

    Removes run folders and half-built releases, with ``everything`` also the quarantine, after showing what and how
    much. Releases are never touched, nor what a build still works on.
    """
    console = terminal()
    found = list(leftovers(out, everything))
    if not found:
        console.progress(f"nothing to clean in {out}")
        return 0
    for one in found:
        console.result(f"{one.what:<11} {_size(one.bytes):>9} {one.files:>7,} files  {one.path}")
    total = f"{len(found)} of them, {_size(sum(one.bytes for one in found))} in all"
    if not yes:
        if not sys.stdin.isatty():
            console.error(f"{total}; nothing removed, for there is no terminal to ask. Say --yes to remove them")
            return 2
        if input(f"Remove {total}? [y/N] ").strip().lower() not in ("y", "yes"):
            console.progress("nothing removed")
            return 0
    for one in found:
        _remove(one.path)
    console.result(f"removed {total}")
    return 0


def leftovers(out: Path, everything: bool) -> Iterator[Leftover]:
    """What can go: run folders, hidden working folders of dead builds, and with ``everything`` the quarantine."""
    for path in _entries(out / "runs"):
        lock = path if path.name.endswith(LOCK_SUFFIX) else path.with_name(f".{path.name}{LOCK_SUFFIX}")
        if not is_held(lock):
            yield _measured(path, "run")
    for path in _entries(releases_folder(out)):
        if path.name.startswith(".") and path.is_dir() and not _is_in_use(path):
            yield _measured(path, "half-built")
    for path in _entries(out / "quarantine"):
        if everything or path.name.startswith("."):
            yield _measured(path, "quarantined")


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_in_use(path: Path) -> bool:
    """Whether the process whose number stands in the name of the hidden folder still runs."""
    numbers = [part for part in path.name.split(".") if part.isdigit()]
    return path.name.endswith(STAGING_SUFFIX) and any(is_alive(int(number)) for number in numbers[-1:])


def _measured(path: Path, what: str) -> Leftover:
    inside = [path] if path.is_symlink() or path.is_file() else path.rglob("*")
    files = [file for file in inside if file.is_symlink() or file.is_file()]
    return Leftover(path, what, len(files), sum(file.lstat().st_size for file in files))


def _remove(path: Path) -> None:
    """A link goes itself, not what it points to."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        remove_tree(path)


def _size(number: int) -> str:
    size = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
