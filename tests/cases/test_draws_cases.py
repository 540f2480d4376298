"""Faults of public reports about names, draws and shares of people. Each test names its case."""

from __future__ import annotations

import unicodedata
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from flows.common.names import name_pool
from flows.common.stage import Shard
from tests.flows.lives import frame, run, same_rows, small_config


def made(users: int, seed: int = 7, **personas: Any) -> dict[str, pa.Table]:
    """The tables of people, by a config with these keys below `personas`."""
    market = "us" if "en_US" in personas.get("locales", {"en_US": 1.0}) else "uk"
    return run("personas", small_config(users, 4, seed=seed, market=market, personas=personas), {}, Shard(0, users))


def people(users: int, seed: int = 7, **attributes: Any) -> pl.DataFrame:
    return frame(made(users, seed, attributes=attributes)["personas"])


def is_share(values: pl.Series, value: str, share: float) -> bool:
    """Whether the value is as frequent as its share: within bounds that 1 in 1,000 seeds would break."""
    low, high = stats.binom.interval(0.999, len(values), share)
    return bool(low <= (values == value).sum() <= high)


def test_g1_s02_five_people_of_three_locales_are_the_same_five_twice() -> None:
    locales = {"en_GB": 0.34, "fr_FR": 0.33, "en_IN": 0.33}
    first = frame(made(5, 2613165638, locales=locales)["personas"])
    name_pool.cache_clear()  # so that names are made again, and not merely kept
    second = frame(made(5, 2613165638, locales=locales)["personas"])
    assert first.equals(second)
    assert first.select("given_name", "family_name").n_unique() == 5 and first["given_name"].n_unique() >= 4
    assert first["locale"].n_unique() > 1


def test_g1_s03_a_second_build_in_one_process_equals_the_first() -> None:
    nick = {"values": [f"nick{number}" for number in range(60)], "unique": True}

    def build(seed: int) -> dict[str, pa.Table]:
        return made(50, seed, attributes={"nick": nick}, locales={"en_US": 0.5, "vi_VN": 0.5})

    first = build(42)
    name_pool.cache_clear()
    build(43)
    second = build(42)
    assert all(same_rows(first[name], second[name]) for name in first)
    assert len(set(first["personas"]["nick"].to_pylist())) == 50


def test_g1_s10_five_thousand_are_not_made_of_three_hundred_values() -> None:
    nick = {"values": [f"nick{number}" for number in range(300)], "unique": True}
    with pytest.raises(ValueError, match="`nick` is unique: 5000 wanted, 300 available"):
        people(5_000, nick=nick)
    assert people(300, nick=nick)["nick"].is_unique().all()


def test_g3_s04_no_child_has_a_degree_where_the_config_says_so() -> None:
    single = {
        "sex": "female",
        "marital_status": "single",
        "household_size": "2",
        "labour_status": "none",
        "income_usd": "0",
    }
    alone: dict[str, Any] = {name: {"weights": {value: 1.0}} for name, value in single.items()}
    table = {"6": {"primary": 1.0}, "40": {"primary": 0.2, "PhD": 0.8}}
    education = {"given": "age_years", "table": table}
    personas = people(1_000, age_years={"weights": {"6": 0.5, "40": 0.5}}, education=education, **alone)
    assert personas.filter((pl.col("age_years") == 6) & (pl.col("education") == "PhD")).height == 0
    assert is_share(personas["age_years"].cast(pl.String), "6", 0.5)
    assert is_share(personas.filter(pl.col("age_years") == 40)["education"], "PhD", 0.8)


def test_g3_s04_children_without_attributes_of_their_own_are_refused() -> None:
    with pytest.raises(ValueError, match="`6` is below 18, where the age groups begin that decide .*`education`"):
        people(1_000, age_years={"weights": {"6": 0.5, "40": 0.5}})


def test_g3_s05_a_value_of_one_in_a_thousand_appears_among_fifty_thousand() -> None:
    gift = people(50_000, gift={"weights": {"yes": 0.001, "no": 0.999}})["gift"].to_list()
    assert 22 <= gift.count("yes") <= 78


def test_g3_s07_norway_is_no_in_three_of_ten() -> None:
    country = people(20_000, country={"weights": {"se": 0.4, "no": 0.3, "dk": 0.3}})["country"]
    assert country.dtype == pl.String and set(country) == {"se", "no", "dk"}
    assert is_share(country, "no", 0.3)


def test_g3_s09_a_name_in_two_unicode_forms_is_one_name_of_people() -> None:
    composed, decomposed = "Hi\u1ebfu", unicodedata.normalize("NFD", "Hi\u1ebfu")
    friend = {"given": "nick", "table": {composed: {composed: 1.0}}}
    personas = people(20, nick={"values": [composed]}, friend=friend)
    assert set(personas["nick"]) == set(personas["friend"]) == {composed} != {decomposed}
