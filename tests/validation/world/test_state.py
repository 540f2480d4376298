"""Claims about the state: it goes through JSON and back, equal states have equal texts, and an impossible one is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from tests.validation.world.worlds import IDS, at, state_of
from validation.world.instants import read_instant
from validation.world.state import ToolState

OFFER = {"item_id": "H-1", "title": "t", "description": "d", "price_cents": 100, "currency": "USD", "category": "c"}
STATE: dict[str, Any] = {
    "domain": "food",
    "offers": [OFFER, {**OFFER, "item_id": "H-10"}],
    "balance_cents": 500,
}
LINE = {"item_id": "H-1", "quantity": 1, "price_cents": 100}
ORDER = {"order_id": "o-1", "lines": [LINE], "total_cents": 100, "status": "open", "address": "home"}
PERIOD = {"starts_at": at(1), "ends_at": at(1, 2)}
LATER = {"starts_at": at(1, 1), "ends_at": at(1, 3)}
HOME = {"item_id": "x-1", "title": "5 Elm Street"}


def test_the_state_of_a_task_is_read_from_its_json_and_written_back_as_it_was() -> None:
    text = state_of("food").to_json()
    assert ToolState.model_validate_json(text) == state_of("food")
    assert ToolState.model_validate_json(text).to_json() == text
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert "null" not in text


def test_a_state_of_before_there_was_more_than_carts_is_still_read() -> None:
    old = {**STATE, "cart": [], "orders": [ORDER], "address": "home"}
    assert ToolState.model_validate(old).orders[0].fee_cents == 0


def test_equal_states_have_equal_digests_whatever_the_order_of_keys_and_the_offset_of_times() -> None:
    turned = {key: STATE[key] for key in reversed(STATE)}
    one, two = ToolState.model_validate(STATE), ToolState.model_validate(turned)
    assert one.digest() == two.digest()
    assert one.digest() != one.model_copy(update={"balance_cents": 499}).digest()
    west, east = (ToolState.model_validate({**STATE, "now": now}) for now in ("2025-01-06T12:00:00-06:00",
                                                                            "2025-01-06T18:00:00Z"))  # fmt: skip
    assert west.digest() == east.digest()


@pytest.mark.parametrize("part", ["offers", "cart", "orders", "bookings", "calendar", "messages", "contacts", "places",
                                  "devices", "settings", "plays", "logs"])  # fmt: skip
def test_an_id_that_stands_twice_is_refused_in_every_part(part: str) -> None:
    state = json.loads(state_of("food", cart=[LINE], bookings=[{"booking_id": "b", "item_id": IDS[0]}]).to_json())
    if part == "calendar":
        state[part][0] = {"entry_id": "c-9", "title": "Untimed"}
    with pytest.raises(ValidationError, match=f"an id stands twice in `{part}`"):
        ToolState.model_validate({**state, part: [*state[part], state[part][0]]})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"balance_cents": -1}, "greater than or equal to 0"),
        ({"coupon": 1}, "Extra inputs are not permitted"),
        ({"cart": [{**LINE, "quantity": 0}]}, "greater than or equal to 1"),
        ({"offers": [{**OFFER, "left": -1}]}, "greater than or equal to 0"),
        ({"offers": [{**OFFER, "starts_at": at(1), "ends_at": at(1)}]}, "`ends_at` must be after `starts_at`"),
        ({"offers": [{**OFFER, "ends_at": at(1)}]}, "`ends_at` must be after `starts_at`"),
        ({"offers": [{**OFFER, "starts_at": "2025-01-06T12:00:00"}]}, "timezone"),
        ({"offers": [{**OFFER, "starts_at": "0001-01-01T00:00:00+05:00"}]}, "is not between 1900 and 2199"),
        ({"offers": [{**OFFER, "origin": "A", "destination": "A"}]}, "`origin` and `destination` are both `A`"),
        ({"offers": [{**OFFER, "opens": 9}]}, "both `opens` and `closes`"),
        ({"offers": [{**OFFER, "opens": 9, "closes": 9}]}, "no stretch of a day"),
        ({"offers": [{**OFFER, "opens": 2, "closes": 27}]}, "no stretch of a day"),
        ({"currency": "EUR"}, "is in USD, the account in EUR"),
        ({"orders": [{**ORDER, "total_cents": 99}]}, "costs 99, its lines 100"),
        ({"orders": [{**ORDER, "lines": []}]}, "at least 1 item"),
        ({"bookings": [{"booking_id": "b", "item_id": "H-1", "starts_at": at(1), "ends_at": at(0)}]}, "must be after"),
        ({"calendar": [{"entry_id": "c", "title": "t", "starts_at": at(1), "ends_at": at(0)}]}, "must be after"),
        ({"messages": [{"message_id": "m", "contact_id": "x"}]}, "has no text and no item"),
        ({"places": [HOME]}, "`address` is 'home', which is no place"),
        ({"places": [HOME], "address": "x-1", "location": "Rome"}, "`location` is 'Rome', which is no place"),
        (
            {"calendar": [{"entry_id": "c", "title": "t", **PERIOD}, {"entry_id": "d", "title": "t", **LATER}]},
            "entry c and entry d overlap",
        ),
        (
            {
                "calendar": [{"entry_id": "c", "title": "t", **LATER}],
                "bookings": [{"booking_id": "b", "item_id": "H-1", **PERIOD}],
            },
            "booking b and entry c overlap",
        ),
    ],
)
def test_an_impossible_state_is_refused(change: dict[str, Any], told: str) -> None:
    ToolState.model_validate(STATE)
    with pytest.raises(ValidationError, match=told):
        ToolState.model_validate({**STATE, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"location": "anywhere", "address": "any words"},
        {"places": [HOME], "address": "x-1", "location": "x-1"},
        {"places": [HOME], "address": "x-1", "location": "H-10"},
        {"places": [HOME], "address": "x-1", "location": "A", "offers": [{**OFFER, "origin": "A", "destination": "B"}]},
        {"calendar": [{"entry_id": "c", "title": "t", **PERIOD},
                      {"entry_id": "d", "title": "t", **LATER, "status": "cancelled"}]},
        {"calendar": [{"entry_id": "c", "title": "t", **PERIOD},
                      {"entry_id": "d", "title": "t", "starts_at": PERIOD["ends_at"], "ends_at": at(2)},
                      {"entry_id": "e", "title": "t", "starts_at": PERIOD["starts_at"]}]},
    ],
)  # fmt: skip
def test_what_is_possible_is_allowed(change: dict[str, Any]) -> None:
    ToolState.model_validate({**STATE, **change})


@pytest.mark.parametrize("near", ["h-1", "H-10 ", "H-100", "", None, 1])
def test_an_offer_is_found_by_its_exact_id_only(near: object) -> None:
    assert ToolState.model_validate(STATE).offer(near) is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2025-01-06T09:00:00-06:00", (15, 0)),
        ("2025-01-06t09:00:00z", (9, 0)),
        ("2025-01-06T09:00:00.250Z", (9, 0)),
        ("2025-01-06T09:00:00", None),
        ("2025-01-06 09:00:00Z", None),
        ("2025-01-06T09:00Z", None),
        ("2025-01-06", None),
        ("20250106T090000Z", None),
        ("2025-02-30T09:00:00Z", None),
        ("2025-01-06T25:00:00Z", None),
        ("1776-07-04T09:00:00Z", None),
        ("2200-01-01T00:00:00Z", None),
        ("٢٠٢٥-01-06T09:00:00Z", None),
        ("soon", None),
        ("", None),
    ],
)
def test_an_instant_is_a_date_a_time_and_an_offset(text: str, meant: tuple[int, int] | None) -> None:
    found = read_instant(text)
    assert (found and (found.hour, found.minute)) == meant
    assert found is None or (found.tzinfo is UTC and found.date() == datetime(2025, 1, 6, tzinfo=UTC).date())
