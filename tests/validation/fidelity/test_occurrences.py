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


ITEMS = {"i1": "bread", "i2": "bread", "i3": "milk"}


def read_of(of: str, *rows: dict[str, Any], per: Any = "line") -> Occurrences:
    loose = pa.schema([pa.field(name, field.type) for name, field in EVENTS.columns.items()])
    with connect() as database:
        database.register("events", pa.Table.from_pylist(list(rows), schema=loose))
        database.register("items", pa.table({"item_id": list(ITEMS), "category": list(ITEMS.values())}))
        taste = {"item_id": ["i1", "i3"], "dimension": ["food.heat"] * 2, "value": ["mild", "hot"]}
        database.register("item_attributes", pa.table(taste))
        return read_occurrences(database, "food", "order", of, per)


def test_units_are_items_categories_or_values_and_lines_of_one_instant_stay_apart() -> None:
    rows = (row("a", 1, item_id="i1"), row("a", 1, item_id="i2"), row("a", 2, item_id="i3"), row("a", 3, item_id=None))
    by_item, by_category, by_value = (read_of(of, *rows).unit for of in ("item", "category", "heat"))
    assert by_item is not None and by_category is not None and by_value is not None
    assert len(set(by_item.tolist()[:3])) == 3 and by_item[3] == -1
    assert by_category[0] == by_category[1] != by_category[2] and by_category[3] == -1
    assert sorted(by_value.tolist()) == [-1, -1, 0, 1] and by_value[2] >= 0 > by_value[3]


def test_a_line_about_something_logged_twice_counts_once() -> None:
    again = NOON + timedelta(hours=3)
    found = read_of("item", row("a", 1, item_id="i1"), row("a", 1, item_id="i1", event_id="x", logged_at=again))
    assert found.user.tolist() == [0]


def test_a_sitting_is_one_occurrence_of_as_many_things_as_it_names() -> None:
    one = [row("a", 5 + n, item_id=item, session_id="s1") for n, item in enumerate(["i1", "i2", "i1"])]
    found = read_of("item", *one, row("a", 60, item_id="i3", session_id="s2"), per="session")
    assert found.size is not None and found.size.tolist() == [2, 1]
    assert (found.at_us - found.at_us[0]).tolist() == [0, 55 * 60_000_000]


def test_what_a_line_says_is_read_by_the_local_date() -> None:
    booked = row(
        "a",
        14 * 60,  # the evening of the day before, in Chicago
        item_id="i1",
        quantity=2,
        rating=4,
        starts_at=datetime(2025, 1, 11, 3, tzinfo=UTC),
        ends_at=datetime(2025, 1, 13, 17, tzinfo=UTC),
    )
    found = read_of("item", booked, row("b", 0, series=list(range(24))), row("b", 1, series=[1, 2]))
    named = {name: getattr(found, name).tolist() for name in ("party", "rating", "lead_days", "nights", "arrives")}
    first = {name: values[0] for name, values in named.items()}
    assert first == {"party": 2, "rating": 4, "lead_days": 4, "nights": 3, "arrives": 5}  # Friday, 22:00 in Chicago
    assert all(values[1] != values[1] for values in named.values())  # NaN
    assert found.by_hour is not None and found.by_hour.sum(axis=1).tolist() == [0, 276, 0]
    chosen = found.where(found.user == 1).by_hour
    assert chosen is not None and chosen.shape == (2, 24)
