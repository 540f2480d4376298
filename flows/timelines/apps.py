"""Which app of a domain people use: one at a time, and now and then they go over to another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.clock import WEEK
from flows.common.draws import categorical
from flows.common.stairs import stairs
from flows.timelines.setting import Setting
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
WEEKS_A_YEAR = 365.25 / 7


def apps_used(domain: Domain, person: I64, at_us: I64, setting: Setting) -> I64:
    """(n,) the place, among the apps of the domain, of the one that each of these people uses at each instant.

    A week has at most one change. A higher rate adds changes and takes none away.
    """
    who, draws, span = setting.people.numbers, setting.draws, setting.span
    shares = [app.share for app in domain.apps]
    first = categorical(draws.uniform(f"{domain.name} app", who), shares)
    per_week = setting.config.app_changes_per_year / WEEKS_A_YEAR
    if len(shares) == 1 or per_week == 0 or person.size == 0:
        return np.asarray(first[person], np.int64)
    week = np.arange(span.start // WEEK, span.end // WEEK + 1)
    owner, column = np.nonzero(draws.uniform(f"{domain.name} app change", who[:, None], week[None, :]) < per_week)
    within = draws.uniform(f"{domain.name} app change at", who[owner], week[column])
    at = (week[column] + within) * WEEK
    steps = stairs(span.start - WEEK, span.end + WEEK, who.size)
    taken = _one_after_another(first, owner, draws.uniform(f"{domain.name} next app", who[owner], week[column]), shares)
    changes = steps.of(owner, at.astype(np.int64))
    last = np.searchsorted(changes, steps.of(person, at_us), side="right") - 1
    has_changed = (last >= 0) & (np.append(owner, -1)[last] == person)
    return np.where(has_changed, np.append(taken, 0)[last], first[person])


def _one_after_another(first: I64, owner: I64, uniform: npt.NDArray[np.float64], shares: list[float]) -> I64:
    """(changes,) the app after each change, one of those that it is not; rows by owner and time."""
    nth = np.arange(owner.size) - np.searchsorted(owner, owner, side="left")
    taken, now = np.empty(owner.size, np.int64), first.copy()
    for step in range(int(nth.max(initial=-1)) + 1):
        for old in range(len(shares)):
            here = np.flatnonzero((nth == step) & (now[owner] == old))
            others = [0.0 if place == old else share for place, share in enumerate(shares)]
            taken[here] = categorical(uniform[here], others)
        some = np.flatnonzero(nth == step)
        now[owner[some]] = taken[some]
    return taken
