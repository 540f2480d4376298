"""Claims about given names by decade of birth."""

from __future__ import annotations

import unicodedata
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from flows.common.given_names import DECADES, SEXES, Sex, cohorts_of, given_name_pool, given_names, pool_of
from flows.common.names import POOL, Kind, name_pool

FILE = Path(__file__).parents[3] / "schemas" / "populations" / "name_cohorts.yaml"


def share(name: str, sex: Sex, decade: int) -> float:
    return given_name_pool("en_US", sex, decade).to_pylist().count(name) / POOL


def fakers(sex: str) -> dict[str, float]:
    return dict(getattr(import_module("faker.providers.person.en_US").Provider, f"first_names_{sex}"))


@pytest.mark.parametrize(
    ("sex", "name", "decade", "other"),
    [
        ("female", "Betty", 1930, 1980),
        ("female", "Linda", 1950, 2000),
        ("female", "Lisa", 1960, 2000),
        ("female", "Jennifer", 1970, 1930),
        ("female", "Ashley", 1990, 1960),
        ("female", "Emma", 2010, 1960),
        ("male", "Donald", 1930, 2000),
        ("male", "Mark", 1960, 2010),
        ("male", "Jason", 1970, 1940),
        ("male", "Joshua", 1980, 1950),
        ("male", "Jacob", 2000, 1950),
        ("male", "Mason", 2010, 1960),
    ],
)
def test_a_name_is_frequent_in_its_decade_and_rare_in_another(sex: Sex, name: str, decade: int, other: int) -> None:
    assert share(name, sex, decade) >= max(5 * share(name, sex, other), 0.01)


def test_names_that_are_given_in_every_decade_stay(sex: Sex = "male") -> None:
    for name in ("Michael", "James", "John", "David"):
        shares = [share(name, sex, decade) for decade in DECADES if decade >= 1950]
        assert max(shares) < 3 * min(shares), name


def test_the_decades_of_fakers_frequencies_come_to_them_together() -> None:
    for sex in SEXES:
        own = fakers(sex)
        pools = [given_name_pool("en_US", sex, decade).to_pylist() for decade in (1960, 1970, 1980, 1990)]
        found = {name: sum(pool.count(name) for pool in pools) / (4 * POOL) for name in own}
        assert sum(abs(found[name] - own[name]) for name in own) / 2 < 0.12


def test_pools_hold_many_names_all_of_them_fakers() -> None:
    for sex in SEXES:
        for decade in DECADES:
            names = given_name_pool("en_US", sex, decade).to_pylist()
            assert len(names) == POOL and len(set(names)) >= 150, (sex, decade)
            assert set(names) <= set(fakers(sex))
            assert max(map(names.count, set(names))) < 0.06 * POOL
            assert all(unicodedata.is_normalized("NFC", name) for name in names)


def test_no_pool_hangs_on_which_were_made_before() -> None:
    pools = [(sex, decade) for sex in SEXES for decade in DECADES]
    first = [given_name_pool("en_US", *pool).to_pylist() for pool in pools]
    given_name_pool.cache_clear()
    name_pool("fr_FR", "male")
    again = [given_name_pool("en_US", *pool).to_pylist() for pool in reversed(pools)]
    assert again[::-1] == first
    assert len({tuple(pool) for pool in first}) == len(pools)


@pytest.mark.parametrize("locale", ["en_GB", "fr_FR", "de_DE", "hi_IN"])
def test_a_locale_of_which_nothing_is_known_has_its_pool_for_every_age(locale: str) -> None:
    for sex in SEXES:
        kind: Kind = sex
        assert all(given_name_pool(locale, sex, decade).equals(name_pool(locale, kind)) for decade in DECADES)


def test_years_before_and_after_the_decades_count_as_the_nearest() -> None:
    born = [1890, 1929, 1930, 1939, 1940, 1999, 2000, 2019, 2020, 2040]
    assert cohorts_of(born).tolist() == [0, 0, 0, 0, 1, 6, 7, 8, 8, 8]


def test_a_place_is_that_of_the_pool_of_the_locale_the_decade_and_the_sex() -> None:
    locales = ("fr_FR", "en_US")
    names = given_names(locales)
    assert len(names) == len(locales) * len(DECADES) * 2 * POOL
    for locale, cohort, is_male in ((0, 3, True), (1, 0, False), (1, 0, True), (1, 8, False), (1, 8, True)):
        place = int(pool_of(np.array(locale), np.array(cohort), np.array(is_male)))
        own = given_name_pool(locales[locale], SEXES[is_male], DECADES[cohort])
        assert names.slice(place * POOL, POOL).equals(own)


def test_the_file_lists_a_hundred_names_of_every_decade_which_faker_has_where_its_frequencies_are_of() -> None:
    content = YAML(typ="safe", pure=True).load(FILE)
    assert content.pop("title")
    for locale, known in content.items():
        assert {"source", "frequencies_source", "shape_source"} <= set(known), locale
        for sex in SEXES:
            assert tuple(known[sex]) == DECADES
            for decade, text in known[sex].items():
                names = text.split()
                assert len(names) == len(set(names)) == 100 and all(name.istitle() for name in names), (sex, decade)
                if decade in known["frequencies"]:
                    assert set(names) <= set(fakers(sex)), (sex, decade)
