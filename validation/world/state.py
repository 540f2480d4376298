"""The tool state: all that the tools of a domain can show and change. Frozen, typed, JSON-able.

Every part has a default, so that a domain says only what it has. What must hold between parts stands in
`validation/world/invariants.py` and is checked whenever a state is made or read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from schemas.config.core import Section, broken
from schemas.hours import hours_problem, is_open_at
from validation.world.instants import Instant
from validation.world.invariants import broken_invariant

Cents = Annotated[int, Field(ge=0)]
Pieces = Annotated[int, Field(ge=1)]
Status = Literal["open", "cancelled"]
Period = tuple[datetime, datetime]


class Timed(Section):
    """What can have a beginning, and an end after it."""

    starts_at: Instant | None = None
    ends_at: Instant | None = None

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Timed:
        if self.ends_at is not None and (self.starts_at is None or self.ends_at <= self.starts_at):
            raise broken("`ends_at` must be after `starts_at`", "put the end after the beginning, or leave it out")
        return self

    @property
    def period(self) -> Period | None:
        """Beginning and end, if it has both."""
        return None if self.starts_at is None or self.ends_at is None else (self.starts_at, self.ends_at)


class Travelling(Timed):
    """What can also lead from one place to another."""

    origin: str | None = None
    destination: str | None = None

    @model_validator(mode="after")
    def _leads_elsewhere(self) -> Travelling:
        if self.origin is not None and self.origin == self.destination:
            raise broken(f"`origin` and `destination` are both `{self.origin}`", "name two places")
        return self


class Offer(Travelling):
    """A thing that can be had now, as the catalogue shows it."""

    item_id: str
    title: str
    description: str
    price_cents: Cents
    currency: str
    category: str
    left: Annotated[int, Field(ge=0)] | None = None
    """Pieces in stock; None if there is no end of them."""
    min_age: int | None = None
    """Age in years from which people may have it."""
    opens: Annotated[int, Field(ge=0, le=23)] | None = None
    """Local hour from which it can be had, if not at all hours."""
    closes: Annotated[int, Field(ge=1, le=28)] | None = None
    """Local hour at which that ends; beyond 24 after midnight."""

    @model_validator(mode="after")
    def _hours_are_a_stretch(self) -> Offer:
        if problem := hours_problem("an offer", self.opens, self.closes):
            raise broken(*problem)
        return self

    def is_open(self, hour: int) -> bool:
        """Whether it can be had in that hour of the local day."""
        return is_open_at(self.opens, self.closes, hour)


class Line(Section):
    """Some pieces of one thing, in the cart or in an order."""

    item_id: str
    quantity: Pieces
    price_cents: Cents
    """For one."""


class Order(Section):
    """A purchase."""

    order_id: str
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]
    total_cents: Cents
    """Of the lines."""
    status: Status
    address: str
    fee_cents: Cents = 0
    """What placing it cost besides. A refund leaves it out."""

    @model_validator(mode="after")
    def _adds_up(self) -> Order:
        if self.total_cents != total_cents(self.lines):
            rule = f"order `{self.order_id}` costs {self.total_cents}, its lines {total_cents(self.lines)}"
            raise broken(rule, "sum the lines")
        return self


class Booking(Travelling):
    """A place in something that takes place at a time, or somebody's time."""

    booking_id: str
    item_id: str
    quantity: Pieces = 1
    total_cents: Cents = 0
    status: Status = "open"
    fee_cents: Cents = 0


class Entry(Timed):
    """Something in the calendar: an item, or what somebody wrote into it."""

    entry_id: str
    item_id: str | None = None
    title: str
    status: Status = "open"


class Message(Section):
    """Something sent to a contact: words, an item, or both."""

    message_id: str
    contact_id: str
    text: str | None = None
    item_id: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Message:
        if self.text is None and self.item_id is None:
            raise broken(f"message `{self.message_id}` has no text and no item", "give one of them")
        return self


