"""Where people are: from which place each arrival comes, and which arrivals lead nowhere new."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.clock import HOUR
from flows.common.stairs import in_time
from flows.timelines.things import NOTHING

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
HOME_AFTER = 12 * HOUR
"""Who has arrived nowhere for so long has come home unseen, as from work in the evening: assumed."""


def origins(person: I64, at_us: I64, place: I64, home: I64) -> tuple[I64, Mask]:
    """(arrivals,) the place where each person was before, and whether the arrival leads elsewhere. Rows in any order.

    It is the place of the arrival before, or ``home`` (people,) where there is none or it is long ago. Who arrives where
    they are already, as at a second coming home, does not move.
    """
    order = in_time(person, at_us)
    who, at, where = person[order], at_us[order], place[order]
    follows = (who[1:] == who[:-1]) & (at[1:] - at[:-1] < HOME_AFTER)
    came_from = home[who]
    came_from[1:] = np.where(follows, where[:-1], came_from[1:])
    before = np.full(person.size, NOTHING, np.int64)
    before[order] = came_from
    return before, before != place
