"""What tools are made of: two reading verbs, and preconditions and effects by name for all others.

A tool whose verb is `search` or `get` shows a part of the state. A tool with any other verb tries its preconditions in
the written order, then applies its effects in the written order, and shows the part of the state it works on. Nothing
here raises for bad arguments: a precondition says what is wrong, and nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.domain import Effect, Precondition
from validation.world.state import Line, Order, ToolState, total_cents

Arguments = Mapping[str, Any]
READING = ("search", "get")
SEARCH_FILTERS = ("query", "max_price_cents")
IDS = {"offers": "item_id", "cart": "item_id", "orders": "order_id"}
"""The argument that narrows a `get` to one entry."""


def search(state: ToolState, arguments: Arguments) -> dict[str, Any]:
    """Offers that contain every word of the query, in any case, and cost no more than the limit; in their order."""
    words = str(arguments.get("query", "")).casefold().split()
    limit = arguments.get("max_price_cents")
    found = [
        offer.model_dump(mode="json")
        for offer in state.offers
        if (limit is None or offer.price_cents <= limit)
        and all(word in f"{offer.title} {offer.description} {offer.category}".casefold() for word in words)
    ]
    return {"offers": found}


def view(state: ToolState, target: str, arguments: Arguments) -> dict[str, Any]:
    """A collection of the state, or the one entry that the arguments name, with the money that belongs to it."""
    wanted = arguments.get(IDS[target])
    entries = [entry.model_dump(mode="json") for entry in getattr(state, target)]
    answer: dict[str, Any] = {
        target: [entry for entry in entries if wanted is None or entry[IDS[target]] == wanted],
    }
    if target == "cart":
        answer["total_cents"] = total_cents(state.cart)
    if target != "offers":
        answer["balance_cents"] = state.balance_cents
    return answer


# Preconditions: what is wrong, in a sentence that helps; None if nothing is.


def _item_is_offered(state: ToolState, arguments: Arguments) -> str | None:
    if state.offer(arguments["item_id"]) is not None:
        return None
    return f"nothing on offer has the item_id {arguments['item_id']!r}; search lists what is"


def _balance_covers_price(state: ToolState, arguments: Arguments) -> str | None:
    offer = state.offer(arguments["item_id"])
    price = offer.price_cents * _quantity(arguments) if offer else 0
    return _short(price, state)


def _item_is_in_cart(state: ToolState, arguments: Arguments) -> str | None:
    if state.line(arguments["item_id"]) is not None:
        return None
    return f"the cart holds no {arguments['item_id']!r}"


def _cart_is_not_empty(state: ToolState, arguments: Arguments) -> str | None:
    return None if state.cart else "the cart is empty; add something first"


def _balance_covers_cart(state: ToolState, arguments: Arguments) -> str | None:
    return _short(total_cents(state.cart), state)


def _order_exists(state: ToolState, arguments: Arguments) -> str | None:
    if state.order(arguments["order_id"]) is not None:
        return None
    known = ", ".join(order.order_id for order in state.orders) or "none"
    return f"no order has the order_id {arguments['order_id']!r}; orders so far: {known}"


def _order_is_open(state: ToolState, arguments: Arguments) -> str | None:
    order = state.order(arguments["order_id"])
    return None if order is not None and order.status == "open" else f"order {arguments['order_id']!r} is not open"


def _short(price_cents: int, state: ToolState) -> str | None:
    if price_cents <= state.balance_cents:
        return None
    return f"it costs {price_cents} cents and the balance is {state.balance_cents} cents"


def _quantity(arguments: Arguments) -> int:
    return int(arguments.get("quantity", 1))


# Effects: the state after. They may rely on the preconditions in EFFECTS.


def _add_order(state: ToolState, arguments: Arguments) -> ToolState:
    offer = state.offer(arguments["item_id"])
    assert offer is not None
    line = Line(item_id=offer.item_id, quantity=_quantity(arguments), price_cents=offer.price_cents)
    return _with_order(state, (line,))


def _order_cart(state: ToolState, arguments: Arguments) -> ToolState:
    return _with_order(state, state.cart)


def _with_order(state: ToolState, lines: tuple[Line, ...]) -> ToolState:
    number = 1 + len(state.orders)
    while state.order(f"o-{number}") is not None:
        number += 1
    order = Order(
        order_id=f"o-{number}", lines=lines, total_cents=total_cents(lines), status="open", address=state.address
    )
    return state.model_copy(update={"orders": (*state.orders, order)})


def _charge_balance(state: ToolState, arguments: Arguments) -> ToolState:
    return state.model_copy(update={"balance_cents": state.balance_cents - state.orders[-1].total_cents})


def _add_cart_line(state: ToolState, arguments: Arguments) -> ToolState:
    offer = state.offer(arguments["item_id"])
    assert offer is not None
    more = _quantity(arguments)
    if state.line(offer.item_id) is None:
        line = Line(item_id=offer.item_id, quantity=more, price_cents=offer.price_cents)
        return state.model_copy(update={"cart": (*state.cart, line)})
    cart = tuple(
        line.model_copy(update={"quantity": line.quantity + more}) if line.item_id == offer.item_id else line
        for line in state.cart
    )
    return state.model_copy(update={"cart": cart})


def _remove_cart_line(state: ToolState, arguments: Arguments) -> ToolState:
    return state.model_copy(update={"cart": tuple(line for line in state.cart if line.item_id != arguments["item_id"])})


def _clear_cart(state: ToolState, arguments: Arguments) -> ToolState:
    return state.model_copy(update={"cart": ()})


def _close_order(state: ToolState, arguments: Arguments) -> ToolState:
    orders = tuple(
        order.model_copy(update={"status": "cancelled"}) if order.order_id == arguments["order_id"] else order
        for order in state.orders
    )
    return state.model_copy(update={"orders": orders})


def _refund_balance(state: ToolState, arguments: Arguments) -> ToolState:
    order = state.order(arguments["order_id"])
    assert order is not None
    return state.model_copy(update={"balance_cents": state.balance_cents + order.total_cents})


@dataclass(frozen=True)
class PreconditionRule:
    """``broken`` says what is wrong, or None. ``arguments`` are the arguments it reads, which a tool must require."""

    broken: Callable[[ToolState, Arguments], str | None]
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class EffectRule:
    """``apply`` gives the state after. It may be used only behind all of ``needs``, and after one of ``follows``."""

    apply: Callable[[ToolState, Arguments], ToolState]
    needs: tuple[Precondition, ...] = ()
    follows: tuple[Effect, ...] = ()


PRECONDITIONS: Mapping[Precondition, PreconditionRule] = {
    "item_is_offered": PreconditionRule(_item_is_offered, ("item_id",)),
    "balance_covers_price": PreconditionRule(_balance_covers_price, ("item_id",)),
    "item_is_in_cart": PreconditionRule(_item_is_in_cart, ("item_id",)),
    "cart_is_not_empty": PreconditionRule(_cart_is_not_empty),
    "balance_covers_cart": PreconditionRule(_balance_covers_cart),
    "order_exists": PreconditionRule(_order_exists, ("order_id",)),
    "order_is_open": PreconditionRule(_order_is_open, ("order_id",)),
}
EFFECTS: Mapping[Effect, EffectRule] = {
    "add_order": EffectRule(_add_order, ("item_is_offered", "balance_covers_price")),
    "order_cart": EffectRule(_order_cart, ("cart_is_not_empty", "balance_covers_cart")),
    "charge_balance": EffectRule(_charge_balance, follows=("add_order", "order_cart")),
    "add_cart_line": EffectRule(_add_cart_line, ("item_is_offered",)),
    "remove_cart_line": EffectRule(_remove_cart_line, ("item_is_in_cart",)),
    "clear_cart": EffectRule(_clear_cart),
    "close_order": EffectRule(_close_order, ("order_exists", "order_is_open")),
    "refund_balance": EffectRule(_refund_balance, follows=("close_order",)),
}
