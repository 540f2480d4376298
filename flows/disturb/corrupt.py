"""Typos: the surface noise on what people type, laid on after everything has its words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import U64, Draws
from flows.common.ids import id_keys, opaque_ids, user_numbers
from schemas.tables import sort_rows
from schemas.tables.core import replaced
from schemas.tables.fields import NOISE_KINDS
from schemas.tables.sealed import EVENT_TRUTH, INJECTIONS
from schemas.tables.visible import EVENTS

KIND = "corrupt"
TYPED = ("say", "search", "review")
"""Actions whose text a person types."""
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
"""Rows of letters of the US layout, each about half a key to the right of the one above."""

U8 = npt.NDArray[np.uint8]


def _neighbours() -> tuple[U8, npt.NDArray[np.int64]]:
    """(256, 6) letters next to each letter on the keyboard, and (256,) how many; capitals beside capitals."""
    near: dict[str, list[str]] = {letter: [] for row in KEYBOARD for letter in row}
    pairs = [pair for row in KEYBOARD for pair in pairwise(row)]
    for upper, lower in pairwise(KEYBOARD):
        pairs += [(above, key) for place, key in enumerate(lower) for above in upper[place : place + 2]]
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    table = np.zeros((256, 6), np.uint8)
    count = np.zeros(256, np.int64)
    for letter, others in near.items():
        for change in (str.lower, str.upper):
            table[ord(change(letter)), : len(others)] = [ord(change(other)) for other in sorted(others)]
            count[ord(change(letter))] = len(others)
    return table, count


NEIGHBOURS, NEIGHBOUR_COUNT = _neighbours()


def corrupt(
    events: pa.Table, truth: pa.Table, ledger: pa.Table, rate: float, draws: Draws
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """`events`, `event_truth` and `injections`, with every letter mistyped with probability ``rate``.

    A mistyped letter becomes one of its neighbours on the keyboard, in searches, talks and reviews that users typed
    themselves. Whether a letter is hit and by what is drawn by (user, session, time, action, place in the text): a
    higher rate adds typos and takes none away, and a line logged twice has its typos twice. One ledger row tells of
    each damaged line, with its text before and after.

    A typo makes a line harder to read and not less true: ``noise_kind`` becomes `corrupt` where no kind earlier in the
    written order touched the line, and ``is_noise`` stays what it was.
    """
    actions = events["action"].to_numpy(zero_copy_only=False)
    typed = np.isin(actions, TYPED) & pc.is_valid(events["text"]).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(typed & (events["source"].to_numpy(zero_copy_only=False) == "self"))
    before = _flat(events["text"]).take(pa.array(rows))
    after, letters = mistyped(before, _line_keys(events.take(pa.array(rows)), draws), rate, draws)
    damaged = np.flatnonzero(letters)
    if damaged.size == 0:
        return EVENTS.conform(events), EVENT_TRUTH.conform(truth), INJECTIONS.conform(ledger)
    hit = pa.array(damaged)
    lines = events.take(pa.array(rows[damaged]))
    users = user_numbers(lines["user_id"])
    ids = opaque_ids(draws, "injection", users, draws.bits(KIND, id_keys(lines["event_id"])))
    new_rows = _ledger_rows(lines, ids, before.take(hit), after.take(hit), letters[damaged])
    place = np.arange(events.num_rows)
    place[rows] = events.num_rows + np.arange(rows.size)
    text = pa.concat_arrays([_flat(events["text"]), after]).take(pa.array(place))
    return (
        EVENTS.conform(replaced(events, {"text": text})),
        EVENT_TRUTH.conform(_marked(truth, _flat(lines["event_id"]), ids)),
        INJECTIONS.conform(sort_rows(pa.concat_tables([INJECTIONS.conform(ledger), new_rows]), INJECTIONS)),
    )


def mistyped(texts: pa.Array, lines: U64, rate: float, draws: Draws) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """(n,) texts without nulls, their keys → the texts with typos, and how many letters of each were hit.

    A letter is an ASCII letter, its place is counted in bytes of UTF-8; every text keeps its length.
    """
    wide = texts.cast(pa.large_string())
    size = len(wide)
    buffers = wide.buffers()
    if size == 0 or buffers[2] is None:
        return texts, np.zeros(size, np.int64)
    bounds = np.frombuffer(buffers[1], np.int64)[wide.offset : wide.offset + size + 1]
    data = np.frombuffer(buffers[2], np.uint8)[bounds[0] : bounds[-1]].copy()
    bounds = bounds - bounds[0]
    starts = bounds[:-1]
    letters = np.flatnonzero(NEIGHBOUR_COUNT[data] > 0)
    line = np.searchsorted(bounds[1:], letters, side="right")
    hit = draws.uniform("typo", lines[line], letters - starts[line]) < rate
    letters, line = letters[hit], line[hit]
    old = data[letters]
    choice = (draws.uniform("key", lines[line], letters - starts[line]) * NEIGHBOUR_COUNT[old]).astype(np.int64)
    data[letters] = NEIGHBOURS[old, np.minimum(choice, NEIGHBOUR_COUNT[old] - 1)]
    changed = pa.LargeStringArray.from_buffers(size, pa.py_buffer(bounds), pa.py_buffer(data))
    return changed.cast(pa.string()), np.bincount(line, minlength=size).astype(np.int64)


def _line_keys(events: pa.Table, draws: Draws) -> U64:
    """(n,) keys of lines, by user, session, time and action; a line and its copy share one."""
    sessions = id_keys(events["session_id"])
    at = events["at"].cast(pa.int64()).to_numpy().astype(np.uint64)
    actions = events["action"].to_numpy(zero_copy_only=False)
    keys = np.zeros(events.num_rows, np.uint64)
    for action in TYPED:
        rows = np.flatnonzero(actions == action)
        keys[rows] = draws.bits(f"{action} line", sessions[rows], at[rows])
    return keys


def _ledger_rows(
    lines: pa.Table, ids: pa.Array, before: pa.Array, after: pa.Array, letters: npt.NDArray[np.int64]
) -> pa.Table:
    """One row of `injections` a damaged line."""
    size = lines.num_rows
    events = _flat(lines["event_id"])
    return INJECTIONS.conform(
        pa.table(
            {
                "injection_id": ids,
                "user_id": lines["user_id"],
                "family": pa.repeat("noise", size),
                "kind": pa.repeat(KIND, size),
                "policy": pa.repeat("read_through", size),
                "is_contested": pa.repeat(False, size),
                "dimension": pa.nulls(size, pa.string()),
                "event_ids": pa.ListArray.from_arrays(pa.array(np.arange(size + 1, dtype=np.int32)), events),
                "before": before,
                "after": after,
                "onset_at": lines["at"],
                "ended_at": pa.nulls(size, lines["at"].type),
                "cause": pa.nulls(size, pa.string()),
                "parameters": pc.binary_join_element_wise('{"letters": ', pa.array(letters).cast(pa.string()), "}", ""),
            }
        )
    )


def _marked(truth: pa.Table, events: pa.Array, ids: pa.Array) -> pa.Table:
    """The truth with the ids appended to the ledger rows of those events, and the kind where it is the first."""
    found = pc.index_in(_flat(truth["event_id"]), value_set=events)
    touched = pc.is_valid(found)
    listed = _flat(truth["injection_ids"])
    counts = pc.list_value_length(listed).to_numpy().astype(np.int64)
    extra = touched.to_numpy(zero_copy_only=False).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(counts + extra)))
    old = pc.list_flatten(listed)
    source = np.full(int(offsets[-1]), -1, np.int64)
    last = offsets[1:][extra == 1] - 1
    source[last] = len(old) + found.drop_null().to_numpy().astype(np.int64)
    source[source < 0] = np.arange(len(old))
    values = pa.concat_arrays([old, ids.cast(old.type)]).take(pa.array(source))
    joined = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)
    later = pa.array(NOISE_KINDS[NOISE_KINDS.index(KIND) :], pa.string())
    is_first = pc.or_(pc.is_null(truth["noise_kind"]), pc.is_in(truth["noise_kind"], value_set=later))
    kind = pc.if_else(pc.and_(touched, is_first), KIND, truth["noise_kind"])
    return replaced(truth, {"injection_ids": joined, "noise_kind": kind})


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()
