"""The people around a user: as many as live there, plausible in age, and one at the most who can use the account."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from flows.common.given_names import DECADES, cohorts_of, given_name_pool
from flows.common.household import AGE_BANDS, SMALL
from flows.common.names import POOL
from flows.common.stage import Shard
from flows.personas.circle import PEOPLE_AT_ONCE
from schemas.tables.sealed import ACTORS
from tests.flows.lives import Lives, fits, is_likely, mean, run, same_rows, small_config

HOME = ("partner", "child", "parent", "flatmate")


def people(users: int, shard: Shard | None = None, **data: Any) -> Lives:
    config = small_config(users, **data)
    return Lives(config, run("personas", config, {}, shard or Shard(0, users)))


def others_of(lives: Lives) -> pl.DataFrame:
    """Everybody but the users, with their attributes as columns and what the user's row says."""
    values = pl.col("attributes").list.eval(pl.element().struct.field("value"))
    names = (
        lives["actors"].filter(pl.col("relation") != "self")["attributes"].list.eval(pl.element().struct.field("name"))
    )
    assert set(map(tuple, names.to_list())) == {("given_name", "sex", "age_band")}
    rows = lives["actors"].filter(pl.col("relation") != "self")
    parts = {name: values.list.get(place) for place, name in enumerate(("other_name", "other_sex", "band"))}
    ages = {band: (low + high - 1) / 2 for band, (low, high) in AGE_BANDS.items()}
    rows = rows.with_columns(**parts).with_columns(about=pl.col("band").replace_strict(ages))
    return rows.join(lives["personas"], on="user_id")


@pytest.fixture(scope="module")
def crowd() -> Lives:
    return people(4_000)


@pytest.fixture(scope="module")
def others(crowd: Lives) -> pl.DataFrame:
    return others_of(crowd)


def test_each_person_is_one_actor_and_as_many_live_there_as_the_household_has(
    crowd: Lives, others: pl.DataFrame
) -> None:
    selves = crowd["actors"].filter(relation="self")
    assert selves["user_id"].to_list() == crowd["personas"]["user_id"].to_list()
    assert selves["attributes"].list.len().sum() == 0 and selves["has_account_access"].all()
    home = others.filter(pl.col("relation").is_in(HOME)).group_by("user_id", "household_size").len()
    assert (home["len"] == home["household_size"] - 1).all()
    assert home.height == (crowd["personas"]["household_size"] > 1).sum()
    assert crowd["actors"]["actor_id"].is_unique().all()


def test_the_married_live_with_a_partner_and_some_of_the_unmarried_do(others: pl.DataFrame, crowd: Lives) -> None:
    partners = others.filter(relation="partner")
    assert partners["user_id"].is_unique().all()
    shared = crowd["personas"].filter(pl.col("household_size") > 1)
    room = shared.filter(pl.col("household_size") - 1 > pl.col("children_ages").list.len())
    married = room.filter(marital_status="married")
    assert married.join(partners, on="user_id", how="anti").height == 0
    rest = room.filter(pl.col("marital_status") != "married", pl.col("age_years") >= 20)
    assert is_likely(rest.join(partners, on="user_id", how="semi").height, rest.height, 0.2)
    assert (partners["about"] >= 18).all()
    same = (partners["other_sex"] == partners["sex"]).sum()
    assert is_likely(int(same), partners.height, 0.03)
    assert mean((partners["about"] - partners["age_years"]).abs()) < 6


def test_the_children_of_the_person_are_there_with_their_ages(others: pl.DataFrame, crowd: Lives) -> None:
    young = others.filter(relation="child").filter(pl.col("about") < 18)
    bands = [band for band, (_, high) in AGE_BANDS.items() if high <= 18]
    found = {user: sorted(ages) for user, ages in young.group_by("user_id").agg("band").iter_rows()}
    for user, ages in crowd["personas"].select("user_id", "children_ages").iter_rows():
        own = sorted(next(band for band in bands if AGE_BANDS[band][0] <= age < AGE_BANDS[band][1]) for age in ages)
        assert found.get(user, []) == own, user
    assert len(found) > 800
    grown = others.filter(pl.col("relation") == "child", pl.col("about") >= 18)
    assert grown.height > 100 and (grown["age_years"] - grown["about"] > 10).all()


