"""Rows of `dispositions`, in the order of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws, key_of
from flows.common.ids import id_bits, ids_of, user_ids_of
from schemas.behaviour.choice import match_table, value_weights
from schemas.domain import DimensionSpec
from schemas.life_events import LifeEvents
from schemas.tables.sealed import DISPOSITIONS

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
NO_END = -1
NO_CAUSE = -1
PASSING = "passing state"
"""The cause of a state that comes of itself."""
SLOW, SEASONAL = "slow change", "season"
"""The causes of what gives way to another taste over weeks, and of what comes back every year."""


class Piece(NamedTuple):
    """Rows of the table before ids and text. ``person`` counts whatever ``of`` names: users themselves, or others."""

    person: I64
    dimension: I64
    value: I64
    strength: F64
    begins: I64
    ends: I64
    """``NO_END`` where it lasts."""
    clock: str
    cause: I64
    """Places among ``causes``; ``NO_CAUSE`` where there is none."""
    key: U64
    of: str


class Holders(NamedTuple):
    """Those whom the persons of pieces are: their actors, and the numbers of the users they belong to."""

    actor_ids: pa.Array
    users: U64


def causes(life: LifeEvents) -> list[str]:
    """What can be the cause of a disposition."""
    return [*life.events, PASSING, SLOW, SEASONAL]


def no_cause(count: int) -> I64:
    """(count,) no cause."""
    return np.full(count, NO_CAUSE, np.int64)


def disposition_keys(dimension: str, count: int) -> U64:
    """(count,) the key of what people begin with in the dimension."""
    return np.full(count, key_of("disposition", dimension), np.uint64)


def disposition_rows(
    pieces: Sequence[Piece],
    dimensions: Mapping[str, DimensionSpec],
    holders: Mapping[str, Holders],
    draws: Draws,
    life: LifeEvents,
) -> pa.Table:
    """The pieces as rows of the table, sorted. ``holders`` by what pieces say they are ``of``.

    Numbers are put in order before any text is made of them: texts and lists are slow to move.
    """
    first = dict(zip(holders, np.cumsum([0, *(own.users.size for own in holders.values())]), strict=False))
    users = np.concatenate([own.users for own in holders.values()])
    clocks = list(dict.fromkeys(piece.clock for piece in pieces))
    holder = np.concatenate([piece.person + first[piece.of] for piece in pieces])
    user = users[holder]
    bits = np.empty(holder.size, np.uint64)
    own = np.concatenate([np.full(piece.person.size, list(holders).index(piece.of)) for piece in pieces])
    key = np.concatenate([piece.key for piece in pieces])
    for place, name in enumerate(holders):
        here = np.flatnonzero(own == place)
        bits[here] = id_bits(draws, f"disposition of {name}", user[here], key[here])
    order = np.lexsort((bits, user))
    clock = np.concatenate([np.full(piece.person.size, clocks.index(piece.clock)) for piece in pieces])[order]
    dimension, value, strength, begins, ends, cause = (
        np.concatenate([getattr(piece, name) for piece in pieces])[order]
        for name in ("dimension", "value", "strength", "begins", "ends", "cause")
    )
    holder, user, bits = holder[order], user[order], bits[order]
    columns = DISPOSITIONS.columns
    values, starts = values_of(dimensions)
    return pa.table(
        {
            "disposition_id": ids_of("disposition", user, bits),
            "user_id": user_ids_of(user),
            "actor_id": pa.concat_arrays([own.actor_ids for own in holders.values()]).take(pa.array(holder)),
            "dimension": pa.array(list(dimensions), pa.string()).take(pa.array(dimension)),
            "value": values.take(pa.array(starts[dimension] + value)),
            "weights": _weights(dimensions, dimension, value, strength),
            "strength": pa.array(strength, pa.float64()),
            "clock": pa.array(clocks, pa.string()).take(pa.array(clock)),
            "valid_from": pa.array(begins).cast(columns["valid_from"].type),
            "valid_to": pa.array(ends, mask=ends == NO_END).cast(columns["valid_to"].type),
            "condition": pa.nulls(holder.size, pa.string()),
            "cause": pa.array(causes(life), pa.string()).take(pa.array(cause, mask=cause == NO_CAUSE)),
            "is_sensitive": pa.array(_is_sensitive(dimensions, dimension, cause, life)),
        },
        schema=DISPOSITIONS.schema(),
    )


def values_of(dimensions: Mapping[str, DimensionSpec]) -> tuple[pa.Array, I64]:
    """The values of all dimensions one behind the other, and where those of each begin."""
    sizes = [len(spec.values) for spec in dimensions.values()]
    texts = [value for spec in dimensions.values() for value in spec.values]
    return pa.array(texts, pa.string()), np.cumsum([0, *sizes[:-1]])


def _weights(dimensions: Mapping[str, DimensionSpec], dimension: I64, value: I64, strength: F64) -> pa.Array:
    """(rows,) lists of the values of each row's dimension with the share that each would get."""
    values, starts = values_of(dimensions)
    sizes = np.array([len(spec.values) for spec in dimensions.values()])[dimension]
    ends = np.cumsum(sizes)
    offsets = np.concatenate([[0], ends])
    code = np.arange(ends[-1] if ends.size else 0) - np.repeat(offsets[:-1] - starts[dimension], sizes)
    weight = np.empty(code.size)
    for place, spec in enumerate(dimensions.values()):
        here = np.flatnonzero(dimension == place)
        count = len(spec.values)
        cells = offsets[here][:, None] + np.arange(count)
        weight[cells] = value_weights(value[here], strength[here], match_table(spec.kind, count))
    kind = DISPOSITIONS.columns["weights"].type
    pairs = pa.StructArray.from_arrays([values.take(pa.array(code)), pa.array(weight)], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pairs, type=kind)


def _is_sensitive(
    dimensions: Mapping[str, DimensionSpec], dimension: I64, cause: I64, life: LifeEvents
) -> npt.NDArray[np.bool_]:
    """(rows,) whether the dimension is, or what moved it."""
    by_dimension = np.array([spec.sensitive for spec in dimensions.values()], bool)
    of_itself = [False] * (len(causes(life)) - len(life.events) + 1)  # the last: no cause
    by_cause = np.array([*(event.sensitive for event in life.events.values()), *of_itself])
    return np.asarray(by_dimension[dimension] | by_cause[cause])
