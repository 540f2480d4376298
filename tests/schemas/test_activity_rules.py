"""What an activity of a domain file may not declare, since no life would follow from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.domain import Domain
from schemas.load import load_domain

Change = Callable[[dict[str, Any]], object]


def judged(name: str, change: Change) -> str:
    """What is wrong with a domain file after a change of its activities; nothing if nothing is."""
    content = load_domain(name).model_dump(mode="json")
    change(content["activities"])
    try:
        Domain.model_validate(content)
    except ValidationError as error:
        return str(error)
    return ""


WRONG: list[tuple[str, Change, str]] = [
    ("food", lambda a: a["meal"].update(choose="arrive"), "activity `meal`: only trips and routines `arrive`"),
    ("wellness", lambda a: a["steps"].update(action="arrive"), "activity `steps`: only trips and routines `arrive`"),
    (
        "mobility",
        lambda a: a["outing"].update(choose="book"),
        "activity `outing`: one gets to the place of a trip by `arrive`",
    ),
    (
        "planning",
        lambda a: a["messages"].update(action="say"),
        "activity `messages`: `say` is for what the log adds of itself",
    ),
    (
        "groceries",
        lambda a: a["shop"].update(close="review"),
        "activity `shop`: `review` is for what the log adds of itself",
    ),
    ("food", lambda a: a["meal"].update(lines={"0": 0.5, "1": 0.5}), "activity `meal`: a session has 1 to 200 `lines`"),
    ("food", lambda a: a["meal"].update(lines={"201": 1.0}), "activity `meal`: a session has 1 to 200 `lines`"),
    (
        "groceries",
        lambda a: a["shop"].update(during=dict.fromkeys(("asleep", "at_work", "at_home", "out"), 0)),
        "activities.shop.session.during\n  every factor of `during` is 0",
    ),
    (
        "travel",
        lambda a: a["trip"]["stay"].update(party={"0": 0.5, "2": 0.5}),
        "activity `trip`: nobody books for a `party` of 0",
    ),
]


@pytest.mark.parametrize(("name", "change", "told"), WRONG, ids=[told.split(": ")[-1] for _, _, told in WRONG])
def test_what_no_life_follows_from_is_refused(name: str, change: Change, told: str) -> None:
    assert told in judged(name, change)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("food", lambda a: a["meal"].update(lines={"200": 1.0})),
        ("home", lambda a: a["warmth"].update(action="log")),
        ("travel", lambda a: a["trip"]["stay"].update(party={"1": 1.0})),
    ],
)
def test_what_can_be_lived_is_taken(name: str, change: Change) -> None:
    assert judged(name, change) == ""
