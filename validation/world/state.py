"""The tool state: what is on offer, in the cart and ordered, and the money left. Frozen, typed, JSON-able."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from schemas.config.core import Section, broken

Cents = Annotated[int, Field(ge=0)]
Pieces = Annotated[int, Field(ge=1)]


class Offer(Section):
    """A thing that can be bought now, as the catalogue shows it."""

    item_id: str
    title: str
    description: str
    price_cents: Cents
    currency: str
    category: str


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
    status: Literal["open", "cancelled"]
    address: str


class ToolState(Section):
    """The world of one task at one moment. The column `tool_state.state` holds it as JSON."""

    domain: str
    offers: tuple[Offer, ...]
    cart: tuple[Line, ...] = ()
    orders: tuple[Order, ...] = ()
    balance_cents: Cents
    address: str = "home"

    @model_validator(mode="after")
    def _ids_are_unique(self) -> ToolState:
        for name, ids in (
            ("offers", [offer.item_id for offer in self.offers]),
            ("cart", [line.item_id for line in self.cart]),
            ("orders", [order.order_id for order in self.orders]),
        ):
            if len(set(ids)) < len(ids):
                raise broken(f"an id stands twice in `{name}`", "list each once")
        return self

    def offer(self, item_id: Any) -> Offer | None:
        return next((offer for offer in self.offers if offer.item_id == item_id), None)

    def line(self, item_id: Any) -> Line | None:
        return next((line for line in self.cart if line.item_id == item_id), None)

    def order(self, order_id: Any) -> Order | None:
        return next((order for order in self.orders if order.order_id == order_id), None)

    def to_json(self) -> str:
        """Canonical text: sorted keys, no spaces, ASCII. Equal states have equal texts."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))

    def digest(self) -> str:
        """SHA-256 of the canonical text."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def total_cents(lines: Iterable[Line]) -> int:
    """What the lines cost together."""
    return sum(line.quantity * line.price_cents for line in lines)
