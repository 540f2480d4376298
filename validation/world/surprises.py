"""What the world does of itself while somebody acts in it: declared by a task, always the same, seen by whoever looks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.config.core import Section, broken
from validation.world.state import Cents, ToolState


class Surprise(Section):
    """A change that nobody in the world causes, once so many calls were made, whatever they were and did."""

    kind: Literal["sold_out", "price_changed", "unavailable"]
    """`sold_out`: no piece is left. `price_changed`: another price, also of what is in the cart. `unavailable`: the next
    call of a tool is refused, once."""
    item_id: str | None = None
    tool: str | None = None
    """Name of the tool that is unavailable."""
    after_calls: Annotated[int, Field(ge=0)] = 0
    price_cents: Cents | None = None

    @model_validator(mode="after")
    def _names_what_it_changes(self) -> Surprise:
        wanted = {
            "sold_out": {"item_id"},
            "price_changed": {"item_id", "price_cents"},
            "unavailable": {"tool"},
        }[self.kind]
        given = {name for name in ("item_id", "tool", "price_cents") if getattr(self, name) is not None}
        if given != wanted:
            raise broken(f"`{self.kind}` has {sorted(given)}; must have {sorted(wanted)}", "give just these")
        return self


def surprise_problems(surprises: Iterable[Surprise], state: ToolState, tool_names: Iterable[str]) -> list[str]:
    """What surprises name that is not there."""
    names = set(tool_names)
    return [
        f"surprise `{one.kind}` is about {one.item_id or one.tool!r}, which is not there"
        for one in surprises
        if (one.item_id is not None and state.offer(one.item_id) is None)
        or (one.tool is not None and one.tool not in names)
    ]


def surprised(state: ToolState, surprise: Surprise) -> ToolState:
    """The state after the world changed. A tool that is unavailable changes nothing in it."""
    if surprise.kind == "unavailable":
        return state
    change = {"left": 0} if surprise.kind == "sold_out" else {"price_cents": surprise.price_cents}
    offers = tuple(
        offer.model_copy(update=change) if offer.item_id == surprise.item_id else offer for offer in state.offers
    )
    if surprise.kind == "sold_out":
        return state.model_copy(update={"offers": offers})
    cart = tuple(line.model_copy(update=change) if line.item_id == surprise.item_id else line for line in state.cart)
    return state.model_copy(update={"offers": offers, "cart": cart})
