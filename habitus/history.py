"""What may be known of a user at an instant: the one place that decides what is already there and what is not yet."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

View = Literal["natural", "structured"]
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True)
class History:
    """The visible past of one task's user. ``item_attributes`` is there in the structured view only."""

    task_id: str
    user_id: str
    asked_at: dt.datetime
    view: View
    sessions: pa.Table
    events: pa.Table
    items: pa.Table
    item_attributes: pa.Table | None


def parse_window(window: str | dt.timedelta | None) -> dt.timedelta | None:
    """The length of the window; ValueError for what is no positive length."""
    if isinstance(window, str):
        found = re.fullmatch(r"([0-9]+)([hdw])", window)
        if found is None:
            raise ValueError(f"window is {window!r}; must be a number and h, d or w, such as '90d', or a timedelta")
        window = dt.timedelta(**{_UNITS[found[2]]: int(found[1])})
    if window is not None and window <= dt.timedelta(0):
        raise ValueError(f"window is {window}; must be longer than nothing")
    return window


def build_history(
    task: Mapping[str, Any],
    view: View,
    window: dt.timedelta | None,
    sessions: pa.Table,
    events: pa.Table,
    items: pa.Table,
    item_attributes: pa.Table | None,
) -> History:
    """The history of the task, from all rows of its user.

    A line counts if it happened and was logged before the task is put, both strictly, and not before the window begins.
    """
    asked = task["asked_at"]
    instant = pa.scalar(asked, pa.timestamp("us", tz="UTC"))
    known = pc.and_(pc.less(events["at"], instant), pc.less(events["logged_at"], instant))
    if window is not None:
        begin = pa.scalar(asked - window, pa.timestamp("us", tz="UTC"))
        known = pc.and_(known, pc.greater_equal(events["at"], begin))
    visible = events.filter(known)
    seen = _cut_sessions(sessions, visible, instant)
    return History(str(task["task_id"]), str(task["user_id"]), asked, view, seen, visible, items, item_attributes)


def _cut_sessions(sessions: pa.Table, visible: pa.Table, instant: pa.Scalar) -> pa.Table:
    """Sessions with at least one visible line, as they stood at the instant.

    `event_count` counts the visible lines. `ended_at` is that of the last visible line where the session still went on
    or lines of it are not there yet: the true end would tell of them.
    """
    seen = visible.group_by("session_id", use_threads=False).aggregate([("at", "max"), ([], "count_all")])
    place = pc.index_in(sessions["session_id"], value_set=seen["session_id"].combine_chunks())
    kept = sessions.filter(pc.is_valid(place))
    place = pc.drop_null(place)
    count = pc.cast(pc.take(seen["count_all"], place), kept.schema.field("event_count").type)
    last = pc.take(seen["at_max"], place)
    is_whole = pc.and_(pc.equal(count, kept["event_count"]), pc.less(kept["ended_at"], instant))
    ended = pc.if_else(is_whole, kept["ended_at"], last)
    for name, column in (("event_count", count), ("ended_at", ended)):
        number = kept.schema.get_field_index(name)
        kept = kept.set_column(number, kept.schema.field(number), column)
    return kept
