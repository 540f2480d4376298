from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.behaviour.price import Prices
from schemas.load import load_domain
from schemas.tables.internal import STATEMENTS
from schemas.tables.visible import EVENTS
from validation.observer.record import (
    ABSENT,
    BACK_TO_USUAL,
    FOR_NOW,
    USUAL,
    DomainRecord,
    bearing_rows,
    read_record,
)

FOOD = load_domain("food")
START = datetime(2025, 1, 6, tzinfo=UTC)
ITEM_IDS = pa.array([f"i{n}" for n in range(6)])
ITEM_VALUES = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
        [2, 1, 0, 0, 0, 0],
        [3, 1, 3, 2, 0, 0],
        [4, 2, 1, 1, 2, 0],
        [5, 2, 2, 0, 1, 0],
    ],
    np.int8,
)
USERS = ["u000000", "u000001"]


def line(event_id: str, hour: float, **given: Any) -> dict[str, Any]:
    at = START + timedelta(hours=hour)
    usual = {
        "event_id": event_id,
        "user_id": USERS[0],
        "session_id": f"s-{hour}",
        "seq": 0,
        "at": at,
        "logged_at": at,
        "utc_offset_min": 0,
        "domain": "food",
        "app": "Platehop",
        "action": "order",
        "item_id": "i1",
        "options": ["i0", "i1", "i2"],
        "source": "self",
    }
    return {**usual, **given}


def say(event_id: str, hour: float, **given: Any) -> dict[str, Any]:
    return line(event_id, hour, **{"app": "assistant", "action": "say", "item_id": None, "options": None, **given})


def reading(event_id: str, dimension: str | None, value: str | None, stance: str | None) -> dict[str, Any]:
    return {
        "event_id": event_id,
        "user_id": USERS[0],
        "at": START,
        "domain": "food",
        "dimension": dimension,
        "value": value,
        "stance": stance,
    }


def read(
    lines: list[dict[str, Any]], readings: list[dict[str, Any]] | None = None, users: list[str] | None = None
) -> DomainRecord:
    events = pa.Table.from_pylist(lines, schema=EVENTS.schema())
    said = pa.Table.from_pylist(readings or [], schema=STATEMENTS.schema())
    return read_record(events, said, ITEM_IDS, ITEM_VALUES, FOOD, users or USERS)


def test_a_choice_is_read_with_what_was_shown_and_where_it_stood() -> None:
    record = read([line("e1", 2, options=["i4", "i3"], item_id="i3"), line("e0", 1)])
    assert record.at_us.tolist() == [1736125200000000, 1736128800000000]
    assert record.event_row.tolist() == [1, 0]
    assert record.chosen.tolist() == [1, 1]
    assert record.options[0].tolist() == ITEM_VALUES[:3].tolist()
    assert record.options[1].tolist() == [ITEM_VALUES[4].tolist(), ITEM_VALUES[3].tolist(), [ABSENT] * 6]
    assert record.is_choice.all() and set(record.said_dimension.tolist()) == {ABSENT}


def test_lines_that_are_no_choice_in_the_domain_are_left_out() -> None:
    others = [
        line("e0", 1, action="view"),
        line("e1", 2, domain="groceries"),
        line("e2", 3, options=None),
        line("e3", 4, item_id=None),
        line("e4", 5, item_id="i5"),
        line("e5", 6, user_id="u000009"),
        line("e6", 7, action="review", options=None),
    ]
    assert read(others).user.size == 0
    assert read([*others, line("e7", 8)]).event_row.tolist() == [7]


def test_statements_are_read_and_small_talk_is_not() -> None:
    record = read(
        [say("e0", 1), say("e1", 2), say("e2", 3), say("e3", 4), say("e4", 5)],
        [
            reading("e0", "food.heat", "hot", "usual"),
            reading("e1", "food.base", "fish", "for_now"),
            reading("e2", "food.base", None, "back_to_usual"),
            reading("e3", None, None, None),
            reading("e4", "groceries.pack", "single", "usual"),
        ],
    )
    assert record.said_dimension.tolist() == [1, 2, 2]
    assert record.said_value.tolist() == [2, 2, ABSENT]
    assert record.said_stance.tolist() == [USUAL, FOR_NOW, BACK_TO_USUAL]
    assert not record.is_choice.any() and (record.options == ABSENT).all() and (record.chosen == ABSENT).all()


