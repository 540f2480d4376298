"""When in the day and in the week something is done, from a reference that tells it in whatever way."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.activities import Activity
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


def profile_of(activity: Activity) -> Profile:
    """When an activity is done: by its own profile, if it has one, or else by the reference that it names.

    Raises UnknownReference where there are no hours.
    """
    own = activity.profile
    if own is None:
        return profile(activity.reference, activity.hours_of)
    working, resting, week = (np.array(shares) for shares in (own.weekday_hours, own.weekend_hours, own.week))
    return Profile(working / working.sum(), resting / resting.sum(), week / week.sum())


@cache
def profile(reference_id: str, hours_of: str | None = None) -> Profile:
    """The profile of a reference; ``hours_of`` names another one for the hours, as `file` or `file/stratum`.

    Of several strata of one type of day the mean is taken; where types of day are not told apart, all days are alike.
    Raises UnknownReference where there are no hours.
    """
    file, _, stratum = (hours_of or reference_id).partition("/")
    source = load_reference(file)
    hours = (_shares(source, HOURS, [stratum]),) * 2 if stratum else hours_in(source)
    week = week_in(load_reference(reference_id))
    return Profile(*hours, np.full(7, 1 / 7) if week is None else week)


def hours_in(source: Reference) -> tuple[F64, F64]:
    """(24,) each: hours of working and of resting days, as a reference tells them. Raises UnknownReference."""
    told = [table.stratum for table in source.tables if table.metric == HOURS]
    working = [name for name in told if WORKING & set(name.split("|"))] or told[:1]
    resting = [name for name in told if RESTING & set(name.split("|"))] or told[:1]
    return _shares(source, HOURS, working), _shares(source, HOURS, resting)


def week_in(source: Reference) -> F64 | None:
    """(7,) days of the week, Monday first; None where the reference does not tell."""
    weeks = [table.stratum for table in source.tables if table.metric == WEEK]
    if not weeks:
        return None
    shares = source.shares(WEEK, "all" if "all" in weeks else weeks[0])
    week = np.array([shares[day] for day in DAYS])
    return np.asarray(week / week.sum())


def _shares(source: Reference, metric: str, strata: list[str]) -> F64:
    if not strata:
        raise UnknownReference(f"`{metric}` in {source.reference_id}", ["another file by `hours_of`"])
    tables = [source.shares(metric, stratum) for stratum in strata]
    mean = np.array([[table[str(hour)] for hour in range(24)] for table in tables]).mean(axis=0)
    return np.asarray(mean / mean.sum())
