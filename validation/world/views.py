"""What the two reading verbs answer: offers that a search finds, and a part of the state as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.tooling import Target
from validation.world.effects import MONEY
from validation.world.preconditions import Arguments
from validation.world.state import ToolState, shown, total_cents

READING = ("search", "get")
SEARCH_FILTERS = ("query", "category", "max_price_cents")
NARROWED_BY: Mapping[Target, Mapping[str, str]] = {
    "offers": {"item_id": "item_id", "category": "category"},
    "cart": {"item_id": "item_id"},
    "orders": {"order_id": "order_id"},
    "bookings": {"booking_id": "booking_id", "item_id": "item_id"},
    "calendar": {"entry_id": "entry_id", "item_id": "item_id"},
    "messages": {"message_id": "message_id", "contact_id": "contact_id"},
    "contacts": {"contact_id": "item_id"},
    "places": {"place_id": "item_id"},
    "devices": {"device_id": "item_id"},
    "settings": {"category": "category"},
    "plays": {"play_id": "play_id", "item_id": "item_id"},
    "logs": {"log_id": "log_id", "item_id": "item_id"},
    "account": {},
}
"""The arguments that narrow a `get` to the entries that have them, and by which field."""


def search(state: ToolState, arguments: Arguments) -> dict[str, Any]:
    """Offers that contain every word of the query, in any case, and pass the filters; in their order."""
    words = str(arguments.get("query", "")).casefold().split()
    limit, category = arguments.get("max_price_cents"), arguments.get("category")
    found = [
        shown(offer)
        for offer in state.offers
        if (limit is None or offer.price_cents <= limit)
        and (category is None or offer.category == category)
        and all(word in f"{offer.title} {offer.description} {offer.category}".casefold() for word in words)
    ]
    return {"offers": found}


def view(state: ToolState, target: Target, arguments: Arguments) -> dict[str, Any]:
    """A part of the state, or what of it the arguments name, with the money, place or time that belongs to it."""
    answer: dict[str, Any] = {}
    if target == "account":
        answer = {"address": state.address, "location": state.location, "age_years": state.age_years}
    else:
        wanted = [(field, arguments[name]) for name, field in NARROWED_BY[target].items() if name in arguments]
        entries = getattr(state, target)
        answer[target] = [shown(one) for one in entries if all(getattr(one, f) == value for f, value in wanted)]
    if target == "cart":
        answer["total_cents"] = total_cents(state.cart)
    if target == "places":
        answer |= {"address": state.address, "location": state.location}
    if target in MONEY:
        answer["balance_cents"] = state.balance_cents
    if target in ("account", "calendar", "bookings") and state.now is not None:
        answer["now"] = state.now.isoformat().replace("+00:00", "Z")
        answer["utc_offset_min"] = state.utc_offset_min
    return {name: value for name, value in answer.items() if value is not None}
