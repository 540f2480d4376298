"""Which device of their own people use."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import F64, I64, categorical
from schemas.tables.fields import DEVICES

EVERY_DEVICE = (1 << len(DEVICES)) - 1
"""The devices of somebody who owns them all."""
_BIT = {name: 1 << place for place, name in enumerate(DEVICES)}


def owned_devices(personas: pa.Table, users: pa.Table) -> I64:
    """(users,) the devices of each user as a sum of bits, the first of ``DEVICES`` the lowest; in the order of users."""
    lists = personas["devices"].combine_chunks()
    bit = np.array([*_BIT.values()])[pc.index_in(pc.list_flatten(lists), value_set=pa.array(DEVICES)).to_numpy()]
    owner = pc.list_parent_indices(lists).to_numpy()
    owned = np.bincount(owner, weights=bit, minlength=len(lists)).astype(np.int64)
    place = pc.index_in(users["user_id"].combine_chunks(), value_set=personas["user_id"].combine_chunks())
    return np.asarray(owned[place.to_numpy()], dtype=np.int64)


def used_devices(uniform: F64, shares: Mapping[str, float], owned: I64) -> pa.Array:
    """(n,) the device of each session, out of those that its person owns, in proportion to their shares.

    A device that is not one of ``DEVICES``, such as a till, is nobody's own and so open to everybody. Whoever owns none
    of them takes the phone, or the laptop where there is no phone. ``owned`` (n,) as `owned_devices` gives it.
    """
    names = [*DEVICES, *(name for name in shares if name not in _BIT)]
    mine = owned & sum(bit for name, bit in _BIT.items() if name in shares or name == "phone")
    code = np.empty(uniform.size, np.int64)
    for some in np.flatnonzero(np.bincount(mine)).tolist():
        here = mine == some
        at_hand = [name for name in shares if name not in _BIT or _BIT[name] & some]
        at_hand = at_hand or ["phone" if some & _BIT["phone"] else "laptop"]
        places = np.array([names.index(name) for name in at_hand])
        code[here] = places[categorical(uniform[here], [shares.get(name, 1.0) for name in at_hand])]
    return pa.array(names).take(pa.array(code))


__all__ = ["EVERY_DEVICE", "owned_devices", "used_devices"]
