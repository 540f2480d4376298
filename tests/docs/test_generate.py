"""The generated pages are what the project declares, and say all of it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from cyclopts import App

from flows.cli.main import app
from flows.pipeline import STAGES
from schemas.config import Config
from schemas.tables import INTERNAL, RELEASED
from tests.docs.pages import ROOT


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """The script that `make docs` runs."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_page_differs_from_what_would_be_generated(generate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().err


def test_check_shows_the_difference_writes_nothing_and_fails(
    generate: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "docs").mkdir()
    for page in generate.pages():
        (tmp_path / page).write_bytes((ROOT / page).read_bytes())
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    page = tmp_path / "docs" / "cli.md"
    page.write_text(page.read_text().replace("--workers INT", "--hands INT"))
    before = page.read_bytes()
    assert generate.main(["--check"]) == 1
    told = capsys.readouterr().err
    assert "-* `--hands INT`" in told and "+* `--workers INT`" in told and "make docs" in told
    assert page.read_bytes() == before
    assert generate.main([]) == 0
    assert page.read_bytes() == (ROOT / "docs/cli.md").read_bytes()


def _verbs(of: App, name: str) -> Iterator[str]:
    for verb in of:
        if not verb.startswith("-"):
            yield f"{name} {verb}"
            yield from _verbs(of[verb], f"{name} {verb}")


def test_every_verb_is_documented() -> None:
    page = (ROOT / "docs/cli.md").read_text()
    verbs = list(_verbs(app, "habitus"))
    assert "habitus config check" in verbs
    assert [verb for verb in verbs if f"# {verb}\n" not in page] == []


def test_every_table_and_column_is_in_the_dictionary() -> None:
    page = (ROOT / "docs/data-dictionary.md").read_text()
    sections = {text.split("\n", 1)[0]: text for text in page.split("\n### ")[1:]}
    tables = {**RELEASED, **INTERNAL}
    assert sections.keys() == tables.keys()
    lacking = [
        f"{name}.{column}"
        for name, declared in tables.items()
        for column in declared.columns
        if f"| `{column}` |" not in sections[name] and "Columns as in" not in sections[name]
    ]
    assert lacking == []


def _keys(values: object, path: str) -> Iterator[str]:
    if (
        isinstance(values, dict)
        and values
        and path.split(".")[-1] not in ("locales", "splits")
        and path != "data.domains"
    ):
        for name, value in values.items():
            yield from _keys(value, f"{path}.{name}" if path else name)
    else:
        yield path


@pytest.mark.parametrize("page", ["docs/config.md"])
def test_every_config_key_is_documented(page: str) -> None:
    config = Config.model_validate(
        {
            "schema_version": 1,
            "name": "any",
            "data": {"users": 1, "window": {"start": "2025-01-06T00:00:00Z", "end": "2025-01-20T00:00:00Z"}},
        }
    )
    text = (ROOT / page).read_text()
    assert [
        key for key in _keys(config.model_dump(), "") if f"| `{key}` |" not in text and f"## `{key}`\n" not in text
    ] == []


@pytest.mark.parametrize("page", ["docs/stages.md", "README.md"])
def test_every_stage_is_documented_in_an_order_in_which_it_can_run(page: str) -> None:
    text = (ROOT / page).read_text()
    text = text[text.index("catalogue    " if page == "README.md" else "## catalogue") :]
    places = {stage: text.find(f"## {stage}\n" if page != "README.md" else f"{stage}  ") for stage in STAGES}
    assert min(places.values()) >= 0, places
    for stage in STAGES.values():
        for source in stage.reads.values():
            assert places[source.rstrip("*")] < places[stage.name], f"{stage.name} reads {source}"
