"""What a tool can do to the tool state, by name. Each gives the state after, and may rely on what ``needs`` names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from schemas.tooling import Effect, Precondition, Target, ToolSpec
from validation.world.preconditions import Arguments, fee_of, offer_of, period_of, quantity_of
from validation.world.state import (
    Booking,
    Entry,
    Line,
    Log,
    Message,
    Order,
    Play,
    Setting,
    ToolState,
    total_cents,
)

TAKING: tuple[Effect, ...] = (
    "add_order",
    "order_cart",
    "add_booking",
    "add_item_entry",
    "set_setting",
    "add_play",
    "add_log",
    "send_item",
)
"""The effects by which a person takes an item. A tool has one of them at the most."""


def _fresh(prefix: str, known: Iterable[str]) -> str:
    """An id that no entry has: the number of the next one, or the first free number after it."""
    known = set(known)
    number = 1 + len(known)
    while f"{prefix}-{number}" in known:
        number += 1
    return f"{prefix}-{number}"


# Orders and the cart


def _add_order(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    offer = offer_of(state, arguments)
    line = Line(item_id=offer.item_id, quantity=quantity_of(arguments), price_cents=offer.price_cents)
    return _with_order(state, (line,), tool)


def _order_cart(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _with_order(state, state.cart, tool)


def _with_order(state: ToolState, lines: tuple[Line, ...], tool: ToolSpec) -> ToolState:
    order = Order(
        order_id=_fresh("o", (order.order_id for order in state.orders)),
        lines=lines,
        total_cents=total_cents(lines),
        status="open",
        address=state.address,
        fee_cents=fee_of(tool),
    )
    return state.model_copy(update={"orders": (*state.orders, order)})


def _close_order(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    orders = tuple(
        order.model_copy(update={"status": "cancelled"}) if order.order_id == arguments["order_id"] else order
        for order in state.orders
    )
    return state.model_copy(update={"orders": orders})


def _add_cart_line(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    offer = offer_of(state, arguments)
    more = quantity_of(arguments)
    if state.line(offer.item_id) is None:
        line = Line(item_id=offer.item_id, quantity=more, price_cents=offer.price_cents)
        return state.model_copy(update={"cart": (*state.cart, line)})
    cart = tuple(
        line.model_copy(update={"quantity": line.quantity + more}) if line.item_id == offer.item_id else line
        for line in state.cart
    )
    return state.model_copy(update={"cart": cart})


def _remove_cart_line(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return state.model_copy(update={"cart": tuple(line for line in state.cart if line.item_id != arguments["item_id"])})


def _clear_cart(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return state.model_copy(update={"cart": ()})


# Bookings and the calendar


def _add_booking(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    """A booking that nothing charges has no total, so that nothing can be refunded that was never paid."""
    offer = offer_of(state, arguments)
    pieces = quantity_of(arguments)
    booking = Booking(
        booking_id=_fresh("b", (booking.booking_id for booking in state.bookings)),
        item_id=offer.item_id,
        quantity=pieces,
        total_cents=pieces * offer.price_cents if "charge_balance" in tool.effects else 0,
        fee_cents=fee_of(tool),
        starts_at=offer.starts_at,
        ends_at=offer.ends_at,
        origin=offer.origin,
        destination=offer.destination,
    )
    return state.model_copy(update={"bookings": (*state.bookings, booking)})


def _close_booking(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    bookings = tuple(
        one.model_copy(update={"status": "cancelled"}) if one.booking_id == arguments["booking_id"] else one
        for one in state.bookings
    )
    return state.model_copy(update={"bookings": bookings})


def _add_item_entry(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    offer = offer_of(state, arguments)
    entry = Entry(
        entry_id=_fresh("c", (entry.entry_id for entry in state.calendar)),
        item_id=offer.item_id,
        title=offer.title,
        starts_at=offer.starts_at,
        ends_at=offer.ends_at,
    )
    return state.model_copy(update={"calendar": (*state.calendar, entry)})


def _add_entry(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    starts_at, ends_at = period_of(arguments)
    entry = Entry(
        entry_id=_fresh("c", (entry.entry_id for entry in state.calendar)),
        title=arguments["title"],
        starts_at=starts_at,
        ends_at=ends_at,
    )
    return state.model_copy(update={"calendar": (*state.calendar, entry)})


def _move_entry(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    starts_at, ends_at = period_of(arguments)
    return _with_entry(state, arguments, starts_at=starts_at, ends_at=ends_at)


def _close_entry(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _with_entry(state, arguments, status="cancelled")


def _with_entry(state: ToolState, arguments: Arguments, **changes: object) -> ToolState:
    calendar = tuple(
        entry.model_copy(update=changes) if entry.entry_id == arguments["entry_id"] else entry
        for entry in state.calendar
    )
    return state.model_copy(update={"calendar": calendar})


# Stock and money


def _just_added(state: ToolState, tool: ToolSpec) -> Order | Booking:
    return state.bookings[-1] if "add_booking" in tool.effects else state.orders[-1]


def _just_closed(state: ToolState, arguments: Arguments, tool: ToolSpec) -> Order | Booking:
    closed = (
        state.booking(arguments["booking_id"])
        if "close_booking" in tool.effects
        else state.order(arguments["order_id"])
    )
    assert closed is not None
    return closed


def _pieces_of(what: Order | Booking) -> dict[str, int]:
    if isinstance(what, Booking):
        return {what.item_id: what.quantity}
    return {line.item_id: sum(one.quantity for one in what.lines if one.item_id == line.item_id) for line in what.lines}


def _stocked(state: ToolState, more: Mapping[str, int]) -> ToolState:
    """Of what is limited, so many pieces more; of what is not, there is no end anyway."""
    offers = tuple(
        offer.model_copy(update={"left": offer.left + more[offer.item_id]})
        if offer.left is not None and offer.item_id in more
        else offer
        for offer in state.offers
    )
    return state.model_copy(update={"offers": offers})


def _take_stock(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _stocked(state, {item: -pieces for item, pieces in _pieces_of(_just_added(state, tool)).items()})


def _return_stock(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _stocked(state, _pieces_of(_just_closed(state, arguments, tool)))


def _paid(state: ToolState, cents: int) -> ToolState:
    return state.model_copy(update={"balance_cents": state.balance_cents - cents})


def _charge_balance(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _paid(state, _just_added(state, tool).total_cents)


def _charge_fee(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _paid(state, fee_of(tool))


def _refund_balance(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _paid(state, -_just_closed(state, arguments, tool).total_cents)


# The account, settings, devices


def _set_address(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return state.model_copy(update={"address": arguments["place_id"]})


def _set_setting(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    """In the order of the categories, so that the way to a state does not show in it."""
    offer = offer_of(state, arguments)
    others = [setting for setting in state.settings if setting.category != offer.category]
    settings = sorted(
        [*others, Setting(category=offer.category, item_id=offer.item_id)], key=lambda setting: setting.category
    )
    return state.model_copy(update={"settings": tuple(settings)})


def _clear_setting(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    kept = tuple(setting for setting in state.settings if setting.category != arguments["category"])
    return state.model_copy(update={"settings": kept})


def _switch_device(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _with_device(state, arguments, is_on=arguments["is_on"])


def _set_device_level(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _with_device(state, arguments, level=int(arguments["level"]))


def _with_device(state: ToolState, arguments: Arguments, **changes: object) -> ToolState:
    devices = tuple(
        device.model_copy(update=changes) if device.item_id == arguments["device_id"] else device
        for device in state.devices
    )
    return state.model_copy(update={"devices": devices})


# Messages, plays, logs


def _send_message(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _with_message(state, arguments, None)


def _send_item(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return _with_message(state, arguments, offer_of(state, arguments).item_id)


def _with_message(state: ToolState, arguments: Arguments, item_id: str | None) -> ToolState:
    message = Message(
        message_id=_fresh("m", (message.message_id for message in state.messages)),
        contact_id=arguments["contact_id"],
        text=arguments.get("text"),
        item_id=item_id,
    )
    return state.model_copy(update={"messages": (*state.messages, message)})


def _add_play(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    play = Play(play_id=_fresh("p", (play.play_id for play in state.plays)), item_id=offer_of(state, arguments).item_id)
    return state.model_copy(update={"plays": (*state.plays, play)})


def _remove_play(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return state.model_copy(update={"plays": tuple(one for one in state.plays if one.play_id != arguments["play_id"])})


def _add_log(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    log = Log(log_id=_fresh("l", (log.log_id for log in state.logs)), item_id=offer_of(state, arguments).item_id)
    return state.model_copy(update={"logs": (*state.logs, log)})


def _remove_log(state: ToolState, arguments: Arguments, tool: ToolSpec) -> ToolState:
    return state.model_copy(update={"logs": tuple(one for one in state.logs if one.log_id != arguments["log_id"])})


@dataclass(frozen=True)
class EffectRule:
    """``apply`` gives the state after. ``shown_by`` are the targets of which any one shows what it changes.

    It may be used only behind all of ``needs`` and, if there are any, after one of ``follows``. It reads the arguments
    ``reads``, which a tool must require, and ``may_read`` if they are given.
    """

    apply: Callable[[ToolState, Arguments, ToolSpec], ToolState]
    shown_by: tuple[Target, ...]
    needs: tuple[Precondition, ...] = ()
    follows: tuple[Effect, ...] = ()
    reads: tuple[str, ...] = ()
    may_read: tuple[str, ...] = ()


MONEY: tuple[Target, ...] = ("account", "cart", "orders", "bookings")
"""The targets whose view has the balance."""
ENTRY_TIMES: tuple[Precondition, ...] = ("ends_after_start", "hours_are_free")
EFFECT_RULES: Mapping[Effect, EffectRule] = {
    "add_order": EffectRule(_add_order, ("orders",), ("item_is_offered",), may_read=("quantity",)),
    "order_cart": EffectRule(_order_cart, ("orders",), ("cart_is_not_empty",)),
    "close_order": EffectRule(_close_order, ("orders",), ("order_exists", "order_is_open")),
    "add_booking": EffectRule(
        _add_booking, ("bookings",), ("item_is_offered", "period_is_free"), may_read=("quantity",)
    ),
    "close_booking": EffectRule(_close_booking, ("bookings",), ("booking_exists", "booking_is_open")),
    "add_item_entry": EffectRule(_add_item_entry, ("calendar",), ("item_is_offered", "period_is_free")),
    "add_entry": EffectRule(_add_entry, ("calendar",), ENTRY_TIMES, reads=("title", "starts_at", "ends_at")),
    "move_entry": EffectRule(_move_entry, ("calendar",), ("entry_exists", "entry_is_open", *ENTRY_TIMES)),
    "close_entry": EffectRule(_close_entry, ("calendar",), ("entry_exists", "entry_is_open")),
    "add_cart_line": EffectRule(_add_cart_line, ("cart",), ("item_is_offered",), may_read=("quantity",)),
    "remove_cart_line": EffectRule(_remove_cart_line, ("cart",), ("item_is_in_cart",)),
    "clear_cart": EffectRule(_clear_cart, ("cart",)),
    "take_stock": EffectRule(_take_stock, ("offers",), follows=("add_order", "order_cart", "add_booking")),
    "return_stock": EffectRule(_return_stock, ("offers",), follows=("close_order", "close_booking")),
    "charge_balance": EffectRule(_charge_balance, MONEY, follows=("add_order", "order_cart", "add_booking")),
    "charge_fee": EffectRule(_charge_fee, MONEY, follows=("charge_balance",)),
    "refund_balance": EffectRule(_refund_balance, MONEY, follows=("close_order", "close_booking")),
    "set_address": EffectRule(_set_address, ("account", "places"), ("place_exists",)),
    "set_setting": EffectRule(_set_setting, ("settings",), ("item_is_offered",)),
    "clear_setting": EffectRule(_clear_setting, ("settings",), ("category_is_set",)),
    "switch_device": EffectRule(_switch_device, ("devices",), ("device_exists",), reads=("is_on",)),
    "set_device_level": EffectRule(_set_device_level, ("devices",), ("device_exists",), reads=("level",)),
    "send_message": EffectRule(_send_message, ("messages",), ("contact_exists",), reads=("text",)),
    "send_item": EffectRule(_send_item, ("messages",), ("item_is_offered", "contact_exists"), may_read=("text",)),
    "add_play": EffectRule(_add_play, ("plays",), ("item_is_offered",)),
    "remove_play": EffectRule(_remove_play, ("plays",), ("play_exists",)),
    "add_log": EffectRule(_add_log, ("logs",), ("item_is_offered",)),
    "remove_log": EffectRule(_remove_log, ("logs",), ("log_exists",)),
}