def test_parents_are_older_two_at_most_and_of_both_sexes(others: pl.DataFrame) -> None:
    parents = others.filter(relation="parent")
    assert (parents["about"] - parents["age_years"] > 8).all() and parents.height > 300
    each = parents.group_by("user_id").agg(pl.len(), pl.col("other_sex").n_unique().alias("sexes"))
    assert each["len"].max() == 2 and (each["len"] == each["sexes"]).all()


def test_everybody_has_one_to_four_friends_and_the_employed_have_colleagues(others: pl.DataFrame, crowd: Lives) -> None:
    friends = others.filter(relation="friend").group_by("user_id").len()["len"].value_counts().sort("len")
    assert friends["len"].to_list() == [1, 2, 3, 4] and friends["count"].sum() == 4_000
    assert fits(friends["count"].to_list(), [0.2, 0.35, 0.3, 0.15])
    colleagues = others.filter(relation="colleague")
    assert colleagues["labour_status"].str.starts_with("employed").all() and colleagues.height > 1_500
    assert others.filter(relation="friend").select(pl.corr("about", "age_years")).item() > 0.85


def test_names_go_with_sex_age_and_the_locale_of_the_user() -> None:
    rows = others_of(people(300, personas={"locales": {"en_US": 0.5, "fr_FR": 0.5}}))
    for locale, sex, band, name in rows.select("locale", "other_sex", "band", "other_name").iter_rows():
        low, high = AGE_BANDS[band]
        decades = {DECADES[place] for place in cohorts_of(range(2026 - high, 2026 - low)).tolist()}
        assert any(name in given_name_pool(locale, sex, decade).to_pylist() for decade in decades)


def test_the_youngest_have_the_names_of_their_decade(others: pl.DataFrame) -> None:
    """Of who is not ten yet all were born in the last one; by the names of the old they would be another's."""
    young = others.filter(pl.col("about") < 10, pl.col("other_sex") == "female")["other_name"]
    pool = given_name_pool("en_US", "female", DECADES[-1]).to_pylist()
    for name in ("Emma", "Olivia"):
        assert is_likely(int((young == name).sum()), len(young), pool.count(name) / POOL)
    old = others.filter(pl.col("about") >= 70, pl.col("other_sex") == "female")["other_name"]
    assert young.is_in(["Emma", "Olivia", "Madison"]).mean() > 0.06 > 0.02 > old.is_in(["Emma", "Olivia"]).mean()  # type: ignore[operator]
    assert old.is_in(["Mary", "Linda", "Barbara"]).mean() > 0.06 > young.is_in(["Linda", "Barbara"]).mean() + 0.03  # type: ignore[operator]


def test_one_of_the_household_who_is_old_enough_can_use_the_account_and_a_partner_first(others: pl.DataFrame) -> None:
    able = others.filter("has_account_access")
    assert able["user_id"].is_unique().all() and set(able["relation"]) == set(HOME)
    assert (able["about"] >= SMALL).all()
    old_enough = others.filter(pl.col("relation").is_in(HOME), pl.col("about") >= SMALL)
    assert set(able["user_id"]) == set(old_enough["user_id"])
    assert others.filter(relation="partner")["has_account_access"].all()
    left = others.filter(~pl.col("user_id").is_in(old_enough["user_id"].implode()), pl.col("relation") == "child")
    assert left.height > 20 and not left["has_account_access"].any()


