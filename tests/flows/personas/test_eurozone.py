"""Claims about people of the second population: as often as its file says, and nothing of the United States in them."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest

from flows.common.names import name_pool
from flows.personas.written import written
from schemas.config.written import attributes_of
from schemas.locales import week_of
from tests.flows.lives import frame
from tests.flows.personas.test_sample import banded, fits, people, picks, row_of, seen

PEOPLE = 5_000
STATED = [name for name in attributes_of("us") if name not in ("age_years", "income_usd")]


@pytest.fixture(scope="module")
def europeans() -> dict[str, pl.DataFrame]:
    made = people(PEOPLE, market="eurozone", personas={"population": "eurozone"})
    return {"users": frame(made["users"]), "personas": banded(frame(made["personas"]))}


@pytest.fixture
def crowd(europeans: dict[str, pl.DataFrame]) -> pl.DataFrame:
    return europeans["personas"]


@pytest.mark.parametrize("name", STATED)
def test_attributes_are_as_frequent_as_the_file_says(crowd: pl.DataFrame, name: str) -> None:
    distribution = written("eurozone")[name]
    some = seen(crowd.with_columns(pl.col(pl.Int16).cast(pl.String)), name)
    met = 0
    for row in distribution.rows:
        own = some
        for parent, selector in zip(distribution.given, row, strict=True):
            own = own.filter(picks(selector, parent, distribution))
        met += own.height
        assert fits(own[name], row_of(distribution, *row)), row
    assert met == some.height


def test_other_shares_than_those_of_the_file_are_refused(crowd: pl.DataFrame) -> None:
    shares = row_of(written("eurozone")["region"])
    assert not fits(crowd["region"], shares | {"DE": shares["FR"], "FR": shares["DE"]})
    assert not fits(crowd["region"].reverse().head(5), {"midwest": 1.0})


def test_time_zone_and_locale_belong_to_the_country(crowd: pl.DataFrame) -> None:
    for name in ("time_zone", "locale"):
        table = written("eurozone")[name]
        can_be = {(c, level) for (c,) in table.rows for level, share in row_of(table, c).items() if share > 0}
        assert set(crowd.select("region", name).iter_rows()) <= can_be
    assert crowd.filter(pl.col("region") == "GR")["time_zone"].unique().to_list() == ["Europe/Athens"]
    assert {"Atlantic/Canary", "Europe/Lisbon", "Indian/Reunion"} <= set(crowd["time_zone"])


def test_names_are_of_the_locale_and_the_sex(crowd: pl.DataFrame) -> None:
    for (locale, sex), group in crowd.group_by("locale", "sex"):
        first, last = (name_pool(str(locale), kind) for kind in (str(sex), f"family_{sex}"))
        assert set(group["given_name"]) <= set(first.to_pylist()), locale
        assert set(group["family_name"]) <= set(last.to_pylist()), locale
    names = pl.concat([crowd["given_name"], crowd["family_name"]])
    greek = pl.concat([crowd["locale"], crowd["locale"]]) == "el_GR"
    scripts = [{unicodedata.name(letter).split()[0] for letter in name if letter.isalpha()} for name in names]
    assert {frozenset(script) for script, is_greek in zip(scripts, greek, strict=True) if is_greek} == {
        frozenset({"GREEK"})
    }
    assert {frozenset(script) for script, is_greek in zip(scripts, greek, strict=True) if not is_greek} == {
        frozenset({"LATIN"})
    }


def test_weeks_begin_where_the_account_is(europeans: dict[str, pl.DataFrame]) -> None:
    pairs = set(europeans["users"].select("locale", "week_start").iter_rows())
    assert pairs == {(locale, week_of(locale).start) for locale, _ in pairs}
    assert {day for _, day in pairs} == {"mon", "sun"}


def test_nothing_of_the_united_states_is_left(europeans: dict[str, pl.DataFrame]) -> None:
    us = attributes_of("us")
    for name in ("region", "time_zone", "locale", "education", "occupation"):
        assert not set(europeans["personas"][name].drop_nulls()) & set(us[name].levels), name
    assert europeans["users"]["time_zone"].equals(europeans["personas"]["time_zone"])


def test_households_have_room_for_their_children(crowd: pl.DataFrame) -> None:
    size, children = crowd["household_size"].cast(pl.Int64), crowd["children"].cast(pl.Int64)
    adults = size - children
    assert (adults >= 1 + (crowd["marital_status"] == "married").cast(pl.Int64)).all()
    assert 0.15 < (children > 0).mean() < 0.35  # type: ignore[operator]
