"""The shape of the tools of a domain: generic verbs over the parts of a typed state, with what they need and do."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from schemas.config.core import Section

Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
Verb = Literal["search", "get", "create", "update", "cancel", "set", "send", "pay"]
Target = Literal[
    "offers",
    "cart",
    "orders",
    "bookings",
    "calendar",
    "messages",
    "contacts",
    "places",
    "devices",
    "settings",
    "plays",
    "logs",
    "account",
]
"""The parts of the tool state. `validation/world/state.py` says what each holds."""
Precondition = Literal[
    "item_is_offered",
    "item_is_in_stock",
    "age_allows",
    "is_open_now",
    "starts_in_future",
    "period_is_free",
    "place_is_elsewhere",
    "balance_covers_price",
    "item_is_in_cart",
    "cart_is_not_empty",
    "cart_is_in_stock",
    "balance_covers_cart",
    "order_exists",
    "order_is_open",
    "booking_exists",
    "booking_is_open",
    "booking_is_ahead",
    "ends_after_start",
    "hours_are_free",
    "entry_exists",
    "entry_is_open",
    "contact_exists",
    "place_exists",
    "device_exists",
    "device_is_on",
    "category_is_set",
    "play_exists",
    "log_exists",
]
"""What a tool can require of the tool state. `validation/world/preconditions.py` says what each means."""
Effect = Literal[
    "add_order",
    "order_cart",
    "close_order",
    "add_booking",
    "close_booking",
    "add_item_entry",
    "add_entry",
    "move_entry",
    "close_entry",
    "add_cart_line",
    "remove_cart_line",
    "clear_cart",
    "take_stock",
    "return_stock",
    "charge_balance",
    "charge_fee",
    "refund_balance",
    "set_address",
    "set_setting",
    "clear_setting",
    "switch_device",
    "set_device_level",
    "send_message",
    "send_item",
    "add_play",
    "remove_play",
    "add_log",
    "remove_log",
]
"""What a tool can do to the tool state, likewise in `validation/world/effects.py`."""
PRECONDITIONS: tuple[str, ...] = get_args(Precondition)
EFFECTS: tuple[str, ...] = get_args(Effect)


class ParameterSpec(Section):
    """One argument of a tool."""

    type: Literal["string", "integer", "number", "boolean"]
    description: str
    required: bool = True
    minimum: float | None = None
    maximum: float | None = None
    enum: list[str] | None = None
    format: Literal["date-time"] | None = None
    """`date-time` for an instant with its offset (RFC 3339)."""


class ToolSpec(Section):
    """A tool: a generic verb on one part of the state."""

    name: Name
    verb: Verb
    target: Target
    """The part of the tool state it works on, and whose new content it answers."""
    description: str
    parameters: dict[Name, ParameterSpec] = Field(default_factory=dict)
    requires: list[Precondition] = Field(default_factory=list)
    """Preconditions, tried in this order before anything happens."""
    effects: list[Effect] = Field(default_factory=list)
    """Effects, in the order in which they happen."""
    fee_cents: Annotated[int, Field(ge=0)] = 0
    """What using it costs besides the price, as in a delivery fee. Charged by the effect `charge_fee`."""
