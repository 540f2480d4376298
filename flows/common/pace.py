"""How fast the lines of a session follow each other, and what a talk with the assistant looks like in the log.

Talks of the simulation and talks that the disturbances add share these, so that nothing but the words tells them apart.
"""

from __future__ import annotations

import numpy as np

from flows.common.clock import SECOND
from flows.common.draws import F64, I64, normal

SPREAD = 0.7
"""Standard deviation of the log of the seconds between two lines: assumed."""
WAKING = (8, 22)
"""Local hours in which people talk to the assistant, evenly: assumed."""
TALK_DEVICES = {"phone": 0.8, "speaker": 0.2}
"""Device to share of the talks: assumed."""
TALK_SECONDS = 6.0
"""Median of the seconds before each line of a talk: assumed."""


def steps_us(uniform: F64, median_s: float) -> I64:
    """(n,) microseconds before each line: log-normal about the median, whole seconds, one at least."""
    return np.maximum(1, np.round(np.exp(SPREAD * normal(uniform)) * median_s)).astype(np.int64) * SECOND
