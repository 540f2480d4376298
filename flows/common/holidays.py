"""Public holidays by locale, and days of rest, by the package `holidays` of the lock: no network, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import weekday_of
from schemas.locales import land_of

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_EPOCH = date(1970, 1, 1)
WEEKEND = (5, 6)
"""Saturday and Sunday. They are everybody's here, as in the references; Monday is 0."""


def locales_of(users: pa.Table) -> tuple[I64, list[str]]:
    """(users,) codes of the locales, and the locales."""
    locales = sorted(pc.unique(users["locale"]).to_pylist())
    return pc.index_in(users["locale"], value_set=pa.array(locales)).to_numpy().astype(np.int64), locales


def holiday_names(locale: str, days: I64) -> dict[int, str]:
    """What each of these days (counted from 1970-01-01) is called that is a public holiday in all of the locale's land.

    None where the package does not know the land.
    """
    if not days.size:
        return {}
    first, last = int(days.min()), int(days.max())
    known: dict[int, str] = {}
    for year in range(_day(first).year, _day(last).year + 1):
        known |= _of_year(land_of(locale), year)
    wanted = set(days.tolist())
    return {day: known[day] for day in sorted(known) if day in wanted}


def is_holiday(locale: I64, locales: Sequence[str], days: I64) -> Mask:
    """(people, days) whether each day is a public holiday in the land of each person's locale."""
    table = np.zeros((len(locales), days.size), bool)
    for row, name in enumerate(locales):
        table[row] = np.isin(days, list(holiday_names(name, days)))
    return np.asarray(table[locale])


def rest_days(locale: I64, locales: Sequence[str], days: I64) -> Mask:
    """(people, days) whether each day is a Saturday, a Sunday, or a public holiday for each person."""
    return np.asarray(is_holiday(locale, locales, days) | np.isin(weekday_of(days), WEEKEND))


@cache
def _of_year(land: str, year: int) -> Mapping[int, str]:
    from holidays import country_holidays  # a sixth of a second

    try:
        # Left to itself, the package takes the language of the machine.
        found = country_holidays(land, years=year, expand=False, language="en_US")
    except NotImplementedError:
        return {}
    return {(day - _EPOCH).days: name for day, name in found.items()}


def _day(number: int) -> date:
    return _EPOCH + timedelta(days=number)
