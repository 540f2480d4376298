"""`habitus personas`: people without a build."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from flows.cli import personas as verb
from flows.cli.main import main
from flows.common.config import load_config
from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.personas.flow import PERSONAS_STAGE
from tests.docs.pages import ROOT

CALL = """
import json, resource, sys
from flows.cli.main import main
code = main(["personas", "sample", "smoke", "--n", "2000", "-o", "people.parquet", "--quiet"])
used = resource.getrusage(resource.RUSAGE_SELF)
loaded = sorted({name.split(".")[0] for name in sys.modules} & {"prefect", "great_expectations", "datasets"})
print(json.dumps({"code": code, "cpu_seconds": used.ru_utime + used.ru_stime, "loaded": loaded}), file=sys.stderr)
"""
PETS = """
extends: smoke
data:
  personas:
    attributes:
      pet: {weights: {none: 0.6, dog: 0.398, parrot: 0.002}}
      commute:
        given: pet
        table:
          none: {bus: 0.5, car: 0.5}
          dog: {walk: 0.6, car: 0.4}
          parrot: {bus: 1.0}
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own with a config about pets."""
    (tmp_path / "pets.yaml").write_text(PETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def sampled(file: str, *more: str) -> pa.Table:
    assert main(["personas", "sample", *more, "-o", file]) == 0
    return pq.read_table(file)


def test_a_sample_takes_seconds_without_anything_heavy_and_says_what_to_do_next(desk: Path) -> None:
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", CALL], env=here, capture_output=True, text=True, check=True)
    told = json.loads(done.stderr.splitlines()[-1])
    assert told["code"] == 0 and told["loaded"] == [] and told["cpu_seconds"] < 10
    made, following = done.stdout.splitlines()
    assert made.startswith("made people.parquet: 2,000 people, Parquet")
    assert "`habitus personas plot people.parquet -o plots --config smoke`" in following
    assert [path.name for path in desk.iterdir() if path.suffix != ".yaml"] == ["people.parquet"]


def test_the_people_are_those_of_a_build_in_the_build_s_columns(desk: Path) -> None:
    data = load_config("smoke", users=7).data
    expected = PERSONAS_STAGE.run(Context(data, Draws(data.seed, "personas"), Shard(0, 7)), {})["personas"]
    assert sampled("seven.parquet", "smoke", "--n", "7").to_pylist() == expected.to_pylist()
    assert sampled("one.parquet", "smoke", "--n", "1").to_pylist() == expected.slice(0, 1).to_pylist()
    assert sampled("other.parquet", "smoke", "--n", "7", "--seed", "8").to_pylist() != expected.to_pylist()


def test_without_a_number_there_are_as_many_as_in_the_config(desk: Path) -> None:
    assert sampled("all.parquet").num_rows == load_config("smoke").data.users


def test_shards_change_nothing(desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    whole = sampled("whole.parquet", "--n", "50", "--dispositions", "tastes.parquet")
    monkeypatch.setattr(verb, "WITH_DISPOSITIONS_AT_ONCE", 7)
    cut = sampled("cut.parquet", "--n", "50", "--dispositions", "cut_tastes.parquet")
    assert cut.to_pylist() == whole.to_pylist()
    assert pq.read_table("cut_tastes.parquet").to_pylist() == pq.read_table("tastes.parquet").to_pylist()
    assert "50 of 50 people" in capsys.readouterr().err


def test_the_suffix_says_the_format_and_all_hold_the_same(desk: Path) -> None:
    people = sampled("p.parquet", "pets.yaml", "--n", "40")
    assert main(["personas", "sample", "pets.yaml", "--n", "40", "-o", "p.csv", "--dispositions", "d.csv"]) == 0
    assert main(["personas", "sample", "pets.yaml", "--n", "40", "-o", "p.jsonl"]) == 0
    as_csv = csv.read_csv("p.csv")
    assert as_csv.column_names == people.column_names
    assert as_csv["given_name"].to_pylist() == people["given_name"].to_pylist()
    lines = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    expected = [{**row, "birth_date": row["birth_date"].isoformat()} for row in people.to_pylist()]
    assert lines == expected
    weights = [json.loads(text) for text in csv.read_csv("d.csv")["weights"].to_pylist()]
    assert all(abs(sum(part["weight"] for part in parts) - 1) < 1e-4 for parts in weights)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "there.parquet"], "there.parquet is there already. Give another name, or `--force` to replace it"),
        (["-o", "new.parquet", "--dispositions", "there.parquet"], "there.parquet is there already"),
        (["-o", "new.parquet", "--dispositions", "./new.parquet"], "cannot hold people and dispositions both"),
        (["-o", "people.xlsx"], "people.xlsx: the suffix says the format"),
        (["-o", "people.parqet"], "did you mean `.parquet`?"),
        (["-o", "new.parquet", "--n", "0"], "--n is 0; must be 1 to 999999"),
        (["-o", "."], "the suffix says the format"),
        (["nowhere.yaml", "-o", "new.parquet"], "there is no such preset or file"),
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_made(
    arguments: list[str], told: str, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there.parquet").write_text("mine")
    assert main(["personas", "sample", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert sorted(path.name for path in desk.iterdir()) == ["pets.yaml", "there.parquet"]
    assert Path("there.parquet").read_text() == "mine"


def test_force_replaces_a_file(desk: Path) -> None:
    Path("there.parquet").write_text("mine")
    assert sampled("there.parquet", "--n", "3", "--force").num_rows == 3


def test_the_facts_of_a_sample_are_there_for_programs(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["personas", "sample", "--n", "3", "-o", "p.csv", "--dispositions", "d.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [made["file"] for made in told["made"]] == ["p.csv", "d.csv"]
    assert told["made"][0]["rows"] == 3 and told["made"][1]["bytes"] == Path("d.csv").stat().st_size


def test_a_value_too_rare_to_count_on_is_told(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sampled("p.parquet", "pets.yaml", "--n", "100")
    assert "notice: `pet`: at 100 people the expected count is below 5 for `parrot` 0.2" in capsys.readouterr().err
    sampled("q.parquet", "pets.yaml", "--n", "5000")
    assert "notice" not in capsys.readouterr().err


def test_show_prints_a_card_a_person(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["personas", "show", "pets.yaml", "--n", "4"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(u\d+)  ", out, re.MULTILINE) == ["u000000", "u000001", "u000002", "u000003"]
    assert len(re.findall(r"pet (none|dog|parrot), commute (bus|car|walk)", out)) == 4
    assert out.count("\n         food: ") == 4
    assert main(["preview", "pets.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == out.splitlines()[0]
    assert main(["personas", "show", "--n", "0"]) == 2


def drawn(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["personas", "plot", *arguments, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_plots_show_every_margin_table_and_correlation(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sampled("people.parquet", "pets.yaml", "--n", "3000")
    told = drawn(capsys, "people.parquet", "-o", "plots", "--config", "pets.yaml")
    assert told["off"] == []
    assert {"margin_pet.svg", "margin_age_years.svg", "given_commute_by_pet.svg", "correlations.svg"} <= {
        *told["files"]
    }
    assert "margin_given_name.svg" not in told["files"]
    for name in told["files"]:
        text = Path("plots", name).read_text()
        assert name == "index.html" or ElementTree.fromstring(text).tag.endswith("svg")
    page = Path("plots/index.html").read_text()
    assert [name for name in told["files"] if name != "index.html" and f'src="{name}"' not in page] == []
    pet = Path("plots/margin_pet.svg").read_text()
    assert re.search(r"<title>dog: (3[6-9]|4[0-3])\.\d\d%, 1,\d\d\d people; configured 39.80%, by chance 3", pet)
    assert "configured 60.0%" in Path("plots/given_commute_by_pet.svg").read_text()


def test_a_margin_that_is_not_the_configured_one_is_named(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sampled("people.parquet", "pets.yaml", "--n", "3000")
    (desk / "fewer.yaml").write_text(PETS.replace("none: 0.6, dog: 0.398", "none: 0.7, dog: 0.298"))
    assert main(["personas", "plot", "people.parquet", "-o", "plots", "--config", "fewer.yaml"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^off: pet: total variation 0\.\d+, outside its bounds at dog, none$", out, re.MULTILINE)
    assert "off: region" not in out
    told = drawn(capsys, "people.parquet", "-o", "plots", "--config", "pets.yaml", "--force")
    assert told["off"] == []
    changed = PETS.replace("dog: {walk: 0.6, car: 0.4}", "dog: {walk: 0.3, car: 0.7}")
    (desk / "lazy.yaml").write_text(changed)
    drawn(capsys, "people.parquet", "-o", "lazy", "--config", "lazy.yaml")
    assert "2 of " in Path("lazy/given_commute_by_pet.svg").read_text()


def test_any_file_of_people_is_drawn_and_what_cannot_be_is_told(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "\n".join(f"{number},a{number % 2},n{number},{number / 7}" for number in range(100))
    Path("mine.csv").write_text(f"id,kind <b>,name,height\n{rows}\n")
    told = drawn(capsys, "mine.csv", "-o", "plots")
    assert told["left_out"] == {"name": "has more than 30 values"}
    assert {"margin_kind_b.svg", "margin_height.svg", "correlations.svg"} <= {*told["files"]}
    assert "kind &lt;b&gt;" in Path("plots/margin_kind_b.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere.parquet", "-o", "plots"], "nowhere.parquet does not exist"),
        (["empty.csv", "-o", "plots"], "empty.csv has no rows"),
        (["broken.parquet", "-o", "plots"], "broken.parquet cannot be read as Parquet"),
        (["good.csv", "-o", "good.csv"], "good.csv is a file; give the name of a folder"),
        (["good.csv", "-o", "plots", "--set", "data.users=3"], "name it with --config"),
        (["good.csv", "-o", "full"], "full has margin_a.svg already"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    arguments: list[str], told: str, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.csv").write_text("a,b\n")
    Path("good.csv").write_text("a,b\n1,2\n")
    Path("broken.parquet").write_text("no")
    Path("full").mkdir()
    Path("full/margin_a.svg").write_text("mine")
    assert main(["personas", "plot", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not Path("plots").exists() and Path("full/margin_a.svg").read_text() == "mine"


def test_diff_tells_one_changed_table_from_everything_else(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (desk / "after.yaml").write_text(PETS.replace("none: 0.6, dog: 0.398", "none: 0.4, dog: 0.598"))
    sampled("before.parquet", "pets.yaml", "--n", "2000")
    sampled("after.parquet", "after.yaml", "--n", "2000")
    capsys.readouterr()
    assert main(["personas", "diff", "before.parquet", "after.parquet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    columns = {column["column"]: column for column in told["columns"]}
    assert told["shared_ids"] == 2000 and told["only_in_first"] == told["only_in_second"] == []
    assert [name for name, column in columns.items() if column["changed"]] == ["pet", "commute"]
    assert [name for name, column in columns.items() if column["differs"]] == ["pet", "commute"]
    assert columns["pet"]["total_variation"] == pytest.approx(0.2, abs=0.03)
    assert {value["value"] for value in columns["pet"]["values"][:2]} == {"none", "dog"}
    assert main(["personas", "diff", "before.parquet", "after.parquet"]) == 0
    out = capsys.readouterr().out
    assert "people: 2,000 in before.parquet, 2,000 in after.parquet, 2,000 ids in both" in out
    assert "pet: differs, total variation" in out and re.search(r"^alike: .*region", out, re.MULTILINE)


def test_diff_names_columns_that_only_one_has_and_reads_any_format(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sampled("with.parquet", "pets.yaml", "--n", "300")
    assert main(["personas", "sample", "smoke", "--n", "300", "-o", "without.csv"]) == 0
    capsys.readouterr()
    assert main(["personas", "diff", "with.parquet", "without.csv"]) == 0
    out = capsys.readouterr().out
    assert "only in with.parquet: pet, commute" in out
    assert "differs" not in out and "another value" not in out


def test_two_samples_of_one_population_do_not_differ(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sampled("one.parquet", "smoke", "--n", "3000")
    sampled("two.parquet", "smoke", "--n", "2000", "--seed", "11")
    capsys.readouterr()
    assert main(["personas", "diff", "one.parquet", "two.parquet", "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [column["column"] for column in columns if column["differs"]] == []
    assert max(column["changed"] for column in columns) > 1500


@pytest.mark.parametrize(
    "command",
    [
        ["config", "check", "FILE"],
        ["personas", "show", "FILE"],
        ["personas", "sample", "FILE", "--n", "10", "-o", "people.parquet"],
        ["preview", "FILE"],
        ["build", "FILE"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_people_that_cannot_be_are_told_with_their_line_by_whichever_command(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(
        "extends: smoke\n"
        "data:\n"
        "  personas:\n"
        "    rules:\n"
        "      - {name: women only, when: {sex: male}, need: {sex: female}}\n"
        "    correlations:\n"
        "      - {between: [region, openness], spearman: 0.99}\n"
    )
    assert main([word.replace("FILE", "mine.yaml") for word in command]) == 2
    assert "mine.yaml:5: data.personas.rules[0] is" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"], "nothing is made"
