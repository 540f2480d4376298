"""What a session takes is taken once: who would take a thing again takes the next best of what is shown,
or comes back to something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.timelines.habits import History

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
ROUNDS = 12
"""In which choices give way, at the most; what still clashes then stays."""
TRIES = 24
"""Earlier choices that are considered in place of one that the session holds already, at the most."""


class Choices(NamedTuple):
    """Choices made among options; those that repeat one follow it by its position in the history."""

    position: I64
    """(m,) of each."""
    options: I64
    """(m, options)"""
    item: I64
    """(m,) what is taken."""


def kept_distinct(
    past: History, by: I64, made: Choices, worth: Callable[[I64, I64], F64], allows: Callable[[I64, I64], Mask | None]
) -> tuple[I64, Choices]:
    """Whose choice each position takes (n,), and the choices, such that no session takes a thing more than once.

    ``by`` (n,) is the position of the choice that each takes, its own if it chooses. Of those that take the same thing in
    a session, the first that comes back to it keeps it, or the first of all if none does. Others that chose take the best
    of their own screen, by ``worth`` of positions and their options, that the session does not hold; those that come back
    come back to another choice, if they can have it (``allows``, of positions and choices). Whoever comes back to a choice
    that gave way follows it.
    """
    session, is_open = past.session, np.ones(past.begins.size, bool)
    row = np.full(by.size, -1, np.int64)
    row[made.position] = np.arange(made.position.size)
    for _ in range(ROUNDS):
        line = np.flatnonzero(is_open[session])
        clashes, held = _clashing(session[line], made.item[row[by[line]]], by[line] == line)
        moves = line[clashes]
        if not moves.size:
            break
        chose = by[moves] == moves
        giving, again = moves[chose], moves[~chose]
        by, elsewhere = _turned_elsewhere(past, by, again, made.item[row[by]], held, allows)
        made, changed = _given_way(made, row[giving], session[giving], held, worth)
        # Only sessions in which something is taken otherwise now can clash again.
        moved = np.zeros(by.size, bool)
        moved[giving[changed]] = True
        is_open[:] = False
        is_open[session[moved[by]]] = True
        is_open[session[again[elsewhere]]] = True
    return by, made


class Held(NamedTuple):
    """What sessions hold, as rising keys: session times ``width`` plus item."""

    key: I64
    width: int

    def holds(self, session: I64, item: I64) -> Mask:
        """Whether each session holds each item; both of one shape."""
        wanted = session * self.width + item
        place = np.minimum(np.searchsorted(self.key, wanted), self.key.size - 1)
        known = item < self.width
        return np.asarray(known & (self.key[place] == wanted))


def _clashing(session: I64, item: I64, chose: Mask) -> tuple[I64, Held]:
    """Places of those that must take something else, rising, and what each session holds."""
    width = int(item.max()) + 1 if item.size else 1
    key = session * width + item
    in_order = np.sort(key)
    twins = np.unique(in_order[1:][in_order[1:] == in_order[:-1]])
    held = Held(in_order, width)
    if not twins.size:
        return np.empty(0, np.int64), held
    group = np.minimum(np.searchsorted(twins, key), twins.size - 1)
    place = np.flatnonzero(twins[group] == key)
    group = group[place]
    order = np.lexsort((place, chose[place], group))
    opens = np.append(True, np.diff(group[order]) != 0)
    return np.sort(place[order[~opens]]), held


def _given_way(
    made: Choices, row: I64, session: I64, held: Held, worth: Callable[[I64, I64], F64]
) -> tuple[Choices, Mask]:
    """The choices, of which those at ``row`` take the best of their screens that their session does not hold; and which
    of these found any."""
    if not row.size:
        return made, np.zeros(0, bool)
    options = made.options[row]
    is_free = ~held.holds(np.broadcast_to(session[:, None], options.shape), options)
    # Rounded, since a sum's last bits differ between processors.
    best = np.where(is_free, np.round(worth(made.position[row], options), 9), -np.inf).argmax(axis=1)
    found = np.asarray(is_free.any(axis=1))
    item = made.item.copy()
    item[row[found]] = options[found, best[found]]
    return made._replace(item=item), found


def _turned_elsewhere(
    past: History, by: I64, again: I64, item: I64, held: Held, allows: Callable[[I64, I64], Mask | None]
) -> tuple[I64, Mask]:
    """Whose choice each takes, of which those at ``again`` take that of the choice before the one they repeat, or before
    that, and so on round the person's earlier ones, until one is found that fits; and which of these found any."""
    turned, found = by, np.zeros(again.size, bool)
    if not again.size:
        return turned, found
    turned = by.copy()
    first, count = past.first[again], past.upto[again] - past.first[again]
    for step in range(1, TRIES + 1):
        other = by[first + (by[again] - first - step) % count]
        fits = ~found & ~held.holds(past.session[again], item[other])
        allowed = allows(again, other)
        fits = fits if allowed is None else fits & allowed
        turned[again[fits]] = other[fits]
        found |= fits
    return turned, found
