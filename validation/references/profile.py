"""When in the day and in the week something is done, from a reference that tells it in whatever way."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from validation.references.reader import Reference, UnknownReference, load_reference

F64 = npt.NDArray[np.float64]
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = "hour_of_day_share"
WEEK = "day_of_week_share"
WORKING = {"weekday", "workingday", "working day"}
RESTING = {"weekend", "non-workingday", "saturday", "sunday/holiday"}
"""How strata call the two types of day; a part of the stratum's name between bars."""


class Profile(NamedTuple):
    """Shares that sum to 1 each."""

    working_hours: F64
    """(24,) of a working day's starts, by local hour."""
    resting_hours: F64
    """(24,) of those of a Saturday or Sunday."""
    week: F64
    """(7,) of the week's, Monday first; even where the reference does not tell."""


@cache
def profile(reference_id: str, hours_of: str | None = None) -> Profile:
    """The profile of a reference; ``hours_of`` names another one for the hours, as `file` or `file/stratum`.

    Of several strata of one type of day the mean is taken; where types of day are not told apart, all days are alike.
    Raises UnknownReference where there are no hours.
    """
    file, _, stratum = (hours_of or reference_id).partition("/")
    source = load_reference(file)
    if stratum:
        working = resting = _shares(source, HOURS, [stratum])
    else:
        told = [table.stratum for table in source.tables if table.metric == HOURS]
        working = _shares(source, HOURS, [name for name in told if WORKING & set(name.split("|"))] or told[:1])
        resting = _shares(source, HOURS, [name for name in told if RESTING & set(name.split("|"))] or told[:1])
    reference = load_reference(reference_id)
    weeks = [table.stratum for table in reference.tables if table.metric == WEEK]
    if not weeks:
        return Profile(working, resting, np.full(7, 1 / 7))
    shares = reference.shares(WEEK, "all" if "all" in weeks else weeks[0])
    week = np.array([shares[day] for day in DAYS])
    return Profile(working, resting, np.asarray(week / week.sum()))


def _shares(source: Reference, metric: str, strata: list[str]) -> F64:
    if not strata:
        raise UnknownReference(f"`{metric}` in {source.reference_id}", ["another file by `hours_of`"])
    tables = [source.shares(metric, stratum) for stratum in strata]
    mean = np.array([[table[str(hour)] for hour in range(24)] for table in tables]).mean(axis=0)
    return np.asarray(mean / mean.sum())
