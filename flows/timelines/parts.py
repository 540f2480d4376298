"""The one shape in which every mechanism gives its result: sessions with their lines, and what the lines hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws
from flows.common.pace import steps_us
from schemas.activities import TripActivity
from schemas.domain import Domain
from schemas.tables.fields import ACTIONS

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
PLACES = np.uint64(1024)
"""Keys of the lines of a session: session key times this, plus the line's place."""
SEARCH, CLOSE, REVIEW, BACK = 250, 251, 252, 253
"""Places of lines that are no choice; choices take 0 to 249."""
VIEW, COMPARE = 256, 512
"""Added to the place of a choice for lines that come before it: of the thing looked at, of things put side by side."""
NULL = -(2**62)
"""What stands in whole-number columns for null."""
SOURCES = ("self", "notification", "import")
ARRIVE = "arrive"
ASSISTANT = "assistant"
"""The name of the part and of the app of the talks with the assistant."""
ONE_LINE_SECONDS = 8.0
"""Median of the seconds from opening an app to the only line of a session: assumed."""
TRAVEL_MINUTES = 20.0
"""Median of the minutes under way in a domain that declares no trip: assumed."""


class Lines(NamedTuple):
    """Lines of sessions before their content, in order of session and time."""

    session: I64
    """(lines,) the session's row."""
    place: I64
    """(lines,) what stands there, as a number that is unique within the session."""
    after_us: I64
    """(lines,) microseconds since the session began."""
    step_us: I64
    """(lines,) microseconds since the line before, or since the session began."""


class Part(NamedTuple):
    """Sessions of one activity, or of the assistant, with their lines. ``domain`` counts the domains of the build."""

    name: str
    domain: I64
    person: I64
    key: U64
    start_us: I64
    length_us: I64
    lines: Lines
    is_pinned: bool = False
    """Whether the sessions are written by a device at a set time: they give way to others by moving back, not on."""

    @property
    def at_us(self) -> I64:
        """(lines,) when each line happens."""
        return self.start_us[self.lines.session] + self.lines.after_us

    def line_keys(self, line: I64) -> U64:
        """(n,) keys of some lines, by the key of the session and the place in it."""
        with np.errstate(over="ignore"):
            return self.key[self.lines.session[line]] * PLACES + self.lines.place[line].astype(np.uint64)


def part_of(
    name: str, domain: I64, person: I64, key: U64, start_us: I64, session: I64, place: I64, step_us: I64
) -> Part:
    """Sessions with their lines, given in order of session and time."""
    running = np.concatenate([[0], np.cumsum(step_us)])
    begin = np.searchsorted(session, np.arange(person.size + 1), side="left")
    after, length = running[1:] - running[begin][session], running[begin[1:]] - running[begin[:-1]]
    return Part(name, domain, person, key, start_us, length, Lines(session, place, after, step_us))


def skeleton(pieces: list[tuple[I64, I64]]) -> tuple[I64, I64]:
    """(lines,) sessions and places of lines, in order of both time and session.

    ``pieces`` are rows of sessions and the places of their lines, the kinds of lines in the order in which they happen;
    what comes before a choice stands in the piece of the choices.
    """
    session, place = (np.concatenate([piece[n] for piece in pieces]) for n in (0, 1))
    stage = np.repeat(np.arange(len(pieces)), [piece[0].size for piece in pieces])
    order = np.lexsort((-(place // VIEW), place % VIEW, stage, session))
    return session[order], place[order]


def together(one: Part, other: Part) -> Part:
    """The sessions of both, under the name of the first."""
    lines = zip(one.lines, other.lines._replace(session=other.lines.session + one.person.size), strict=True)
    return one._replace(
        domain=np.concatenate([one.domain, other.domain]),
        person=np.concatenate([one.person, other.person]),
        key=np.concatenate([one.key, other.key]),
        start_us=np.concatenate([one.start_us, other.start_us]),
        length_us=np.concatenate([one.length_us, other.length_us]),
        lines=Lines(*(np.concatenate(pair) for pair in lines)),
    )


def of_one_line(name: str, domain: int, person: I64, key: U64, start_us: I64, step_us: I64) -> Part:
    """Sessions of a single line each, at place 0."""
    every = np.arange(person.size)
    return part_of(name, np.full(person.size, domain), person, key, start_us, every, np.zeros_like(every), step_us)


def moved(part: Part, start_us: I64, keep: Mask) -> Part:
    """Of the part the sessions marked, beginning at other times. ``start_us`` is of all of them."""
    line = keep[part.lines.session]
    row = np.cumsum(keep) - 1
    lines = Lines(row[part.lines.session[line]], *(column[line] for column in part.lines[1:]))
    return part._replace(
        domain=part.domain[keep],
        person=part.person[keep],
        key=part.key[keep],
        start_us=start_us[keep],
        length_us=part.length_us[keep],
        lines=lines,
    )


def seconds_before(action: str, domain: Domain) -> float:
    """Median of the seconds before the only line of a session: of an arrival the way, else a moment."""
    if action != ARRIVE:
        return ONE_LINE_SECONDS
    trips = [one.travel_minutes for one in domain.activities.values() if isinstance(one, TripActivity)]
    return 60 * (trips[0] if trips else TRAVEL_MINUTES)


def step_before(aspect: str, action: str, domain: Domain, who: U64, key: U64, draws: Draws) -> I64:
    """(n,) microseconds before the only line of each session."""
    return steps_us(draws.uniform(f"{aspect} step", who, key), seconds_before(action, domain))


@dataclass(frozen=True)
class Content:
    """What the lines of a part hold. Whole-number columns have ``NULL`` or, for rows of things, -1 where there is nothing."""

    action: npt.NDArray[np.int8]
    """(lines,) codes of ``ACTIONS``."""
    item: I64
    """(lines,) rows of all things."""
    quantity: I64
    price_cents: I64
    stars: I64
    starts_us: I64
    ends_us: I64
    source: npt.NDArray[np.int8]
    """(lines,) codes of ``SOURCES``."""
    shown: I64
    """(choices,) lines that show options, rising."""
    options: I64
    """(choices, options) rows of all things, in the order shown."""
    driven: I64
    """(n,) lines that express a taste, rising."""
    drivers: I64
    """(n, dimensions) rows of the dispositions behind them."""
    counted: I64
    """(n,) lines with a series, rising."""
    series: I64
    """(n, 24)"""


def code_of(action: str) -> int:
    """The code of an action."""
    return ACTIONS.index(action)


def blank(lines: int, action: str, source: str = "self", **some: I64) -> Content:
    """Content of lines of one action that hold nothing but ``some``: of options, drivers and series, rows and values."""
    none, table = np.empty(0, np.int64), np.empty((0, 0), np.int64)
    few = {"shown": none, "options": table, "driven": none, "drivers": table, "counted": none, "series": table}
    return Content(
        action=np.full(lines, code_of(action), np.int8),
        item=np.full(lines, -1, np.int64),
        quantity=np.full(lines, NULL),
        price_cents=np.full(lines, NULL),
        stars=np.full(lines, NULL),
        starts_us=np.full(lines, NULL),
        ends_us=np.full(lines, NULL),
        source=np.full(lines, SOURCES.index(source), np.int8),
        **(few | some),
    )


def with_ways(part: Part, content: Content) -> Content:
    """The content, in which every arrival also tells when the way began and ended."""
    arrivals = np.flatnonzero(content.action == code_of(ARRIVE))
    at = part.at_us[arrivals]
    content.starts_us[arrivals] = at - part.lines.step_us[arrivals]
    content.ends_us[arrivals] = at
    return content
