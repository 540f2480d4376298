"""What prices and budgets take from an option, by the equations alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from flows.common.draws import Draws
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.behaviour.price import (
    MOST_PRESSURE,
    PriceModel,
    month_and_week,
    paid_choices_per_week,
    pressure,
    price_sensitivity,
    price_weight,
    prices_of,
    spent_before,
)
from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domain

DRAWS = Draws(3, "test of prices")


def index_of(cents: list[int], category: list[int]) -> CatalogueIndex:
    ids = [f"i{n}" for n in range(len(cents))]
    values = np.zeros((len(cents), 6), np.int8)
    codes = np.array(category, np.int8)
    return CatalogueIndex("food", ids, values, codes, np.array(cents), pa.array(ids), np.ones(len(cents)))


def test_prices_are_told_against_the_typical_one_of_their_category() -> None:
    food = load_domain("food")
    index = index_of([1000, 4000, 700, 700, 700, 0, 0], [0, 0, 1, 1, 1, 2, 2])
    prices = prices_of(food, index)
    assert prices.log[:2].tolist() == pytest.approx([-np.log(2), np.log(2)], abs=1 / 1024)
    assert prices.log[2:].tolist() == [0.0] * 5
    assert (prices.log * 1024 == np.rint(prices.log * 1024)).all()
    again = prices_of(food, replace(index, price_cents=index.price_cents * 7), rate_factor=3.0)
    assert np.array_equal(again.log, prices.log)
    month = (2000 + 700 + 1) / 3 * paid_choices_per_week(food) * 365.25 / 84
    assert prices.budget_cents == pytest.approx(month, abs=1)
    assert again.budget_cents == pytest.approx(21 * month, rel=2e-3)


def test_choices_are_paid_for_where_things_have_prices() -> None:
    paid = {name for name in NINE_DOMAINS if paid_choices_per_week(load_domain(name)) > 0}
    assert paid == {"food", "groceries", "fashion", "mobility", "travel", "media"}
    media = load_domain("media")
    without = media.model_copy(update={"activities": {"play": media.activities["play"]}})
    assert paid_choices_per_week(without) == 0  # a subscription pays for what is played


def test_prices_count_for_less_the_more_there_is_to_live_on() -> None:
    incomes = np.array([0, 2_000, 10_000, 15_000, 60_000, 400_000])
    alone = price_sensitivity(incomes, np.ones(6, np.int64))
    assert (np.diff(alone) <= 0).all() and alone[3] == 1.0 and alone[4] == 0.5
    assert alone[0] == 2.5 and alone[5] == 0.4
    assert np.array_equal(price_sensitivity(incomes * 4, np.full(6, 4)), alone)


def test_a_month_has_five_steps_by_the_calendar() -> None:
    days = [datetime(2024, 2, day, 23, 59, tzinfo=UTC) for day in (1, 7, 8, 14, 15, 21, 22, 28, 29)]
    days.append(datetime(2024, 3, 1, tzinfo=UTC))
    month, week = month_and_week(np.array([int(day.timestamp()) * 1_000_000 for day in days]))
    assert week.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 0]
    assert (month - month[0]).tolist() == [0] * 9 + [1]


def test_what_was_spent_before_is_of_the_same_person_and_month_and_of_earlier_weeks() -> None:
    number = np.arange(400)
    person, month, week, cents = (
        np.floor(size * DRAWS.uniform(name, number)).astype(np.int64)
        for name, size in (("person", 7), ("month", 3), ("week", 5), ("cents", 900))
    )
    found = spent_before(person, month + 660, week, cents)
    spent: dict[tuple[int, int, int], int] = defaultdict(int)
    for one in number:
        spent[person[one], month[one], week[one]] += int(cents[one])
    for one in number:
        assert found[one] == sum(spent[person[one], month[one], earlier] for earlier in range(week[one]))
    none = np.empty(0, np.int64)
    assert spent_before(none, none, none, none).size == 0


def test_pressure_rises_to_its_most_and_with_it_the_weight_of_a_price() -> None:
    spent = np.array([0.0, 50.0, 100.0, 1e6])
    felt = pressure(spent, 100.0)
    assert felt.tolist() == [0.0, 0.5, 1.0, MOST_PRESSURE]
    assert pressure(spent, 100.0, 2.0).tolist() == [0.0, 1.0, 2.0, MOST_PRESSURE]
    assert price_weight(PriceModel(0.4, 0.5), felt).tolist() == pytest.approx([0.4, 0.5, 0.6, 0.8])
    assert price_weight(PriceModel(0.4, 0.0), felt, 2.0).tolist() == [0.8] * 4
    assert not price_weight(PriceModel(0.0, 5.0), felt).any()
