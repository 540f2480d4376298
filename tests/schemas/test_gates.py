"""How a domain file says which fidelity metrics gate."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.domain import Domain, GateSpec
from schemas.load import load_domain


def with_gates(name: str, gates: Any) -> Domain:
    return Domain.model_validate({**load_domain(name).model_dump(mode="json"), "gates": gates})


def test_a_gate_is_a_reference_or_what_is_counted_against_one_or_several_of_those() -> None:
    long = {"reference": "media_movielens_100k", "of": "mood"}
    media = with_gates("media", {"hour_of_day": "a", "user_ranks": [long, "media_lastfm_hetrec2011"], "rating": long})
    assert media.gates["hour_of_day"] == [GateSpec(reference="a")]
    assert [gate.reference for gate in media.gates["user_ranks"]] == ["media_movielens_100k", "media_lastfm_hetrec2011"]
    assert media.gates["rating"][0].of == "mood" and media.gates["rating"][0].per is None
    again = Domain.model_validate(media.model_dump(mode="json"))
    assert again == media


@pytest.mark.parametrize(
    ("gates", "told"),
    [
        ({"user_ranks": {"reference": "a", "of": "colour"}}, "gate `user_ranks` is of `colour`, which is none of item"),
        ({"rating": {"reference": "a", "action": "book"}}, "gate `rating` counts `book`, which no activity does"),
        ({"rating": ["a", {"reference": "a"}]}, "gate `rating` names a reference twice"),
        ({"rating": {"reference": "a", "per": "day"}}, "line"),
        ({"rating": {"of": "item"}}, "reference"),
        ({"rating": []}, "at least 1 item"),
        ("rating", "dictionary"),
    ],
)
def test_what_no_gate_can_be_is_refused(gates: Any, told: str) -> None:
    with pytest.raises(ValidationError) as error:
        with_gates("media", gates)
    assert told in str(error.value)


def test_what_is_checked_out_was_chosen_by_another_action() -> None:
    assert load_domain("groceries").choosing_action() == "add"
    assert load_domain("mobility").choosing_action() == "arrive"
