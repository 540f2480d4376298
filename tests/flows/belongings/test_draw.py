"""Claims about what people have of their own."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

from flows.belongings.flow import BELONGINGS_STAGE
from flows.common.draws import Draws
from flows.common.names import distinct_names
from flows.common.stage import Context, Shard
from flows.personas.flow import PERSONAS_STAGE
from schemas.config import DataConfig
from schemas.domain import Domain
from schemas.load import domain_names, load_domain, load_domains
from tests.flows.lives import fits, frame, small_config

USERS = 800
LOCALES = {"en_US": 0.7, "vi_VN": 0.2, "ja_JP": 0.1}


def config(users: int = USERS, **data: Any) -> DataConfig:
    return small_config(users, **{"domains": domain_names(), "personas": {"locales": LOCALES}, **data})


def owned(data: DataConfig, shard: Shard | None = None, seed: int = 7) -> dict[str, pl.DataFrame]:
    """Tables of the people and of what they have."""
    shard = shard or Shard(0, data.users)
    people = PERSONAS_STAGE.run(Context(data, Draws(seed, "personas"), shard), {})
    made = BELONGINGS_STAGE.run(Context(data, Draws(seed, "belongings"), shard), people)
    assert {table.name for table in BELONGINGS_STAGE.writes} == set(made)
    for table in BELONGINGS_STAGE.writes:
        assert made[table.name].schema.equals(table.schema())
    return {name: frame(table) for name, table in {**people, **made}.items()}


@pytest.fixture(scope="module")
def things() -> dict[str, pl.DataFrame]:
    return owned(config())


def kinds() -> list[tuple[str, str]]:
    return [(name, kind) for name, domain in load_domains(domain_names()).items() for kind in domain.personal]


def of_kind(things: dict[str, pl.DataFrame], domain: str, kind: str) -> pl.DataFrame:
    return things["personal_items"].filter(pl.col("domain") == domain, pl.col("category") == kind)


def test_there_is_something_to_own() -> None:
    assert {load_domain(domain).personal[kind].holds for domain, kind in kinds()} == {"contacts", "places", "devices"}


@pytest.mark.parametrize(("domain", "kind"), kinds())
def test_people_have_as_many_of_a_kind_as_declared(things: dict[str, pl.DataFrame], domain: str, kind: str) -> None:
    spec = load_domain(domain).personal[kind]
    each = of_kind(things, domain, kind).group_by("owner_user_id").len()["len"].to_list()
    each += [0] * (USERS - len(each))
    assert set(map(str, each)) <= {count for count, share in spec.count.items() if share > 0}
    if len(spec.count) > 1:
        assert fits([each.count(int(count)) for count in spec.count], list(spec.count.values()))


@pytest.mark.parametrize(("domain", "kind"), kinds())
def test_attributes_take_the_declared_shares_and_every_thing_has_them_all(
    things: dict[str, pl.DataFrame], domain: str, kind: str
) -> None:
    spec, ids = load_domain(domain).personal[kind], of_kind(things, domain, kind)["item_id"]
    attributes = things["personal_attributes"].filter(pl.col("item_id").is_in(ids.implode()))
    assert set(attributes["dimension"]) == {f"{domain}.{kind}_{name}" for name in spec.attributes}
    for name, shares in spec.attributes.items():
        rows = attributes.filter(pl.col("dimension") == f"{domain}.{kind}_{name}")
        assert sorted(rows["item_id"]) == sorted(ids)
        assert fits([(rows["value"] == value).sum() for value in shares], list(shares.values()))


def test_a_thing_is_free_has_one_owner_and_an_id_that_tells_no_more(things: dict[str, pl.DataFrame]) -> None:
    items = things["personal_items"]
    assert items["item_id"].is_unique().all()
    assert items.select(pl.col("item_id").str.starts_with(pl.col("owner_user_id") + "-")).to_series().all()
    assert all(re.fullmatch("u[0-9]{6}-b[0-9a-hjkmnp-tv-z]{10}", item) for item in items["item_id"])
    assert set(items["price_cents"]) == {0}
    assert set(items["currency"]) == {"USD"}
    assert set(owned(config(20, market="japan"))["personal_items"]["currency"]) == {"JPY"}


def test_no_owner_has_two_things_of_one_kind_with_one_title(things: dict[str, pl.DataFrame]) -> None:
    items = things["personal_items"]
    assert items.select("owner_user_id", "domain", "category", "title").is_unique().all()
    assert not items["title"].str.contains(r"[{}]").any()


def test_names_of_others_come_from_the_pools_of_the_owners_locale(things: dict[str, pl.DataFrame]) -> None:
    contacts = of_kind(things, "planning", "contact").join(things["users"], left_on="owner_user_id", right_on="user_id")
    for locale in LOCALES:
        given = distinct_names(locale, "female", "male").to_pylist()
        family = distinct_names(locale, "family").to_pylist()
        known = {f"{one} {other}" for one in given for other in family} | set(given)
        titles = contacts.filter(pl.col("locale") == locale)["title"]
        assert len(titles) > 100
        assert set(titles) <= known
        assert titles.n_unique() > 100, "people know different people"


def test_a_device_is_called_after_its_owner(things: dict[str, pl.DataFrame]) -> None:
    devices = of_kind(things, "media", "player").join(things["personas"], left_on="owner_user_id", right_on="user_id")
    assert devices.select(pl.col("title").str.starts_with(pl.col("given_name") + "'s ")).to_series().all()


def test_an_address_is_in_the_same_street_in_all_domains(things: dict[str, pl.DataFrame]) -> None:
    food = of_kind(things, "food", "address").group_by("owner_user_id").agg(pl.col("title").sort())
    fashion = of_kind(things, "fashion", "address").group_by("owner_user_id").agg(pl.col("title").sort())
    both = food.join(fashion, on="owner_user_id")
    assert both.select((pl.col("title").list.set_intersection("title_right").list.len() > 0).all()).item()


def test_more_users_shards_domains_and_kinds_change_nothing_of_what_there_was(things: dict[str, pl.DataFrame]) -> None:
    for name in ("personal_items", "personal_attributes"):
        first = owned(config(30))[name]
        assert first.equals(things[name].filter(pl.col("item_id").str.slice(1, 6).cast(pl.Int32) < 30))
        parts = [owned(config(), Shard(0, 300))[name], owned(config(), Shard(300, USERS))[name]]
        assert pl.concat(parts).equals(things[name])
        food = owned(config(domains=["food"]))[name]
        column = "domain" if name == "personal_items" else "dimension"
        assert food.equals(things[name].filter(pl.col(column).str.starts_with("food")))


def test_a_higher_count_adds_things_and_renames_none() -> None:
    def with_count(count: dict[str, float]) -> Domain:
        food = load_domain("food")
        more = food.personal["address"].model_copy(update={"count": count})
        return food.model_copy(update={"personal": {"address": more}})

    few, many = (
        owned(config(50, domains={"food": with_count(count).model_dump(mode="json")}))["personal_items"]
        for count in ({"2": 1.0}, {"5": 1.0})
    )
    assert len(few) == 100
    assert len(many) == 250
    assert many.filter(pl.col("item_id").is_in(few["item_id"].implode())).equals(few)


def test_domains_where_nobody_owns_anything_give_empty_tables() -> None:
    bare = load_domain("food").model_copy(update={"personal": {}}).model_dump(mode="json")
    made = owned(config(5, domains={"food": bare}))
    assert len(made["personal_items"]) == len(made["personal_attributes"]) == 0


def test_another_seed_gives_other_things(things: dict[str, pl.DataFrame]) -> None:
    other = owned(config(50), seed=8)["personal_items"]
    assert not set(other["item_id"]) & set(things["personal_items"]["item_id"])
