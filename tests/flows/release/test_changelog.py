from __future__ import annotations

from pathlib import Path

from flows.release.changelog import changelog
from tests.flows.release.release_fakes import publish_fake


def _text(release: Path) -> str:
    return (release / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_first_version_says_so(published: Path) -> None:
    assert _text(published) == "# Changelog\n\n## 0.1.0\n\nFirst version of `tiny`.\n"


def test_a_later_version_says_what_changed_and_keeps_what_was_said(tmp_path: Path) -> None:
    publish_fake(tmp_path)
    publish_fake(tmp_path, note="b")
    text = _text(publish_fake(tmp_path, users=7, note="b", version="0.2.0").path)
    latest, middle, first = text.removeprefix("# Changelog\n\n").split("\n\n## ")
    assert latest.startswith("## 0.2.0\n\nChanged since 0.1.1:")
    assert "- Table `events`: 144 → 168 rows." in latest
    assert "- Config `data.users`: `6` → `7`." in latest
    assert "- Table `events`: other content in as many rows, 144." in middle
    assert "`items`" not in latest + middle
    assert first == "0.1.0\n\nFirst version of `tiny`.\n"


def test_a_version_is_compared_with_the_one_below_it(tmp_path: Path) -> None:
    publish_fake(tmp_path, version="1.0.0")
    publish_fake(tmp_path, note="b", version="2.0.0")
    text = _text(publish_fake(tmp_path, note="c", version="1.0.1").path)
    assert text.startswith("# Changelog\n\n## 1.0.1\n\nChanged since 1.0.0:")
    assert "2.0.0" not in text


def test_tables_packages_code_and_schema_are_compared() -> None:
    old = {
        "name": "tiny",
        "version": "1.0.0",
        "tables": {"gone": {"rows": 1, "digest": "a"}},
        "schema_digest": "a",
        "config": {"data": {"disturb": {"noise": {"late": 0.1}}}},
        "packages": {"numpy": "2.4.6"},
        "prompt_digest": "a",
        "code_digest": "a" * 64,
    }
    new = {
        **old,
        "version": "1.0.1",
        "tables": {"new": {"rows": 2, "digest": "a"}},
        "schema_digest": "b",
        "config": {"data": {"disturb": {"noise": {"late": 0.2}}}},
        "packages": {"numpy": "2.5.0"},
        "prompt_digest": "b",
        "code_digest": "b" * 64,
    }
    text = changelog(new, old, None)
    for line in (
        "Table `gone` is gone.",
        "Table `new` is new: 2 rows.",
        "The declared schema changed",
        "Config `data.disturb.noise.late`: `0.1` → `0.2`.",
        "Package `numpy`: `2.4.6` → `2.5.0`.",
        "Prompts or phrase banks changed.",
        "Code changed: aaaaaaaaaaaa → bbbbbbbbbbbb.",
    ):
        assert line in text
