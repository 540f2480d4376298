from __future__ import annotations

import numpy as np
import pytest

from flows.common.draws import Draws
from flows.personas.devices import devices, shares_by_age
from schemas.tables.fields import DEVICES

COUNT = 20_000
NUMBERS = np.arange(COUNT, dtype=np.uint64)
DRAWS = Draws(7, "personas")


def owned(age: int) -> dict[str, float]:
    """Device to the share of so many people of this age who own it."""
    found = devices(np.full(COUNT, age), NUMBERS, DRAWS).to_pylist()
    assert all({"phone", "laptop"} & set(one) for one in found)
    assert all(one == [name for name in DEVICES if name in one] for one in found)
    return {name: sum(name in one for one in found) / COUNT for name in DEVICES}


@pytest.mark.parametrize("age", [18, 29, 30, 64, 65, 90])
def test_ownership_goes_by_age_given_a_phone_or_a_laptop(age: int) -> None:
    share = {name: by_age[age] for name, by_age in shares_by_age().items()}
    either = 1 - (1 - share["phone"]) * (1 - share["laptop"])
    expected = share | {name: share[name] / either for name in ("phone", "laptop")}
    assert owned(age) == pytest.approx(expected, abs=0.012)


def test_the_published_shares_are_those_of_the_bands() -> None:
    shares = shares_by_age()
    assert [shares["phone"][age] for age in (18, 29, 30, 49, 50, 64, 65, 99)] == [0.96] * 2 + [0.95] * 2 + [
        0.83
    ] * 2 + [0.61] * 2
    assert [shares["watch"][age] for age in (49, 50)] == [0.25, 0.17]
    assert set(shares["tv"]) == {0.9}


def test_devices_are_each_persons_own() -> None:
    age = 18 + np.arange(COUNT) % 70
    whole = devices(age, NUMBERS, DRAWS).to_pylist()
    assert devices(age[500:900], NUMBERS[500:900], DRAWS).to_pylist() == whole[500:900]
    assert len({tuple(one) for one in whole}) == 48  # every set with a phone or a laptop comes up
