"""Lives that many tests read: made once, changed by none."""

from __future__ import annotations

import pytest

from tests.flows.lives import Lives, live, small_config

DISTURB = {
    "noise": {"accidental": 0.05, "other_person": 0.08, "duplicate": 0.03},
    "drift": {"abrupt_per_year": 2.0},
    "contradictions": {"temporary_state": 0.3, "state_days": 20},
}


@pytest.fixture(scope="session")
def town() -> Lives:
    """300 people over 12 weeks, more disturbed than by default, and their tasks."""
    data = small_config(
        300,
        12,
        disturb=DISTURB,
        timelines={"statement_rate": 0.05},
        tasks={"groups_per_domain": 40, "two_constraint_share": 0.2},
    )
    return Lives(data, live(data))
