"""One thing at a time: sessions moved so that no two of a person overlap, and cut where they do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import MINUTE, SECOND
from flows.common.stairs import in_time
from flows.timelines.parts import ASSISTANT, Part, moved
from flows.timelines.rhythm import is_on, is_within
from flows.timelines.setting import People, Span

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
PAUSE = 5 * SECOND
"""Between two sessions of one person, at the least."""

BACK_AT_MOST = 59 * MINUTE
"""How far a device's line may move back: what it says of a whole day cannot be written hours before the end of it."""


class Busy(NamedTuple):
    """Sessions that stand: whose, from when, until when."""

    person: I64
    start_us: I64
    end_us: I64


def settled(
    parts: list[Part], weekdays: Mapping[int, Sequence[str]], people: People, span: Span
) -> tuple[list[Part], list[Mask]]:
    """The parts with their final times, and which sessions of each are left.

    Sessions of people move on; then those that devices write move back into what is free. Sessions are cut that find
    no room, would outlast the window, begin outside it, or reach into a day on which their domain has none:
    ``weekdays`` by domain, where not all.
    """
    free = [place for place, part in enumerate(parts) if not part.is_pinned]
    starts = dict(zip(free, _moved_on([parts[place] for place in free]), strict=True))
    done: dict[int, Part] = {}
    kept: dict[int, Mask] = {}
    for place in [*free, *(place for place, part in enumerate(parts) if part.is_pinned)]:
        part = parts[place]
        start = _moved_back(part, list(done.values())) if part.is_pinned else starts[place]
        kept[place] = _fits(part, start, weekdays, people, span)
        done[place] = moved(part, start, kept[place])
    return [done[place] for place in range(len(parts))], [kept[place] for place in range(len(parts))]


def _moved_on(parts: Sequence[Part]) -> list[I64]:
    person, start, length = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("person", "start_us", "length_us")
    )
    starts = without_overlap(person, start, length, PAUSE)
    return np.split(starts, np.cumsum([part.person.size for part in parts])[:-1])


def _moved_back(part: Part, done: Sequence[Part]) -> I64:
    person, start, length = (
        np.concatenate([getattr(other, name) for other in done]) for name in ("person", "start_us", "length_us")
    )
    return earlier_gap(part.person, part.start_us, Busy(person, start, start + length), PAUSE)


def _fits(part: Part, start: I64, weekdays: Mapping[int, Sequence[str]], people: People, span: Span) -> Mask:
    end = start + part.length_us
    keep = is_within(start, part.person, people, span) & (end < span.end)
    keep &= part.start_us - start <= BACK_AT_MOST
    keep &= people.take_part(part.person, part.domain, start)
    for place, days in weekdays.items():
        if part.name == ASSISTANT:
            continue
        here = np.flatnonzero(part.domain == place)
        for moment in (start[here], end[here]):
            keep[here] &= is_on(days, moment, part.person[here], people, span)
    return keep


def without_overlap(person: I64, start_us: I64, length_us: I64, pause_us: int) -> I64:
    """Start times, each moved later just enough that no two sessions of a person overlap. Rows in any order.

    With c the running sum of lengths and pauses, start' − c is the running maximum of start − c.
    """
    if person.size == 0:
        return start_us.copy()
    order = in_time(person, start_us)
    who, begin, length = person[order], start_us[order], length_us[order] + pause_us
    total = np.cumsum(length) - length
    count = np.bincount(who)
    total -= total[np.minimum(np.cumsum(count) - count, who.size - 1)][who]
    free = begin - total
    free_from = int(free.min())
    # One running maximum for all people: each stands on a step of its own, higher than anything below it.
    step = _step(int(free.max()) - free_from + 1, int(who.max()))
    moved_to = np.maximum.accumulate(free - free_from + who * step) - who * step + free_from
    out = np.empty_like(start_us)
    out[order] = moved_to + total
    return out


def earlier_gap(person: I64, at_us: I64, busy: Busy, pause_us: int) -> I64:
    """(n,) instants moved back just enough to lie in no session of the person, nor within a pause of one.

    The sessions of a person do not overlap.
    """
    if person.size == 0 or busy.person.size == 0:
        return at_us.copy()
    order = in_time(busy.person, busy.start_us)
    who, begin, end = (column[order] for column in busy)
    first = min(int(begin.min()), int(at_us.min()))
    step = _step(max(int(begin.max()), int(at_us.max())) + pause_us - first + 1, int(max(who.max(), person.max())))
    stairs = begin - first + who * step
    out, left = at_us.copy(), np.arange(person.size)
    while left.size:
        last = np.searchsorted(stairs, out[left] + pause_us - first + person[left] * step, side="left") - 1
        clash = (last >= 0) & (who[last] == person[left]) & (end[last] + pause_us > out[left])
        left, last = left[clash], last[clash]
        out[left] = begin[last] - pause_us
    return out


def _step(height: int, people: int) -> int:
    if height * (people + 1) >= 2**62:
        raise ValueError("too many people in one shard for whole-number times; lower execution.shard_users")
    return height
