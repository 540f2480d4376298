"""Digests of the project's own files, so that a release says which code made it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

CODE_FOLDERS = ("schemas", "prompts", "validation", "flows", "habitus")
SUFFIXES = frozenset({".py", ".yaml", ".json", ".md", ".jinja", ".j2", ".csv"})
LOCK = Path("requirements/core.txt")


def project_root() -> Path:
    """The folder that holds `flows/` and its sisters."""
    return Path(__file__).resolve().parents[2]


@functools.lru_cache(maxsize=4)
def code_digest(root: Path) -> str:
    """SHA-256 over the sorted relative paths and the bytes of every source and data file, and of the locked packages.

    An installed copy has no lock file; its digest then differs from that of a checkout, as its packages may.
    """
    files = _sources(root, CODE_FOLDERS)
    if (root / LOCK).is_file():
        files.append(root / LOCK)
    return _digest(root, files)


@functools.lru_cache(maxsize=4)
def prompt_digest(root: Path) -> str:
    """SHA-256 over prompts and phrase banks alone."""
    return _digest(root, _sources(root, ("prompts",)))


def _sources(root: Path, folders: Sequence[str]) -> list[Path]:
    return [
        path
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.suffix in SUFFIXES and not path.name.startswith(".") and path.is_file()
    ]


def _digest(root: Path, files: Sequence[Path]) -> str:
    total = hashlib.sha256()
    for path in sorted(files, key=lambda file: file.relative_to(root).as_posix()):
        content = path.read_bytes()
        total.update(f"{path.relative_to(root).as_posix()}\x1f{len(content)}\x1f".encode())
        total.update(content)
    return total.hexdigest()
