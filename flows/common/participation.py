"""Who takes part in which domain, how much, and from when to when: the table `participation` as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.household import rows_of
from schemas.behaviour.effective import NEVER
from schemas.behaviour.participation import share_taking_part
from schemas.config.dispositions import DispositionsConfig

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class Participation(NamedTuple):
    """How much each person does in each domain of the build, and from when to when. All are (people, domains)."""

    rate_factor: F64
    """0 for who does nothing there."""
    attribute_factor: F64
    """What of it comes of attributes."""
    from_us: I64
    to_us: I64
    """``NEVER`` where there is no end."""
    usual: float
    """Mean over people of the part of the window in which each takes part in a domain."""

    def takes_part(self, person: I64, domain: I64, at_us: I64) -> Mask:
        """(n,) whether each of these people does anything in these domains at these instants."""
        is_there = (self.from_us[person, domain] <= at_us) & (at_us < self.to_us[person, domain])
        return np.asarray(is_there & (self.rate_factor[person, domain] > 0))


def participation_of(
    participation: pa.Table, users: pa.Table, domains: list[str], config: DispositionsConfig
) -> Participation:
    """The table as arrays, in the order of the users and of the domains. Whoever it does not name does nothing."""
    cell = (
        rows_of(participation["user_id"], users),
        pc.index_in(participation["domain"], value_set=pa.array(domains)).to_numpy().astype(np.int64),
    )
    factor, by_attributes, begins, ends = (
        np.zeros((users.num_rows, len(domains)), kind) for kind in (float, float, np.int64, np.int64)
    )
    factor[cell] = participation["rate_factor"].to_numpy()
    by_attributes[cell] = participation["attribute_factor"].to_numpy()
    begins[cell] = participation["valid_from"].cast(pa.int64()).to_numpy()
    ends[cell] = pc.fill_null(participation["valid_to"].cast(pa.int64()), NEVER).to_numpy()
    return Participation(factor, by_attributes, begins, ends, share_taking_part(config, len(domains)))
