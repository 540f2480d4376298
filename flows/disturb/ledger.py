"""Ledger rows: one shape for all kinds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws
from flows.common.ids import opaque_ids, user_ids_of
from schemas.tables.internal import SYMBOLIC_LEDGER

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


def injection_ids(draws: Draws, users: U64, keys: U64) -> pa.Array:
    """Ids of ledger rows, by user and a key that the kind makes of what it touches."""
    return opaque_ids(draws, "injection", users, keys)


def ledger_rows(
    ids: pa.Array,
    users: U64,
    family: str,
    kind: str,
    policy: str,
    event_ids: pa.Array,
    onset_us: I64,
    *,
    ended_us: I64 | None = None,
    dimension: pa.Array | None = None,
    before: pa.Array | None = None,
    after: pa.Array | None = None,
    cause: pa.Array | None = None,
    parameters: pa.Array | None = None,
) -> pa.Table:
    """(n,) rows of the ledger; what is not given is null, parameters are an empty object."""
    size = users.size
    columns = SYMBOLIC_LEDGER.columns
    none = pa.nulls(size, pa.string())

    def same(text: str) -> pa.Array:
        return pa.array(np.full(size, text, dtype=object), pa.string())

    return pa.table(
        {
            "injection_id": ids,
            "user_id": user_ids_of(users),
            "family": same(family),
            "kind": same(kind),
            "policy": same(policy),
            "is_contested": pa.array(np.zeros(size, bool)),
            "dimension": none if dimension is None else dimension,
            "event_ids": event_ids,
            "before": none if before is None else before,
            "after": none if after is None else after,
            "onset_at": pa.array(onset_us).cast(columns["onset_at"].type),
            "ended_at": pa.nulls(size, columns["ended_at"].type)
            if ended_us is None
            else pa.array(ended_us).cast(columns["ended_at"].type),
            "cause": none if cause is None else cause,
            "parameters": same("{}") if parameters is None else parameters,
        },
        schema=SYMBOLIC_LEDGER.schema(),
    )


def single_lists(values: pa.Array) -> pa.Array:
    """(n,) lists of one element each."""
    kind = SYMBOLIC_LEDGER.columns["event_ids"].type
    return pa.ListArray.from_arrays(np.arange(len(values) + 1, dtype=np.int32), values, type=kind)
