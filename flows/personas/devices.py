"""Which devices people own, by their age."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from ruamel.yaml import YAML

from flows.common.draws import Draws
from flows.personas.tables import Picker, picker
from schemas.config.selectors import band_of
from schemas.tables.fields import DEVICES

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
OLDEST = 130
"""No age is above it."""


class _Ownership(NamedTuple):
    """Every set of devices that somebody can own, and how frequent it is at each age."""

    sets: pa.Array
    """(sets,) lists of devices, in the order of ``DEVICES``."""
    row: I64
    """(ages,) the row of the picker that holds for each age."""
    picker: Picker
    """Entries are row * sets + set."""


def devices(age: I64, numbers: U64, draws: Draws) -> pa.Array:
    """(n,) lists of the devices that each person owns, a phone or a laptop among them; by one uniform a person."""
    known = _ownership()
    row = known.row[age]
    chosen = known.picker.pick(row, draws.uniform("devices", numbers)) - row * len(known.sets)
    return known.sets.take(pa.array(chosen))


def shares_by_age() -> Mapping[str, npt.NDArray[np.float64]]:
    """Device to the share of people of each age, from 0 on, who own it: of all people, of whom some own none."""
    content = _read()
    out = {}
    for name in DEVICES:
        share = np.full(OLDEST + 1, np.nan)
        for band, value in content[name]["shares"].items():
            low, high = band_of(band) or (0.0, 0.0)
            share[int(max(low, 0)) : int(min(high, OLDEST + 1))] = value
        assert not np.isnan(share).any(), f"{name}: a share for every age"
        out[name] = share
    return out


@lru_cache(maxsize=1)
def _ownership() -> _Ownership:
    shares = np.stack([*shares_by_age().values()], axis=1)  # (ages, devices)
    rows, row = np.unique(shares, axis=0, return_inverse=True)
    owns = np.array([[bool(code & 1 << place) for place in range(len(DEVICES))] for code in range(1 << len(DEVICES))])
    owns = owns[owns[:, DEVICES.index("phone")] | owns[:, DEVICES.index("laptop")]]
    weights = np.prod(np.where(owns, rows[:, None, :], 1 - rows[:, None, :]), axis=2)
    sets = [[name for name, is_owned in zip(DEVICES, one, strict=True) if is_owned] for one in owns.tolist()]
    entries = picker(np.repeat(np.arange(len(rows)), len(sets)), weights.reshape(-1), len(rows))
    return _Ownership(pa.array(sets, pa.list_(pa.string())), row.reshape(-1).astype(np.int64), entries)


def _read() -> Any:
    place = Path(__file__).parents[2] / "schemas" / "populations" / "us_devices.yaml"
    return YAML(typ="safe", pure=True).load(place)
