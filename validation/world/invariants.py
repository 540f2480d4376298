"""What must hold in every tool state, besides what each of its parts says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from validation.world.instants import overlap

if TYPE_CHECKING:
    from validation.world.state import ToolState

Problem = tuple[str, str]
"""The rule that is broken, and the fix."""
ID_OF = {
    "offers": "item_id",
    "cart": "item_id",
    "orders": "order_id",
    "bookings": "booking_id",
    "calendar": "entry_id",
    "messages": "message_id",
    "contacts": "item_id",
    "places": "item_id",
    "devices": "item_id",
    "settings": "category",
    "plays": "play_id",
    "logs": "log_id",
}
"""Parts of the state to what names an entry; no two entries of a part have the same."""


def broken_invariant(state: ToolState) -> Problem | None:
    """The first thing in the state that cannot be, with its fix; None if all can."""
    return next(_problems(state), None)


def _problems(state: ToolState) -> Iterator[Problem]:
    for part, name in ID_OF.items():
        ids = [getattr(entry, name) for entry in getattr(state, part)]
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            yield f"an id stands twice in `{part}`: {twice}", "list each once"
    yield from _places(state)
    if state.currency is not None:
        for offer in state.offers:
            if offer.currency != state.currency:
                yield f"offer `{offer.item_id}` is in {offer.currency}, the account in {state.currency}", "use one"
    yield from _overlaps(state)


def _places(state: ToolState) -> Iterator[Problem]:
    """Words do where no places are listed."""
    places = [place.item_id for place in state.places]
    if not places:
        return
    if state.address not in places:
        yield f"`address` is {state.address!r}, which is no place", f"set one of {', '.join(places)}"
    known = {*places, *(offer.item_id for offer in state.offers)}
    known |= {end for offer in state.offers for end in (offer.origin, offer.destination) if end is not None}
    if state.location is not None and state.location not in known:
        yield f"`location` is {state.location!r}, which is no place", f"set one of {', '.join(places)}"


def _overlaps(state: ToolState) -> Iterator[Problem]:
    """In the order of their beginnings, so that neighbours are all that must be compared."""
    taken = sorted(state.taken_periods(), key=lambda one: one[1])
    for (first, before), (second, after) in zip(taken, taken[1:], strict=False):
        if overlap(before, after):
            yield f"{first} and {second} overlap", "close one of them, or move it"