def test_the_share_of_accounts_that_another_can_use_is_the_configs() -> None:
    few, all_of_them = (people(3_000, dispositions={"household_actor_share": share}) for share in (0.25, 1.0))
    used = [set(others_of(lives).filter("has_account_access")["actor_id"]) for lives in (few, all_of_them)]
    low, high = stats.binom.interval(0.999, len(used[1]), 0.25)
    assert low <= len(used[0]) <= high and used[0] < used[1]
    assert few["actors"].drop("has_account_access").equals(all_of_them["actors"].drop("has_account_access"))
    none = others_of(people(50, dispositions={"household_actor_share": 0}))
    assert none.height > 100 and not none["has_account_access"].any()
    assert same_rows(few.tables["personas"], all_of_them.tables["personas"])


def test_more_people_and_other_shards_change_nobodys_circle() -> None:
    few, more, part = people(40), people(60), people(60, Shard(20, 60))
    kept = more["actors"].filter(pl.col("user_id") < "u000040")
    assert kept.equals(few["actors"])
    assert part["actors"].equals(more["actors"].filter(pl.col("user_id") >= "u000020"))


def test_rows_lie_in_the_order_of_the_key(crowd: Lives) -> None:
    keys = crowd["actors"].select("user_id", "actor_id")
    assert keys.equals(keys.sort("user_id", "actor_id"))
    assert (keys["actor_id"].str.slice(0, 9) == keys["user_id"] + "-a").all()


def test_a_great_shard_is_made_in_blocks_and_is_what_small_ones_are() -> None:
    config, last = small_config(PEOPLE_AT_ONCE + 60), PEOPLE_AT_ONCE + 60
    every, few = (run("personas", config, {}, Shard(first, last))["actors"] for first in (0, PEOPLE_AT_ONCE - 60))
    assert every.slice(every.num_rows - few.num_rows).equals(few)
    assert sum(len(chunk) > 0 for chunk in every["actor_id"].chunks) == 2


def test_nobody_is_around_no_people() -> None:
    assert people(5, Shard(3, 3)).tables["actors"].equals(ACTORS.empty())


def test_mothers_are_more_often_the_only_parent_at_home(others: pl.DataFrame) -> None:
    parents = others.filter(relation="parent").group_by("user_id").agg(pl.len(), pl.col("other_sex").first())
    alone = parents.filter(pl.col("len") == 1)["other_sex"]
    assert is_likely(int((alone == "female").sum()), len(alone), 0.6)


def test_others_are_as_old_as_their_relation_says(others: pl.DataFrame) -> None:
    """Years between the middle of their age band and the user's age, where no limit of age cuts them."""
    far = others.filter(pl.col("age_years").is_between(40, 60)).with_columns(
        years=pl.col("about") - pl.col("age_years")
    )
    for relation, spread in (("friend", 7.0), ("colleague", 11.0), ("partner", 4.0)):
        years = far.filter(relation=relation)["years"]
        assert abs(mean(years)) < 1.5, relation
        # A band is ten years wide: sides of 10 add a variance of 100 / 12.
        assert np.std(years.to_numpy()) == pytest.approx((spread**2 + 100 / 12) ** 0.5, rel=0.2), relation
    parents = others.filter(pl.col("relation") == "parent", pl.col("age_years") < 40)
    assert mean(parents["about"] - parents["age_years"]) == pytest.approx(28, abs=3)


def test_another_table_of_occupations_moves_nobody_and_of_household_sizes_no_friend() -> None:
    before = people(300)
    own = {"attributes": {"home_type": {"weights": {"own": 1.0}}}}
    assert same_rows(before.tables["actors"], people(300, personas=own).tables["actors"])
    alone = {"attributes": {"household_size": {"weights": {"1": 1.0}}}}
    after = people(300, personas=alone)["actors"]
    assert set(after["relation"]) == {"self", "friend", "colleague"}
    kept = before["actors"].filter(pl.col("relation").is_in(["self", "friend", "colleague"]))
    assert kept["actor_id"].to_list() == after["actor_id"].to_list()
    assert np.array_equal(kept["attributes"].list.len(), after["attributes"].list.len())
