"""Who takes part where, read from the table, and what it does to habits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from flows.common.participation import participation_of
from flows.timelines.setting import People
from schemas.config.dispositions import DispositionsConfig
from schemas.tables.sealed import PARTICIPATION

START = datetime(2025, 1, 6, tzinfo=UTC)
DAY = timedelta(days=1)


def row(
    user: int, domain: str, rate: float, attribute: float, since: datetime, until: datetime | None
) -> dict[str, object]:
    own = {"user_id": f"u{user:06d}", "domain": domain, "rate_factor": rate, "attribute_factor": attribute}
    return {**own, "valid_from": since, "valid_to": until}


ROWS = [
    row(0, "food", 1.2, 0.5, START, None),
    row(0, "media", 0.0, 2.0, START, None),
    row(1, "food", 2.0, 1.0, START + DAY, None),
    row(1, "media", 3.0, 1.5, START, START + DAY),
]
USERS = pa.table({"user_id": ["u000001", "u000000"]})
NONE_MISSED = DispositionsConfig(absent_share=0, late_start_share=0, early_end_share=0)
OWN = participation_of(PARTICIPATION.conform(pa.Table.from_pylist(ROWS)), USERS, ["media", "food"], NONE_MISSED)


def test_people_and_domains_stand_in_the_order_asked_for() -> None:
    assert OWN.rate_factor.tolist() == [[3.0, 2.0], [0.0, 1.2]]
    assert OWN.attribute_factor.tolist() == [[1.5, 1.0], [2.0, 0.5]] and OWN.usual == 1


def test_one_takes_part_from_the_first_instant_to_before_the_last_unless_absent() -> None:
    day = round((START + DAY).timestamp() * 1e6)
    person, domain = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 0, 1])
    at = np.array([day - 1, day, day - 1, day, day, day])
    assert OWN.takes_part(person, domain, at).tolist() == [True, False, False, True, False, True]


def test_habits_are_kept_more_for_attributes_and_not_for_how_much_one_does() -> None:
    nothing = np.zeros(2, np.int64)
    people = People(nothing.astype(np.uint64), nothing, ["UTC"], nothing, nothing, participation=OWN)
    assert people.habit_factor(0).tolist() == [1.5, 0.0] and people.habit_factor(1).tolist() == [1.0, 0.5]
    assert people._replace(participation=None).habit_factor(0).tolist() == [1.0, 1.0]
