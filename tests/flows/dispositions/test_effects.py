"""What attributes do to tastes and to how much is done: by the factors of domain files and of the config."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.dispositions.levels import factor_of, has_level
from flows.personas.sample import people_of
from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domains
from schemas.shaped import shaped
from tests.flows.dispositions.likelihood import expected, liked_by, specs_of, tastes
from tests.flows.lives import Lives, small_config

USERS = 1_500
PEOPLE: dict[str, Any] = {
    "attributes": {
        "diet": {"weights": {"vegan": 0.2, "any": 0.8}},
        "cars": {"weights": {"0": 0.3, "1": 0.5, "2": 0.2}},
    },
    "segments": {
        "frugal": {"share": 0.4, "attributes": {"diet": {"weights": {"vegan": 0.5, "any": 0.5}}}},
        "rest": {"share": 0.6},
    },
}
EFFECTS: list[dict[str, Any]] = [
    {"attribute": "diet", "dimension": "food.base", "multiply": {"vegan": {"tofu": 20, "chicken": 0.05}}},
    {"attribute": "segment", "dimension": "food.base", "multiply": {"frugal": {"chicken": 2.0}}},
    {"attribute": "segment", "domain": "food", "rate": {"frugal": 0.4}},
    {"attribute": "cars", "domain": "groceries", "rate": {"0": 0.5, "1..": 1.25}},
    {"attribute": "income_usd", "domain": "groceries", "rate": {"..20000": 0.8}},
]


def crowd(effects: list[dict[str, Any]]) -> Lives:
    return tastes(USERS, personas=PEOPLE, dispositions={"effects": effects})


@pytest.fixture(scope="module")
def plain() -> Lives:
    return crowd([])


@pytest.fixture(scope="module")
def moved() -> Lives:
    return crowd(EFFECTS)


def test_shares_are_those_of_the_file_times_every_effect(plain: Lives, moved: Lives) -> None:
    specs = specs_of(shaped(load_domains(["food", "groceries"]), moved.data.dispositions.effects))
    people, before = liked_by(moved), liked_by(plain)
    spec = specs["food.base"]
    probability = expected(people, "food.base", spec, moved)
    for here in (people["diet"] == "vegan", people["segment"] == "frugal"):
        for place, value in enumerate(spec.values):
            p = probability[here.to_numpy(), place]
            hits = int((people.filter(here)["food.base"] == value).sum())
            assert abs(hits - p.sum()) < 4 * (p * (1 - p)).sum() ** 0.5 + 1, value
    vegan = people["diet"] == "vegan"
    share = (people.filter(vegan)["food.base"] == "tofu").mean()
    assert share > 3 * (before.filter(vegan)["food.base"] == "tofu").mean()  # type: ignore[operator]


def test_an_effect_moves_only_its_taste_and_only_those_it_speaks_of(plain: Lives, moved: Lives) -> None:
    one, other = liked_by(plain), liked_by(moved)
    linked = {"food.base"}
    for name in specs_of(load_domains(["food", "groceries"])):
        assert one[name].equals(other[name]) is (name not in linked), name
    unmoved = (one["diet"] != "vegan") & (one["segment"] != "frugal")
    assert unmoved.sum() > 500 and one.filter(unmoved)["food.base"].equals(other.filter(unmoved)["food.base"])
    assert plain["personas"].equals(moved["personas"]) and plain["interests"].equals(moved["interests"])


def test_rates_multiply_what_people_do_and_leave_the_rest_of_them(plain: Lives, moved: Lives) -> None:
    both = plain["participation"].join(moved["participation"], on=["user_id", "domain"], suffix="_moved")
    both = both.join(moved["personas"], on="user_id").filter(pl.col("rate_factor") > 0)
    food, groceries = both.filter(domain="food"), both.filter(domain="groceries")
    for rows, factor in (
        (food.filter(segment="frugal"), 0.4),
        (food.filter(segment="rest"), 1.0),
        (groceries.filter(pl.col("income_usd") >= 20_000, cars="0"), 0.5),
        (groceries.filter(pl.col("income_usd") < 20_000, cars="2"), 1.25 * 0.8),
    ):
        ratio = rows.select(pl.col("rate_factor_moved") / pl.col("rate_factor")).to_series()
        assert rows.height > 25 and np.allclose(ratio, factor, atol=1e-4), factor
        own = rows.select(pl.col("attribute_factor_moved") / pl.col("attribute_factor")).to_series()
        assert np.allclose(own, factor, atol=1e-4)
    for column in ("valid_from", "valid_to"):
        assert both[column].equals(both[f"{column}_moved"], check_names=False)


def test_levels_are_values_bands_with_open_ends_and_what_follows_from_columns() -> None:
    people = pa.table(
        {
            "age_years": pa.array([18, 24, 30, 75], pa.int16()),
            "income_usd": pa.array([0, 20_000, 99_000, 400_000], pa.int64()),
            "children_ages": pa.array([[], [3], [4, 9], []], pa.list_(pa.int16())),
            "height": pa.array([1.5, 1.75, None, 2.0], pa.float64()),
            "cars": pa.array(["0", "1", "2", None], pa.string()),
            "word": pa.array(["a..b", "a", "b", "a"], pa.string()),
        }
    )
    for attribute, level, wanted in (
        ("age_years", "24", [0, 1, 0, 0]),
        ("age_years", "..24", [1, 0, 0, 0]),
        ("age_years", "24..75", [0, 1, 1, 0]),
        ("height", "1.75..", [0, 1, 0, 1]),
        ("height", "2", [0, 0, 0, 1]),
        ("cars", "1..", [0, 1, 1, 0]),
        ("cars", "0", [1, 0, 0, 0]),
        ("word", "a..b", [1, 0, 0, 0]),
        ("word", "a", [0, 1, 0, 1]),
        ("children", "1..", [0, 1, 1, 0]),
        ("age_group", "18-24", [1, 1, 0, 0]),
        ("age_group", "75+", [0, 0, 0, 1]),
        ("income_band", "< 5000", [1, 0, 0, 0]),
        ("income_band", "150000+", [0, 0, 0, 1]),
    ):
        assert has_level(people, attribute, level).tolist() == [bool(one) for one in wanted], (attribute, level)
    assert factor_of(people, "cars", {"0": 0.5, "1..": 2.0}).tolist() == [0.5, 2.0, 2.0, 1.0]


def test_built_in_domains_have_people_who_do_more_and_all_together_do_as_much_as_their_reference() -> None:
    data = small_config(6_000, domains=list(NINE_DOMAINS))
    people = people_of(Context(data, Draws(data.seed, "personas"), Shard(0, data.users)))["personas"]
    for name, domain in load_domains(data.domains).items():
        (tilt,) = domain.participation.tilts
        factor = factor_of(people, tilt.attribute, tilt.rate)
        assert tilt.basis == "assumed" and np.unique(factor).size >= 2, name
        assert abs(factor.mean() - 1) < 0.005 + 3.3 * factor.std() / data.users**0.5, name
