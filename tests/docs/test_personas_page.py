"""The recipes of docs/personas.md work as they are printed: each file saved, each command run, each claim looked at."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from flows.cli.main import main
from flows.cli.personas import made
from flows.common.config import load_config
from flows.common.stage import Shard
from tests.docs.pages import ROOT, blocks, commands
from tests.flows.lives import frame

PAGE = ROOT / "docs" / "personas.md"
RECIPES = (
    "occupations.yaml",
    "oversample.yaml",
    "joint.yaml",
    "ours.yaml",
    "heights.yaml",
    "cars.yaml",
    "germany.yaml",
    "south.yaml",
)


def saved(name: str) -> str:
    """The block that a reader would save under that name."""
    (text,) = (text for text in blocks(PAGE, "yaml") if text.startswith(f"# {name}\n"))
    return text


def run_commands_about(name: str) -> None:
    """Every command of the recipe's own blocks, as printed."""
    for block in blocks(PAGE, "sh")[1:]:
        if any(name in word for words in commands(block) for word in words):
            for words in commands(block):
                assert words[0] == "habitus" and main(words[1:]) == 0, words


def programme_about(name: str) -> str:
    """The Python of the page that reads that file."""
    (text,) = (text for text in blocks(PAGE, "python") if name in text)
    return text


def printed_by(name: str) -> str:
    """What that Python prints."""
    done = subprocess.run([sys.executable, "-c", programme_about(name)], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's files, saved where the page says."""
    for name in RECIPES:
        (tmp_path / name).write_text(saved(name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def test_every_recipe_is_a_valid_config(desk: Path) -> None:
    run_commands_about("survey.csv")
    for name in RECIPES:
        assert main(["config", "check", name]) == 0


def test_the_commands_at_the_top_work_on_any_config(desk: Path) -> None:
    (desk / "mine.yaml").write_text(saved("occupations.yaml"))
    assert main(["personas", "sample", "smoke", "--n", "500", "-o", "before.parquet"]) == 0
    for words in commands(blocks(PAGE, "sh")[0]):
        assert main(words[1:]) == 0, words
    assert (desk / "plots/index.html").is_file()


def test_occupations_of_ones_own_follow_the_labour_status(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_commands_about("occupations")
    assert "every margin is as configured" in capsys.readouterr().out
    people = pq.read_table("occupations.parquet", columns=["labour_status", "occupation"]).to_pylist()
    kinds: dict[str, set[str]] = {row["labour_status"]: set() for row in people}
    for row in people:
        kinds[row["labour_status"]].add(row["occupation"])
    assert kinds["employed-at work"] == {"nurse", "teacher", "baker"}
    assert kinds["not_in_labor_force"] == {"retired", "at home"}


def test_an_oversampled_group_is_as_frequent_as_before_with_the_weights(desk: Path) -> None:
    run_commands_about("oversample")
    drawn, weighted = map(float, re.findall(r"0\.\d+", printed_by("over.parquet")))
    assert drawn == pytest.approx(12 * 0.0166 / (1 + 11 * 0.0166), abs=0.012)
    assert weighted == pytest.approx(0.0166, abs=0.002)


def test_a_joint_table_and_a_rule_hold_together(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_commands_about("joint")
    assert "every margin is as configured" in capsys.readouterr().out
    people = pq.read_table("joint.parquet", columns=["sex", "diet", "occupation"]).to_pylist()
    both = [(row["sex"], row["diet"]) for row in people]
    assert both.count(("female", "vegan")) / len(both) == pytest.approx(0.04, abs=0.008)
    assert both.count(("male", "vegan")) / len(both) == pytest.approx(0.02, abs=0.006)
    farmers = [row["diet"] for row in people if row["occupation"] == "farming_forestry_fishing"]
    assert len(farmers) > 20 and "vegan" not in farmers


def test_people_of_a_file_of_ones_own_are_drawn_from_it(desk: Path) -> None:
    run_commands_about("survey.csv")
    run_commands_about("ours")
    one, other = pq.read_table("ours.parquet"), pacsv.read_csv("survey.csv")
    for name in ("education", "sex"):
        shares = [pc.value_counts(table[name].combine_chunks()).to_pylist() for table in (one, other)]
        found, wanted = (
            {row["values"]: row["counts"] / sum(r["counts"] for r in rows) for row in rows} for rows in shares
        )
        assert all(abs(found.get(value, 0) - share) < 0.03 for value, share in wanted.items())
    assert set(one["rooms"].to_pylist()) <= set(other["household_size"].to_pylist())


def test_a_pair_is_correlated_as_asked(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_commands_about("heights")
    assert "every margin is as configured" in capsys.readouterr().out
    assert float(printed_by("heights.parquet")) == pytest.approx(-0.3, abs=0.02)


def test_an_attribute_of_ones_own_moves_a_taste_and_what_is_done(desk: Path) -> None:
    run_commands_about("cars")
    programme = programme_about("tastes.parquet")
    assert subprocess.run([sys.executable, "-c", programme], capture_output=True, check=False).returncode == 0
    query = re.search(r'"""(.*?)"""', programme, re.DOTALL)
    assert query is not None
    rows = {cars: (share, people) for cars, share, people in duckdb.sql(query[1]).fetchall()}
    assert rows["none"][0] < 0.15 < 0.3 < rows["one"][0]
    assert min(people for _, people in rows.values()) > 200
    config = load_config("cars.yaml", users=400)
    with_cars = made(config, Shard(0, 400), with_dispositions=True)
    rates = frame(with_cars["participation"]).join(frame(with_cars["personas"]), on="user_id")
    labour = pl.col("labour_status") == "employed-at work"
    factors = rates.filter(labour, domain="mobility").group_by("cars").agg(pl.col("attribute_factor").unique())
    assert dict(factors.iter_rows()) == {"none": [pytest.approx(0.7 * 1.08)], "one": [pytest.approx(1.08)]}


def test_people_of_another_country_have_its_names_zone_and_regions(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_commands_about("germany")
    cards = [line for line in capsys.readouterr().out.splitlines() if "USD a year" in line]
    assert len(cards) == 3 and all("Europe/Berlin" in card for card in cards)
    assert main(["personas", "sample", "germany.yaml", "--n", "2000", "-o", "germany.parquet"]) == 0
    people = pq.read_table("germany.parquet")
    assert set(people["region"].to_pylist()) == {"north", "west", "south", "east"}
    locales = people["locale"].to_pylist()
    assert 0.05 < locales.count("tr_TR") / len(locales) < 0.11


def test_another_population_is_shaped_like_the_first(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_commands_about("south")
    assert "Europe/" in capsys.readouterr().out
    people = pq.read_table("south.parquet")
    assert set(people["region"].to_pylist()) == {"ES", "IT", "GR", "PT"}
    assert set(people["locale"].to_pylist()) == {"es_ES", "it_IT", "el_GR", "pt_PT"}
    assert set(people["second_language"].to_pylist()) == {"english", "french", "none"}
    pairs = zip(people["age_years"].to_pylist(), people["home_type"].to_pylist(), strict=True)
    assert {home for age, home in pairs if age < 25} == {"rent"}


def test_another_population_without_its_market_is_refused_as_the_page_says(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "check", "smoke", "--set", "data.personas.population=eurozone"]) == 2
    told = capsys.readouterr()
    assert "rite `market: eurozone`" in told.out + told.err
