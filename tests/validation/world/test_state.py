from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from validation.world.state import ToolState

OFFER = {"item_id": "H-1", "title": "t", "description": "d", "price_cents": 100, "currency": "USD", "category": "c"}
STATE: dict[str, Any] = {
    "domain": "food",
    "offers": [OFFER, {**OFFER, "item_id": "H-10"}],
    "cart": [],
    "orders": [],
    "balance_cents": 500,
    "address": "home",
}


def test_the_state_of_a_task_is_read_from_its_json_and_written_back_as_it_was() -> None:
    state = ToolState.model_validate_json(json.dumps(STATE))
    assert json.loads(state.to_json()) == STATE
    assert state.to_json() == json.dumps(STATE, sort_keys=True, separators=(",", ":"))


def test_equal_states_have_equal_digests_whatever_the_order_of_keys() -> None:
    turned = {key: STATE[key] for key in reversed(STATE)}
    one, two = ToolState.model_validate(STATE), ToolState.model_validate(turned)
    assert one.digest() == two.digest()
    assert one.digest() != one.model_copy(update={"balance_cents": 499}).digest()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"balance_cents": -1}, "greater than or equal to 0"),
        ({"offers": [OFFER, OFFER]}, "an id stands twice in `offers`"),
        ({"coupon": 1}, "Extra inputs are not permitted"),
        ({"cart": [{"item_id": "H-1", "quantity": 0, "price_cents": 100}]}, "greater than or equal to 1"),
    ],
)
def test_an_impossible_state_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ToolState.model_validate({**STATE, **change})


@pytest.mark.parametrize("near", ["h-1", "H-10 ", "H-100", "", None, 1])
def test_an_offer_is_found_by_its_exact_id_only(near: object) -> None:
    assert ToolState.model_validate(STATE).offer(near) is None
