"""Swap groups: four users for whom four different options of one menu are right.

A release-level step: contrasts and candidates are taken in the order of keyed hashes, so that the same candidates give
the same groups whatever the order they arrive in.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws, key_of, keys_of
from flows.common.ids import user_numbers
from flows.common.splits import split_of
from flows.tasks.menus import Contrast, Menu
from flows.tasks.secrecy import Shown
from schemas.config import DataConfig
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
MEMBERS = 4


class Pool(NamedTuple):
    """The candidates of one domain as arrays: C candidates, D dimensions, V values of the largest dimension."""

    candidate_id: list[str]
    user: list[str]
    split: list[str]
    row: I64
    """(C,) first of the candidate's D rows in the table."""
    true: I64
    """(C, D) codes of the true values."""
    belief: F64
    """(C, D, V) padded with zeros."""
    order: npt.NDArray[np.uint64]
    """(C,) keyed hash, by which candidates are taken."""

    def p_true(self) -> F64:
        return np.take_along_axis(self.belief, self.true[:, :, None], axis=2)[:, :, 0]


class Group(NamedTuple):
    """Four members, in the order of the combinations of the contrast, and their common menu."""

    group_id: str
    contrast: Contrast
    menu: Menu
    members: tuple[int, ...]
    p_decision: tuple[float, ...]


@dataclass
class Selection:
    """What has been chosen so far."""

    groups: list[Group] = field(default_factory=list)
    uses: Counter[int] = field(default_factory=Counter)
    undecided: set[int] = field(default_factory=set)
    """Candidates that stood in a group whose decision was not determined."""
    shown: defaultdict[str, Shown] = field(default_factory=lambda: defaultdict(Shown))
    """What each user's menus show."""

    def add(self, group: Group, pool: Pool) -> None:
        """Takes the group in."""
        self.groups.append(group)
        self.uses.update(group.members)
        for member in group.members:
            shown = self.shown[pool.user[member]].with_menu(group.contrast)
            if shown is None:
                raise ValueError(f"the menus of {pool.user[member]} would tell together what each keeps to itself")
            self.shown[pool.user[member]] = shown


def pool_of(candidates: pa.Table, domain: Domain, data: DataConfig, draws: Draws) -> Pool:
    """The pool of one domain from the table `candidates`, whose rows are sorted by user, candidate and dimension."""
    names = domain.value_names()
    place = np.flatnonzero(np.array(candidates["domain"].to_pylist(), dtype=object) == domain.name)
    own = candidates.take(pa.array(place))
    by_name = sorted(
        range(len(names)), key=list(names).__getitem__
    )  # rows of a candidate come in the order of the names
    ids = own["candidate_id"].to_pylist()[:: len(names)]
    users = own["user_id"].to_pylist()[:: len(names)]
    size, width = len(ids), max(len(v) for v in names.values())
    true = np.zeros((size, len(names)), np.int64)
    belief = np.zeros((size, len(names), width))
    for nth, column in enumerate(by_name):
        values = list(names.values())[column]
        here = own.take(pa.array(np.arange(nth, own.num_rows, len(names))))
        true[:, column] = [values.index(v) for v in here["value"].to_pylist()]
        belief[:, column, : len(values)] = np.array(here["belief"].to_pylist()).reshape(size, len(values))
    splits = split_of(user_numbers(pa.array(users, pa.string())), data).tolist() if size else []
    keys = draws.bits("candidate order", keys_of(ids))
    return Pool(ids, users, splits, place[:: len(names)], true, belief, keys)


