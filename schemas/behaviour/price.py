"""What prices and a month's budget take from the utility of an option: pure equations, used by generator and observer.

An option loses ``price_effect * sensitivity * (1 + budget_effect * pressure) * log(price / typical price)``: log-odds that
fall with the log of the price, as in discrete choice models of brands (Guadagni & Little 1983 put the price itself, later
ones its log). The sensitivity is less the more a household has to spend on each of its people, and the pressure grows
with what was spent in the month. All figures are assumed.

Only what is chosen among options counts as spent, at the price on show, and only from one week of the month to the next:
people look at their account now and then. So a month is five steps, whatever the length of the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.activities import Activity, SessionActivity, TripActivity
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.behaviour.volume import GRID, by_quantiles
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

USUAL_INCOME = 15_000.0
"""Yearly income per head, in USD, at which the sensitivity is 1. With it the mean over the built-in population is 1."""
INCOME_POWER = -0.5
"""Elasticity of the sensitivity with respect to the income per head: assumed."""
SENSITIVITY_RANGE = (0.4, 2.5)
"""Assumed. The rich look at prices too, and the poor not only."""
MOST_PRESSURE = 2.0
"""Budgets spent, beyond which nothing is felt any more: assumed."""
LOG_GRID = 2.0**10
"""Logs of prices are whole multiples of 1 / 1024, so that no last bit of ``log`` matters."""
FINE_GRID = 2.0**20
WEEKS = 5
"""Steps of a month: days 1 to 7, 8 to 14, 15 to 21, 22 to 28, and the rest."""
WEEKS_PER_MONTH = 365.25 / 12 / 7
DAY_US = 86_400_000_000


class Prices(NamedTuple):
    """What the items of one catalogue cost, in the order of its index."""

    cents: I64
    """(items,) prices."""
    log: F64
    """(items,) log of the price over the typical one of the category, on the grid; 0 where things are free."""
    budget_cents: float
    """What somebody of usual income sets aside for choices in a month: as many as usual, at the typical price."""


class PriceModel(NamedTuple):
    """The parameters, from the config."""

    price_effect: float
    """Log-odds an option loses where its price is e times the typical one, for sensitivity 1 and nothing spent."""
    budget_effect: float
    """Share by which the sensitivity grows for each month's budget that has been spent."""


def prices_of(domain: Domain, index: CatalogueIndex, rate_factor: float = 1.0) -> Prices:
    """The prices of a domain's catalogue. ``rate_factor`` is that of the config: who does more sets aside more.

    The typical price of a category is the geometric mean of its items.
    """
    paid = np.maximum(index.price_cents, 1)
    logs = np.rint(np.log(paid.astype(np.float64)) * FINE_GRID) / FINE_GRID
    category = index.category.astype(np.int64)
    count = np.maximum(np.bincount(category), 1)
    typical = np.bincount(category, logs) / count
    log = np.rint((logs - typical[category]) * LOG_GRID) / LOG_GRID
    budget = float(np.rint(np.exp(typical).mean() * paid_choices_per_week(domain) * rate_factor * WEEKS_PER_MONTH))
    return Prices(index.price_cents, np.where(index.price_cents > 0, log, 0.0), max(1.0, budget))


def is_paid(domain: Domain, activity: Activity) -> bool:
    """Whether what is chosen in an activity is paid for."""
    return domain.catalogue.price_for != "nothing" and getattr(activity, "is_paid", True)


def paid_choices_per_week(domain: Domain) -> float:
    """Choices among options that are paid for, of a person on average over people."""
    total = 0.0
    for activity in domain.activities.values():
        if not is_paid(domain, activity):
            continue
        if isinstance(activity, SessionActivity | TripActivity):
            times = float(by_quantiles(activity.per_week, GRID).mean())
            several = sum(int(count) * share for count, share in getattr(activity, "lines", {"1": 1.0}).items())
            total += times * several
    return total


def price_sensitivity(income_usd: I64, household_size: I64) -> F64:
    """(n,) sensitivity of people, by yearly income of the household and the people who live on it; four decimals."""
    low, high = SENSITIVITY_RANGE
    per_head = np.maximum(income_usd, 1) / np.maximum(household_size, 1)
    return np.asarray(np.round(np.clip((per_head / USUAL_INCOME) ** INCOME_POWER, low, high), 4))


def month_and_week(local_us: I64) -> tuple[I64, I64]:
    """(n,) readings of wall clocks → months since 1970-01, and weeks of the month, 0 to 4."""
    day = (local_us // DAY_US).astype("datetime64[D]")
    month = day.astype("datetime64[M]")
    return month.astype(np.int64), (day - month.astype("datetime64[D]")).astype(np.int64) // 7


def months_of(person: I64, month: I64) -> tuple[I64, int]:
    """(n,) a number for each pair of person and month, and how many numbers there are."""
    if not person.size:
        return person, 0
    first, last = int(month.min()), int(month.max())
    return person * (last - first + 1) + (month - first), (int(person.max()) + 1) * (last - first + 1)


def spent_before(person: I64, month: I64, week: I64, cents: I64) -> F64:
    """(n,) what each person had spent in the month, in the weeks before that of the row, in cents."""
    purse, purses = months_of(person, month)
    table = np.bincount(purse * WEEKS + week, cents, purses * WEEKS).reshape(purses, WEEKS)
    before = np.cumsum(table, axis=1) - table
    return np.asarray(before[purse, week])


def pressure(spent_cents: F64, budget_cents: float, sensitivity: F64 | float = 1.0) -> F64:
    """(n,) month's budgets spent, at most ``MOST_PRESSURE``. Who is twice as sensitive sets half as much aside."""
    return np.asarray(np.minimum(spent_cents * sensitivity / budget_cents, MOST_PRESSURE))


def price_weight(model: PriceModel, spent_budgets: F64, sensitivity: F64 | float = 1.0) -> F64:
    """(n,) what the log of a price is multiplied with to give what the option loses, in log-odds."""
    return np.asarray(model.price_effect * sensitivity * (1.0 + model.budget_effect * spent_budgets))
