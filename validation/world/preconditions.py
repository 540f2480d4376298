"""What a tool can require of the tool state, by name. Each says what is wrong and what to do, or nothing if all is well.

Nothing here raises for bad arguments. A rule may rely on the rules that ``after`` names: `tool_problems` sees to it
that they are tried before. Time is not part of a world whose ``now`` is None, and then no rule about the present fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from schemas.explain import nearest
from schemas.tooling import Precondition, ToolSpec
from validation.world.instants import overlap, read_instant
from validation.world.state import Booking, Offer, Period, ToolState, total_cents

Arguments = Mapping[str, Any]
LISTED = 8
"""Ids that a message lists before it stops."""
SHOWN_LENGTH = 60
SENTENCE_LENGTH = 100


def quantity_of(arguments: Arguments) -> int:
    """How many pieces a call is about."""
    return int(arguments.get("quantity", 1))


def fee_of(tool: ToolSpec) -> int:
    """Cents that the use of a tool costs besides the price."""
    return tool.fee_cents if "charge_fee" in tool.effects else 0


def offer_of(state: ToolState, arguments: Arguments) -> Offer:
    """The offer that a call is about, once `item_is_offered` holds."""
    offer = state.offer(arguments["item_id"])
    assert offer is not None
    return offer


def period_of(arguments: Arguments) -> Period:
    """The period that a call names. Its arguments were checked to be date-times."""
    starts_at, ends_at = read_instant(arguments["starts_at"]), read_instant(arguments["ends_at"])
    assert starts_at is not None
    assert ends_at is not None
    return starts_at, ends_at


def quoted(value: Any) -> str:
    """A value as an error shows it, cut if very long."""
    text = repr(value)
    return text if len(text) <= SHOWN_LENGTH else f"{text[:SHOWN_LENGTH]}…"


def listed(names: Iterable[str]) -> str:
    """Names for a sentence: the first few, and how many more."""
    names = list(names)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more if names else "none"


def meant(word: str, known: Iterable[str]) -> str:
    """``did you mean 'x'? `` if one of the known words is like the given one."""
    near = nearest(word[:SENTENCE_LENGTH], known)
    return f"did you mean {near!r}? " if near is not None else ""


def _no_such(argument: str, arguments: Arguments, known: Iterable[str], what: str, there: str) -> str | None:
    """None if the id is known, else what is."""
    known = list(known)
    given = arguments[argument]
    if given in known:
        return None
    return f"{what} has the {argument} {quoted(given)}; {meant(given, known)}{there}: {listed(known)}"


# Items


def _item_is_offered(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _no_such("item_id", arguments, (offer.item_id for offer in state.offers), "nothing on offer", "on offer are")


def _item_is_in_stock(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    """What is in the cart counts where more is put into it."""
    offer = offer_of(state, arguments)
    line = state.line(offer.item_id) if "add_cart_line" in tool.effects else None
    return _too_few(offer, quantity_of(arguments) + (line.quantity if line is not None else 0))


def _too_few(offer: Offer, wanted: int) -> str | None:
    if offer.left is None or wanted <= offer.left:
        return None
    if offer.left == 0:
        return f"{offer.item_id!r} is sold out; take something else"
    return f"of {offer.item_id!r} {offer.left} are left and {wanted} are wanted; take fewer, or something else"


def _age_allows(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    offer = offer_of(state, arguments)
    if offer.min_age is None or (state.age_years is not None and state.age_years >= offer.min_age):
        return None
    owner = "whose age is not known" if state.age_years is None else f"who is {state.age_years}"
    return f"{offer.item_id!r} is for people from {offer.min_age} years, not for the owner of the account, {owner}"


def _is_open_now(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    offer = offer_of(state, arguments)
    if state.now is None:
        return None
    local = state.now + timedelta(minutes=state.utc_offset_min)
    if offer.is_open(local.hour):
        return None
    hours = f"from {offer.opens}:00 to {(offer.closes or 0) % 24}:00 local time"
    return f"{offer.item_id!r} can be had {hours}, and it is {local:%H:%M}; take something that is open now"


def _starts_in_future(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    offer = offer_of(state, arguments)
    if state.now is None or offer.starts_at is None or offer.starts_at > state.now:
        return None
    return f"{offer.item_id!r} began at {_told(offer.starts_at)}, and it is {_told(state.now)}; take a later one"


def _period_is_free(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    offer = offer_of(state, arguments)
    return None if offer.period is None else _in_the_way(state.taken_periods(), offer.period)


def _place_is_elsewhere(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    offer = offer_of(state, arguments)
    goal = offer.destination if offer.destination is not None else offer.item_id
    if state.location is None or goal != state.location:
        return None
    return f"{offer.item_id!r} leads to {goal!r}, where you are already; take one that leads elsewhere"


def _balance_covers_price(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _too_dear(offer_of(state, arguments).price_cents * quantity_of(arguments), state, tool)


def _too_dear(price_cents: int, state: ToolState, tool: ToolSpec) -> str | None:
    fee = fee_of(tool)
    if price_cents + fee <= state.balance_cents:
        return None
    with_fee = f" with the fee of {fee} cents" if fee else ""
    return (
        f"it costs {price_cents + fee} cents{with_fee} and the balance is {state.balance_cents} cents; take fewer pieces or "
        "something cheaper"
    )


# Cart, orders, bookings


def _item_is_in_cart(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    in_cart = (line.item_id for line in state.cart)
    return _no_such("item_id", arguments, in_cart, "nothing in the cart", "in the cart are")


def _cart_is_not_empty(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return None if state.cart else "the cart is empty; add something first"


def _cart_is_in_stock(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    problems = []
    for line in state.cart:
        offer = state.offer(line.item_id)
        gone = f"{line.item_id!r} is on offer no more; take it out of the cart"
        problems.append(gone if offer is None else _too_few(offer, line.quantity))
    return "; ".join(problem for problem in problems if problem is not None) or None


def _balance_covers_cart(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _too_dear(total_cents(state.cart), state, tool)


def _order_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _no_such("order_id", arguments, (order.order_id for order in state.orders), "no order", "orders so far")


def _order_is_open(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    order = state.order(arguments["order_id"])
    if order is not None and order.status == "open":
        return None
    still = (one.order_id for one in state.orders if one.status == "open")
    return f"order {quoted(arguments['order_id'])} is not open any more; open orders: {listed(still)}"


def _booking_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    known = (booking.booking_id for booking in state.bookings)
    return _no_such("booking_id", arguments, known, "no booking", "bookings so far")


def _booking_of(state: ToolState, arguments: Arguments) -> Booking:
    booking = state.booking(arguments["booking_id"])
    assert booking is not None
    return booking


def _booking_is_open(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    booking = _booking_of(state, arguments)
    if booking.status == "open":
        return None
    still = (one.booking_id for one in state.bookings if one.status == "open")
    return f"booking {booking.booking_id!r} is not open any more; open bookings: {listed(still)}"


def _booking_is_ahead(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    booking = _booking_of(state, arguments)
    if state.now is None or booking.starts_at is None or booking.starts_at > state.now:
        return None
    began = f"began at {_told(booking.starts_at)}, and it is {_told(state.now)}"
    return f"booking {booking.booking_id!r} {began}; only what is ahead can be changed"


# Calendar


def _told(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def _in_the_way(taken: Iterable[tuple[str, Period]], wanted: Period) -> str | None:
    found = [f"{name} ({_told(p[0])} to {_told(p[1])})" for name, p in taken if overlap(p, wanted)]
    if not found:
        return None
    times = f"the time from {_told(wanted[0])} to {_told(wanted[1])} is taken by {listed(found)}"
    return f"{times}; take another time, or cancel that first"


def _ends_after_start(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    starts_at, ends_at = period_of(arguments)
    if ends_at > starts_at:
        return None
    return f"ends_at {_told(ends_at)} is not after starts_at {_told(starts_at)}; give a later end"


def _hours_are_free(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    """An entry that is moved is not in its own way."""
    return _in_the_way(state.taken_periods(but_entry=arguments.get("entry_id")), period_of(arguments))


def _entry_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    known = (entry.entry_id for entry in state.calendar)
    return _no_such("entry_id", arguments, known, "no entry of the calendar", "entries are")


def _entry_is_open(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    entry = state.entry(arguments["entry_id"])
    if entry is not None and entry.status == "open":
        return None
    still = (one.entry_id for one in state.calendar if one.status == "open")
    return f"entry {quoted(arguments['entry_id'])} is not open any more; open entries: {listed(still)}"


# One's own things, settings, plays, logs


def _contact_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _no_such("contact_id", arguments, (one.item_id for one in state.contacts), "no contact", "contacts are")


def _place_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _no_such("place_id", arguments, (one.item_id for one in state.places), "no place", "places are")


def _device_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _no_such("device_id", arguments, (one.item_id for one in state.devices), "no device", "devices are")


def _device_is_on(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    device = state.device(arguments["device_id"])
    if device is not None and device.is_on:
        return None
    return f"device {quoted(arguments['device_id'])} is off; switch it on first"


def _category_is_set(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    known = (setting.category for setting in state.settings)
    return _no_such("category", arguments, known, "no setting", "categories that are set")


def _play_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _no_such("play_id", arguments, (play.play_id for play in state.plays), "no play", "plays so far")


def _log_exists(state: ToolState, arguments: Arguments, tool: ToolSpec) -> str | None:
    return _no_such("log_id", arguments, (log.log_id for log in state.logs), "nothing logged", "logged so far")


@dataclass(frozen=True)
class PreconditionRule:
    """``broken`` says what is wrong, or None. A tool must require ``arguments``, and try ``after`` before it."""

    broken: Callable[[ToolState, Arguments, ToolSpec], str | None]
    arguments: tuple[str, ...] = ()
    after: tuple[Precondition, ...] = ()


def _of_item(broken: Callable[[ToolState, Arguments, ToolSpec], str | None]) -> PreconditionRule:
    return PreconditionRule(broken, ("item_id",), ("item_is_offered",))


PRECONDITION_RULES: Mapping[Precondition, PreconditionRule] = {
    "item_is_offered": PreconditionRule(_item_is_offered, ("item_id",)),
    "item_is_in_stock": _of_item(_item_is_in_stock),
    "age_allows": _of_item(_age_allows),
    "is_open_now": _of_item(_is_open_now),
    "starts_in_future": _of_item(_starts_in_future),
    "period_is_free": _of_item(_period_is_free),
    "place_is_elsewhere": _of_item(_place_is_elsewhere),
    "balance_covers_price": _of_item(_balance_covers_price),
    "item_is_in_cart": PreconditionRule(_item_is_in_cart, ("item_id",)),
    "cart_is_not_empty": PreconditionRule(_cart_is_not_empty),
    "cart_is_in_stock": PreconditionRule(_cart_is_in_stock),
    "balance_covers_cart": PreconditionRule(_balance_covers_cart),
    "order_exists": PreconditionRule(_order_exists, ("order_id",)),
    "order_is_open": PreconditionRule(_order_is_open, ("order_id",), ("order_exists",)),
    "booking_exists": PreconditionRule(_booking_exists, ("booking_id",)),
    "booking_is_open": PreconditionRule(_booking_is_open, ("booking_id",), ("booking_exists",)),
    "booking_is_ahead": PreconditionRule(_booking_is_ahead, ("booking_id",), ("booking_exists",)),
    "ends_after_start": PreconditionRule(_ends_after_start, ("starts_at", "ends_at")),
    "hours_are_free": PreconditionRule(_hours_are_free, ("starts_at", "ends_at"), ("ends_after_start",)),
    "entry_exists": PreconditionRule(_entry_exists, ("entry_id",)),
    "entry_is_open": PreconditionRule(_entry_is_open, ("entry_id",), ("entry_exists",)),
    "contact_exists": PreconditionRule(_contact_exists, ("contact_id",)),
    "place_exists": PreconditionRule(_place_exists, ("place_id",)),
    "device_exists": PreconditionRule(_device_exists, ("device_id",)),
    "device_is_on": PreconditionRule(_device_is_on, ("device_id",), ("device_exists",)),
    "category_is_set": PreconditionRule(_category_is_set, ("category",)),
    "play_exists": PreconditionRule(_play_exists, ("play_id",)),
    "log_exists": PreconditionRule(_log_exists, ("log_id",)),
}
