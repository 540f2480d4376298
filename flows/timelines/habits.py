"""To what people come back: for every choice of an activity, the earlier choice that it repeats, if it repeats one.

A choice is new or points back to one of an earlier session of the same person; chains of pointers end at the choice that
was new. So copying needs no loop over events: a few rounds of look-ups settle all people at once.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from flows.common.clock import SECOND
from flows.common.draws import Draws, normal
from flows.common.stairs import in_time
from flows.timelines.parts import Part
from flows.timelines.setting import People
from schemas.activities import Habit, Returns
from schemas.behaviour.habit import explorers, lag_seconds, new_share

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
TRIES = 12
"""Returns tried before a choice is a new one: the thing may be taken in that session already, or not be had at that hour."""
_FINE = 2.0**20
"""The first twenty bits of a uniform say which session one returns to, the others which choice in it."""


class History(NamedTuple):
    """The choices of one activity by person and time; positions below are places in this order."""

    line: I64
    """(n,) rows of the part's lines."""
    person: I64
    who: U64
    """(n,) numbers of the people, for draws; and keys of the lines within the person."""
    key: U64
    session: I64
    """(n,) sessions, counted in this order."""
    first: I64
    """(n,) position of the person's first choice."""
    upto: I64
    """(n,) position of the first choice of the session: those from ``first`` to before it are of earlier ones."""
    begins: I64
    """(sessions,) position of the first choice of each."""
    start_s: I64
    """(sessions,) whole seconds at which each begins."""
    goes_on: I64
    """Positions of choices that cannot repeat the one before: of who goes on from there to somewhere else."""

    @property
    def every(self) -> I64:
        """(n,) all positions."""
        return np.arange(self.line.size)


class Shelves(Protocol):
    """From which categories things come, and whether they can be had."""

    def drawn(self, position: I64) -> I64:
        """(m,) categories for choices at these positions, among those that can be had."""

    def allows(self, position: I64, category: I64) -> Mask | None:
        """(m,) whether things of these categories can be had there and then; None if everything always can."""


class Recall(NamedTuple):
    """``source`` (n,) position of the choice that each repeats, its own if it is new; ``category`` (n,)."""

    source: I64
    category: I64


def history_of(part: Part, line: I64, people: People, goes_on: Mask | None = None) -> History:
    """Some lines of a part, given as rising rows. What happens at one instant goes by its key.

    ``goes_on`` (sessions,) marks those that cannot begin with what the person took last before.
    """
    of = part.lines.session[line]
    count = np.bincount(of, minlength=part.person.size)
    begin = np.cumsum(count) - count
    sessions = _one_after_another(part)
    sessions = sessions[count[sessions] > 0]
    size, owner = count[sessions], part.person[sessions]
    begins = np.cumsum(size) - size
    row = np.repeat(begin[sessions] - begins, size) + np.arange(line.size)
    opens = np.append(True, owner[1:] != owner[:-1])[: owner.size]
    first = begins[np.maximum.accumulate(np.where(opens, np.arange(owner.size), 0))]
    person = np.repeat(owner, size)
    return History(
        line[row],
        person,
        people.numbers[person],
        part.line_keys(line[row]),
        np.repeat(np.arange(owner.size), size),
        np.repeat(first, size),
        np.repeat(begins, size),
        begins,
        part.start_us[sessions] // SECOND,
        begins[:0] if goes_on is None else begins[goes_on[sessions] & ~opens],
    )


def _one_after_another(part: Part) -> I64:
    """(sessions,) their order by person, time and key."""
    order = in_time(part.person, part.start_us)
    person, start = part.person[order], part.start_us[order]
    if ((person[1:] == person[:-1]) & (start[1:] == start[:-1])).any():
        return np.lexsort((part.key, part.start_us, part.person))
    return order


def recalled(past: History, habit: Habit | None, shelves: Shelves, aspect: str, draws: Draws) -> Recall:
    """What each choice repeats: nothing that cannot be had there and then, nor, unless the habit allows it, the same as
    another choice of the session."""
    every = past.every
    if habit is None:
        return Recall(every, shelves.drawn(every))
    source = _pointers(past, habit, f"{aspect} habit", draws)
    kin = every if habit.categories is None else _pointers(past, habit.categories, f"{aspect} category habit", draws)
    own, found, attempt = np.full(every.size, -1, np.int64), Recall(every.copy(), every.copy()), 0
    left = every  # the choices of people of whom some do not fit yet
    while left.size:
        root, attempt = ends(source), attempt + 1
        top = ends(np.where(source == past.every, kin, source))
        bare = top[own[top] < 0]
        own[bare] = shelves.drawn(left[bare])
        found.source[left], found.category[left] = left[root], own[top]
        allowed = shelves.allows(left, own[top])
        unfit = np.flatnonzero(~allowed) if allowed is not None else left[:0]
        kin = _without(kin, unfit[source[unfit] == unfit])
        is_wrong = _broken(past, root, habit, attempt)
        is_wrong[unfit[source[unfit] != unfit]] = True
        wrong = np.flatnonzero(is_wrong)
        again = wrong if attempt >= TRIES else _earlier(past, wrong, habit, f"{aspect} habit", attempt, draws)
        source = source.copy()
        source[wrong] = again
        is_wrong[unfit] = True
        busy = np.zeros(int(past.person.max()) + 1, bool)
        busy[past.person[is_wrong]] = True
        some = busy[past.person]
        row, kept = np.cumsum(some) - 1, np.flatnonzero(some)
        left, own, source, kin, past = left[kept], own[kept], row[source[kept]], row[kin[kept]], _of(past, some)
    return found


