"""The built-in population against its reference, adults renormalised: margins and joint tables of 10,000 people."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from flows.common.stage import Shard
from flows.personas.population import ADULT_GROUPS, built_in, population
from flows.personas.us import EMPLOYED
from schemas.config.personas import GROUP_YEARS, INCOME_BANDS, PersonasConfig
from tests.flows.lives import frame, run, small_config
from validation.references.reader import load_reference

PEOPLE = 10_000
MARGIN, JOINT = 0.03, 0.06
SHORT = {
    "ageg": "age_group",
    "edu": "education",
    "inc": "income_band",
    "hh_size": "household_size",
    "marital": "marital_status",
    "labor_status": "labour_status",
    "occup_code": "occupation",
}
JOINTS = {
    "sex_x_ageg": ("sex", "age_group"),
    "ageg_x_edu": ("age_group", "education"),
    "ageg_x_hh_size": ("age_group", "household_size"),
    "ageg_x_marital": ("age_group", "marital_status"),
    "ageg_x_inc": ("age_group", "income_band"),
    "ageg_x_labor_status": ("age_group", "labour_status"),
    "sex_x_ageg_x_edu": ("sex", "age_group", "education"),
    "edu_x_inc": ("education", "income_band"),
    "sex_x_occup_code": ("sex", "occupation"),
    "region_x_home_type": ("region", "home_type"),
}


def wanted(name: str) -> dict[str, float]:
    """Shares of the reference among adults, where it tells the ages; of those at work for occupations."""
    reference = load_reference("demographics_us_atus_cps")
    shares = reference.shares(f"joint_{name}_share", "2012-2016")
    if name == "edu_x_inc":  # people of 15 to 17, by their degrees and incomes apart, are taken out
        young = {axis: reference.shares(f"joint_ageg_x_{axis}_share", "2012-2016") for axis in ("edu", "inc")}
        of = {axis: {k.split("|")[1]: v for k, v in young[axis].items() if k.startswith("15-17")} for axis in young}
        total = sum(of["edu"].values())
        for label in shares:
            degree, income = label.split("|")
            shares[label] = max(0.0, shares[label] - of["edu"].get(degree, 0) * of["inc"].get(income, 0) / total)
    adults = {label: share for label, share in shares.items() if "15-17" not in label}
    return {label: share / sum(adults.values()) for label, share in adults.items()}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    personas = frame(run("personas", small_config(PEOPLE, 4), {}, Shard(0, PEOPLE))["personas"])

    def band(column: str, bounds: Mapping[str, tuple[int, int]]) -> pl.Expr:
        found = pl.lit("")
        for label, (low, _) in bounds.items():
            found = pl.when(pl.col(column) >= low).then(pl.lit(label)).otherwise(found)
        return found

    return personas.with_columns(
        band("age_years", GROUP_YEARS).alias("age_group"),
        band("income_usd", INCOME_BANDS).alias("income_band"),
        pl.col("household_size").cast(pl.String),
    )


def distance(people: pl.DataFrame, columns: tuple[str, ...], shares: Mapping[str, float]) -> float:
    labels = people.drop_nulls(columns).select(pl.concat_str(columns, separator="|"))
    found = {label: count / labels.height for label, count in labels.to_series().value_counts().iter_rows()}
    return sum(abs(found.get(label, 0) - shares.get(label, 0)) for label in {*found, *shares}) / 2


@pytest.mark.parametrize("name", JOINTS)
def test_joint_tables_are_those_of_the_reference(people: pl.DataFrame, name: str) -> None:
    assert distance(people, JOINTS[name], wanted(name)) < JOINT


@pytest.mark.parametrize("name", [name for name in JOINTS if name.count("_x_") == 1])
@pytest.mark.parametrize("place", [0, 1])
def test_margins_are_those_of_the_reference(people: pl.DataFrame, name: str, place: int) -> None:
    shares: dict[str, float] = {}
    for label, share in wanted(name).items():
        part = label.split("|")[place]
        shares[part] = shares.get(part, 0) + share
    some = people.filter(pl.col("labour_status").is_in(EMPLOYED)) if name == "sex_x_occup_code" else people
    assert distance(some, (JOINTS[name][place],), shares) < MARGIN


@pytest.mark.parametrize("name", ["ageg_x_inc", "edu_x_inc", "ageg_x_marital", "sex_x_occup_code", "sex_x_ageg"])
def test_columns_that_are_shuffled_apart_would_be_found_out(people: pl.DataFrame, name: str) -> None:
    *_, last = JOINTS[name]
    apart = people.with_columns(pl.col(last).sample(fraction=1, shuffle=True, seed=1))
    limit = JOINT if name != "sex_x_ageg" else 0.01
    assert distance(apart, JOINTS[name], wanted(name)) > min(limit, distance(people, JOINTS[name], wanted(name)))


def test_nobody_who_is_married_lives_alone(people: pl.DataFrame) -> None:
    assert people.filter((pl.col("marital_status") == "married") & (pl.col("household_size") == "1")).is_empty()
    [plan] = population(PersonasConfig()).plans
    cells = plan.cells("marital_status", "household_size")
    married = plan.levels("marital_status").index("married")
    alone = plan.levels("household_size").index("1")
    here = (cells.codes["marital_status"] == married) & (cells.codes["household_size"] == alone)
    assert not here.any() and cells.shares.sum() == pytest.approx(1)


def test_the_tables_themselves_agree_with_the_reference_closely() -> None:
    """Without chance: what people are drawn from."""
    [plan] = population(PersonasConfig()).plans
    for name, columns in JOINTS.items():
        if name == "sex_x_occup_code":
            continue
        cells = plan.cells(*columns)
        levels = [plan.levels(column) for column in columns]
        found: dict[str, float] = {}
        for share, *codes in zip(cells.shares, *(cells.codes[column] for column in columns), strict=True):
            found["|".join(values[code] for values, code in zip(levels, codes, strict=True))] = share
        shares = wanted(name)
        away = sum(abs(found.get(label, 0) - shares.get(label, 0)) for label in {*found, *shares}) / 2
        assert away < (0.005 if name == "edu_x_inc" else 1e-4), name


def test_women_are_as_many_of_those_at_work_as_in_the_reference() -> None:
    shares = wanted("sex_x_occup_code")
    women = sum(share for label, share in shares.items() if label.startswith("female"))
    [plan] = population(PersonasConfig()).plans
    cells = plan.cells("sex", "labour_status")
    at_work = [plan.levels("labour_status")[code] in EMPLOYED for code in cells.codes["labour_status"]]
    female = cells.codes["sex"] == plan.levels("sex").index("female")
    assert cells.shares[at_work & female].sum() / cells.shares[at_work].sum() == pytest.approx(women, abs=0.005)


def test_morning_types_grow_more_frequent_with_age() -> None:
    table = built_in()["chronotype"]
    rows = {row[0]: weights / weights.sum() for row, weights in zip(table.rows, table.weights, strict=True)}
    shares = [rows[group] for group in ADULT_GROUPS]
    morning, evening = table.levels.index("morning"), table.levels.index("evening")
    assert all(a[morning] < b[morning] and a[evening] > b[evening] for a, b in zip(shares, shares[1:], strict=False))
