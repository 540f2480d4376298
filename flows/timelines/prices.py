"""What is taken where it must be paid for: prices count, and more the more of the month's budget is gone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.draws import categorical
from flows.timelines.setting import Doing, Setting, local_us
from schemas.behaviour.choice import choice_shares
from schemas.behaviour.price import (
    WEEKS,
    PriceModel,
    Prices,
    month_and_week,
    months_of,
    pressure,
    price_weight,
    prices_of,
)

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


def taken_at_prices(
    utility: F64, options: I64, uniform: F64, person: I64, at_us: I64, doing: Doing, setting: Setting
) -> I64:
    """(n,) place of the option taken of each screen, by its utility and, where things are paid for, by their prices.

    ``utility`` and ``options`` (n, options), the latter rows of the domain's catalogue. A person feels what they have
    chosen in earlier weeks of the same month, by the calendar where they live.
    """
    config = setting.config
    if not doing.has_price or config.price_effect == 0.0:
        return categorical(uniform, choice_shares(utility, config.exploration))
    prices = prices_of(doing.domain, setting.things.catalogue[doing.domain.name], doing.own.rate_factor)
    month, week = month_and_week(local_us(at_us, person, setting.people, setting.span))
    sensitivity = setting.people.sensitivity_of(person)
    model = PriceModel(config.price_effect, config.budget_effect)
    purse, purses = months_of(person, month)
    return week_by_week(
        utility, options, uniform, (purse, purses, week), prices, sensitivity, model, config.exploration
    )


def week_by_week(
    utility: F64,
    options: I64,
    uniform: F64,
    purses: tuple[I64, int, I64],
    prices: Prices,
    sensitivity: F64,
    model: PriceModel,
    exploration: float,
) -> I64:
    """(n,) places. ``purses``: of each choice the pair of person and month, how many pairs there are, and the week."""
    purse, count, week = purses
    place = np.zeros(week.size, np.int64)
    spent = np.zeros(count)
    order = np.argsort(week.astype(np.int8), kind="stable")
    ends = np.searchsorted(week[order], np.arange(WEEKS + 1))
    for nth in range(WEEKS):
        rows = order[ends[nth] : ends[nth + 1]]
        if not rows.size:
            continue
        shown, own = options[rows], sensitivity[rows]
        weight = price_weight(model, pressure(spent[purse[rows]], prices.budget_cents, own), own)
        worth = utility[rows] - weight[:, None] * prices.log[shown]
        place[rows] = categorical(uniform[rows], choice_shares(worth, exploration))
        paid = prices.cents[shown[np.arange(rows.size), place[rows]]]
        spent += np.bincount(purse[rows], paid, count)
    return place