def test_the_end_of_a_state_says_nothing_of_a_value() -> None:
    record = read([say("e0", 1)], [reading("e0", "food.base", "fish", "back_to_usual")])
    assert record.said_value.tolist() == [ABSENT]


def test_a_line_logged_twice_counts_once() -> None:
    late = START + timedelta(hours=1, minutes=1)
    twice = [line("e5", 1, session_id="s"), line("e2", 1, session_id="s", logged_at=late)]
    assert read(twice).event_row.tolist() == [1]
    spoken = [say("e1", 1, session_id="s"), say("e0", 1, session_id="s", logged_at=late)]
    copies = [reading(event_id, "food.base", "fish", "usual") for event_id in ("e0", "e1")]
    assert read(spoken, copies).event_row.tolist() == [1]


def test_lines_that_differ_in_item_session_instant_or_user_are_no_repeats() -> None:
    first = line("e0", 1, session_id="s")
    others = [
        line("e1", 1, session_id="s", item_id="i0"),
        line("e2", 1, session_id="t"),
        line("e3", 1.01, session_id="s"),
        line("e4", 1, session_id="s", user_id=USERS[1]),
    ]
    assert read([first, *others]).user.tolist() == [0, 0, 0, 0, 1]


PRICES = Prices(np.array([500, 1_000, 2_000, 700, 800, 900]), np.array([-0.5, 0.0, 1.0, 0.25, -0.25, 0.0]), 4_000.0)


def priced(lines: list[dict[str, Any]]) -> DomainRecord:
    events = pa.Table.from_pylist(lines, schema=EVENTS.schema())
    return read_record(events, STATEMENTS.empty(), ITEM_IDS, ITEM_VALUES, FOOD, USERS, PRICES)


