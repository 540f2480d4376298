"""The project's own files, for the tests that hold all of them to a rule."""

from __future__ import annotations

import ast
import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("schemas", "prompts", "validation", "flows", "habitus")


@functools.cache
def tracked() -> tuple[str, ...]:
    """Every file that belongs to the project, by its path from the root: what Git tracks or would.

    Without Git's folder, what lies in the project's own folders.
    """
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
    else:
        below = [path for folder in (*PACKAGES, "tests", "docs", "requirements") for path in (ROOT / folder).rglob("*")]
        listed = [
            path.relative_to(ROOT).as_posix() for path in [*below, *ROOT.glob("*")] if "__pycache__" not in path.parts
        ]
    return tuple(sorted(name for name in set(listed) if name and (ROOT / name).is_file()))


def modules() -> tuple[str, ...]:
    """The Python files of the packages, without tests."""
    return tuple(name for name in tracked() if name.endswith(".py") and name.split("/")[0] in PACKAGES)


@functools.cache
def parsed(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"), name)


def dotted(name: str) -> str:
    """`flows/tasks/flow.py` → `flows.tasks.flow`."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@functools.cache
def imports(name: str) -> tuple[str, ...]:
    """Every module that a file imports, inside functions too, each also with what is taken from it."""
    found = []
    for node in ast.walk(parsed(name)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: imports by relative path"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(found)
