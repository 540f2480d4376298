"""All parts as one: numbers only, in the order of the tables that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.draws import key_of
from flows.common.stairs import in_time
from flows.timelines.arrivals import origins
from flows.timelines.parts import ARRIVE, Content, Part, code_of

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
PLAIN = ("action", "item", "quantity", "price_cents", "stars", "starts_us", "ends_us", "source")
"""Columns of the content that have a value for every line."""


class Whole(NamedTuple):
    """Sessions and their lines. ``part`` is the session's row in the parts, one behind the other."""

    person: I64
    key: U64
    """(sessions,) unique within the person, whatever the part."""
    domain: I64
    start_us: I64
    part: I64
    session: I64
    """(lines,)"""
    place: I64
    at_us: I64

    @property
    def line_person(self) -> I64:
        """(lines,) whose they are."""
        return self.person[self.session]

    @property
    def first(self) -> I64:
        """(sessions,) the first line of each, where lines are in order."""
        size = np.bincount(self.session, minlength=self.person.size)
        return np.asarray(np.cumsum(size) - size)


def whole_of(parts: Sequence[Part]) -> Whole:
    """The parts, one behind the other."""
    before = np.cumsum([0, *(part.person.size for part in parts)])
    with np.errstate(over="ignore"):
        keys = [part.key + np.uint64(key_of(part.name)) for part in parts]
    return Whole(
        np.concatenate([part.person for part in parts]),
        np.concatenate(keys),
        np.concatenate([part.domain for part in parts]),
        np.concatenate([part.start_us for part in parts]),
        np.arange(before[-1]),
        np.concatenate([part.lines.session + first for part, first in zip(parts, before[:-1], strict=True)]),
        np.concatenate([part.lines.place for part in parts]),
        np.concatenate([part.at_us for part in parts]),
    )


def joined(contents: Sequence[Content]) -> Content:
    """The content of all parts, one behind the other; ``drivers`` of several widths become one flat row."""
    before = np.cumsum([0, *(content.action.size for content in contents)])

    def rows(name: str) -> I64:
        return np.concatenate([getattr(c, name) + first for c, first in zip(contents, before[:-1], strict=True)])

    options = [content.options for content in contents if content.shown.size]
    series = [content.series for content in contents if content.counted.size]
    widths = np.concatenate([np.full(content.driven.size, content.drivers.shape[1]) for content in contents])
    return Content(
        **{name: np.concatenate([getattr(content, name) for content in contents]) for name in PLAIN},
        shown=rows("shown"),
        options=np.concatenate(options) if options else np.empty((0, 0), np.int64),
        driven=np.repeat(rows("driven"), widths),
        drivers=np.concatenate([content.drivers.ravel() for content in contents]),
        counted=rows("counted"),
        series=np.concatenate(series) if series else np.empty((0, 0), np.int64),
    )


def arrived(whole: Whole, content: Content, home: I64) -> tuple[I64, Mask]:
    """(lines,) the place from which each arrival comes, else -1; and whether the line's session leads anywhere new."""
    arrivals = np.flatnonzero(content.action == code_of(ARRIVE))
    before, leads_on = origins(whole.line_person[arrivals], whole.at_us[arrivals], content.item[arrivals], home)
    origin = np.full(whole.session.size, -1, np.int64)
    origin[arrivals] = before
    idle = np.zeros(whole.person.size, bool)
    idle[whole.session[arrivals[~leads_on]]] = True
    return origin, ~idle[whole.session]


def in_order(whole: Whole, content: Content, keep: Mask) -> tuple[Whole, Content, I64]:
    """Both with the lines marked only, by person and time, and where each line was before.

    Nothing of a person happens at the same time as anything else of theirs, so lines of a session stay together.
    """
    lines = np.flatnonzero(keep)
    lines = lines[in_time(whole.line_person[lines], whole.at_us[lines])]
    sessions = np.flatnonzero(np.bincount(whole.session[lines], minlength=whole.person.size))
    sessions = sessions[in_time(whole.person[sessions], whole.start_us[sessions])]
    row = np.empty(whole.person.size, np.int64)
    row[sessions] = np.arange(sessions.size)
    columns = {name: getattr(whole, name)[sessions] for name in ("person", "key", "domain", "start_us", "part")}
    ordered = Whole(**columns, session=row[whole.session[lines]], place=whole.place[lines], at_us=whole.at_us[lines])
    return ordered, _picked(content, lines), lines


def _picked(content: Content, lines: I64) -> Content:
    """The content of some lines, in the order given."""
    row = np.full(content.action.size, -1, np.int64)
    row[lines] = np.arange(lines.size)

    def picked(few: I64) -> tuple[I64, I64]:
        """Of lines with something of their own, those left, by their old place among these and by their new row."""
        place = row[few]
        kept = np.flatnonzero(place >= 0)
        kept = kept[np.argsort(place[kept], kind="stable")]
        return kept, place[kept]

    (options, shown), (drivers, driven), (series, counted) = (
        picked(few) for few in (content.shown, content.driven, content.counted)
    )
    return Content(
        **{name: getattr(content, name)[lines] for name in PLAIN},
        shown=shown,
        options=content.options[options],
        driven=driven,
        drivers=content.drivers[drivers],
        counted=counted,
        series=content.series[series],
    )
