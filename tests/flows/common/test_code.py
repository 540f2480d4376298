from __future__ import annotations

from pathlib import Path

import pytest

from flows.common.code import code_digest, project_root, prompt_digest

FILES = (
    "flows/a.py",
    "flows/presets/b.yaml",
    "prompts/c.md",
    "flows/d.jinja",
    "validation/e.json",
    "validation/f.j2",
    "requirements/core.txt",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def _digest(root: Path) -> str:
    code_digest.cache_clear()
    return code_digest(root)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_changes_the_digest(root: Path, name: str) -> None:
    before = _digest(root)
    (root / name).write_text("other")
    assert _digest(root) != before


def test_a_moved_file_changes_the_digest(root: Path) -> None:
    before = _digest(root)
    (root / "flows/a.py").rename(root / "flows/z.py")
    assert _digest(root) != before


def test_a_file_that_another_swallows_changes_the_digest(root: Path) -> None:
    (root / "flows/a.py").write_text("x")
    (root / "flows/b.py").write_text("y")
    before = _digest(root)
    (root / "flows/b.py").unlink()
    (root / "flows/a.py").write_text("xflows/b.pyy")
    assert _digest(root) != before


@pytest.mark.parametrize(
    "name", ["flows/__pycache__/a.pyc", "tests/a.py", "flows/.a.py", "flows/notes.txt", "outputs/x.json"]
)
def test_what_makes_no_data_is_not_digested(root: Path, name: str) -> None:
    before = _digest(root)
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("other")
    assert _digest(root) == before


def test_prompts_have_a_digest_of_their_own(root: Path) -> None:
    prompt_digest.cache_clear()
    before = prompt_digest(root)
    (root / "flows/a.py").write_text("other")
    prompt_digest.cache_clear()
    assert prompt_digest(root) == before
    (root / "prompts/c.md").write_text("other")
    prompt_digest.cache_clear()
    assert prompt_digest(root) != before


def test_the_project_root_is_found() -> None:
    assert (project_root() / "flows" / "common" / "code.py").is_file()
