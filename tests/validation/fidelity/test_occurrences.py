from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from schemas.tables.visible import EVENTS
from validation.fidelity.occurrences import Occurrences, read_occurrences
from validation.structure.folder import connect

NOON = datetime(2025, 1, 6, 12, tzinfo=UTC)


def row(user: str, minutes: int, **values: Any) -> dict[str, Any]:
    at = NOON + timedelta(minutes=minutes)
    return {
        "user_id": user,
        "event_id": f"{user}-{minutes}-{len(values)}",
        "at": at,
        "logged_at": at,
        "utc_offset_min": -360,
        "domain": "food",
        "action": "order",
        "source": "self",
        **values,
    }


def read(*rows: dict[str, Any]) -> Occurrences:
    loose = pa.schema([pa.field(name, field.type) for name, field in EVENTS.columns.items()])
    with connect() as database:
        database.register("events", pa.Table.from_pylist(list(rows), schema=loose))
        return read_occurrences(database, "food", "order")


def test_only_what_users_did_themselves_counts_and_in_their_order() -> None:
    found = read(
        row("b", 5),
        row("a", 9),
        row("a", 1),
        row("a", 2, action="view"),
        row("a", 3, domain="groceries"),
        row("a", 4, source="import"),
    )
    assert found.user.tolist() == [0, 0, 1]
    assert (found.at_us - found.at_us[0]).tolist() == [0, 8 * 60_000_000, 4 * 60_000_000]
    assert found.offset_min.tolist() == [-360] * 3
    assert (found.users, found.users_with_two, found.holes) == (2, 1, ())


def test_a_line_logged_twice_counts_once() -> None:
    late = NOON + timedelta(hours=3)
    found = read(row("a", 1), row("a", 1, event_id="again", logged_at=late), row("b", 1))
    assert found.user.tolist() == [0, 1]


def test_nulls_are_left_out_and_counted_by_column() -> None:
    found = read(
        row("a", 1), row("a", 2, at=None), row("a", 3, utc_offset_min=None), row("a", 4, action="view", at=None)
    )
    assert found.user.tolist() == [0]
    assert found.holes == (("events.at", 1), ("events.utc_offset_min", 1))


def test_nothing_is_found_where_nothing_happened() -> None:
    found = read(row("a", 1, action="view"))
    assert (found.user.size, found.at_us.size, found.users, found.users_with_two) == (0, 0, 0, 0)
