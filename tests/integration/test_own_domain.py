"""A domain that nobody has written code for: checked, built, judged, acted in and scored."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import habitus as face
from tests.docs.pages import worked_domain
from tests.integration.builds import Ran, habitus, made

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def garden(workshop: Path, api: str) -> Ran:
    """A build of food and of the domain of the page on domains, as that page says."""
    folder = workshop / "garden"
    folder.mkdir()
    (folder / "gardening.yaml").write_text(worked_domain())
    sets = ("--set", "data.domains=[food]", "--set", "data.domains.gardening=gardening.yaml")
    return made(habitus(folder, "build", "smoke", *sets, "--set", "data.timelines.statement_rate=0.4", api=api))


def test_it_is_lived_in_and_nothing_of_it_is_refused(garden: Ran) -> None:
    release = face.open_release(garden.release, verify=True)
    events = release.polars("events").filter(domain="gardening")
    assert {"buy", "adjust", "search", "review", "say"} <= set(events["action"])
    items = release.polars("items").filter(domain="gardening")
    assert items.filter(pl.col("owner_user_id").is_null()).height == 1458
    assert items.drop_nulls("owner_user_id")["category"].unique().to_list() == ["sprinkler"]
    gates = json.loads((garden.release / "manifest.json").read_text())["gates"]
    assert not [name for name, gate in gates.items() if gate["passed"] is False]


def test_its_tasks_are_scored_by_the_file_in_the_manifest(garden: Ran) -> None:
    (garden.folder / "gardening.yaml").write_text("gone")
    release = face.open_release(garden.release)
    acts = [row for row in release.tasks().to_pylist() if row["domains"] == ["gardening"] and row["family"] == "act"]
    assert acts
    gold = {row["task_id"]: json.loads(row["gold"])["option_ids"] for row in release.sealed("answers").to_pylist()}
    for task in acts:
        passed = {
            option["option_id"]: face.score(
                release,
                task["task_id"],
                {"calls": [{"name": "gardening_buy", "arguments": {"item_id": option["item_id"]}}]},
            ).passed
            for option in task["options"]
        }
        assert [name for name, right in passed.items() if right] == gold[task["task_id"]]
        assert not face.score(release, task["task_id"], {}).passed