def contrasts(
    pool: Pool, domain: Domain, able: npt.NDArray[np.bool_], constraints: int
) -> Iterator[tuple[Contrast, str, tuple[list[int], ...]]]:
    """Every contrast of so many dimensions for which each of the four options is right for some able candidate.

    Gives the contrast, the split, and for each option the candidates, by keyed hash.
    """
    for columns in itertools.combinations(range(pool.true.shape[1]), constraints):
        buckets: dict[tuple[str, tuple[int, ...]], list[int]] = {}
        able_here = np.flatnonzero(able[:, columns].all(axis=1))
        for row in able_here[np.argsort(pool.order[able_here], kind="stable")].tolist():
            buckets.setdefault((pool.split[row], tuple(pool.true[row, list(columns)].tolist())), []).append(row)
        sizes = [len(spec.values) for place, spec in enumerate(domain.dimensions.values()) if place in columns]
        pairs = [list(itertools.combinations(range(size), 2)) for size in sizes]
        for split in sorted({key[0] for key in buckets}):
            for chosen in itertools.product(*pairs):
                for half in range(2 if constraints == 3 else 1):
                    contrast = Contrast(domain.name, columns, chosen, half)
                    wanted = [(split, tuple(option)) for option in contrast.options().tolist()]
                    if all(key in buckets for key in wanted):
                        yield contrast, split, tuple(buckets[key] for key in wanted)


def twos_beside(threes: int, share: float) -> int:
    """How many groups of two constraints may stand beside those of three so that they are no more than their share."""
    return math.floor(round(threes * share / (1 - share), 6))


def select(
    pool: Pool,
    domain: Domain,
    data: DataConfig,
    draws: Draws,
    chosen: Selection,
    menu_of: Callable[[Contrast, int], Menu | None],
    decide: Callable[[Contrast, Menu, list[int]], F64],
) -> Selection:
    """Groups of the domain up to the quota: with three constraints first, then with two up to their share.

    ``decide`` gives the probability that each member's own option is best for them.
    """
    config = data.tasks
    able = pool.p_true() >= config.act_at_least
    for constraints in (3, 2):
        quota = config.groups_per_domain - len(chosen.groups)
        if constraints == 2:
            quota = min(quota, twos_beside(len(chosen.groups), config.two_constraint_share))
        found = [
            (draws.bits("contrast order", contrast.key())[()], contrast, buckets)
            for contrast, _, buckets in contrasts(pool, domain, able, constraints)
        ]
        found.sort(key=lambda entry: int(entry[0]))
        made = len(chosen.groups)
        turn = 0
        while found and len(chosen.groups) - made < quota:
            left = []
            for order, contrast, buckets in found:
                if len(chosen.groups) - made >= quota:
                    break
                group = _next_group(contrast, buckets, turn, pool, data, draws, chosen, menu_of, decide)
                if group is not None:
                    chosen.add(group, pool)
                    left.append((order, contrast, buckets))
            found = left
            turn += 1
    return chosen


def _next_group(
    contrast: Contrast,
    buckets: tuple[list[int], ...],
    turn: int,
    pool: Pool,
    data: DataConfig,
    draws: Draws,
    chosen: Selection,
    menu_of: Callable[[Contrast, int], Menu | None],
    decide: Callable[[Contrast, Menu, list[int]], F64],
) -> Group | None:
    """The first four free candidates of different users whose decisions are all determined, or None."""
    refused: set[int] = set()
    while True:
        members: list[int] = []
        for bucket in buckets:
            taken = {pool.user[m] for m in members}
            free = (
                r
                for r in bucket
                if chosen.uses[r] < data.tasks.tasks_per_candidate and r not in refused and pool.user[r] not in taken
            )
            pick = next((r for r in free if chosen.shown[pool.user[r]].with_menu(contrast) is not None), None)
            if pick is None:
                return None
            members.append(pick)
        key = key_of("group", contrast.key(), turn, *(pool.candidate_id[m] for m in members))
        menu = menu_of(contrast, key)
        if menu is None:
            return None
        p_decision = decide(contrast, menu, members)
        weak = [m for m, p in zip(members, p_decision.tolist(), strict=True) if p < data.tasks.act_at_least]
        if not weak:
            return Group(f"g-{key:016x}", contrast, menu, tuple(members), tuple(p_decision.tolist()))
        refused.update(weak)
        chosen.undecided.update(weak)
