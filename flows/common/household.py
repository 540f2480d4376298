"""Who stands for a user among the actors, and which zone they live in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def own_actors(actors: pa.Table, users: pa.Table) -> pa.Array:
    """(users,) the actor that each user is, in the order of the users."""
    return _in_order(actors.filter(pc.equal(actors["relation"], "self")), users)


def other_actors(actors: pa.Table, users: pa.Table) -> pa.Array:
    """(users,) the other person of each household, or null."""
    return _in_order(actors.filter(pc.not_equal(actors["relation"], "self")), users)


def _in_order(actors: pa.Table, users: pa.Table) -> pa.Array:
    actors = actors.combine_chunks()
    place = pc.index_in(users["user_id"].combine_chunks(), value_set=actors["user_id"].combine_chunks())
    return actors["actor_id"].combine_chunks().take(place)


def zones_of(users: pa.Table) -> tuple[npt.NDArray[np.int64], list[str]]:
    """(users,) codes of the time zones, and the zones."""
    zones = sorted(pc.unique(users["time_zone"]).to_pylist())
    return pc.index_in(users["time_zone"], value_set=pa.array(zones)).to_numpy().astype(np.int64), zones


def rows_of(user_ids: pa.ChunkedArray, users: pa.Table) -> npt.NDArray[np.int64]:
    """(n,) row of each user id among the users. Raises ValueError naming an id that is not among them."""
    rows = pc.index_in(user_ids, value_set=users["user_id"].combine_chunks())
    if rows.null_count:
        stranger = user_ids.filter(pc.is_null(rows))[0].as_py()
        raise ValueError(
            f"{rows.null_count} rows are of users who are not among the {users.num_rows}, such as {stranger}"
        )
    return np.asarray(rows.to_numpy(), dtype=np.int64)
