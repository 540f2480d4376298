"""Who may import whom, and what importing may cost."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from tests.house.tree import PACKAGES, ROOT, dotted, imports, modules, parsed

BELOW = {
    "schemas": {"schemas"},
    "prompts": {"schemas", "prompts"},
    "validation": {"schemas", "prompts", "validation"},
    "flows": {"schemas", "prompts", "validation", "flows"},
    "habitus": {"schemas", "validation", "habitus"},
}
"""Each package and those that it may import. The arrow points one way."""
NO_STAGES = {"cli", "calibrate"}
"""Folders of flows/ that are no part of a build and may use its stages; no stage imports them."""
WITH_PREFECT = {"flows/pipeline.py", "flows/nightly.py"}
SLOW = ("prefect", "great_expectations", "faker", "pandas", "duckdb", "datasets")
"""Packages that take long to import: functions that need them import them."""


def packages_of(name: str) -> set[str]:
    return {module.split(".")[0] for module in imports(name)} & {*PACKAGES, "tests", "docs"}


def test_there_is_something_to_look_at() -> None:
    assert {name.split("/")[0] for name in modules()} == set(PACKAGES)
    assert len(modules()) > 60


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_those_below_them(package: str) -> None:
    wrong = {
        name: sorted(packages_of(name) - BELOW[package])
        for name in modules()
        if name.startswith(f"{package}/") and packages_of(name) - BELOW[package]
    }
    assert not wrong


def test_stages_never_import_each_other_and_meet_in_common() -> None:
    wrong = []
    for name in modules():
        parts = name.split("/")
        if parts[0] != "flows" or len(parts) < 3 or parts[1] in NO_STAGES:
            continue
        may = {"common"} if parts[1] == "common" else {"common", parts[1]}
        reached = [module for module in imports(name) if module.startswith("flows.")]
        wrong += [f"{name} imports {module}" for module in reached if module.split(".")[1] not in may]
    assert not wrong


def test_only_the_pipeline_knows_prefect() -> None:
    users = {name for name in modules() if any(module.split(".")[0] == "prefect" for module in imports(name))}
    assert "flows/pipeline.py" in users
    assert users <= WITH_PREFECT


def test_agents_know_nothing_of_how_people_were_made() -> None:
    wrong = [
        f"{name} imports {module}"
        for name in modules()
        if name.startswith("validation/agents/")
        for module in imports(name)
        if module.startswith(("schemas.behaviour", "schemas.tables.sealed", "schemas.tables.internal"))
    ]
    assert not wrong


def at_import(name: str) -> list[ast.AST]:
    """The nodes of a file that run when it is imported: all but the bodies of functions."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = list(parsed(name).body)
    while waiting:
        node = waiting.pop()
        found.append(node)
        inside = ast.iter_child_nodes(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inside = iter([*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)])
        waiting += inside
    return found


FORBIDDEN = {
    "environ",
    "getenv",
    "open",
    "read_text",
    "read_bytes",
    "read_yaml",
    "read_json",
    "read_table",
    "write_text",
    "now",
    "today",
    "utcnow",
    "perf_counter",
    "mkdir",
    "load_domains",
    "load_phrases",
}


def test_importing_reads_no_file_no_clock_and_no_environment() -> None:
    wrong = []
    for name in modules():
        for node in at_import(name):
            word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if word in FORBIDDEN and isinstance(getattr(node, "ctx", None), ast.Load):
                wrong.append(f"{name}:{getattr(node, 'lineno', 0)}: {word}")
    assert not wrong


WATCH = """
import importlib, json, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps({"modules": sorted({name.split(".")[0] for name in sys.modules}), "opened": opened}))
"""


def imported(*names: str) -> dict[str, list[str]]:
    """What is loaded, and which files were opened, after these modules have been imported by a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH, json.dumps(names)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_all_modules_together_load_no_slow_package_and_open_no_file_of_ours() -> None:
    found = imported(*(dotted(name) for name in modules() if name not in WITH_PREFECT))
    assert not set(SLOW) & set(found["modules"])
    ours = [path for path in found["opened"] if path.startswith(tuple(f"{ROOT}/{package}/" for package in PACKAGES))]
    assert len(ours) > 60, "nothing was watched"
    assert not [path for path in ours if not path.endswith(".py") and "/__pycache__/" not in path]


def test_the_command_line_starts_without_what_only_some_verbs_need() -> None:
    found = imported("flows.cli.main")
    assert not {*SLOW, "pyarrow", "numpy", "polars", "pydantic"} & set(found["modules"])