def test_prices_are_read_of_what_was_shown_where_it_was_paid_for() -> None:
    lines = [line("e0", 1, price_cents=1_000), line("e1", 2, options=["i2", "i1"], price_cents=1_000), line("e2", 3)]
    record = priced(lines)
    assert record.log_price.tolist() == [[-0.5, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert not read(lines).log_price.any() and not read(lines).budgets_spent.any()


def test_what_was_spent_in_earlier_weeks_of_the_month_is_told_in_budgets() -> None:
    """The window begins on the 6th. A copy of a line, and what is not paid for, is not spent."""
    first = line("e0", 1, item_id="i2", price_cents=2_000, session_id="s")
    lines = [
        first,
        {**first, "event_id": "e1", "logged_at": START + timedelta(hours=2)},
        line("e2", 24, item_id="i0", price_cents=500),  # the 7th: still the first week
        line("e3", 25, item_id="i2"),
        line("e4", 48.5, price_cents=1_000),  # the 8th in UTC …
        line("e5", 48.6, price_cents=1_000, utc_offset_min=-300),  # … and the 7th where it is five hours earlier
        line("e6", 24 * 9, price_cents=1_000),
        line("e7", 24 * 9, price_cents=1_000, user_id=USERS[1]),
        line("e8", 24 * 26, price_cents=1_000),  # 1 February
    ]
    record = priced(lines)
    spent = dict(zip([lines[row]["event_id"] for row in record.event_row], record.budgets_spent.tolist(), strict=True))
    assert spent == {"e0": 0, "e2": 0, "e3": 0, "e4": 3_500 / 4_000, "e5": 0, "e6": 4_500 / 4_000, "e7": 0, "e8": 0}


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(8)))
def test_the_order_of_the_rows_does_not_matter(order: list[int]) -> None:
    lines = [
        line(f"e{n}", n // 2, session_id=f"s{n // 4}", item_id=f"i{n % 3}", user_id=USERS[n % 2]) for n in range(6)
    ]
    lines += [say("e6", 1), say("e7", 1)]
    readings = [reading("e6", "food.base", "fish", "usual"), reading("e7", "food.heat", "hot", "usual")]
    straight = read(lines, readings)
    shuffled = read([lines[n] for n in order], readings[::-1])
    names = np.array([f"e{n}" for n in range(8)])
    assert names[straight.event_row].tolist() == names[order][shuffled.event_row].tolist()
    for name in ("user", "at_us", "is_choice", "options", "chosen", "said_dimension", "said_value", "said_stance"):
        assert np.array_equal(getattr(straight, name), getattr(shuffled, name)), name


def test_a_batch_of_users_reads_its_own_lines_only() -> None:
    lines = [line(f"e{n}", n, user_id=USERS[n % 2]) for n in range(6)]
    alone = read(lines, users=[USERS[1]])
    assert alone.users == 1 and alone.user.tolist() == [0, 0, 0] and alone.event_row.tolist() == [1, 3, 5]


@pytest.mark.parametrize(
    ("lines", "readings", "message"),
    [
        ([line("e0", 1, options=["i1", "i9"])], [], r"events.options: \['i9'\] must each be an item of the catalogue"),
        ([say("e0", 1)], [reading("e1", "food.base", "fish", "usual")], r"readings.event_id: \['e1'\]"),
        ([say("e0", 1)], [reading("e0", "food.colour", "red", "usual")], r"readings.dimension: \['food.colour'\]"),
        ([say("e0", 1)], [reading("e0", "food.base", "lamb", "usual")], r"readings.value: \['lamb'\].*food.base"),
        ([say("e0", 1)], [reading("e0", "food.base", "fish", "never")], r"readings.stance: \['never'\]"),
    ],
)
def test_what_is_unknown_is_refused(lines: list[dict[str, Any]], readings: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(lines, readings)


def test_a_catalogue_of_another_shape_is_refused() -> None:
    events = pa.Table.from_pylist([line("e0", 1)], schema=EVENTS.schema())
    with pytest.raises(ValueError, match=r"\(6, 5\); must be \(6, 6\)"):
        read_record(events, STATEMENTS.empty(), ITEM_IDS, ITEM_VALUES[:, :5], FOOD, USERS)
    bare = ITEM_VALUES.copy()
    bare[1, 3] = ABSENT
    with pytest.raises(ValueError, match="without a value in every dimension of food"):
        read_record(events, STATEMENTS.empty(), ITEM_IDS, bare, FOOD, USERS)


def test_a_record_out_of_order_is_refused() -> None:
    record = read([line("e0", 1), line("e1", 2, user_id=USERS[1]), line("e2", 3, user_id=USERS[1])])
    with pytest.raises(ValueError, match="row 2 is not"):
        replace(record, at_us=record.at_us[[0, 2, 1]])
    with pytest.raises(ValueError, match="numbered from 0 to 0"):
        replace(record, users=1)


def test_a_choice_bears_on_the_dimensions_in_which_its_options_differ_and_a_statement_on_its_own() -> None:
    lines = [
        line("e0", 1, options=["i0", "i1"]),
        line("e1", 2, options=["i1", "i2"]),
        say("e2", 3),
        line("e3", 4, options=["i0", "i1"]),
        line("e4", 1, user_id=USERS[1], options=["i1", "i2"]),
    ]
    record = read(lines, [reading("e2", "food.base", "fish", "usual")])
    hours = [START + timedelta(hours=h) for h in (4, 4, 0.5, 5)]
    at_us = np.array([int(h.timestamp()) * 1_000_000 for h in hours])
    query, dimension, row = bearing_rows(record, np.array([0, 1, 0, 0]), at_us)
    found = list(zip(query.tolist(), dimension.tolist(), row.tolist(), strict=True))
    assert found == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 1),
        (0, 2, 2),
        (1, 0, 4),
        (1, 1, 4),
        (3, 0, 0),
        (3, 0, 1),
        (3, 0, 3),
        (3, 1, 1),
        (3, 2, 2),
    ]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), max_size=12),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 8)), max_size=6),
)
def test_only_strictly_earlier_observations_are_seen(
    rows: list[tuple[int, int]], queries: list[tuple[int, int]]
) -> None:
    rows = sorted(rows)
    count = len(rows)
    codes, none = np.zeros(count, np.int8), np.zeros(count, np.int64)
    user, at = (np.array([row[part] for row in rows], np.int64) for part in (0, 1))
    options = np.zeros((count, 1, 6), np.int8)
    record = DomainRecord(
        3,
        user,
        at,
        none,
        codes == 0,
        options,
        codes,
        codes,
        codes,
        codes,
        none,
        options[:, :, 0].astype(np.float32),
        at.astype(float),
    )
    asked, when = (np.array([query[part] for query in queries], np.int64) for part in (0, 1))
    assert record.seen_before(asked, when).tolist() == [sum(u == q and a < t for u, a in rows) for q, t in queries]
