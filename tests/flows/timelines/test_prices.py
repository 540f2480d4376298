"""Prices and budgets in what people take."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from flows.timelines.prices import week_by_week
from schemas.behaviour.price import PriceModel, Prices
from schemas.config import DataConfig
from tests.flows.lives import QUIET, frame, live, mean, run, small_config

MANY = 4_000


class Runs:
    """What the same people do as prices count for more or less."""

    def __init__(self) -> None:
        self.people = live(self.data(), last="dispositions")
        self.known: dict[tuple[float, float], pl.DataFrame] = {}

    @staticmethod
    def data(**timelines: float) -> DataConfig:
        return small_config(110, 9, domains=["food", "media"], disturb=QUIET, timelines=timelines)

    def __call__(self, price_effect: float, budget_effect: float = 0.0) -> pl.DataFrame:
        """All choices among options, with the log of what was taken over the typical price of its category."""
        key = (price_effect, budget_effect)
        if key not in self.known:
            data = self.data(price_effect=price_effect, budget_effect=budget_effect)
            chosen = frame(run("timelines", data, self.people)["clean_events"]).drop_nulls("options")
            items = frame(self.people["items"]).filter(pl.col("owner_user_id").is_null())
            dear = pl.col("price_cents").log() - pl.col("price_cents").log().mean().over("category")
            items = items.select("item_id", dear=dear)
            self.known[key] = chosen.sort("event_id").join(items, on="item_id", maintain_order="left")
        return self.known[key]

    def paid(self, price_effect: float, budget_effect: float = 0.0) -> pl.DataFrame:
        """Those that were paid for."""
        return self(price_effect, budget_effect).drop_nulls("price_cents")


@pytest.fixture(scope="module")
def runs() -> Runs:
    return Runs()


def test_the_more_prices_count_the_less_is_paid_and_nothing_else_changes(runs: Runs) -> None:
    none, some, much = (runs.paid(effect) for effect in (0.0, 0.5, 1.5))
    assert none.height > 1_000
    for one in (some, much):
        assert one.select("event_id", "at", "options").equals(none.select("event_id", "at", "options"))
    assert mean(none["dear"]) - mean(some["dear"]) > 0.02
    assert mean(some["dear"]) - mean(much["dear"]) > 0.04


def test_what_is_not_paid_for_is_chosen_without_regard_to_its_price(runs: Runs) -> None:
    plays = [runs(effect).filter(action="play").select("event_id", "item_id", "options") for effect in (0.0, 1.5)]
    assert plays[0].height > 1_000 and plays[0].equals(plays[1])


def test_who_has_less_to_live_on_pays_less(runs: Runs) -> None:
    per_head = pl.col("income_usd") / pl.col("household_size")
    who = frame(runs.people["personas"]).select("user_id", poor=per_head < 12_000, rich=per_head > 35_000)
    gap = []
    for effect in (0.0, 1.5):
        some = runs.paid(effect).join(who, on="user_id")
        gap.append(mean(some.filter("rich")["dear"]) - mean(some.filter("poor")["dear"]))
    assert gap[1] > gap[0] + 0.05


def test_a_budget_is_felt_from_the_second_week_of_a_month_on(runs: Runs) -> None:
    free, tight = runs.paid(0.5), runs.paid(0.5, 4.0)
    day = pl.col("at").dt.day()
    first = day.is_between(2, 6)  # the first week of a month by any wall clock of the people
    same = free.filter(first)["item_id"] == tight.filter(first)["item_id"]
    # But for new choices of what a basket holds already because it was chosen in an earlier month.
    assert same.len() > 100 and mean(same) > 0.99
    assert mean(free.filter(day > 16)["dear"]) - mean(tight.filter(day > 16)["dear"]) > 0.05


def test_spending_late_in_a_month_falls_with_what_was_spent_before() -> None:
    """Two people see the same screens but in the first week, when one has only dear things to choose from."""
    cents = np.array([1_000, 1_000, 4_000, 4_000])
    prices = Prices(cents, np.array([-0.75, -0.75, 0.75, 0.75]), 4_000.0 * MANY)
    week = np.tile(np.repeat([0, 1, 4], MANY // 2), 2)
    person = np.repeat([0, 1], week.size // 2)
    options = np.where((week == 0)[:, None], np.where(person[:, None] == 0, [0, 1], [2, 3]), [0, 2])
    uniform = np.tile((np.arange(week.size // 2) * 0.618033988749895) % 1, 2)
    model, minds = PriceModel(0.8, 1.0), np.ones(week.size)

    def spent(who: int, when: int, effect: PriceModel) -> float:
        worth = np.zeros(options.shape)
        taken = week_by_week(worth, options, uniform, (person, 2, week), prices, minds, effect, 0.0)
        here = (person == who) & (week == when)
        return float(cents[options[here, taken[here]]].mean())

    assert spent(1, 1, model) < spent(0, 1, model) - 50
    assert spent(1, 4, model) < spent(1, 1, model) - 50
    without = PriceModel(0.8, 0.0)
    assert spent(1, 1, without) == spent(0, 1, without)
    assert spent(1, 4, without) == pytest.approx(spent(1, 1, without), abs=5)
