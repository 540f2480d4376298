"""Claims about preconditions: each can fail, says why and what to do, and nothing happens then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from schemas.domain import CategorySpec
from schemas.tooling import PRECONDITIONS, Precondition
from tests.validation.world.worlds import EVERYTHING, GOOD, IDS, TOOLS, at, offer, state_of, tools_of, world_of
from validation.world.preconditions import PRECONDITION_RULES, listed
from validation.world.state import Offer
from validation.world.world import World


class Case(NamedTuple):
    """A state, given as changes, in which a call fails, and what it is told."""

    tool: str
    arguments: dict[str, Any]
    told: str
    changes: dict[str, Any] | None = None


ITEM = {"item_id": IDS[0]}
LINE = {"item_id": IDS[0], "quantity": 6, "price_cents": 700}
TIMES = {"starts_at": at(0, 3), "ends_at": at(0, 4)}
DENTIST = "is taken by entry c-9 (2025-01-06T21:30:00Z to 2025-01-06T22:30:00Z); take another time"


def offers(**more: Any) -> dict[str, Any]:
    return {"offers": [offer(0, **more), *(offer(place) for place in (1, 2, 3))]}


def closed(part: str) -> dict[str, Any]:
    """The part with its entry cancelled."""
    entries = [one.model_dump(mode="json") for one in getattr(state_of(EVERYTHING), part)]
    return {part: [{**one, "status": "cancelled"} for one in entries]}


CASES: dict[Precondition, Case] = {
    "item_is_offered": Case(
        "cart_add", {"item_id": "I-0000000002"}, f"nothing on offer has the item_id 'I-0000000002'; did you mean {IDS[1]!r}?"
    ),
    "item_is_in_stock": Case("order", {**ITEM, "quantity": 6}, "5 are left and 6 are wanted; take fewer"),
    "age_allows": Case("order", ITEM, "is for people from 18 years, not for the owner of the account, who is 17",
                       {"age_years": 17}),
    "is_open_now": Case("order", ITEM, "can be had from 13:00 to 2:00 local time, and it is 12:30; take something that",
                        offers(opens=13, closes=26)),
    "starts_in_future": Case("order", ITEM, "began at 2025-01-06T18:30:00Z, and it is 2025-01-06T18:30:00Z; take a later",
                             offers(starts_at=at(0))),
    "period_is_free": Case("plan", ITEM, DENTIST, offers(starts_at=at(0, 3.5), ends_at=at(0, 5))),
    "place_is_elsewhere": Case("order", ITEM, "leads to 'Southport', where you are already; take one that",
                               {"location": "Southport"}),
    "balance_covers_price": Case("order", {**ITEM, "quantity": 2},
                                 "costs 1450 cents with the fee of 50 cents and the balance is 1449 cents; take fewer",
                                 {"balance_cents": 1449}),
    "item_is_in_cart": Case("cart_drop", ITEM, f"nothing in the cart has the item_id {IDS[0]!r}; in the cart are: none"),
    "cart_is_not_empty": Case("cart_pay", {}, "the cart is empty; add something first"),
    "cart_is_in_stock": Case("cart_pay", {}, f"of {IDS[0]!r} 5 are left and 6 are wanted", {"cart": [LINE]}),
    "balance_covers_cart": Case("cart_pay", {}, "costs 3550 cents with the fee of 50 cents",
                                {"cart": [{**LINE, "quantity": 5}], "balance_cents": 3549}),
    "order_exists": Case("order_back", {"order_id": "O-9"},
                         "no order has the order_id 'O-9'; did you mean 'o-9'? orders so far: o-9"),
    "order_is_open": Case("order_back", {"order_id": "o-9"}, "order 'o-9' is not open any more; open orders: none",
                          closed("orders")),
    "booking_exists": Case("book_back", {"booking_id": "zzz"}, "no booking has the booking_id 'zzz'; bookings so far: b-9"),
    "booking_is_open": Case("book_back", {"booking_id": "b-9"}, "not open any more; open bookings: none", closed("bookings")),
    "booking_is_ahead": Case("book_back", {"booking_id": "b-9"}, "only what is ahead can be changed", {"now": at(20)}),
    "ends_after_start": Case("note", {"title": "Walk", "starts_at": at(3), "ends_at": at(3)}, "give a later end"),
    "hours_are_free": Case("note", {"title": "Walk", **TIMES}, DENTIST),
    "entry_exists": Case("unplan", {"entry_id": "c-1"}, "no entry of the calendar has the entry_id 'c-1'"),
    "entry_is_open": Case("unplan", {"entry_id": "c-9"}, "entry 'c-9' is not open any more; open entries: none",
                          closed("calendar")),
    "contact_exists": Case("tell", {"contact_id": "x-an", "text": "Hi"}, "did you mean 'x-ann'? contacts are: x-ann, x-ben"),
    "place_exists": Case("go_by", {"place_id": "nowhere"}, "no place has the place_id 'nowhere'; places are: x-home, x-work"),
    "device_exists": Case("switch", {"device_id": "x-heat", "is_on": True}, "did you mean 'x-heater'? devices are"),
    "device_is_on": Case("turn", {"device_id": "x-lamp", "level": 2}, "device 'x-lamp' is off; switch it on first"),
    "category_is_set": Case("unset", {"category": "sides"}, "did you mean 'side'? categories that are set: side"),
    "play_exists": Case("unplay", {"play_id": "p-1"}, "no play has the play_id 'p-1'; plays so far: p-9"),
    "log_exists": Case("unlog", {"log_id": "l-1"}, "nothing logged has the log_id 'l-1'; logged so far: l-9"),
}  # fmt: skip


def failed(name: Precondition) -> tuple[World, dict[str, Any]]:
    """The world of the case, and the error of its call."""
    case = CASES[name]
    world = world_of(EVERYTHING, **(case.changes or {}))
    return world, world.call(case.tool, case.arguments).get("error", {})


def test_the_rules_are_the_closed_list() -> None:
    assert tuple(PRECONDITION_RULES) == PRECONDITIONS
    assert set(CASES) == set(PRECONDITIONS)


@pytest.mark.parametrize("name", PRECONDITIONS)
def test_every_precondition_can_fail_says_why_and_nothing_happens(name: Precondition) -> None:
    world, error = failed(name)
    assert error["code"] == name
    assert CASES[name].told in error["message"]
    (step,) = world.trajectory
    assert (step["effects"], step["cost_cents"]) == ([], 0)
    assert step["state_digest"] == world.untouched.digest()


@pytest.mark.parametrize("name", PRECONDITIONS)
def test_a_precondition_that_always_holds_would_be_found_out(
    name: Precondition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PRECONDITION_RULES, name, replace(PRECONDITION_RULES[name], broken=lambda *_: None))
    try:
        code = failed(name)[1].get("code")
    except (AssertionError, ValidationError):
        return  # what relies on it falls over
    assert code != name


@pytest.mark.parametrize("spec", [spec for spec in TOOLS if spec.requires], ids=lambda spec: spec.name)
def test_every_precondition_of_a_tool_holds_on_a_state_that_is_well(spec: Any) -> None:
    cart = [{**LINE, "quantity": 1}]
    arguments = {name: GOOD[name] for name, parameter in spec.parameters.items() if parameter.required}
    assert "error" not in world_of(EVERYTHING, cart=cart).call(spec.name, arguments)


def test_time_is_not_part_of_a_world_without_a_now() -> None:
    late = offers(starts_at=at(-9), ends_at=at(-8), opens=3, closes=4)
    assert "error" not in world_of(EVERYTHING, now=None, **late).call("book", ITEM)
    past = [{"booking_id": "b-9", "item_id": IDS[3], "starts_at": at(-2)}]
    assert "error" not in world_of(EVERYTHING, now=None, bookings=past).call("book_back", {"booking_id": "b-9"})


def test_an_unknown_age_is_too_young_only_where_there_is_a_limit() -> None:
    world = world_of(EVERYTHING, age_years=None, **offers(min_age=None))
    assert "error" not in world.call("order", ITEM)
    assert "whose age is not known" in world.call("order", {"item_id": IDS[1]})["error"]["message"]
    assert "error" not in world_of(EVERYTHING, age_years=18).call("order", ITEM)


def test_what_is_in_the_cart_counts_for_the_stock() -> None:
    world = world_of(EVERYTHING)
    assert "error" not in world.call("cart_add", {**ITEM, "quantity": 5})
    assert world.call("cart_add", ITEM)["error"]["code"] == "item_is_in_stock"
    endless = world_of(EVERYTHING, **offers(left=None))
    assert "error" not in endless.call("cart_add", {**ITEM, "quantity": 10})


def test_what_is_in_the_cart_but_on_offer_no_more_is_told() -> None:
    world = world_of(EVERYTHING, cart=[{**LINE, "item_id": "i-old"}])
    assert world.call("cart_pay")["error"]["message"] == "'i-old' is on offer no more; take it out of the cart"


def test_bookings_too_stand_in_the_way_and_cancelled_ones_do_not() -> None:
    at_the_time = offers(starts_at=at(20, 0.5), ends_at=at(20, 3))
    world = world_of(EVERYTHING, **at_the_time)
    assert "booking b-9" in world.call("book", ITEM)["error"]["message"]
    world.call("book_back", {"booking_id": "b-9"})
    assert "error" not in world.call("book", ITEM)
    assert world.call("note", {"title": "Walk", "starts_at": at(20, 2), "ends_at": at(20, 4)})["error"]["code"] == (
        "hours_are_free"
    )
    assert "error" not in world.call("note", {"title": "Walk", "starts_at": at(20, 3), "ends_at": at(20, 4)})


def test_an_entry_is_not_in_its_own_way() -> None:
    world = world_of(EVERYTHING)
    assert "error" not in world.call("move", {"entry_id": "c-9", "starts_at": at(0, 3.5), "ends_at": at(0, 5)})
    assert world.call("note", {"title": "Walk", "starts_at": at(0, 4.5), "ends_at": at(0, 6)})["error"]


def test_what_has_no_end_takes_no_time() -> None:
    assert "error" not in world_of(EVERYTHING, **offers(starts_at=at(0, 3.5), ends_at=None)).call("plan", ITEM)


def test_hours_are_those_of_the_domain_files() -> None:
    base = {**offer(0), "starts_at": None, "ends_at": None}
    for opens in range(24):
        for closes in range(opens + 1, min(opens + 24, 29)):
            shelf = CategorySpec(nouns=["x"], opens=opens, closes=closes)
            shown = Offer.model_validate({**base, "opens": opens, "closes": closes})
            assert [shown.is_open(hour) for hour in range(24)] == [shelf.is_open(hour) for hour in range(24)]


def test_the_person_s_clock_counts() -> None:
    """Nine to midnight, at 18:30 UTC: open six hours west, closed in the east after midnight."""
    assert "error" not in world_of(EVERYTHING, utc_offset_min=-360).call("order", ITEM)
    assert world_of(EVERYTHING, utc_offset_min=345).call("order", ITEM)["error"]["code"] == "is_open_now"


def test_a_list_of_ids_ends_somewhere() -> None:
    assert listed("abcdefgh") == "a, b, c, d, e, f, g, h"
    assert listed("abcdefghij") == "a, b, c, d, e, f, g, h and 2 more"
    assert listed([]) == "none"


def test_a_long_id_is_not_repeated_whole() -> None:
    message = World(tools_of(EVERYTHING), state_of(EVERYTHING)).call("log", {"item_id": "i" * 5000})["error"]["message"]
    assert len(message) < 300
