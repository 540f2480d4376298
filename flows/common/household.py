"""Who stands for a user among the actors, and which zone they live in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

AGE_BANDS = {
    "0-5": (0, 6),
    "6-12": (6, 13),
    "13-17": (13, 18),
    "18-24": (18, 25),
    "25-34": (25, 35),
    "35-44": (35, 45),
    "45-54": (45, 55),
    "55-64": (55, 65),
    "65-74": (65, 75),
    "75+": (75, 96),
}
"""First and last age, the last excluded, of the people around the users."""
SMALL = 6
"""Age below which a child uses no account."""


def own_actors(actors: pa.Table, users: pa.Table) -> pa.Array:
    """(users,) the actor that each user is, in the order of the users."""
    return _in_order(actors.filter(pc.equal(actors["relation"], "self")), users)


def other_actors(actors: pa.Table, users: pa.Table) -> pa.Array:
    """(users,) the other person who can use each account, or null. One of the household at the most can."""
    others = pc.and_(pc.not_equal(actors["relation"], "self"), actors["has_account_access"])
    return _in_order(actors.filter(others), users)


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
