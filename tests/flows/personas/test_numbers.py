"""Claims about numbers, correlations and people of a file as parts of a population."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from flows.common.config import load_config
from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.personas.copula import CorrelationError, spearman
from flows.personas.population import population
from flows.personas.report import realised
from flows.personas.sample import people_of
from flows.personas.traits import trait_correlations
from schemas.config import DataConfig
from schemas.config.personas import GROUP_YEARS
from schemas.source import SourceError
from schemas.tables.fields import TRAITS
from tests.flows.common.test_learn_people import COLUMNS, distance, saved, shares
from tests.flows.common.test_learn_people import population as file_people
from tests.flows.lives import small_config

HEIGHT = {
    "given": "sex",
    "number": {"family": "normal", "sd": 7, "step": 1, "by": {"female": {"mean": 163}, "male": {"mean": 177}}},
}
AGES = {"number": {"family": "normal", "mean": 45, "sd": 15, "low": 18, "high": 90, "step": 1}}


def people(count: int = 20_000, seed: int = 7, **personas: Any) -> pl.DataFrame:
    return drawn(small_config(users=count, seed=seed, personas=personas))


def drawn(data: DataConfig) -> pl.DataFrame:
    return pl.DataFrame(personas_of(data))  # type: ignore[arg-type]


def personas_of(data: DataConfig) -> pa.Table:
    return people_of(Context(data, Draws(data.seed, "personas"), Shard(0, data.users)))["personas"]


def test_a_number_given_an_attribute_is_a_column_of_numbers() -> None:
    made = people(attributes={"height_cm": HEIGHT})
    assert made["height_cm"].dtype == pl.Int64
    for sex, mean in (("female", 163), ("male", 177)):
        heights = made.filter(pl.col("sex") == sex)["height_cm"].to_numpy()
        assert heights.mean() == pytest.approx(mean, abs=0.3) and heights.std() == pytest.approx(7, abs=0.2)
    points = people(50, attributes={"score": {"number": {"family": "beta", "a": 2, "b": 3}}})["score"]
    assert points.dtype == pl.Float64 and points.n_unique() > 40


def test_tables_rules_and_margins_speak_of_bands_of_a_number() -> None:
    personas = {
        "attributes": {
            "height_cm": HEIGHT,
            "sport": {
                "given": ["height_cm", "sex"],
                "table": {
                    "..170 | female": {"run": 1.0},
                    "170.. | female": {"volley": 1.0},
                    "..190 | male": {"run": 1.0},
                    "190.. | male": {"basket": 1.0},
                },
            },
        },
        "rules": [{"name": "nobody tall", "when": {"sex": "male"}, "need": {"height_cm": "..200"}}],
        "rake": [{"attribute": "height_cm", "weights": {"..165": 0.4, "165..180": 0.4, "180..": 0.2}}],
    }
    made = people(**personas)
    tall = pl.col("height_cm")
    wanted = (
        pl.when(pl.col("sex") == "female")
        .then(pl.when(tall < 170).then(pl.lit("run")).otherwise(pl.lit("volley")))
        .otherwise(pl.when(tall < 190).then(pl.lit("run")).otherwise(pl.lit("basket")))
    )
    assert made.filter(pl.col("sport") != wanted).is_empty() and made["sport"].n_unique() == 3
    assert made.filter((pl.col("sex") == "male") & (tall >= 200)).is_empty()
    bands = made["height_cm"].to_numpy()
    assert np.mean(bands < 165) == pytest.approx(0.4, abs=0.015) and np.mean(bands >= 180) == pytest.approx(
        0.2, abs=0.015
    )
    inside = made.filter((pl.col("sex") == "male") & tall.is_between(165, 179))["height_cm"].to_numpy()
    freely = stats.norm.cdf((np.arange(165, 181) - 0.5 - 177) / 7)
    expected = np.diff(freely) / (freely[-1] - freely[0])
    assert stats.chisquare(np.bincount(inside - 165, minlength=15), expected * inside.size).pvalue > 1e-4


def test_what_speaks_of_a_number_does_not_move_it() -> None:
    one = people(3000, attributes={"height_cm": HEIGHT})
    table = {"..151": {"a": 0.5, "b": 0.5}, "151..190": {"a": 1.0}, "190..": {"b": 1.0}}
    other = people(3000, attributes={"height_cm": HEIGHT, "kind": {"given": "height_cm", "table": table}})
    assert one.equals(other.drop("kind"))


def test_the_age_group_follows_from_a_family_of_ages() -> None:
    found = population(small_config(users=10, personas={"attributes": {"age_years": AGES}}).personas).plans[0]
    cells = found.cells("age_group")
    ages = stats.truncnorm((17.5 - 45) / 15, (90.5 - 45) / 15, 45, 15)
    for group, (low, high) in GROUP_YEARS.items():
        share = cells.shares[cells.codes["age_group"] == found.levels("age_group").index(group)].sum()
        assert share == pytest.approx(ages.cdf(min(high, 91) - 0.5) - ages.cdf(low - 0.5), abs=1e-6)
    made = people(attributes={"age_years": AGES})
    assert made["age_years"].min() == 18 and made["age_years"].mean() == pytest.approx(float(ages.mean()), abs=0.4)
    assert (
        made.filter(pl.col("age_years") < 25)["marital_status"].value_counts(sort=True)["marital_status"][0]
        == "never married"
    )


def test_segments_have_families_of_their_own() -> None:
    segments = {
        "tall": {
            "share": 0.3,
            "attributes": {"height_cm": {"number": {"family": "normal", "mean": 190, "sd": 3, "step": 1}}},
        },
        "others": {"share": 0.7},
    }
    made = people(4000, attributes={"height_cm": HEIGHT}, segments=segments)
    assert made.filter(pl.col("segment") == "tall")["height_cm"].mean() == pytest.approx(190, abs=0.4)
    assert made.filter(pl.col("segment") == "others")["height_cm"].mean() == pytest.approx(170, abs=0.6)


def asked(a: str, b: str, value: float) -> dict[str, Any]:
    return {"between": [a, b], "spearman": value}


CORRELATED = [
    pytest.param({}, [("age_years", "income_usd", 0.3)], id="bands and their numbers"),
    pytest.param({"attributes": {"height_cm": HEIGHT}}, [("height_cm", "income_usd", 0.25)], id="beside a parent"),
    pytest.param(
        {"attributes": {"age_years": AGES, "height_cm": HEIGHT}},
        [("age_years", "height_cm", -0.2), ("height_cm", "openness", 0.3), ("age_years", "education", 0.2)],
        id="several, a trait among them",
    ),
    pytest.param(
        {
            "attributes": {"height_cm": HEIGHT},
            "rules": [{"name": "short", "when": {"sex": "female"}, "need": {"height_cm": "..180"}}],
        },
        [("height_cm", "income_usd", 0.3)],
        id="in the table of a rule",
    ),
    pytest.param({}, [("household_size", "income_usd", 0.25)], id="numbers as values"),
]


@pytest.mark.parametrize(("personas", "pairs"), CORRELATED)
def test_correlations_hold_and_margins_stay(personas: dict[str, Any], pairs: list[tuple[str, str, float]]) -> None:
    config = small_config(users=20_000, personas={**personas, "correlations": [asked(*pair) for pair in pairs]})
    made, free = drawn(config), people(**personas)
    assert not [row for row in realised(config.personas, personas_of(config)) if row.ok is False]
    for a, b, value in pairs:
        codes = [_ordered(made[name], name) for name in (a, b)]
        assert abs(spearman(*codes) - value) < 0.02, (a, b)
        assert abs(spearman(*(_ordered(free[name], name) for name in (a, b))) - value) > 0.03, (
            "it must be there by it only"
        )
        for name in (a, b):
            assert stats.ks_2samp(_ordered(made[name], name), _ordered(free[name], name)).statistic < 0.02, name
    plain = small_config(users=10, personas=personas).personas
    one, other = (population(given).plans[0] for given in (config.personas, plain))
    for name in {name for a, b, _ in pairs for name in (a, b)}:
        if one.levels(name) == other.levels(name):
            assert np.allclose(one.cells(name).shares, other.cells(name).shares, atol=1e-6), name


def _ordered(column: pl.Series, name: str) -> Any:
    levels = population(small_config(users=10).personas).plans[0].by_name
    return column.to_numpy() if column.dtype.is_numeric() else np.array([levels[name].levels.index(v) for v in column])


def test_traits_are_correlated_as_published_whatever_the_config_puts_in_place_of_one() -> None:
    names, matrix = trait_correlations()
    for personas in (
        {},
        {
            "attributes": {
                "openness": {"number": {"family": "normal", "mean": 40, "sd": 8, "step": 1, "low": 20, "high": 80}}
            }
        },
    ):
        made = people(**personas)
        for i, one in enumerate(names):
            for j, other in enumerate(names):
                if i < j and {one, other} <= set(TRAITS):
                    wanted = 6 / np.pi * np.arcsin(matrix[i, j] / 2)
                    assert abs(spearman(made[one].to_numpy(), made[other].to_numpy()) - wanted) < 0.02, (one, other)


def test_tables_and_margins_of_traits_hold_beside_their_correlations() -> None:
    even = {"30": 0.5, "70": 0.5}
    made = people(attributes={"openness": {"given": "extraversion", "table": {"..50": even, "50..": even}}})
    for part in (pl.col("extraversion") < 50, pl.col("extraversion") >= 50):
        assert made.filter(part).select((pl.col("openness") == 30).mean()).item() == pytest.approx(0.5, abs=0.02)
    quarters = {f"{one} | {other}": 0.25 for one in ("..50", "50..") for other in ("..50", "50..")}
    made = people(rake=[{"given": ["openness", "extraversion"], "table": quarters}])
    low = made.select(((pl.col("openness") < 50) & (pl.col("extraversion") < 50)).mean()).item()
    assert low == pytest.approx(0.25, abs=0.015)


def test_shares_known_jointly_hold_beside_a_correlation_of_the_same_pair() -> None:
    score = {"number": {"family": "normal", "mean": 0, "sd": 10, "step": 1}}
    attributes = {"level": {"weights": {"1": 0.2, "2": 0.3, "3": 0.5}}, "score": score}
    table = {f"{level} | {band}": share / 2 for level, share in (("1", 0.2), ("2", 0.4), ("3", 0.4)) for band in BANDS}
    made = people(
        attributes=attributes,
        rake=[{"given": ["level", "score"], "table": table}],
        correlations=[asked("level", "score", 0.2)],
    )
    low = made.select(((pl.col("level") == "1") & (pl.col("score") < 0)).mean()).item()
    assert low == pytest.approx(0.1, abs=0.01)
    assert spearman(made["level"].cast(pl.Int64).to_numpy(), made["score"].to_numpy()) == pytest.approx(0.2, abs=0.02)


BANDS = ("..0", "0..")


def test_a_band_that_follows_from_its_number_is_correlated_as_the_number() -> None:
    made = people(attributes={"age_years": AGES}, correlations=[asked("age_group", "openness", 0.3)])
    assert spearman(made["age_years"].to_numpy(), made["openness"].to_numpy()) == pytest.approx(0.3, abs=0.02)


def test_a_segment_of_nobody_and_many_that_decide_keep_no_correlation_from_its_place() -> None:
    nobody = {"none": {"share": 0.0}, "all": {"share": 1.0}}
    people(10, segments=nobody, correlations=[asked("age_years", "household_size", -0.2)])
    chain: dict[str, Any] = {"a0": {"weights": {"1": 0.5, "2": 0.5}}}
    for place in range(1, 30):
        table = {"1": {"1": 0.6, "2": 0.4}, "2": {"1": 0.4, "2": 0.6}}
        chain[f"a{place}"] = {"given": f"a{place - 1}", "table": table}
    people(10, attributes=chain, correlations=[asked("a29", "age_years", 0.2)])


def test_a_correlation_out_of_reach_is_an_error_before_any_draw() -> None:
    config = small_config(users=10, personas={"correlations": [asked("region", "openness", 0.99)]}).personas
    with pytest.raises(
        CorrelationError, match=r"0\.99 cannot be reached; these two attributes reach -0\.\d+ to 0\.\d+"
    ):
        population(config)
    config = small_config(users=10, personas={"correlations": [asked("sex", "income_usd", 0.95)]}).personas
    with pytest.raises(
        CorrelationError, match=r"0\.95 cannot be reached beside the tables and rules; they leave -0\.\d+ to 0\.\d+"
    ):
        population(config)


PEOPLE_FILE = """extends: smoke
data:
  users: 5000
  personas:
    people_from: {file: people.csv, columns: {age_years: AGE, sex: SEX, degree: EDU, income_usd: INC, kids: KIDS}}
    attributes:
      commute: {given: age_years, table: {..30: {bike: 1.0}, 30..65: {car: 1.0}, 65..: {none: 1.0}}}
