"""Which split a user falls into."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws, categorical
from schemas.config import DataConfig

CATALOGUE = "catalogue"
"""The one split of tables whose rows belong to no user."""


def split_of(user_numbers: npt.NDArray[np.uint64], config: DataConfig) -> npt.NDArray[np.str_]:
    """(n,) user numbers → (n,) names of their splits.

    One draw a user against the cumulative shares, in the order of the config, so that a user's split depends on seed,
    user number and shares, and on no other user.
    """
    names = np.array(list(config.release.splits))
    uniform = Draws(config.seed, "release").uniform("split", user_numbers)
    return np.asarray(names[categorical(uniform, list(config.release.splits.values()))])
