"""Claims about judging an end: one piece of one right thing is taken, and nothing else is changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.validation.world.worlds import EVERYTHING, IDS, at, state_of, tools_of, world_of
from validation.world.outcome import Taken, check_final_state, taken
from validation.world.world import World, replay

ITEM = {"item_id": IDS[0]}
Calls = list[tuple[str, dict[str, Any]]]
WAYS: dict[str, Calls] = {
    "order": [("order", ITEM)],
    "booking": [("book", ITEM)],
    "entry": [("plan", ITEM)],
    "setting": [("choose", ITEM)],
    "play": [("play", ITEM)],
    "log": [("log", ITEM)],
    "message": [("share", {**ITEM, "contact_id": "x-ann"})],
}


def after(calls: Calls, **more: Any) -> World:
    world = world_of(EVERYTHING, **more)
    for name, arguments in calls:
        assert "error" not in world.call(name, arguments), (name, world.trajectory[-1]["result"])
    return world


def reasons(world: World, gold: str = IDS[0]) -> tuple[str, ...]:
    verdict = check_final_state(world.state, {gold}, before=world.untouched)
    assert verdict.passed == (not verdict.reasons)
    return verdict.reasons


@pytest.mark.parametrize("how", WAYS)
def test_every_way_to_take_an_item_is_seen_and_judged(how: str) -> None:
    world = after(WAYS[how])
    assert taken(world.untouched, world.state) == Counter([Taken(how, IDS[0], 1)])
    assert reasons(world) == ()
    assert f"took {IDS[0]}, which is not right" in reasons(world, gold=IDS[1])
    assert taken(world.state, world.state) == taken(world.untouched, world.untouched) == Counter()


def test_equal_takings_are_counted() -> None:
    world = after([("order", {**ITEM, "quantity": 2}), ("order", ITEM), ("order", ITEM), ("play", ITEM)])
    assert taken(world.untouched, world.state) == Counter(
        [Taken("order", IDS[0], 2), Taken("order", IDS[0], 1), Taken("order", IDS[0], 1), Taken("play", IDS[0], 1)]
    )
    assert reasons(world)[0] == "4 results stand; must be 1"


UNDONE: Calls = [("book_back", {"booking_id": "b-9"})]
BESIDES: list[tuple[Calls, str]] = [
    ([("cart_add", {"item_id": IDS[1]})], f"left in the cart: {IDS[1]}"),
    ([("order", {"item_id": IDS[1]})], "2 results stand"),
    (UNDONE, f"undid the booking b-9 of {IDS[3]}, which stood before"),
    ([("order_back", {"order_id": "o-9"})], f"undid the order o-9 of {IDS[3]}, which stood before"),
    ([("unplan", {"entry_id": "c-9"})], "changed the entry c-9, which stood before"),
    ([("move", {"entry_id": "c-9", "starts_at": at(8), "ends_at": at(9)})], "changed the entry c-9"),
    ([("note", {"title": "Walk", "starts_at": at(8), "ends_at": at(9)})], "wrote an entry of its own, c-2"),
    ([("tell", {"contact_id": "x-ann", "text": "Hi"})], "sent a message to x-ann"),
    ([("switch", {"device_id": "x-lamp", "is_on": True})], "changed the device x-lamp"),
    ([("turn", {"device_id": "x-heater", "level": 1})], "changed the device x-heater"),
    ([("unset", {"category": "side"})], "undid the setting side of i-old, which stood before"),
    ([("unplay", {"play_id": "p-9"})], f"undid the play p-9 of {IDS[3]}"),
    ([("unlog", {"log_id": "l-9"})], f"undid the log l-9 of {IDS[3]}"),
    ([("go_by", {"place_id": "x-work"})], "set the address to x-work"),
]


@pytest.mark.parametrize(("calls", "told"), BESIDES)
@pytest.mark.parametrize("is_first", [True, False])
def test_whatever_is_changed_besides_is_told(calls: Calls, told: str, is_first: bool) -> None:
    gold = WAYS["order"]
    found = reasons(after([*calls, *gold] if is_first else [*gold, *calls]))
    assert any(told in reason for reason in found), found


def test_what_is_put_right_again_is_forgiven() -> None:
    back: Calls = [
        *[("cart_add", {"item_id": IDS[1]}), ("cart_drop", {"item_id": IDS[1]})],
        *[("book", {"item_id": IDS[1]}), ("book_back", {"booking_id": "b-2"})],
        *[("plan", {"item_id": IDS[1]}), ("unplan", {"entry_id": "c-2"})],
        *[("play", {"item_id": IDS[1]}), ("unplay", {"play_id": "p-2"})],
        *[("go_by", {"place_id": "x-work"}), ("go_by", {"place_id": "x-home"})],
        *[("switch", {"device_id": "x-lamp", "is_on": True}), ("switch", {"device_id": "x-lamp", "is_on": False})],
    ]
    assert reasons(after([*back, *WAYS["order"]])) == ()


def test_a_wrong_order_that_was_cancelled_costs_its_fee() -> None:
    wrong: Calls = [("order", {"item_id": IDS[1]}), ("order_back", {"order_id": "o-2"})]
    assert reasons(after([*wrong, *WAYS["order"]])) == ("spent 50 cents more than what was taken costs",)


def test_a_play_that_was_taken_out_and_replaced_under_its_id_is_seen() -> None:
    plays = [{"play_id": "p-1", "item_id": IDS[3]}]
    world = after([("unplay", {"play_id": "p-1"}), ("play", ITEM)], plays=plays)
    assert world.state.plays[0].play_id == "p-1"
    assert reasons(world) == (f"undid the play p-1 of {IDS[3]}, which stood before",)
    assert reasons(after([("unplay", {"play_id": "p-1"}), ("play", {"item_id": IDS[3]})], plays=plays)) == (
        "0 results stand; must be 1",
    )


def test_an_item_that_was_moved_in_the_calendar_is_not_taken_as_it_is() -> None:
    moved: Calls = [("plan", ITEM), ("move", {"entry_id": "c-2", "starts_at": at(8), "ends_at": at(9)})]
    assert reasons(after(moved)) == (f"moved the entry c-2 away from the time of {IDS[0]}",)


def test_a_setting_takes_the_place_of_the_one_of_its_category_only() -> None:
    settings = [{"category": "main", "item_id": "i-old"}, {"category": "side", "item_id": "i-old"}]
    assert reasons(after([("choose", {"item_id": IDS[1]}), ("choose", ITEM)], settings=settings)) == ()


def test_stock_that_is_gone_without_being_taken_is_told() -> None:
    world = after(WAYS["order"])
    offers = tuple(one.model_copy(update={"left": 2}) for one in world.state.offers)
    world.state = world.state.model_copy(update={"offers": offers})
    assert reasons(world)[0] == f"2 x {IDS[0]} gone from the stock"


def test_what_was_in_the_cart_before_stays_there() -> None:
    line = {"item_id": IDS[1], "quantity": 1, "price_cents": 1200}
    assert reasons(after(WAYS["order"], cart=[line])) == ()
    dropped: Calls = [("cart_drop", {"item_id": IDS[1]})]
    assert reasons(after([*WAYS["order"], *dropped], cart=[line])) == (f"gone from the cart: {IDS[1]}",)


def test_a_state_can_be_judged_by_itself() -> None:
    empty = {part: [] for part in ("orders", "bookings", "calendar", "messages", "settings", "plays", "logs")}
    bought = replay(tools_of(EVERYTHING), state_of(EVERYTHING, **empty), [{"name": "order", "arguments": ITEM}]).state
    assert check_final_state(bought, {IDS[0]}).passed
    assert check_final_state(bought, {IDS[1]}).reasons == (f"took {IDS[0]}, which is not right",)
    assert not check_final_state(bought, set()).passed
