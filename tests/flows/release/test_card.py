from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from flows.common.config import load_config
from flows.release.card import size_category
from schemas.tables import RELEASED
from tests.flows.release.release_fakes import failed, fake_config, fake_tables, publish_fake


def _text(release: Path) -> str:
    return (release / "README.md").read_text(encoding="utf-8")


def _front(release: Path) -> Any:
    return YAML(typ="safe", pure=True).load(_text(release).split("---\n")[1])


def _section(release: Path, heading: str) -> str:
    return _text(release).split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]


def test_the_front_matter_lists_every_file_and_one_default(published: Path) -> None:
    front = _front(published)
    listed = [path for config in front["configs"] for split in config["data_files"] for path in split["path"]]
    assert sorted(listed) == sorted(p.relative_to(published).as_posix() for p in published.rglob("*.parquet"))
    assert [config["config_name"] for config in front["configs"] if config.get("default")] == ["events"]
    assert front["license"] == "cc-by-4.0"
    assert "synthetic" in front["tags"]
    assert front["size_categories"] == ["1K<n<10K"]


def test_empty_tables_and_empty_splits_are_not_offered(published: Path) -> None:
    configs = {config["config_name"]: config for config in _front(published)["configs"]}
    assert set(configs) == {name for name, table in fake_tables(24).items() if table.num_rows}
    assert [split["split"] for split in configs["events"]["data_files"]] == ["train", "test"]
    assert "| `images` | visible | 0 | none: declared, empty, not offered |" in _text(published)


def test_every_column_stands_in_the_card_with_unit_and_nulls(published: Path) -> None:
    for name, declared in RELEASED.items():
        section = _text(published).split(f"\n### {name}\n", 1)[1].split("\n### ", 1)[0]
        assert all(f"| `{column}` |" in section for column in declared.columns), name
    assert "| `price_cents` | int64 | cents | 75.0% |" in _text(published)
    assert "| `user_id` | string |  | never |" in _text(published)


def test_the_config_in_the_card_builds_the_same_data(published: Path, tmp_path: Path) -> None:
    block = _section(published, "## Parameters and seed").split("```yaml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "config.yaml").write_text(block, encoding="utf-8")
    loaded = load_config(tmp_path / "config.yaml")
    assert loaded.data_digest() == json.loads((published / "manifest.json").read_text())["data_digest"]
    assert list(loaded.data.release.splits) == ["train", "empty", "test"]
    assert "habitus build config.yaml --release-version 0.1.0" in _text(published)


def test_gates_are_shown_with_value_limit_and_verdict(published: Path) -> None:
    gates = _section(published, "## Gates")
    assert "| cross.keys | 0 | 0 | passed | unique keys \\| all tables |" in gates
    assert "| fidelity.food.hours | nan | 0.1 | insufficient sample | 3 rows |" in gates


def test_rates_are_shown_as_configured_and_as_counted(published: Path) -> None:
    shown = _section(published, "## Disturbances")
    lines = fake_tables(24)["events"].num_rows
    assert (
        f"| noise: duplicate | 0.01 | Share of lines that were logged twice. | 24 | {24 / (lines - 24):.4f} |" in shown
    )
    assert "| noise: accidental | 0.02 |" in shown
    assert "| drift: abrupt | 0.8 |" in shown


@pytest.mark.parametrize(
    "heading",
    [
        "## Loading",
        "## Schema",
        "## Parameters and seed",
        "## Gates",
        "## Disturbances",
        "## Known limitations",
        "## Intended use",
        "## Licence",
        "## Citation",
    ],
)
def test_the_card_has_its_sections_filled(published: Path, heading: str) -> None:
    assert len(_section(published, heading).strip()) > 5


def test_the_card_promises_no_file_that_is_not_there(published: Path) -> None:
    assert "croissant" not in _text(published).lower()
    assert "{{" not in _text(published)


def test_a_quarantined_release_has_no_card(tmp_path: Path) -> None:
    assert not (publish_fake(tmp_path, judgement=failed()).path / "README.md").exists()


@pytest.mark.parametrize(
    ("rows", "label"),
    [(0, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (2_000_000, "1M<n<10M"), (10**11, "10B<n<100B")],
)
def test_size_categories_are_those_of_the_hub(rows: int, label: str) -> None:
    assert size_category(rows) == label


def test_languages_follow_the_locales(tmp_path: Path) -> None:
    from flows.release.card import front_matter

    config = fake_config(6)
    people = config.data.personas.model_copy(update={"locales": {"en_US": 0.5, "de_AT": 0.25, "de_DE": 0.25}})
    both = config.model_copy(update={"data": config.data.model_copy(update={"personas": people})})
    files = {"tables": {"events": {"rows": 0, "splits": {}}}, "files": []}
    front = YAML(typ="safe", pure=True).load(front_matter(both, {"name": "tiny", "version": "1.0.0"}, files))
    assert front["language"] == ["de", "en"]
