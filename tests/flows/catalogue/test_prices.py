"""Claims about prices, by domain and market."""

from __future__ import annotations

import numpy as np
import pytest

from schemas.load import load_domains
from schemas.market import load_market, load_markets
from tests.flows.catalogue.shelves import Shelf, shelves


def base(shelf: Shelf) -> np.ndarray:
    """(n,) base price of each thing's category."""
    each = [spec.base_price_cents for spec in shelf.domain.catalogue.categories.values()]
    return np.array(each)[shelf.grid()[:, 0]]


def factors(shelf: Shelf, leave_out: str = "") -> np.ndarray:
    """(n,) product of the factors of each thing's values."""
    product = np.ones(shelf.items.num_rows)
    for name, by_value in shelf.domain.catalogue.price_factors.items():
        if name != leave_out:
            values = list(shelf.domain.dimensions[name].values)
            product = product * np.array([by_value.get(value, 1.0) for value in values])[shelf.codes(name)]
    return product


def test_prices_go_in_steps_of_five_cents_and_follow_the_factors(shelf: Shelf) -> None:
    price, known = shelf.items["price_cents"].to_numpy(), base(shelf)
    assert (price % 5 == 0).all()
    assert ((price > 0) == (known > 0)).all()
    dear = (known * factors(shelf) > 200) & (price > 0)  # where a step of five cents is little
    for name, by_value in shelf.domain.catalogue.price_factors.items():
        rest = np.log(price[dear] / (known * factors(shelf, leave_out=name))[dear])
        for value, factor in by_value.items():
            here = shelf.codes(name)[dear] == list(shelf.domain.dimensions[name].values).index(value)
            if here.sum() > 100:
                assert abs(rest[here].mean() - np.log(factor)) < 0.04, (name, value)


def test_otherwise_equal_things_differ_in_price_as_declared(shelf: Shelf) -> None:
    price, expected = shelf.items["price_cents"].to_numpy(), base(shelf) * factors(shelf)
    dear = expected > 500
    if dear.sum() > 100:
        spread = np.log(price[dear] / expected[dear]).std()
        assert spread == pytest.approx(shelf.domain.catalogue.price_spread, rel=0.1, abs=0.004)


@pytest.mark.parametrize("name", list(load_markets()))
def test_a_market_sets_currency_level_and_steps(name: str, every_shelf: dict[str, Shelf]) -> None:
    market = load_market(name)
    made = shelves(load_domains(["food"]), market=name)["food"]
    here, us = made.items["price_cents"].to_numpy(), every_shelf["food"].items["price_cents"].to_numpy()
    assert set(made.column("currency")) == {market.currency}
    assert (here % market.step == 0).all()
    assert here.mean() == pytest.approx(us.mean() * market.price_factor, rel=0.02)
    if name != "us":
        assert made.items.drop_columns(["price_cents", "currency"]).equals(
            every_shelf["food"].items.drop_columns(["price_cents", "currency"])
        )


def test_what_costs_nothing_costs_nothing_anywhere(every_shelf: dict[str, Shelf]) -> None:
    food = every_shelf["food"].domain
    free = {
        name: spec.model_copy(update={"base_price_cents": 0 if name == "bowls" else 1})
        for name, spec in food.catalogue.categories.items()
    }
    changed = food.model_copy(update={"catalogue": food.catalogue.model_copy(update={"categories": free})})
    for market in ("us", "japan"):
        made = shelves({"food": changed}, market=market)["food"].items
        prices = {(row["category"], row["price_cents"]) for row in made.to_pylist()}
        step = load_market(market).step
        assert {price for category, price in prices if category == "bowls"} == {0}
        assert {price for category, price in prices if category != "bowls"} == {step}, "one step at the least"
