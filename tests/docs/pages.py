"""The documents as tests read them: their blocks of code, and the links in their prose."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {".venv", "outputs", ".git"}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """Every Markdown file of the project that is about the project; what stands in `outputs/` is left to builds."""
    found = (path for path in ROOT.rglob("*.md") if not LEFT_OUT & set(path.relative_to(ROOT).parts[:-1]))
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(ROOT).parts))


def named(path: Path) -> str:
    """The path from the root, as the name of a test's case."""
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path, language: str) -> list[str]:
    """The texts of the page's blocks in that language, in order."""
    return [text for found, text in _BLOCK.findall(path.read_text(encoding="utf-8")) if found == language]


def prose(path: Path) -> str:
    """The page without its blocks."""
    return _BLOCK.sub("", path.read_text(encoding="utf-8"))


def commands(text: str) -> list[list[str]]:
    """The words of every line of a shell block, comments and prompts left out, `&&` taken apart."""
    lines = (line.removeprefix("$ ") for line in text.splitlines())
    parts = (part for line in lines for part in line.split("&&"))
    return [words for part in parts if (words := shlex.split(part, comments=True))]


def anchors(path: Path) -> set[str]:
    """The names under which the page's headings can be linked, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def worked_domain() -> str:
    """The tenth domain of the page on domains: a YAML file as its reader would save it."""
    return next(text for text in blocks(ROOT / "docs" / "domains.md", "yaml") if text.startswith("# gardening.yaml"))
