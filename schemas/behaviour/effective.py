"""What holds for a person at an instant: state over habit over trait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

    ``since`` (people, dimensions, segments) start of each lasting row, ``NEVER`` padded; ``value``, ``row`` and
    ``firmness`` of the same shape hold its code, its row in the dispositions table and its strength, ``changed`` when
    its value became what it is. ``depth`` (people,) the most segments that any dimension has. ``state_*``
    (people, dimensions) one passing state each.

    The segments of one number lie next to each other in memory: most people have few.
    """

    since: I64
    value: I64
    row: I64
    firmness: F64
    changed: I64
    depth: I64
    state_from: I64
    state_to: I64
    state_value: I64
    state_row: I64
    state_firmness: F64

    @property
    def strength(self) -> F64:
        """(people, dimensions) the strength of what each begins with; 0 where there is nothing."""
        return self.firmness[:, :, 0]

    def at(self, person: I64, at_us: I64) -> tuple[I64, I64]:
        """(n,) people and instants → value codes (n, dimensions) and rows of the dispositions behind them."""
        value, row, _ = self.held_at(person, at_us)
        return value, row

    def held_at(self, person: I64, at_us: I64) -> tuple[I64, I64, F64]:
        """As ``at``, with the strengths (n, dimensions) of the dispositions."""
        place = self._places(person, at_us)
        at = at_us[:, None]
        value, row, firmness = (_flat(part)[place] for part in (self.value, self.row, self.firmness))
        active = (self.state_from[person] <= at) & (at < self.state_to[person])
        line, dimension = np.nonzero(active)  # few: most people are in no state most of the time
        who = person[line]
        value[line, dimension] = self.state_value[who, dimension]
        row[line, dimension] = self.state_row[who, dimension]
        firmness[line, dimension] = self.state_firmness[who, dimension]
        return value, row, firmness

    def lasting_at(self, person: I64, at_us: I64) -> tuple[I64, I64]:
        """As ``at``, but without regard to passing states."""
        place = self._places(person, at_us)
        return _flat(self.value)[place], _flat(self.row)[place]

    def last_change(self, person: I64, at_us: I64, start_us: int) -> I64:
        """(n, dimensions) when the lasting value last changed, or the start of the window.

        A row that differs from the one before in strength only is no change.
        """
        changed = _flat(self.changed)[self._places(person, at_us)]
        return np.asarray(np.maximum(np.where(changed <= at_us[:, None], changed, start_us), start_us))

    def _places(self, person: I64, at_us: I64) -> I64:
        """(n, dimensions) places, in the flat arrays, of the last segment that has begun, or of the first."""
        people, dimensions, segments = self.since.shape
        place = person[:, None] * dimensions + np.arange(dimensions)
        here = np.arange(person.size)
        for segment in range(1, segments):
            here = here[self.depth[person[here]] > segment]
            begun = self.since[:, :, segment][person[here]] <= at_us[here, None]
            place[here] += begun * (people * dimensions)
        return place


def _flat(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(segments times people times dimensions,) the same memory."""
    return np.moveaxis(array, 2, 0).reshape(-1)


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
    strength = dispositions["strength"].to_numpy()[rows]
    shape = (len(people), len(names))

    if np.unique(who[passing] * len(names) + what[passing]).size < int(passing.sum()):
        raise ValueError("a person has two passing states in one dimension")

    def states(source: npt.NDArray[Any], blank: float) -> npt.NDArray[Any]:
        target = np.full(shape, blank, source.dtype)
        target[who[passing], what[passing]] = source[passing]
        return target

    lasting = np.flatnonzero(~passing)
    order = lasting[np.lexsort((begins[lasting], what[lasting], who[lasting]))]
    cell = who[order] * len(names) + what[order]
    rank = np.arange(order.size) - np.searchsorted(cell, cell, side="left")
    depth = np.zeros(shape[0], np.int64)
    np.maximum.at(depth, who[order], rank + 1)
    size = max(int(depth.max(initial=0)), 1)

    def segments(source: npt.NDArray[Any], blank: float) -> npt.NDArray[Any]:
        """(people, dimensions, segments) of what is in the order of the lasting rows."""
        target = np.full((size, *shape), blank, source.dtype)
        target[rank, who[order], what[order]] = source
        return np.moveaxis(target, 0, 2)

    is_same = np.zeros(order.size, bool)
    is_same[1:] = (cell[1:] == cell[:-1]) & (code[order][1:] == code[order][:-1])
    changed = begins[order][np.maximum.accumulate(np.where(is_same, 0, np.arange(order.size)))]
    return EffectiveValues(
        since=segments(begins[order], NEVER),
        value=segments(code[order], 0),
        row=segments(rows[order], 0),
        firmness=segments(strength[order], 0.0),
        changed=segments(changed, NEVER),
        depth=depth,
        state_from=states(begins, NEVER),
        state_to=states(ends, NEVER),
        state_value=states(code, 0),
        state_row=states(rows, 0),
        state_firmness=states(strength, 0.0),
    )
