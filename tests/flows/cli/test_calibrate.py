"""`habitus calibrate`: from a reference or a log to a domain file that a build takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.cli.main import main
from flows.common.config import load_config
from tests.docs.pages import ROOT, blocks, commands
from tests.flows.calibrate.artificial import evening

FEW = ["--users", "60", "--weeks", "8", "--tries", "3", "--quiet"]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a reference of one's own."""
    (tmp_path / "ours.json").write_text(json.dumps(evening()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_domain_file_that_a_build_takes_and_the_same_again(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["calibrate", "--domain", "food", "--reference", "ours.json", *FEW, "--json"]
    code = main([*call, "-o", "one.yaml"])
    said = json.loads(capsys.readouterr().out)
    assert code == (0 if said["within_limits"] else 1)
    assert said["file"] == "one.yaml" and said["activity"] == "meal" and said["reference"] == "evening"
    fitted = {(line["metric"], line["distance"]): line for line in said["fitted"]}
    gaps = fitted["inter_event_gap", "ks"]
    assert gaps["after"] < gaps["before"] and gaps["limit"] >= 0.08 and gaps["floor"] > 0
    assert {line["metric"] for line in said["not_fitted"]} == {"hour_of_day", "day_of_week"}
    assert "top_share" in said["absent"]["fitted"] and "drift" in said["absent"]["not fitted"]
    assert main([*call, "-o", "two.yaml"]) == code
    assert (desk / "one.yaml").read_bytes() == (desk / "two.yaml").read_bytes()
    short, long = (load_config("smoke", [f"{key}.food=one.yaml"]) for key in ("domains", "data.domains"))
    assert short == long and short.data.domains["food"]["activities"]["meal"]["reference"] == "evening"


def test_a_metric_beyond_its_limit_is_exit_code_1_and_the_file_is_there(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    far = evening()
    for table in far["tables"]:
        if table["metric"] == "inter_event_gap_hours_quantile":
            table["values"] = [value * 50 for value in table["values"]]
    (desk / "far.json").write_text(json.dumps(far))
    call = ["calibrate", "--domain", "food", "--reference", "far.json", "-o", "far.yaml", *FEW]
    assert main([*call[:-3], "--tries", "1", "--quiet"]) == 1
    out = capsys.readouterr().out
    assert "not within" in out and "far.yaml: NOT every fitted metric is within its limit" in out
    assert (desk / "far.yaml").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], ["one of --reference and --events is needed", "there is nothing to be fitted"]),
        (["--domain", "fod", "--reference", "ours.json"], ["Did you mean `food`?"]),
        (["--domain", "food", "--reference", "nowhere"], ["there is no such reference"]),
        (["--domain", "food", "--reference", "ours.json", "--users", "3", "--weeks", "1"], ["--users", "--weeks"]),
        (["--domain", "food", "--reference", "ours.json", "-o", "ours.json"], ["is there already", "--force"]),
        (["--domain", "food", "--reference", "ours.json", "--activity", "nap"], ["is no activity with a rhythm"]),
    ],
)
def test_what_cannot_be_used_is_told_and_nothing_is_made(
    desk: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: list[str]
) -> None:
    assert main(["calibrate", *words]) == 2
    told = capsys.readouterr().err
    assert all(one in told for one in says), told
    assert [path.name for path in desk.iterdir()] == ["ours.json"]


def test_a_log_alone_becomes_a_reference(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        f"u{who},2025-0{1 + nth % 6}-{1 + (7 * who + nth) % 28:02d} {(who + nth) % 24:02d}:00:00"
        for who in range(40)
        for nth in range(15)
    ]
    (desk / "log.csv").write_text("user,time\n" + "\n".join(lines) + "\n")
    assert main(["calibrate", "--events", "log.csv", "--quiet"]) == 0
    assert "log_reference.json: 40 people, 600 lines" in capsys.readouterr().out
    made = json.loads((desk / "log_reference.json").read_text())
    assert made["reference_id"] == "log_reference" and made["self_distance"]


@pytest.mark.slow
def test_the_recipes_of_the_page_run_in_their_order(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As written, but with few people and tries, and configs checked instead of built."""
    lines = [
        f"u{who},2025-0{1 + nth % 3}-{1 + (7 * who + 3 * nth) % 28:02d} {(who + nth) % 24:02d}:00:00,i{nth % 4}"
        for who in range(60)
        for nth in range(15)
    ]
    (desk / "log.csv").write_text("user,time,item\n" + "\n".join(lines) + "\n")
    (desk / "ours.json").unlink()
    page = ROOT / "docs" / "calibrate.md"
    called = [words for block in blocks(page, "sh") for words in commands(block)]
    assert [words[1] for words in called] == ["calibrate", "build", "calibrate", "calibrate", "calibrate"]
    for words in called:
        if words[1] == "build":
            load_config(words[2], [words[4]])
            continue
        few = ["--users", "50", "--weeks", "4", "--tries", "1"] if "--domain" in words else []
        assert main([*words[1:], *few, "--quiet"]) in (0, 1), capsys.readouterr()
    assert load_config("smoke", ["domains.groceries=fitted.yaml"]).data.domains["groceries"] != "built_in"
    (config,) = blocks(page, "yaml")
    (desk / "mine.yaml").write_text(config)
    assert load_config(desk / "mine.yaml") == load_config("smoke", ["domains.groceries=busy.yaml", "name=mine"])
