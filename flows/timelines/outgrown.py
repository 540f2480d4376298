"""What people stop coming back to because it no longer fits them, and where they begin to choose anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws
from flows.timelines.habits import History
from schemas.behaviour.effective import NEVER, EffectiveValues
from schemas.behaviour.habit import kept_share
from schemas.behaviour.taste import taste_utility
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
I8 = npt.NDArray[np.int8]


class Outgrown(NamedTuple):
    """``line`` (m,) rising positions of choices whose habit is given up; ``chooser`` (m,) the one that chooses for each."""

    line: I64
    chooser: I64


def outgrown(
    past: History,
    source: I64,
    item: I64,
    at_us: I64,
    tastes: EffectiveValues,
    domain: Domain,
    values: I8,
    aspect: str,
    draws: Draws,
) -> Outgrown:
    """Of choices that repeat ``source``, which took ``item``, those that are made otherwise since tastes changed.

    Whoever gives a thing up does so for as long as those tastes hold: the first time they choose anew, and come back to
    that. ``at_us`` are the instants of all positions.
    """
    age = _changes_before(past, at_us, tastes)
    line = np.flatnonzero(age != age[source])
    if line.size == 0:
        return Outgrown(line, line)
    habit = source[line] * (int(age.max()) + 1) + age[line]
    _, start, group = np.unique(habit, return_index=True, return_inverse=True)
    now, root = line[start], source[line[start]]
    person = past.person[now]
    then, (liked, _, strength) = tastes.at(person, at_us[root])[0], tastes.held_at(person, at_us[now])
    was, holds = (taste_utility(domain, values, value, strength, item[root][:, None])[:, 0] for value in (then, liked))
    uniform = draws.uniform(f"{aspect} kept", past.who[root], past.key[root])
    line_goes = (uniform >= kept_share(was - holds))[group]
    line, root, liked = line[line_goes], source[line[line_goes]], liked[group[line_goes]]
    taste = np.zeros(line.size, np.int64)
    for column, spec in enumerate(domain.dimensions.values()):
        taste = taste * len(spec.values) + liked[:, column]
    order = np.lexsort((line, taste, root))
    opens = np.append(True, (np.diff(root[order]) != 0) | (np.diff(taste[order]) != 0))[: order.size]
    chooser = np.empty_like(line)
    chooser[order] = line[order][np.maximum.accumulate(np.where(opens, np.arange(order.size), 0))]
    return Outgrown(line, chooser)


def _changes_before(past: History, at_us: I64, tastes: EffectiveValues) -> I64:
    """(n,) how many changes of lasting values and of states the person has had up to each choice."""
    people = tastes.strength.shape[0]
    instants = np.concatenate([tastes.since.reshape(people, -1), tastes.state_from, tastes.state_to], axis=1)
    if at_us.size == 0:
        return np.zeros(0, np.int64)
    zero, end = int(at_us.min()), int(at_us.max())
    owner, place = np.nonzero((instants > zero) & (instants <= min(end, NEVER - 1)))
    reach = end - zero + 1
    stamp = np.sort(owner * reach + instants[owner, place] - zero)
    before = np.searchsorted(stamp, np.arange(people) * reach)
    return np.searchsorted(stamp, past.person * reach + at_us - zero, side="right") - before[past.person]
