from __future__ import annotations

import numpy as np
import pyarrow as pa

from flows.common.devices import EVERY_DEVICE, owned_devices, used_devices
from flows.common.draws import categorical
from schemas.tables.fields import DEVICES

UNIFORM = (np.arange(20_000) + 0.5) / 20_000
APP = {"phone": 0.5, "watch": 0.3, "tablet": 0.2}


def bits(*names: str) -> int:
    return sum(1 << DEVICES.index(name) for name in names)


def used(shares: dict[str, float], *names: str) -> dict[str, float]:
    """Device to share of the sessions of somebody who owns these."""
    found = used_devices(UNIFORM, shares, np.full(UNIFORM.size, bits(*names))).to_pylist()
    return {name: round(found.count(name) / UNIFORM.size, 3) for name in sorted(set(found))}


def test_the_devices_at_hand_keep_their_proportions() -> None:
    assert used(APP, "phone", "laptop", "tablet") == {"phone": 0.714, "tablet": 0.286}
    assert used(APP, "laptop", "watch", "tv") == {"watch": 1.0}


def test_whoever_owns_none_of_them_takes_the_phone_or_else_the_laptop() -> None:
    assert used({"tablet": 1.0}, "phone", "laptop") == {"phone": 1.0}
    assert used({"tablet": 0.5, "watch": 0.5}, "laptop", "tv") == {"laptop": 1.0}


def test_what_nobody_can_own_is_there_for_everybody() -> None:
    assert used({"till": 0.5, "watch": 0.5}, "laptop") == {"till": 1.0}
    assert used({"till": 0.25, "phone": 0.75}, "phone") == {"phone": 0.75, "till": 0.25}


def test_whoever_owns_everything_uses_what_the_app_is_used_on() -> None:
    owned = np.full(UNIFORM.size, EVERY_DEVICE)
    expected = np.array([*APP])[categorical(UNIFORM, [*APP.values()])]
    assert used_devices(UNIFORM, APP, owned).to_pylist() == expected.tolist()


def test_every_session_goes_by_its_own_person() -> None:
    owned = np.array([bits("phone"), bits("laptop"), bits("laptop", "watch")])[np.arange(UNIFORM.size) % 3]
    found = np.array(used_devices(UNIFORM, APP, owned).to_pylist())
    assert [set(found[place::3]) for place in range(3)] == [{"phone"}, {"laptop"}, {"watch"}]
    assert used_devices(UNIFORM[:0], APP, owned[:0]).to_pylist() == []


def test_owned_devices_stand_in_the_order_of_the_users() -> None:
    lists = pa.array([["watch", "phone"], ["laptop"], ["tv", "phone"]], pa.list_(pa.string()))
    personas = pa.table({"user_id": ["u2", "u0", "u1"], "devices": lists})
    users = pa.table({"user_id": ["u0", "u1", "u2"]})
    assert owned_devices(personas, users).tolist() == [bits("laptop"), bits("phone", "tv"), bits("phone", "watch")]
