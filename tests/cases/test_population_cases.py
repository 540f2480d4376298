"""Faults of other people makers, met by configs and populations: what is refused, and what holds at last."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.cli.main import main
from flows.common.config import load_config
from flows.common.draws import Draws
from flows.common.names import name_pool
from flows.common.stage import Context, Shard
from flows.personas.copula import spearman
from flows.personas.sample import people_of
from schemas.config import DataConfig
from schemas.source import SourceError
from tests.flows.lives import small_config


def people(data: DataConfig) -> pl.DataFrame:
    made = people_of(Context(data, Draws(data.seed, "personas"), Shard(0, data.users)))
    return pl.DataFrame(made["personas"])  # type: ignore[arg-type]


def saved(folder: Path, personas: object, **data: object) -> Path:
    path = folder / "own.yaml"
    path.write_text(json.dumps({"extends": "smoke", "data": {"personas": personas, **data}}))  # which is YAML
    return path


def test_g3_s11_correlations_that_cannot_hold_together_are_told_with_the_eigenvalue(tmp_path: Path) -> None:
    pairs = [("age_years", "income_usd", 0.9), ("age_years", "health", 0.9), ("income_usd", "health", -0.9)]
    correlations = [{"between": [a, b], "spearman": value} for a, b, value in pairs]
    health = {"number": {"family": "normal", "mean": 50, "sd": 10}}
    with pytest.raises(SourceError) as caught:
        load_config(saved(tmp_path, {"attributes": {"health": health}, "correlations": correlations}))
    [violation] = caught.value.violations
    assert violation.field == "data.personas.correlations"
    assert all(f"`{name}`" in violation.rule for name in ("age_years", "income_usd", "health"))
    assert "smallest eigenvalue -0.8" in violation.rule


@pytest.mark.parametrize("seed", [7, 8])
def test_g3_s13_a_correlation_survives_rounding_and_a_rule(seed: int) -> None:
    personas = {
        "attributes": {
            "age_years": {"number": {"family": "normal", "mean": 45, "sd": 17, "low": 18, "high": 90, "step": 1}},
            "income_usd": {
                "number": {"family": "lognormal", "median": 42000, "spread": 0.7, "high": 300000, "step": 1000}
            },
        },
        "rules": [{"name": "nobody young is rich", "when": {"age_years": "..22"}, "need": {"income_usd": "..60000"}}],
        "correlations": [{"between": ["age_years", "income_usd"], "spearman": 0.6}],
    }
    made = people(small_config(users=20_000, seed=seed, personas=personas))
    assert made.filter((pl.col("age_years") < 22) & (pl.col("income_usd") >= 60_000)).is_empty()
    assert set((made["income_usd"] % 1000).to_list()) == {0}
    assert 0.58 < spearman(made["age_years"].to_numpy(), made["income_usd"].to_numpy()) < 0.62


LOCALES = {"ar_SA": 0.35, "he_IL": 0.35, "hi_IN": 0.2, "en_US": 0.1}


def test_g3_s12_right_to_left_and_combining_names_go_through_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = saved(tmp_path, {"locales": LOCALES}, users=400)
    made = people(load_config(config).data)
    names = [*made["given_name"], *made["family_name"]]
    scripts = {unicodedata.name(letter).split()[0] for name in names for letter in name if letter.isalpha()}
    assert {"ARABIC", "HEBREW", "DEVANAGARI", "LATIN"} <= scripts
    assert all(unicodedata.is_normalized("NFC", name) for name in names)
    marks = {
        "\u200e",
        "\u200f",
        "\u202a",
        "\u202b",
        "\u202c",
        "\u202d",
        "\u202e",
        "\u2066",
        "\u2067",
        "\u2068",
        "\u2069",
    }
    assert not marks & set("".join(names))
    for name in ("people.parquet", "people.csv", "people.jsonl"):
        file = tmp_path / name
        assert main(["personas", "sample", str(config), "--n", "400", "-o", str(file)]) == 0
        assert file.name.isascii() and names_in(file) == list(zip(made["given_name"], made["family_name"], strict=True))
    texts = [f"{name} bought 3 items (A-12)" for name in made["given_name"]]
    assert [json.loads(json.dumps(text)) for text in texts] == texts
    assert all(user.isascii() for user in made["user_id"])
    capsys.readouterr()


def names_in(file: Path) -> list[tuple[str, str]]:
    if file.suffix == ".parquet":
        rows = pq.read_table(file).to_pylist()
    elif file.suffix == ".csv":
        rows = list(csv.DictReader(io.StringIO(file.read_bytes().decode(), newline="")))
    else:
        rows = [json.loads(line) for line in file.read_bytes().decode().split("\n") if line]
    return [(row["given_name"], row["family_name"]) for row in rows]


@pytest.mark.parametrize("reference", [datetime(2024, 2, 29, tzinfo=UTC), datetime(2025, 5, 31, tzinfo=UTC)])
def test_lifebench_ages_are_those_of_the_first_day_and_no_leap_day_is_in_a_common_year(reference: datetime) -> None:
    window = {
        "start": reference.isoformat(),
        "end": (reference.replace(day=1, month=6, year=reference.year + 1)).isoformat(),
    }
    start = reference
    days = (datetime.fromisoformat(window["end"]) - start).days // 7 * 7
    end = datetime.fromtimestamp(start.timestamp() + days * 86_400, UTC)
    data = small_config(users=2_000, window={"start": start.isoformat(), "end": end.isoformat()})
    for birth, age in people(data).select("birth_date", "age_years").rows():
        assert age == start.year - birth.year - ((start.month, start.day) < (birth.month, birth.day))
        assert (birth.month, birth.day) != (2, 29) or birth.year % 4 == 0


def test_fault_60_and_61_names_depend_on_no_order_of_locales_and_on_no_clock(tmp_path: Path) -> None:
    programme = (
        "import sys\nfrom flows.common.names import name_pool\n"
        "pools = {(l, k): name_pool(l, k).to_pylist() for l in sys.argv[1:] for k in ('male', 'female', 'family')}\n"
        "print(sorted(pools.items()))"
    )
    said = []
    for order, clock in ((("de_DE", "ja_JP", "en_US"), []), (("en_US", "de_DE", "ja_JP"), ["faketime", "2031-03-01"])):
        command = [*clock, sys.executable, "-c", programme, *order]
        said.append(
            subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": "0" if clock else "1"},
            ).stdout
        )
    assert said[0] == said[1] and len(said[0]) > 10_000
    assert name_pool("de_DE", "male").to_pylist() != name_pool("en_US", "male").to_pylist()


def test_personalens_every_attribute_that_a_domain_goes_by_is_one_that_people_have(tmp_path: Path) -> None:
    """British and American spellings are two names; the one that nobody has is an error, at the file that says it."""
    root = Path(__file__).parents[2]
    domain = (root / "schemas/domains/food.yaml").read_text()
    (tmp_path / "food.yaml").write_text(domain.replace("attribute: income_usd", "attribute: favourite_income", 1))
    with pytest.raises(SourceError) as caught:
        load_config(saved(tmp_path, {}, domains={"food": "food.yaml"}))
    assert any("`favourite_income`, which no person has" in violation.rule for violation in caught.value.violations)


def test_personalens_people_live_in_a_time_zone_of_their_region_and_differ() -> None:
    made = people(small_config(users=3_000))
    zones = {region: set(part["time_zone"]) for (region,), part in made.group_by("region")}
    assert "America/Los_Angeles" in zones["west"] and "America/Los_Angeles" not in zones["northeast"]
    assert all(zone.startswith("America/") or zone == "Pacific/Honolulu" for found in zones.values() for zone in found)
    told = made.drop("user_id", "given_name", "family_name", "birth_date", "devices", "children_ages")
    assert told.unique().height > 0.99 * made.height, "no two people are one person with two names"


def test_fault_72_people_are_counted_by_id_and_as_many_as_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "people.parquet"
    assert main(["personas", "sample", "smoke", "--n", "1234", "-o", str(file)]) == 0
    table: pa.Table = pq.read_table(file)
    assert "1,234 people" in capsys.readouterr().out
    assert len(np.unique(table["user_id"].to_numpy())) == table.num_rows == 1234
