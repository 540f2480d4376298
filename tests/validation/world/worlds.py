"""Worlds to try things in: a state that has something of everything, and a domain with a tool for every effect."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from schemas.domain import Domain
from schemas.load import domain_names, load_domain
from schemas.tooling import ToolSpec
from validation.world.state import ToolState
from validation.world.tools import Toolbox
from validation.world.views import NARROWED_BY
from validation.world.world import World

IDS = ("i-0000000001", "i-0000000002", "i-0000000003", "i-0000000004")
NOW = datetime(2025, 1, 6, 18, 30, tzinfo=UTC)
"""Half past noon for the person, six hours west."""
EVERYTHING = "everything"
NAMES = [*domain_names(), EVERYTHING]


def at(days: float, hours: float = 0) -> str:
    """An instant so long after now, as text."""
    return (NOW + timedelta(days=days, hours=hours)).isoformat()


def offer(place: int, **more: Any) -> dict[str, Any]:
    """The offer at that place: open now, ahead, elsewhere, in stock, for adults."""
    titles, prices = ("Mild stew", "Hot stew", "Mild wrap", "Plain tea"), (700, 1200, 2500, 300)
    return {
        "item_id": IDS[place],
        "title": titles[place],
        "description": "With a side.",
        "price_cents": prices[place],
        "currency": "USD",
        "category": "main",
        "left": 5,
        "min_age": 18,
        "opens": 9,
        "closes": 24,
        "starts_at": at(1 + place),
        "ends_at": at(1 + place, 2),
        "origin": "Northport",
        "destination": ("Southport", "Westport", "Eastport", "Midport")[place],
        **more,
    }


def state_of(domain: str, **more: Any) -> ToolState:
    """Four offers, and a past: something of everything that a tool can show or change."""
    line = {"item_id": IDS[3], "quantity": 2, "price_cents": 300}
    state: dict[str, Any] = {
        "domain": domain,
        "offers": [offer(place) for place in range(4)],
        "orders": [{"order_id": "o-9", "lines": [line], "total_cents": 600, "status": "open", "address": "x-home"}],
        "bookings": [
            {"booking_id": "b-9", "item_id": IDS[3], "total_cents": 300, "starts_at": at(20), "ends_at": at(20, 1)}
        ],
        "calendar": [{"entry_id": "c-9", "title": "Dentist", "starts_at": at(0, 3), "ends_at": at(0, 4)}],
        "messages": [{"message_id": "m-9", "contact_id": "x-ann", "text": "Hello"}],
        "contacts": [{"item_id": "x-ann", "title": "Ann"}, {"item_id": "x-ben", "title": "Ben"}],
        "places": [{"item_id": "x-home", "title": "5 Elm Street"}, {"item_id": "x-work", "title": "9 Oak Street"}],
        "devices": [
            {"item_id": "x-heater", "title": "Heater", "is_on": True, "level": 3, "kind": "heater"},
            {"item_id": "x-lamp", "title": "Lamp"},
        ],
        "settings": [{"category": "side", "item_id": "i-old"}],
        "plays": [{"play_id": "p-9", "item_id": IDS[3]}],
        "logs": [{"log_id": "l-9", "item_id": IDS[3]}],
        "balance_cents": 9000,
        "currency": "USD",
        "address": "x-home",
        "location": "x-home",
        "age_years": 34,
        "now": NOW.isoformat(),
        "utc_offset_min": -360,
    }
    return ToolState.model_validate_json(json.dumps({**state, **more}))


TYPES: dict[str, dict[str, Any]] = {
    "quantity": {"type": "integer", "minimum": 1, "maximum": 10, "required": False},
    "level": {"type": "integer", "minimum": 0, "maximum": 10},
    "max_price_cents": {"type": "integer", "minimum": 0, "required": False},
    "is_on": {"type": "boolean"},
    "starts_at": {"type": "string", "format": "date-time"},
    "ends_at": {"type": "string", "format": "date-time"},
    "query": {"type": "string", "required": False},
}


def tool(name: str, verb: str, target: str, parameters: str = "", requires: str = "", effects: str = "") -> ToolSpec:
    """A tool from the names of its parts."""
    return ToolSpec.model_validate(
        {
            "name": name,
            "verb": verb,
            "target": target,
            "description": f"Does {name}.",
            "parameters": {
                part: {"description": part, **TYPES.get(part, {"type": "string"})} for part in parameters.split()
            },
            "requires": requires.split(),
            "effects": effects.split(),
            "fee_cents": 50 if "charge_fee" in effects else 0,
        }
    )


ITEM = "item_is_offered item_is_in_stock age_allows is_open_now starts_in_future place_is_elsewhere "
HOURS = "ends_after_start hours_are_free"
TOOLS = [
    tool("find", "search", "offers", "query max_price_cents"),
    tool("order", "create", "orders", "item_id quantity", ITEM + "balance_covers_price",
         "add_order take_stock charge_balance charge_fee"),
    tool("order_back", "cancel", "orders", "order_id", "order_exists order_is_open",
         "close_order return_stock refund_balance"),
    tool("book", "create", "bookings", "item_id quantity", ITEM + "period_is_free balance_covers_price",
         "add_booking take_stock charge_balance"),
    tool("book_back", "cancel", "bookings", "booking_id", "booking_exists booking_is_open booking_is_ahead",
         "close_booking return_stock refund_balance"),
    tool("cart_add", "create", "cart", "item_id quantity", "item_is_offered item_is_in_stock", "add_cart_line"),
    tool("cart_drop", "cancel", "cart", "item_id", "item_is_in_cart", "remove_cart_line"),
    tool("cart_pay", "pay", "orders", "", "cart_is_not_empty cart_is_in_stock balance_covers_cart",
         "order_cart take_stock charge_balance charge_fee clear_cart"),
    tool("plan", "create", "calendar", "item_id", "item_is_offered period_is_free", "add_item_entry"),
    tool("note", "create", "calendar", "title starts_at ends_at", HOURS, "add_entry"),
    tool("move", "update", "calendar", "entry_id starts_at ends_at", f"entry_exists entry_is_open {HOURS}",
         "move_entry"),
    tool("unplan", "cancel", "calendar", "entry_id", "entry_exists entry_is_open", "close_entry"),
    tool("go_by", "set", "account", "place_id", "place_exists", "set_address"),
    tool("choose", "set", "settings", "item_id", "item_is_offered", "set_setting"),
    tool("unset", "cancel", "settings", "category", "category_is_set", "clear_setting"),
    tool("switch", "set", "devices", "device_id is_on", "device_exists", "switch_device"),
    tool("turn", "set", "devices", "device_id level", "device_exists device_is_on", "set_device_level"),
    tool("tell", "send", "messages", "contact_id text", "contact_exists", "send_message"),
    tool("share", "send", "messages", "item_id contact_id", "item_is_offered contact_exists", "send_item"),
    tool("play", "create", "plays", "item_id", "item_is_offered", "add_play"),
    tool("unplay", "cancel", "plays", "play_id", "play_exists", "remove_play"),
    tool("log", "create", "logs", "item_id", "item_is_offered", "add_log"),
    tool("unlog", "cancel", "logs", "log_id", "log_exists", "remove_log"),
    *(tool(f"get_{target}", "get", target) for target in NARROWED_BY),
]  # fmt: skip


@cache
def domain_of(name: str) -> Domain:
    """The declared domain, or the one with all tools."""
    if name != EVERYTHING:
        return load_domain(name)
    return load_domain("food").model_copy(update={"name": EVERYTHING, "tools": TOOLS})


@cache
def tools_of(name: str) -> Toolbox:
    """Its tools."""
    return Toolbox.of(domain_of(name))


def world_of(name: str, **more: Any) -> World:
    """A world over the state, with changes to it."""
    return World(tools_of(name), state_of(name, **more))


GOOD: dict[str, Any] = {
    "item_id": IDS[0],
    "order_id": "o-9",
    "booking_id": "b-9",
    "entry_id": "c-9",
    "message_id": "m-9",
    "contact_id": "x-ben",
    "place_id": "x-work",
    "device_id": "x-heater",
    "category": "side",
    "play_id": "p-9",
    "log_id": "l-9",
    "text": "On my way.",
    "title": "Walk",
    "starts_at": at(30),
    "ends_at": at(30, 1),
    "is_on": False,
    "level": 7,
    "quantity": 1,
}
"""An argument of each name that works on the state, and changes something where it can."""


def good_arguments(spec: ToolSpec) -> dict[str, Any]:
    """What a tool must be given, so that it works on the state."""
    return {name: GOOD[name] for name, parameter in spec.parameters.items() if parameter.required}


def with_cart(state: ToolState) -> ToolState:
    """The state with one piece of the first offer in its cart."""
    line = {"item_id": IDS[0], "quantity": 1, "price_cents": state.offers[0].price_cents}
    return ToolState.model_validate({**state.model_dump(), "cart": [line]})