def _broken(past: History, root: I64, habit: Habit, attempt: int) -> Mask:
    """(n,) whether each choice repeats what it must not, by what was taken before."""
    is_broken = np.zeros(root.size, bool)
    is_broken[past.goes_on[root[past.goes_on] == root[past.goes_on - 1]]] = True
    if not habit.twice:
        is_broken[_repeated(past, root)] = True
    if attempt < TRIES and habit.rest_hours > 0:
        is_broken[_too_soon(past, root, round(habit.rest_hours * 3600))] = True
    return is_broken


def _of(past: History, some: Mask) -> History:
    """The choices of some people, who have all of theirs or none marked."""
    row, kept, has = np.cumsum(some) - 1, np.flatnonzero(some), some[past.begins]
    return History(
        past.line[kept],
        past.person[kept],
        past.who[kept],
        past.key[kept],
        (np.cumsum(has) - 1)[past.session[kept]],
        row[past.first[kept]],
        row[past.upto[kept]],
        row[past.begins[has]],
        past.start_s[has],
        row[past.goes_on[some[past.goes_on]]],
    )


def ends(to: I64) -> I64:
    """(n,) where chains of pointers end, by doubling the step each round. Who points to itself is an end."""
    while True:
        further = to[to]
        if np.array_equal(further, to):
            return to
        to = further


def _pointers(past: History, returns: Returns, aspect: str, draws: Draws) -> I64:
    """(n,) an earlier position for each choice that repeats one, its own for those that are new."""
    every = past.every
    opens = np.flatnonzero(past.first == every)
    eager = explorers(normal(draws.uniform(f"{aspect} eagerness", past.who[opens])), returns.new, returns.new_between)
    share = new_share(every - past.first, np.repeat(eager, np.diff(opens, append=every.size)), returns.decay)
    back = np.flatnonzero((draws.uniform(f"{aspect} new", past.who, past.key) >= share) & (past.upto > past.first))
    every[back] = _earlier(past, back, returns, aspect, 0, draws)
    return every


def _earlier(past: History, position: I64, returns: Returns, aspect: str, attempt: int, draws: Draws) -> I64:
    """(m,) for each position one of an earlier session of the same person: by time, or any."""
    with np.errstate(over="ignore"):
        key = past.key[position] * np.uint64(TRIES) + np.uint64(attempt)
    uniform = draws.uniform(aspect, past.who[position], key)
    first, upto = past.first[position], past.upto[position]
    by_time = np.flatnonzero(uniform < returns.recent)
    rest = (uniform - returns.recent) / max(1 - returns.recent, 2.0**-20)
    found = first + np.minimum((np.maximum(rest, 0) * (upto - first)).astype(np.int64), upto - first - 1)
    if by_time.size:
        found[by_time] = _long_ago(past, position[by_time], uniform[by_time], returns)
    return found


def _long_ago(past: History, position: I64, uniform: F64, returns: Returns) -> I64:
    """(m,) for each a choice of the session that lies nearest to a drawn time before its own; any, if that is too long ago."""
    coarse = np.floor(uniform * _FINE)
    part = np.minimum(
        (coarse + 0.5) / (_FINE * returns.recent), 1 - 0.5 / _FINE
    )  # the last step reaches past the share
    lag = lag_seconds(normal(part), returns.lag_days, returns.lag_spread)
    session = past.session[position]
    lowest, highest = past.session[past.first[position]], session - 1
    zero = int(past.start_s.min())
    reach = int(past.start_s.max()) - zero + 1
    stamp = past.person[past.begins] * reach + past.start_s - zero
    wanted = np.maximum(stamp[session] - lag, past.person[position] * reach - 1)
    after = np.searchsorted(stamp, wanted)
    before, after = np.clip(after - 1, lowest, highest), np.clip(after, lowest, highest)
    chosen = np.where(wanted - stamp[before] <= stamp[after] - wanted, before, after)
    too_long = wanted < stamp[lowest]
    low = np.where(too_long, past.first[position], past.begins[chosen])
    high = np.where(too_long, past.upto[position], np.append(past.begins, past.line.size)[chosen + 1])
    return low + ((uniform * _FINE - coarse) * (high - low)).astype(np.int64)


def _repeated(past: History, root: I64) -> I64:
    """Positions of choices that repeat what an earlier one of the session repeats."""
    if past.line.size == past.begins.size:
        return past.begins[:0]
    place = past.every - past.upto
    width = int(place.max()) + 1
    longest = int((root - past.first).max()) + 1
    with_place = np.sort((past.session * longest + root - past.first) * width + place)
    group = with_place // width
    twice = with_place[1:][group[1:] == group[:-1]]
    return past.begins[twice // (width * longest)] + twice % width


def _too_soon(past: History, root: I64, rest_s: int) -> I64:
    """Positions of choices that repeat what was repeated or chosen less than ``rest_s`` seconds before."""
    size = root.size
    by_root = np.sort(root * size + past.every)
    position, of = by_root % max(1, size), by_root // max(1, size)
    at_s = past.start_s[past.session[position]]
    return position[1:][(of[1:] == of[:-1]) & (np.diff(at_s) < rest_s)]


def _without(pointers: I64, position: I64) -> I64:
    """The pointers, of which some are given up."""
    if position.size == 0:
        return pointers
    pointers = pointers.copy()
    pointers[position] = position
    return pointers
