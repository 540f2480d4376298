"""Every key of `data.dispositions` matters: changing it changes what people are inclined to, or raises an error."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.dispositions.flow import DISPOSITIONS_STAGE
from flows.personas.flow import PERSONAS_STAGE
from schemas.config.dispositions import DispositionsConfig, Effect
from tests.flows.lives import small_config

TASTE: dict[str, Any] = {"attribute": "sex", "dimension": "food.heat", "multiply": {"female": {"hot": 9}}}
AMOUNT: dict[str, Any] = {"attribute": "sex", "domain": "food", "rate": {"female": 3}}
CHANGES: dict[str, Any] = {
    "strength_mean": 2.5,
    "strength_spread": 0.7,
    "household_actor_share": 0.0,
    "shared_taste": 0.9,
    "interests_mean": 12.0,
    "recent_share": 0.8,
    "disliked_share": 0.9,
    "interest_factor": 6.0,
    "activity_spread": 0.9,
    "absent_share": 0.5,
    "late_start_share": 0.5,
    "early_end_share": 0.5,
    "effects.attribute": [{**TASTE, "attribute": "home_type", "multiply": {"own": {"hot": 9}}}, AMOUNT],
    "effects.dimension": [{**TASTE, "dimension": "food.portion", "multiply": {"female": {"light": 9}}}, AMOUNT],
    "effects.multiply": [{**TASTE, "multiply": {"female": {"mild": 9}}}, AMOUNT],
    "effects.domain": [TASTE, {**AMOUNT, "domain": "groceries"}],
    "effects.rate": [TASTE, {**AMOUNT, "rate": {"male": 3}}],
    "effects.basis": [{**TASTE, "basis": ""}, AMOUNT],
}
"""Key to another value; of an effect, to effects in which it is another."""


def made(**dispositions: Any) -> Any:
    """The sealed tables of some people, or the error that tells what is wrong with the config."""
    try:
        data = small_config(users=24, dispositions={"effects": [TASTE, AMOUNT], **dispositions})
    except ValidationError as error:
        return str(error)
    shard = Shard(0, 24)
    people = PERSONAS_STAGE.run(Context(data, Draws(7, "personas"), shard), {})
    inclined = DISPOSITIONS_STAGE.run(Context(data, Draws(7, "dispositions"), shard), people)
    return {name: table.to_pydict() for name, table in (people | inclined).items()}


@pytest.fixture(scope="module")
def unchanged() -> Any:
    return made()


def test_every_key_is_walked() -> None:
    keys = [name for name in DispositionsConfig.model_fields if name != "effects"]
    assert set(CHANGES) == {*keys, *(f"effects.{name}" for name in Effect.model_fields)}


@pytest.mark.parametrize("key", CHANGES)
def test_changing_a_key_changes_what_people_are_inclined_to_or_raises_an_error(key: str, unchanged: Any) -> None:
    assert isinstance(unchanged, dict)
    after = made(**{key.split(".")[0]: CHANGES[key]})
    assert after != unchanged
    if isinstance(after, str):
        assert key.split(".")[-1] in after, "the error names what was changed"
