"""What follows from the lines of a session and moves when lines are added: order, count and end."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.tables.core import Table, replaced, sort_rows


def presented(
    sessions: pa.Table, events: pa.Table, session_table: Table, event_table: Table
) -> tuple[pa.Table, pa.Table]:
    """Both tables sorted by their keys, with `seq`, `event_count` and `ended_at` set from the lines themselves.

    The end of a session is its last line; sessions without a line are dropped.
    """
    events = sort_rows(events, event_table)
    ids = pc.unique(events["session_id"])
    session = pc.index_in(events["session_id"], value_set=ids).to_numpy().astype(np.int64)
    at = events["at"].cast(pa.int64()).to_numpy()
    order = np.argsort(session, kind="stable")  # rows are in order of time already
    count = np.bincount(session, minlength=len(ids)).astype(np.int64)
    seq = np.empty(session.size, np.int32)
    seq[order] = np.arange(session.size) - np.repeat(np.cumsum(count) - count, count)
    events = replaced(events, {"seq": pa.array(seq)})
    last = at[order[np.cumsum(count) - 1]] if session.size else np.empty(0, np.int64)
    sessions = sessions.filter(pc.is_in(sessions["session_id"], value_set=ids))
    place = pc.index_in(sessions["session_id"], value_set=ids).to_numpy()
    made = {
        "ended_at": pa.array(last[place]).cast(session_table.columns["ended_at"].type),
        "event_count": pa.array(count[place].astype(np.int32)),
    }
    return session_table.conform(sort_rows(replaced(sessions, made), session_table)), event_table.conform(events)
