"""Lives that many tests read: made once, changed by none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schemas.config.data import NINE_DOMAINS
from tests.flows.lives import Lives, live, small_config

DISTURB = {
    "noise": {"accidental": 0.05, "other_person": 0.08, "duplicate": 0.03},
    "drift": {"abrupt_per_year": 2.0},
    "contradictions": {"temporary_state": 0.3, "state_days": 20},
}

ZONES = ("America/Chicago", "America/Los_Angeles", "America/New_York", "America/Phoenix", "Pacific/Honolulu")


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


@pytest.fixture(scope="session")
def world() -> Lives:
    """200 people over 6 weeks in all nine domains, up to the disturbed log: much noise, no life events, no hole in the log."""
    noise = {"accidental": 0.2, "other_person": 0.2, "duplicate": 0.03}
    zones = {"time_zone": {"values": list(ZONES)}}
    data = small_config(
        200,
        6,
        start=datetime(2025, 2, 24, tzinfo=UTC),
        domains=list(NINE_DOMAINS),
        disturb={"noise": noise, "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0}},
        personas={"attributes": zones},
        timelines={"outages_per_year": 0},
    )
    return Lives(data, live(data, last="disturb"))


@pytest.fixture(scope="session")
def wide() -> Lives:
    """1,500 people over two weeks in all nine domains: the clean timeline, for counts of what people seldom do."""
    data = small_config(1_500, 2, domains=list(NINE_DOMAINS))
    return Lives(data, live(data, last="timelines", size=500))
