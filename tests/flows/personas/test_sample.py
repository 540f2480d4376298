"""Claims about people: who they are, as often as the population says, and as exactly as a config says.

Every count of a table must lie within the binomial bounds of its share, which all cells of the table together leave for
1 in 1,000 choices of the seed: bounds that are wide for 24 people and narrow for 20,000. The seeds are fixed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from flows.common.given_names import DECADES, Sex, cohorts_of, given_name_pool
from flows.common.names import POOL, name_pool
from flows.common.stage import Shard
from flows.personas.population import ADULT_GROUPS, GROUP_YEARS, INCOME_BANDS, Distribution, built_in
from schemas.config.personas import POPULATION
from schemas.config.selectors import OTHERS
from schemas.tables.sealed import PERSONAS
from tests.flows.lives import frame, run, same_rows, small_config

CROWD = 20_000


def people(
    users: int, *, shard: Shard | None = None, start: datetime | None = None, **data: Any
) -> dict[str, pa.Table]:
    """The tables of `personas` of these users, or of one shard of them."""
    config = small_config(users, 4, *([start] if start else []), **data)
    return run("personas", config, {}, shard or Shard(0, users))


def with_attributes(users: int, seed: int = 7, **attributes: Any) -> pl.DataFrame:
    return frame(people(users, seed=seed, personas={"attributes": attributes})["personas"])


@pytest.fixture(scope="module")
def crowd() -> pl.DataFrame:
    return banded(frame(people(CROWD)["personas"]))


def banded(personas: pl.DataFrame) -> pl.DataFrame:
    """With the age group and the income band of each person."""

    def band(name: str, bounds: Mapping[str, tuple[int, int]]) -> pl.Expr:
        found: Any = pl.lit(None, pl.String)
        for label, (low, high) in bounds.items():
            found = pl.when(pl.col(name).is_between(low, high, closed="left")).then(pl.lit(label)).otherwise(found)
        return found

    return personas.with_columns(
        band("age_years", GROUP_YEARS).alias("age_group"),
        band("income_usd", INCOME_BANDS).alias("income_band"),
        pl.col("household_size", "age_years", "income_usd").cast(pl.String),
        pl.col("children_ages").list.len().cast(pl.String).alias("children"),
    )


def fits(values: Iterable[Any], shares: Mapping[str, float]) -> bool:
    """Whether the values are as frequent as their shares, all of them together at 99.9 %."""
    counts = pl.Series(values=list(values), dtype=pl.String).value_counts()
    found = dict(counts.iter_rows())
    total = sum(found.values())
    share = np.array(list(shares.values())) / sum(shares.values())
    low, high = np.array(stats.binom.interval(1 - 0.001 / share.size, total, share))
    count = np.array([found.get(name, 0) for name in shares])
    return set(found) <= set(shares) and bool(((low <= count) & (count <= high)).all())


def row_of(distribution: Distribution, *parents: str) -> dict[str, float]:
    row = distribution.weights[distribution.rows.index(parents)].tolist()
    return dict(zip(distribution.levels, row, strict=True))


def seen(personas: pl.DataFrame, name: str) -> pl.DataFrame:
    """The people whose drawn value shows: an occupation only where there is work."""
    return personas.filter(pl.col("labour_status").str.starts_with("employed")) if name == "occupation" else personas


# As often as the population says.


@pytest.mark.parametrize("name", [name for name, part in POPULATION.items() if not part.given])
@pytest.mark.parametrize("users", [24, CROWD])
def test_attributes_without_a_parent_are_as_frequent_as_in_the_population(
    crowd: pl.DataFrame, users: int, name: str
) -> None:
    assert fits(crowd.head(users)[name].cast(pl.String), row_of(built_in()[name]))


@pytest.mark.parametrize("name", [name for name, part in POPULATION.items() if part.given])
@pytest.mark.parametrize("users", [24, CROWD])
def test_attributes_are_as_frequent_as_their_parent_says(crowd: pl.DataFrame, users: int, name: str) -> None:
    distribution = built_in()[name]
    some = seen(crowd.head(users), name)
    met = 0
    for row in distribution.rows:
        own = some
        for parent, selector in zip(distribution.given, row, strict=True):
            own = own.filter(picks(selector, parent, distribution))
        met += own.height
        assert fits(own[name], row_of(distribution, *row)), row
    assert met == some.height


def picks(selector: str, parent: str, distribution: Distribution) -> pl.Expr:
    """Whether a person is in the row, written once more: a value, a band, or what no other row names."""
    if selector == OTHERS:
        place = distribution.given.index(parent)
        return ~pl.col(parent).is_in([row[place] for row in distribution.rows])
    low, dots, high = selector.partition("..")
    if not dots:
        return pl.col(parent) == selector
    return pl.col(parent).cast(pl.Int64).is_between(int(low or 0), int(high or 10**9), closed="left")


def test_bounds_that_any_population_would_meet_are_no_test(crowd: pl.DataFrame) -> None:
    """The same checks refuse people drawn evenly, and columns that are shuffled apart."""
    shares = row_of(built_in()["age_group"])
    assert not fits(crowd["age_group"], dict.fromkeys(shares, 1.0))
    shuffled = crowd.with_columns(pl.col("marital_status").reverse())
    young = shuffled.filter(pl.col("age_group") == "18-24")["marital_status"]
    assert not fits(young, row_of(built_in()["marital_status"], "18-24"))


def test_ages_and_incomes_spread_evenly_within_their_bands(crowd: pl.DataFrame) -> None:
    for group, (low, high) in GROUP_YEARS.items():
        ages = crowd.filter(pl.col("age_group") == group)["age_years"]
        assert fits(ages, {str(age): 1.0 for age in range(low, high)}), group
    for band, (low, high) in INCOME_BANDS.items():
        incomes = crowd.filter(pl.col("income_band") == band)["income_usd"]
        steps = {str(income): 1.0 for income in range(low, low + (high - low) // 500 * 500, 500)}
        assert fits(incomes, steps), band


@pytest.mark.parametrize("one", ["region", "home_type"])
@pytest.mark.parametrize("other", ["sex", "education", "marital_status", "household_size", "labour_status"])
def test_attributes_without_a_common_parent_are_independent(crowd: pl.DataFrame, one: str, other: str) -> None:
    counts = crowd.group_by(one, other).len().pivot(one, index=other, values="len").fill_null(0).drop(other).to_numpy()
    common = counts[counts.sum(axis=1) > 100]
    assert stats.chi2_contingency(common).pvalue > 1e-4


def test_where_people_lie_within_their_bands_is_independent(crowd: pl.DataFrame) -> None:
    low = np.array([GROUP_YEARS[group] for group in crowd["age_group"]])
    bounds = np.array([INCOME_BANDS[band] for band in crowd["income_band"]])
    place = {
        "age": (crowd["age_years"].cast(pl.Int64).to_numpy() - low[:, 0]) / (low[:, 1] - low[:, 0]),
        "income": (crowd["income_usd"].cast(pl.Int64).to_numpy() - bounds[:, 0]) / (bounds[:, 1] - bounds[:, 0]),
        "birthday": crowd["birth_date"].dt.ordinal_day().to_numpy().astype(float),
    }
    assert crowd.select("given_name", "family_name").n_unique() > CROWD / 2
    for one in place:
        for other in place:
            if one < other:
                assert stats.spearmanr(place[one], place[other]).pvalue > 1e-4, (one, other)


def test_who_has_no_work_has_no_occupation_and_everyone_else_has_one(crowd: pl.DataFrame) -> None:
    works = crowd["labour_status"].str.starts_with("employed")
    assert (works == crowd["occupation"].is_not_null()).all()
    assert 0 < works.sum() < CROWD


def test_sign_up_lies_in_the_two_years_before_the_window_to_the_minute() -> None:
    data = small_config(2_000, 4)
    users = frame(run("personas", data, {}, Shard(0, 2_000))["users"])
    before = (pl.Series([data.window.start] * 2_000) - users["signed_up_at"]).dt.total_minutes()
    assert (users["signed_up_at"].dt.second() == 0).all()
    assert before.min() >= 1 and before.max() <= 700 * 24 * 60  # type: ignore[operator]
    assert fits((before // (70 * 24 * 60)).clip(0, 9).cast(pl.String), {str(tenth): 1.0 for tenth in range(10)})


# As exactly as dates and names can be.

LEAP_DAY = datetime(2024, 2, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    "start",
    [
        LEAP_DAY,
        datetime(2025, 2, 28, tzinfo=UTC),
        datetime(2025, 3, 1, tzinfo=UTC),
        datetime(2025, 1, 1, tzinfo=UTC),
        datetime(2024, 12, 31, tzinfo=UTC),
    ],
)
def test_ages_are_exact_at_the_start_of_the_window(start: datetime) -> None:
    """Cases G2-S05 and G2-S06."""
    today = start.date()
    personas = frame(people(4_000, start=start)["personas"])
    for born, age in personas.select("birth_date", "age_years").iter_rows():
        assert age == today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    assert personas["age_years"].is_between(18, 90).all()


@pytest.mark.parametrize("start", [LEAP_DAY, datetime(2025, 1, 6, tzinfo=UTC)])
def test_a_leap_day_is_a_birthday_as_often_as_it_comes(start: datetime) -> None:
    born = frame(people(CROWD, start=start)["personas"])["birth_date"]
    leap = born.filter((born.dt.month() == 2) & (born.dt.day() == 29))
    assert leap.dt.is_leap_year().all()
    assert (
        stats.binom.interval(0.999, CROWD, 1 / 1461)[0] <= len(leap) <= stats.binom.interval(0.999, CROWD, 1 / 1461)[1]
    )


def test_every_day_of_the_year_of_an_age_can_be_a_birthday() -> None:
    ages = {"weights": {"40": 1.0}}
    born = with_attributes(CROWD, age_years=ages)["birth_date"]
    assert (born.min(), born.max(), born.n_unique()) == (date(1984, 1, 7), date(1985, 1, 6), 366)


def test_names_are_nfc_and_never_empty() -> None:
    locales = {"en_US": 0.2, "fr_FR": 0.2, "hi_IN": 0.2, "ar_SA": 0.2, "vi_VN": 0.2}
    personas = frame(people(2_000, personas={"locales": locales})["personas"])
    for name in {*personas["given_name"], *personas["family_name"]}:
        assert name.strip() == name != "" and unicodedata.is_normalized("NFC", name)
    assert fits(personas["locale"], locales)


def test_names_go_with_sex_and_locale() -> None:
    personas = frame(people(500, personas={"locales": {"en_US": 0.5, "fr_FR": 0.5}})["personas"])
    columns = ("locale", "sex", "age_years", "given_name", "family_name")
    for locale, sex, age, given, family in personas.select(columns).iter_rows():
        assert given in given_name_pool(locale, sex, DECADES[int(cohorts_of(2025 - age))]).to_pylist()
        assert family in name_pool(locale, "family").to_pylist()


def test_names_are_those_of_the_decade_of_birth(crowd: pl.DataFrame) -> None:
    """Whoever is 70 is of 1955 and has the names of the fifties, whatever the day of birth."""
    age = pl.col("age_years").cast(pl.Int64)
    known: list[tuple[Sex, int, list[str]]] = [
        ("female", 1940, ["Linda", "Barbara"]),
        ("female", 1950, ["Linda", "Barbara"]),
        ("female", 2000, ["Madison", "Hannah", "Emily"]),
        ("male", 1970, ["Jason", "Brian"]),
        ("male", 2000, ["Jacob", "Joshua", "Tyler"]),
    ]
    for sex, decade, names in known:
        own = crowd.filter((2025 - age).is_between(decade, decade + 9), pl.col("sex") == sex)
        pool = given_name_pool("en_US", sex, decade).to_pylist()
        shares = {name: pool.count(name) / POOL for name in names}
        kept = pl.when(pl.col("given_name").is_in(names)).then("given_name").otherwise(pl.lit(""))
        assert fits(own.select(kept).to_series(), {**shares, "": 1 - sum(shares.values())}), (sex, decade)
    women = crowd.filter(pl.col("sex") == "female")
    old, young = (women.filter(which)["given_name"] for which in (age >= 70, age < 30))
    assert (old == "Linda").mean() > 5 * (young == "Linda").mean()  # type: ignore[operator]


# Users of one table agree with those of the other.


def test_users_and_personas_tell_the_same() -> None:
    tables = people(200)
    users, personas = frame(tables["users"]), frame(tables["personas"])
    assert users.select("user_id", "locale", "time_zone").equals(personas.select("user_id", "locale", "time_zone"))
    assert tables["personas"].schema == PERSONAS.schema()
    assert (personas["sample_weight"] == 1).all()


@pytest.mark.parametrize("users", [1, 24, 500])
def test_the_first_people_of_more_are_the_people_of_fewer(users: int) -> None:
    few, many = people(users), people(users + 313)
    for name, table in few.items():
        user = many[name]["user_id"].to_pylist()
        assert same_rows(many[name].filter(pa.array([int(who[1:]) < users for who in user])), table), name


def test_a_shard_makes_the_same_people_as_the_whole() -> None:
    whole, shard = people(600), people(600, shard=Shard(250, 600))
    for name, table in shard.items():
        user = whole[name]["user_id"].to_pylist()
        assert same_rows(whole[name].filter(pa.array([int(who[1:]) >= 250 for who in user])), table), name


def test_another_seed_makes_other_people() -> None:
    one, other = (frame(people(500, seed=seed)["personas"]) for seed in (7, 8))
    for name in ("birth_date", "given_name", "income_usd"):
        assert (one[name] == other[name]).mean() < 0.1, name  # type: ignore[operator]


# As exactly as the config says.

CHILDREN = {
    "age_group": (
        *("age_years", "sex", "education", "marital_status", "household_size", "labour_status", "children_ages"),
        *("income_usd", "chronotype"),
    ),
    "sex": ("occupation", "given_name", "education", "labour_status"),
    "marital_status": ("household_size", "children_ages"),
    "household_size": ("children_ages",),
    "education": ("income_usd",),
    "labour_status": ("occupation",),
    "region": ("home_type", "time_zone"),
    "age_years": ("birth_date", "given_name", "children_ages", "devices"),
    "locale": ("given_name", "family_name"),
}
"""What follows from an attribute."""


def moved_by(name: str) -> set[str]:
    """The attribute and all that depends on it."""
    return {name}.union(*(moved_by(child) for child in CHILDREN.get(name, ())))


CHANGES: dict[str, dict[str, Any]] = {
    "education": {"weights": {"hs diploma": 0.9, "doctoral degree": 0.1}},
    "sex": {"given": "age_group", "table": {group: {"female": 0.9, "male": 0.1} for group in ADULT_GROUPS}},
    "region": {"weights": {"west": 0.7, "south": 0.3}},
    "marital_status": {"weights": {"married": 0.01, "widowed": 0.99}},
    "chronotype": {"weights": {"morning": 0.5, "evening": 0.5}},
    "labour_status": {"weights": {"employed-at work": 0.1, "unemployed-looking": 0.9}},
    "household_size": {"weights": {"1": 0.9, "2": 0.1}},
    "occupation": {"weights": {"sales": 1.0}},
    "income_usd": {"values": ["1000", "2000"]},
    "home_type": {"weights": {"own": 1.0}},
    "time_zone": {"weights": {"Europe/Oslo": 0.5, "Asia/Kathmandu": 0.5}},
    "mood": {"weights": {"calm": 0.5, "tense": 0.5}},
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_changed_table_moves_no_attribute_that_does_not_depend_on_it(name: str) -> None:
    """Person by person."""
    before = frame(people(400)["personas"])
    after = frame(people(400, personas={"attributes": {name: CHANGES[name]}})["personas"])
    moved = moved_by(name)
    for column in before.columns:
        if column not in moved:
            assert before[column].equals(after[column]), column
    if name in before.columns:
        assert not before[name].equals(after[name])


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("name", POPULATION)
def test_any_table_of_the_population_moves_only_what_depends_on_it(name: str, seed: int) -> None:
    """Person by person, whichever attribute is changed: what depends on what is read off the declared population."""
    values = [*reversed(POPULATION[name].levels), *(["en_GB"] if name == "locale" else [])]
    data = {"seed": seed, "personas": {"attributes": {name: {"values": values}}}}
    before, after = frame(people(300, seed=seed)["personas"]), frame(people(300, **data)["personas"])
    moved = {name}
    for _ in POPULATION:
        moved |= {child for child, part in POPULATION.items() if moved & set(part.given)}
    columns = moved | ({"children_ages", "birth_date", "given_name", "devices"} if "age_years" in moved else set())
    columns |= {"given_name", "family_name"} if "locale" in moved else set()
    columns |= {"children_ages"} if "children" in moved else set()
    columns |= {"given_name"} if "sex" in moved else set()
    columns |= {"occupation"} if "labour_status" in moved else set()  # shown where there is work
    changed = {column for column in before.columns if not before[column].equals(after[column])}
    if name == "age_years":  # the groups follow from ages that a config gives, and so does what goes by groups
        columns |= {*moved_by("age_group")}
    assert changed <= columns, changed - columns
    assert changed


def test_a_changed_age_group_moves_what_depends_on_it_and_nothing_else() -> None:
    before = frame(people(400)["personas"])
    after = with_attributes(400, age_group={"weights": {"75+": 1.0}})
    moved = {column for column in before.columns if not before[column].equals(after[column])}
    assert moved <= moved_by("age_group") and {"age_years", "birth_date", "marital_status", "labour_status"} <= moved


def test_locales_move_names_and_nothing_else() -> None:
    before, after = people(400), people(400, personas={"locales": {"fr_FR": 0.5, "en_US": 0.5}})
    moved = {
        name for name in before["personas"].column_names if not before["personas"][name].equals(after["personas"][name])
    }
    assert moved == {"locale", "given_name", "family_name"}
    assert same_rows(before["actors"].drop(["attributes"]), after["actors"].drop(["attributes"]))  # names are there


def test_more_people_than_before_move_no_unique_value_and_none_is_given_twice() -> None:
    nick = {"values": [f"nick{number}" for number in range(700)], "unique": True}
    few, many = (with_attributes(users, nick=nick)["nick"] for users in (300, 700))
    assert few.is_unique().all() and many.is_unique().all()
    assert many.head(300).equals(few)
    assert many.to_list() != sorted(many, key=lambda value: int(value[4:]))


def test_a_table_of_the_config_holds_for_each_value_of_its_parent() -> None:
    table = {"female": {"a": 0.7, "b": 0.3}, "male": {"b": 0.1, "c": 0.9}}
    personas = with_attributes(CROWD, mood={"given": "sex", "table": table})
    for sex, shares in table.items():
        assert fits(personas.filter(pl.col("sex") == sex)["mood"], shares)


def test_a_chain_of_the_configs_own_attributes_holds_step_by_step() -> None:
    personas = with_attributes(
        5_000,
        a={"weights": {"x": 0.5, "y": 0.5}},
        c={"given": "b", "table": {"p": {"1": 1.0}, "q": {"2": 1.0}}},
        b={"given": "a", "table": {"x": {"p": 1.0}, "y": {"q": 1.0}}},
    )
    assert set(personas.select("a", "b", "c").iter_rows()) == {("x", "p", "1"), ("y", "q", "2")}
    assert fits(personas["a"], {"x": 0.5, "y": 0.5})


def test_values_of_equal_share_are_equally_frequent() -> None:
    assert fits(with_attributes(CROWD, mood={"values": ["a", "b", "c"]})["mood"], dict.fromkeys("abc", 1.0))


# Where the config gives ages or incomes, what depends on their bands follows.


def test_who_is_young_by_the_config_lives_as_the_young_do() -> None:
    personas = with_attributes(CROWD, age_years={"weights": {"20": 0.5, "80": 0.5}})
    for age, group in ((20, "18-24"), (80, "75+")):
        own = personas.filter(pl.col("age_years") == age).with_columns(pl.col("household_size").cast(pl.String))
        for name in ("marital_status", "sex"):
            assert fits(own[name], row_of(built_in()[name], group)), (age, name)
        for sex in ("female", "male"):
            for name in ("education", "labour_status"):
                shares = row_of(built_in()[name], group, sex)
                assert fits(own.filter(pl.col("sex") == sex)[name], shares), (age, name)


def test_a_table_by_band_follows_the_incomes_of_the_config() -> None:
    bands = {band: {"no": 1.0} for band in INCOME_BANDS} | {"150000+": {"yes": 1.0}}
    personas = with_attributes(
        400, income_usd={"values": ["0", "149999", "150000", "900000"]}, yacht={"given": "income_band", "table": bands}
    )
    found = dict(personas.select("income_usd", "yacht").iter_rows())
    assert found == {0: "no", 149_999: "no", 150_000: "yes", 900_000: "yes"}


def test_ages_within_the_groups_can_be_the_configs_own() -> None:
    table = {group: {str(low): 1.0} for group, (low, _) in GROUP_YEARS.items()}
    personas = with_attributes(2_000, age_years={"given": "age_group", "table": table})
    assert set(personas["age_years"]) == {low for low, _ in GROUP_YEARS.values()}
    own = personas.filter(pl.col("age_years") == 18)["marital_status"]
    assert fits(own, row_of(built_in()["marital_status"], "18-24"))