class Own(Section):
    """A contact or a place of the person's own."""

    item_id: str
    title: str
    kind: str | None = None


class Device(Own):
    """Something at home that can be switched and set."""

    is_on: bool = False
    level: int | None = None


class Setting(Section):
    """What is set for a category, such as the plan of a meter."""

    category: str
    item_id: str


class Play(Section):
    """Something that was played."""

    play_id: str
    item_id: str


class Log(Section):
    """Something that was logged, such as a workout."""

    log_id: str
    item_id: str


class ToolState(Section):
    """The world of one task at one moment. The column `tool_state.state` holds it as JSON."""

    domain: str
    offers: tuple[Offer, ...]
    cart: tuple[Line, ...] = ()
    orders: tuple[Order, ...] = ()
    bookings: tuple[Booking, ...] = ()
    calendar: tuple[Entry, ...] = ()
    messages: tuple[Message, ...] = ()
    contacts: tuple[Own, ...] = ()
    places: tuple[Own, ...] = ()
    devices: tuple[Device, ...] = ()
    settings: tuple[Setting, ...] = ()
    plays: tuple[Play, ...] = ()
    logs: tuple[Log, ...] = ()
    balance_cents: Cents
    currency: str | None = None
    address: str = "home"
    """Where orders go: the id of a place, or words where no places are listed."""
    location: str | None = None
    """Where the person is: a place, an item on offer, or an end of a way on offer; any words where no places are."""
    age_years: Annotated[int, Field(ge=0)] | None = None
    now: Instant | None = None
    """None if time is no part of this world."""
    utc_offset_min: Annotated[int, Field(ge=-1080, le=1080)] = 0
    """Minutes from UTC to the person's wall clock."""

    @model_validator(mode="after")
    def _is_possible(self) -> ToolState:
        problem = broken_invariant(self)
        if problem is not None:
            raise broken(*problem)
        return self

    def offer(self, item_id: Any) -> Offer | None:
        return next((offer for offer in self.offers if offer.item_id == item_id), None)

    def line(self, item_id: Any) -> Line | None:
        return next((line for line in self.cart if line.item_id == item_id), None)

    def order(self, order_id: Any) -> Order | None:
        return next((order for order in self.orders if order.order_id == order_id), None)

    def booking(self, booking_id: Any) -> Booking | None:
        return next((booking for booking in self.bookings if booking.booking_id == booking_id), None)

    def entry(self, entry_id: Any) -> Entry | None:
        return next((entry for entry in self.calendar if entry.entry_id == entry_id), None)

    def device(self, device_id: Any) -> Device | None:
        return next((device for device in self.devices if device.item_id == device_id), None)

    def taken_periods(self, but_entry: Any = None) -> list[tuple[str, Period]]:
        """What stands in the way of something new: open bookings and entries with both ends, each with its name.

        ``but_entry`` leaves one entry out, as when it is the one to be moved.
        """
        booked = [(f"booking {one.booking_id}", one.period) for one in self.bookings if one.status == "open"]
        noted = [
            (f"entry {one.entry_id}", one.period)
            for one in self.calendar
            if one.status == "open" and one.entry_id != but_entry
        ]
        return [(name, period) for name, period in [*booked, *noted] if period is not None]

    def to_json(self) -> str:
        """Canonical text: sorted keys, no spaces, ASCII, nothing that is None. Equal states have equal texts."""
        return json.dumps(shown(self), sort_keys=True, separators=(",", ":"))

    def digest(self) -> str:
        """SHA-256 of the canonical text."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def shown(part: Section) -> dict[str, Any]:
    """A part of the state as JSON values, without what it does not have."""
    return part.model_dump(mode="json", exclude_none=True)


def total_cents(lines: Iterable[Line]) -> int:
    """What the lines cost together."""
    return sum(line.quantity * line.price_cents for line in lines)
