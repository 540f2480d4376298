"""What the documents print is true: links lead somewhere, commands exist, configs are valid, programmes run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli.main import app, main
from tests.docs.pages import ROOT, anchors, blocks, commands, named, pages, prose
from tests.integration.builds import Ran

PAGES = pages()
README = ROOT / "README.md"
PROGRAMMES = blocks(README, "python")


def test_the_documents_are_found() -> None:
    some = {"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/decisions/README.md"}
    assert some <= {named(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        path, _, anchor = target.partition("#")
        if ":" in path:
            continue
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_page_names_files_that_exist(page: Path) -> None:
    folders = ("flows", "schemas", "prompts", "validation", "habitus", "tests", "docs", "requirements")
    named_here = re.findall(rf"`((?:{'|'.join(folders)})/[\w/.-]+)`", prose(page))
    assert [path for path in named_here if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_exists(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = [words for language in ("sh", "console") for block in blocks(page, language) for words in commands(block)]
    inline = [words for text in re.findall(r"`(habitus [^`<>]*|make \w+)`", prose(page)) for words in commands(text)]
    for words in [*shown, *inline]:
        if words[0] == "make":
            assert set(words[1:]) <= targets, words
        elif words[0] == "habitus":
            _parse(words[1:])


def _parse(words: list[str]) -> None:
    """Fails if the command line does not take the words. A verb alone, its usage line, and a redirection are as good."""
    words = words[: words.index(">")] if ">" in words else words
    usage = [word for word in words if not re.fullmatch(r"\[?[A-Z_]+\]?|--output", word)]
    if words and set(usage) <= _verbs():
        return
    app.parse_args(words, exit_on_error=False, print_error=False)


def _verbs() -> set[str]:
    groups = (app, *(app[name] for name in ("config", "domains", "personas")))
    return {name for part in groups for name in part if not name.startswith("-")}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of somebody who has saved the README's config where it says."""
    (config,) = blocks(README, "yaml")
    (tmp_path / "dogs.yaml").write_text(config)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def test_the_config_is_valid(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "dogs.yaml"]) == 0
    assert capsys.readouterr().out.startswith("ok: dogs, ")


def test_the_people_of_the_config_have_its_attributes(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "dogs.yaml"]) == 0
    cards = re.findall(r"pet (none|dog|cat), commute (bus|car|walk|bike)$", capsys.readouterr().out, re.MULTILINE)
    assert len(cards) == 3


def test_the_shown_answers_of_commands_are_theirs(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = blocks(README, "console")
    first, _, answer = shown.partition("\n")
    assert main(commands(first)[0][1:]) == 2
    assert capsys.readouterr().err == answer


@pytest.mark.parametrize("number", range(len(PROGRAMMES)))
def test_the_programmes_run_on_a_release(number: int, base: Ran, tmp_path: Path) -> None:
    """Each as somebody would who has saved it beside `outputs/`."""
    script = tmp_path / "programme.py"
    script.write_text(PROGRAMMES[number])
    settings = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    ran = subprocess.run(
        [sys.executable, str(script)],
        cwd=base.folder,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
    if "chance" in ran.stdout:
        right, of = map(int, re.findall(r"\d+", ran.stdout)[:2])
        assert right > of / 2, "the README says that counting solves most tasks"
    if "Score(" in ran.stdout:
        bought, asked = ran.stdout.splitlines()
        assert "tool_errors=0" in bought and "asking is not needed" in asked


def test_the_excerpt_of_a_task_is_a_task_of_the_release(base: Ran) -> None:
    from habitus import open_release

    excerpt = README.read_text().partition("<!-- task: ")[2].partition("<!-- end of task")[0]
    task_id = re.search(r"^(u\d{6}-\w+)  act", excerpt, re.MULTILINE)
    assert task_id is not None
    (task,) = (row for row in open_release(base.release).tasks().to_pylist() if row["task_id"] == task_id[1])
    assert f"“{task['request']}”" in excerpt
    assert all(f"  {option['option_id']}  {option['label']}\n" in excerpt for option in task["options"])
