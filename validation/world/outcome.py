"""What was done to a world, seen from its end: which items were taken, and what else is not as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from validation.world.state import Booking, Order, ToolState

Standing = tuple[str, str, str]
"""How an item stands in a state, under which id, and the item."""


class Taken(NamedTuple):
    """One item that was taken."""

    how: str
    """`order`, `booking`, `entry`, `setting`, `play`, `log` or `message`."""
    item_id: str
    pieces: int


@dataclass(frozen=True)
class Verdict:
    """Whether something is right, and if not, why."""

    passed: bool
    reasons: tuple[str, ...] = ()


def standing(state: ToolState) -> dict[Standing, int]:
    """Everything of which an item is taken in a state, to the number of pieces: what is cancelled or gone does not stand."""
    found: Counter[Standing] = Counter()
    for order in state.orders:
        if order.status == "open":
            found.update({("order", order.order_id, line.item_id): 0 for line in order.lines})
            for line in order.lines:
                found["order", order.order_id, line.item_id] += line.quantity
    for booking in state.bookings:
        if booking.status == "open":
            found["booking", booking.booking_id, booking.item_id] = booking.quantity
    for entry in state.calendar:
        if entry.status == "open" and entry.item_id is not None:
            found["entry", entry.entry_id, entry.item_id] = 1
    for message in state.messages:
        if message.item_id is not None:
            found["message", message.message_id, message.item_id] = 1
    found.update({("setting", setting.category, setting.item_id): 1 for setting in state.settings})
    found.update({("play", play.play_id, play.item_id): 1 for play in state.plays})
    found.update({("log", log.log_id, log.item_id): 1 for log in state.logs})
    return dict(found)


def taken(before: ToolState | None, after: ToolState) -> Counter[Taken]:
    """What stands after and did not before: how, of which item, so many pieces. ``before`` None stands for nothing."""
    return Counter(Taken(how, item, pieces) for (how, _, item), pieces in _new(before, after).items())


def _new(before: ToolState | None, after: ToolState) -> dict[Standing, int]:
    already = standing(before) if before is not None else {}
    return {one: pieces for one, pieces in standing(after).items() if one not in already}


def check_final_state(state: ToolState, gold_item_ids: Collection[str], before: ToolState | None = None) -> Verdict:
    """Passes if exactly one piece of one gold item was taken, and nothing else is changed but what taking it does.

    Taking it costs exactly its price and fee and so many pieces of stock. ``before`` is the state without the answer,
    `World.untouched`; without it everything that stands in the state counts as taken, and only the cart is looked at
    besides.
    """
    new = _new(before, state)
    reasons: list[str] = []
    results = {(how, name) for how, name, _ in new}
    if len(results) != 1:
        reasons.append(f"{len(results)} results stand; must be 1")
    if len(new) > 1 or sum(new.values()) > 1:
        listed = ", ".join(f"{pieces} x {item}" for (_, _, item), pieces in new.items())
        reasons.append(f"took {listed}; must be one piece of one thing")
    wrong = sorted({item for _, _, item in new if item not in gold_item_ids})
    if wrong:
        reasons.append(f"took {', '.join(wrong)}, which is not right")
    reasons += _of_cart(before, state)
    if before is not None:
        reasons += [*_of_money(before, state), *_of_stock(before, state, new), *_of_others(before, state)]
    return Verdict(not reasons, tuple(reasons))


def _of_cart(before: ToolState | None, after: ToolState) -> Iterator[str]:
    had = {line.item_id: line.quantity for line in before.cart} if before is not None else {}
    has = {line.item_id: line.quantity for line in after.cart}
    left = [item for item, pieces in has.items() if pieces > had.get(item, 0)]
    gone = [item for item, pieces in had.items() if pieces > has.get(item, 0)]
    if left:
        yield f"left in the cart: {', '.join(left)}"
    if gone:
        yield f"gone from the cart: {', '.join(gone)}"


def _of_money(before: ToolState, after: ToolState) -> Iterator[str]:
    """The balance is down by the price and fee of what stands now and did not before, to the cent."""
    old = {*_open_ones(before)}
    due = sum(cents for name, cents in _open_ones(after).items() if name not in old)
    more = before.balance_cents - after.balance_cents - due
    if more:
        yield f"spent {abs(more)} cents {'more' if more > 0 else 'less'} than what was taken costs"


def _open_ones(state: ToolState) -> Mapping[tuple[str, str], int]:
    paid: tuple[Order | Booking, ...] = (*state.orders, *state.bookings)
    return {
        (type(one).__name__, one.order_id if isinstance(one, Order) else one.booking_id): one.total_cents
        + one.fee_cents
        for one in paid
        if one.status == "open"
    }


def _of_stock(before: ToolState, after: ToolState, new: Mapping[Standing, int]) -> Iterator[str]:
    """No more is gone than was taken."""
    pieces: Counter[str] = Counter()
    for (_, _, item), count in new.items():
        pieces[item] += count
    for offer in before.offers:
        now = after.offer(offer.item_id)
        if now is None or offer.left is None or now.left is None:
            continue
        gone = offer.left - now.left - pieces[offer.item_id]
        if gone > 0:
            yield f"{gone} x {offer.item_id} gone from the stock"


def _of_others(before: ToolState, after: ToolState) -> Iterator[str]:
    """What was there and is no more, or is another now, and what was written that is no item."""
    still = standing(after)
    set_now = {setting.category for setting in after.settings}
    for how, name, item in standing(before):
        if (how, name, item) not in still and not (how == "setting" and name in set_now):
            yield f"undid the {how} {name} of {item}, which stood before"
    if after.address != before.address:
        yield f"set the address to {after.address}"
    for device in after.devices:
        if device not in before.devices:
            yield f"changed the device {device.item_id}"
    had = {message.message_id for message in before.messages}
    for message in after.messages:
        if message.message_id not in had and message.item_id is None:
            yield f"sent a message to {message.contact_id}"
    yield from _of_calendar(before, after)


def _of_calendar(before: ToolState, after: ToolState) -> Iterator[str]:
    old = {entry.entry_id: entry for entry in before.calendar}
    for entry in after.calendar:
        was = old.get(entry.entry_id)
        if was is not None and was != entry:
            yield f"changed the entry {entry.entry_id}, which stood before"
        if was is None and entry.status == "open":
            offer = after.offer(entry.item_id)
            if offer is None:
                yield f"wrote an entry of its own, {entry.entry_id}"
            elif (offer.starts_at, offer.ends_at) != (entry.starts_at, entry.ends_at):
                yield f"moved the entry {entry.entry_id} away from the time of {offer.item_id}"
