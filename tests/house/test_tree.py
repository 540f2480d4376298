"""What holds for every file: its length, its words, its place."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT, imports, modules, parsed, tracked

LINES = 500
BINARY = {".parquet", ".png", ".jpg", ".gz", ".duckdb"}
PYTHON = tuple(name for name in tracked() if name.endswith(".py"))


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_no_file_of_code_is_long() -> None:
    assert {name: text_of(name).count("\n") for name in PYTHON if text_of(name).count("\n") >= LINES} == {}


def test_every_module_says_what_it_is() -> None:
    assert [name for name in modules() if text_of(name) and ast.get_docstring(parsed(name)) is None] == []


def test_every_public_function_and_class_has_a_docstring() -> None:
    bare = [
        f"{name}:{node.lineno}: {node.name}"
        for name in modules()
        for node in parsed(name).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert bare == []


def banned() -> dict[str, str]:
    """What no file may name, and why. Put together here, so that this file does not name it either."""
    hosts = [
        "py" + "pi.org",
        "python" + "hosted.org",
        "npm" + "js.org",
        "npm" + "js.com",
        "ana" + "conda.org",
        "crates" + ".io",
    ]
    places = [
        ROOT,
        Path.home(),
        Path(sys.prefix),
        *(Path("/") / name for name in ("wo" + "rk", "ro" + "ot", "wo" + "rkspace")),
    ]
    whole = {rf"(?<![\w.<]){re.escape(str(place))}(?=[/\s\"'`),]|$)" for place in places if len(place.parts) > 1}
    return {
        **{re.escape(host): "a package registry" for host in hosts},
        **dict.fromkeys(sorted(whole), "a path of one machine"),
        r"(?<![\w.<])/(?:home|Users)/[a-z]\w*/": "somebody's home",
        r"\.\./sha" + "red": "data beside the project",
        "TO" + "DO|FIX" + "ME|X" + "XX": "something unfinished",
    }


@pytest.mark.parametrize("pattern", list(banned()))
def test_no_file_names_what_is_of_one_machine_only(pattern: str) -> None:
    found = []
    for name in tracked():
        if Path(name).suffix in BINARY or (pattern.startswith(r"\.\.") and name.startswith("tests/")):
            continue  # tests may look for raw data
        found += [f"{name}: {match[0]}" for match in re.finditer(pattern, text_of(name), re.M)]
    assert not found, banned()[pattern]


def test_every_prompt_file_is_named_by_code() -> None:
    code = "\n".join(text_of(name) for name in modules())
    files = [Path(name) for name in tracked() if name.startswith("prompts/") and not name.endswith(".py")]
    assert files
    assert [str(path) for path in files if not re.search(rf"[\"'/]{re.escape(path.stem)}[\"'.]", code)] == []


def test_every_stage_of_the_pipeline_has_tests_of_its_own() -> None:
    stages = [module for module in imports("flows/pipeline.py") if re.fullmatch(r"flows\.\w+\.flow\.\w+_STAGE", module)]
    folders = {module.split(".")[1] for module in stages}
    assert len(folders) >= 7
    tested = {name.split("/")[2] for name in tracked() if re.fullmatch(r"tests/flows/\w+/test_\w+\.py", name)}
    assert sorted(folders - tested) == []