"""


@pytest.fixture
def learnt(tmp_path: Path) -> tuple[pa.Table, DataConfig]:
    table = file_people(3000)
    saved(table, tmp_path)
    path = tmp_path / "own.yaml"
    path.write_text(PEOPLE_FILE)
    return table, load_config(path).data


def test_people_of_a_file_are_drawn_jointly_and_lead_what_depends_on_them(learnt: tuple[pa.Table, DataConfig]) -> None:
    table, data = learnt
    made = drawn(data)
    by_school = shares(table["EDU"].to_numpy(), table["INC"].to_numpy() > 40_000)
    incomes = made["income_usd"].to_numpy() > 40_000
    assert distance(by_school, shares(made["degree"].to_numpy(), incomes)) < 0.04
    assert distance(by_school, shares(made["degree"].to_numpy(), np.roll(incomes, 1))) > 0.12, "naive"
    assert made["kids"].dtype == pl.Int64 and set(made["kids"]) == {0, 1, 2, 3}
    ages = made["age_years"].to_numpy()
    commute = np.where(ages < 30, "bike", np.where(ages < 65, "car", "none"))
    assert (made["commute"].to_numpy() == commute).all()
    assert (
        made.filter(pl.col("age_years") < 25)["marital_status"].value_counts(sort=True)["marital_status"][0]
        == "never married"
    )


def test_a_manifest_makes_the_people_again_without_the_file(learnt: tuple[pa.Table, DataConfig]) -> None:
    _, data = learnt
    again = DataConfig.model_validate_json(data.model_dump_json())
    assert drawn(again).equals(drawn(data))
    assert COLUMNS["income_usd"] not in str(data.personas.people_from.learnt)  # type: ignore[union-attr]


def test_rules_and_margins_hold_for_people_of_a_file(tmp_path: Path) -> None:
    saved(file_people(3000), tmp_path)
    path = tmp_path / "own.yaml"
    more = """    rules: [{name: no young fathers, when: {age_years: 18..30}, need: {kids: "0"}}]
    rake: [{attribute: sex, weights: {female: 0.7, male: 0.3}}]
    correlations: [{between: [income_usd, openness], spearman: 0.3}]
"""
    path.write_text(PEOPLE_FILE + more)
    made = drawn(load_config(path).data)
    assert made.filter((pl.col("age_years") < 30) & (pl.col("kids") > 0)).is_empty()
    assert (made["sex"] == "female").mean() == pytest.approx(0.7, abs=0.025)
    assert spearman(made["income_usd"].to_numpy(), made["openness"].to_numpy()) == pytest.approx(0.3, abs=0.04)
    assert made["income_usd"].n_unique() > 100


def test_what_is_wrong_with_the_file_is_told_with_file_and_line(tmp_path: Path) -> None:
    saved(file_people(3000), tmp_path)
    path = tmp_path / "own.yaml"
    path.write_text(PEOPLE_FILE.replace("EDU", "EDUC").replace("commute:", "degree:"))
    with pytest.raises(SourceError) as caught:
        load_config(path)
    told = {(v.field, v.line): v.rule for v in caught.value.violations}
    assert told[("data.personas.people_from.columns.degree", 5)] == "the file has no column `EDUC`"
    assert told[("data.personas.attributes.degree", 7)] == "`degree` is learnt from the file already"
