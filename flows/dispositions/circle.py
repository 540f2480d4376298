"""Tastes of the people around the users: their own, and in part the user's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import Draws
from flows.common.household import AGE_BANDS, rows_of
from flows.common.ids import id_keys
from flows.dispositions.liked import draw_liked, draw_strengths
from flows.dispositions.rows import NO_END, Piece, disposition_keys, no_cause
from schemas.config.dispositions import DispositionsConfig
from schemas.domain import DimensionSpec, Domain
from schemas.tables.fields import TRAITS

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
ADULT = 18
UNKNOWN_OF_MINORS = ("education", "occupation", "labour_status", "marital_status")
"""Attributes of the user that a child does not share."""
MEAN_SCORE = 50
"""Score of every trait of theirs: people around a user are taken to be like the user in taste, not in personality."""
TAKEN_OVER = {"partner": 1.0, "parent": 0.5, "friend": 0.5}
"""Share of dimensions in which they have the user's own taste, relative to that of a partner. Assumed."""
BY_AGE = {"0-5": 2.0, "6-12": 1.5, "13-17": 1.0}
"""The same for children: the smaller, the more they like what the house likes. Grown ones as parents. Assumed."""
GROWN = 0.5


def tastes_of_others(
    config: DispositionsConfig,
    domains: Mapping[str, Domain],
    dimensions: Mapping[str, DimensionSpec],
    personas: pa.Table,
    others: pa.Table,
    liked: I64,
    signed_up: I64,
    draws: Draws,
) -> list[Piece]:
    """A lasting taste of each of the ``others``, rows of `actors`, in every dimension; ``person`` counts the others.

    ``liked`` (users, dimensions) and ``signed_up`` (users,) are the users', in the order of `personas`. Tilts count as
    for users, with the other's own age and sex and the traits of most people; what else is not known of them is taken to
    be as with the user.
    """
    user = rows_of(others["user_id"], personas)
    keys = id_keys(others["actor_id"])
    band, sex = (_attribute(others, name) for name in ("age_band", "sex"))
    own = draw_liked(domains, _as_personas(personas, user, band, sex), keys, draws, "another's liked")
    strength = draw_strengths(
        dimensions, config.strength_mean, config.strength_spread, keys, draws, "another's strength"
    )
    share = config.shared_taste * _closeness(others["relation"], band)
    every = np.arange(user.size)
    pieces = []
    for column, (name, spec) in enumerate(dimensions.items()):
        takes_over = draws.uniform(f"another takes over {name}", keys) < share
        value = np.where(takes_over, liked[user, column], own[:, column])
        with np.errstate(over="ignore"):
            key = keys + disposition_keys(name, user.size)
        pieces.append(
            Piece(
                person=every,
                dimension=np.full(user.size, column),
                value=value,
                strength=strength[:, column],
                begins=signed_up[user],
                ends=np.full(user.size, NO_END, np.int64),
                clock=spec.clock,
                cause=no_cause(user.size),
                key=key,
                of="another",
            )
        )
    return pieces


def _attribute(actors: pa.Table, name: str) -> pa.Array:
    """(actors,) one of the attributes that every one of these has."""
    pairs = pc.list_flatten(actors["attributes"]).combine_chunks()
    return pc.struct_field(pairs, "value").filter(pc.equal(pc.struct_field(pairs, "name"), name))


def _as_personas(personas: pa.Table, user: I64, band: pa.Array, sex: pa.Array) -> pa.Table:
    """(others,) the columns of `personas` for the others: the user's, with age and sex of their own, and mean traits."""
    place = pc.index_in(band, value_set=pa.array(AGE_BANDS)).to_numpy()
    middle = np.array([(low + high - 1) // 2 for low, high in AGE_BANDS.values()])[place]
    minor = pa.array(middle < ADULT)
    table = personas.take(pa.array(user))
    changed = {"age_years": pa.array(middle), "sex": sex}
    changed |= dict.fromkeys(TRAITS, pa.array(np.full(user.size, MEAN_SCORE)))
    for name in UNKNOWN_OF_MINORS:
        changed[name] = pc.if_else(minor, None, table[name])
    for name, values in changed.items():
        table = table.set_column(table.column_names.index(name), name, values)
    return table


def _closeness(relation: pa.ChunkedArray, band: pa.Array) -> F64:
    """(others,) how much of the user's taste each takes over, relative to a partner."""
    of = np.array([TAKEN_OVER.get(name, 0.0) for name in _levels(relation)])[_codes(relation)]
    by_age = np.array([BY_AGE.get(name, GROWN) for name in _levels(band)])[_codes(band)]
    return np.where(pc.equal(relation, "child").to_numpy(), by_age, of)


def _levels(column: pa.Array | pa.ChunkedArray) -> list[str]:
    return list(pc.unique(column).to_pylist())


def _codes(column: pa.Array | pa.ChunkedArray) -> I64:
    return np.asarray(pc.index_in(column, value_set=pc.unique(column)).to_numpy(), dtype=np.int64)
