"""What holds for a person at an instant: state over habit over trait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
NEVER = 2**62


@dataclass(frozen=True)
class EffectiveValues:
    """The dispositions of ``people`` (users or actors) over the dimensions of one domain, as arrays for lookup.

    ``since`` (people, dimensions, segments) start of each lasting value, ``NEVER`` padded; ``value`` and ``row`` of
    the same shape hold its code and its row in the dispositions table. ``state_*`` (people, dimensions) one passing
    state each. ``strength`` (people, dimensions).
    """

    since: I64
    value: I64
    row: I64
    state_from: I64
    state_to: I64
    state_value: I64
    state_row: I64
    strength: F64

    def at(self, person: I64, at_us: I64) -> tuple[I64, I64]:
        """(n,) people and instants → value codes (n, dimensions) and rows of the dispositions behind them."""
        value, row = self.lasting_at(person, at_us)
        active = (self.state_from[person] <= at_us[:, None]) & (at_us[:, None] < self.state_to[person])
        return np.where(active, self.state_value[person], value), np.where(active, self.state_row[person], row)

    def lasting_at(self, person: I64, at_us: I64) -> tuple[I64, I64]:
        """As ``at``, but without regard to passing states."""
        segment = (self.since[person] <= at_us[:, None, None]).sum(axis=2) - 1
        segment = np.maximum(segment, 0)[:, :, None]
        value = np.take_along_axis(self.value[person], segment, axis=2)[:, :, 0]
        return value, np.take_along_axis(self.row[person], segment, axis=2)[:, :, 0]

    def last_change(self, person: I64, at_us: I64, start_us: int) -> I64:
        """(n, dimensions) when the lasting value last changed, or the start of the window."""
        since = self.since[person]
        past = np.where(since <= at_us[:, None, None], since, start_us)
        return np.maximum(past.max(axis=2), start_us)


def effective_values(
    dispositions: pa.Table, people: pa.Array, person_column: str, dimensions: Mapping[str, Sequence[str]]
) -> EffectiveValues:
    """Arrays for lookup from the table. ``dimensions`` maps full names to their values in the order of the domain file.

    ``person_column`` is `actor_id`; people without a row for a dimension get value 0 and strength 0. Lasting rows of one
    person and dimension are taken to follow each other without a gap, so that each ends where the next begins.
    Raises ValueError for a value that its dimension does not have, and for a second state of one person and dimension.
    """
    names = list(dimensions)
    person = pc.index_in(dispositions[person_column], value_set=people)
    dimension = pc.index_in(dispositions["dimension"], value_set=pa.array(names))
    wanted = pc.and_(pc.is_valid(person), pc.is_valid(dimension))
    rows = np.flatnonzero(wanted.to_numpy(zero_copy_only=False))
    who = pc.fill_null(person, 0).to_numpy()[rows].astype(np.int64)
    what = pc.fill_null(dimension, 0).to_numpy()[rows].astype(np.int64)
    text = dispositions["value"].take(pa.array(rows))
    code = np.zeros(rows.size, np.int64)
    for place, name in enumerate(names):
        here = what == place
        found = pc.index_in(text.filter(pa.array(here)), value_set=pa.array(list(dimensions[name])))
        if found.null_count:
            raise ValueError(f"{name} has no value {text.filter(pa.array(here)).filter(pc.is_null(found))[0].as_py()}")
        code[here] = found.to_numpy()
    begins = dispositions["valid_from"].cast(pa.int64()).to_numpy()[rows]
    ends = pc.fill_null(dispositions["valid_to"].cast(pa.int64()), NEVER).to_numpy()[rows]
    passing = pc.equal(dispositions["clock"], "state").to_numpy()[rows]
    shape = (len(people), len(names))
    strength = np.zeros(shape)
    strength[who, what] = dispositions["strength"].to_numpy()[rows]

    if np.unique(who[passing] * len(names) + what[passing]).size < int(passing.sum()):
        raise ValueError("a person has two passing states in one dimension")

    def states(source: I64, blank: int) -> I64:
        target = np.full(shape, blank, np.int64)
        target[who[passing], what[passing]] = source[passing]
        return target

    lasting = np.flatnonzero(~passing)
    order = lasting[np.lexsort((begins[lasting], what[lasting], who[lasting]))]
    cell = who[order] * len(names) + what[order]
    rank = np.arange(order.size) - np.searchsorted(cell, cell, side="left")
    depth = int(rank.max(initial=0)) + 1

    def segments(source: I64, blank: int) -> I64:
        target = np.full((*shape, depth), blank, np.int64)
        target[who[order], what[order], rank] = source[order]
        return target

    return EffectiveValues(
        since=segments(begins, NEVER),
        value=segments(code, 0),
        row=segments(rows, 0),
        state_from=states(begins, NEVER),
        state_to=states(ends, NEVER),
        state_value=states(code, 0),
        state_row=states(rows, 0),
        strength=strength,
    )
