"""Effects of attributes on tastes and on how much is done: what of them is told before anything is made."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.config.agreement import disagreements
from schemas.config.dispositions import DispositionsConfig, overlaps
from schemas.load import load_domains
from schemas.shaped import effect_problems, shaped

PEOPLE: dict[str, Any] = {
    "attributes": {"diet": {"weights": {"vegan": 0.1, "any": 0.9}}, "cars": {"weights": {"0": 0.4, "2": 0.6}}},
    "segments": {"keen": {"share": 0.5}, "idle": {"share": 0.5}},
}
DOMAINS = load_domains(["food", "mobility"])


def told(**effect: Any) -> list[str]:
    """Place within the effect, rule and fix of everything that the people and the domains have against it."""
    data = {"domains": ["food", "mobility"], "personas": PEOPLE, "dispositions": {"effects": [effect]}}
    found = [*disagreements(data), *effect_problems(data, DOMAINS)]
    return [f"{'.'.join(map(str, place[3:]))}: {rule} | {fix}" for place, rule, fix in found]


TOFU = {"vegan": {"tofu": 2.0}}


@pytest.mark.parametrize(
    "effect",
    [
        {"attribute": "diet", "dimension": "food.base", "multiply": TOFU},
        {"attribute": "segment", "domain": "food", "rate": {"keen": 2.0}},
        {"attribute": "cars", "domain": "mobility", "rate": {"0": 0.5, "1..": 1.2}},
        {"attribute": "income_usd", "domain": "food", "rate": {"..30000": 0.5, "30000..60000": 1.0, "60000..": 1.2}},
        {"attribute": "age_group", "domain": "food", "rate": {"18-24": 2.0}},
        {"attribute": "children", "domain": "food", "rate": {"0": 0.9, "1..9": 1.1}},
        {"attribute": "locale", "domain": "food", "rate": {"en_US": 0.9}},
    ],
)
def test_effects_of_what_there_is_are_right(effect: dict[str, Any]) -> None:
    assert told(**effect) == []
    assert DispositionsConfig.model_validate({"effects": [effect]}).effects[0].basis == "assumed"


@pytest.mark.parametrize(
    ("effect", "rules"),
    [
        (
            {"attribute": "dite", "dimension": "food.base", "multiply": TOFU},
            ["attribute: there is no attribute `dite` | did you mean `diet`?"],
        ),
        (
            {"attribute": "given_name", "domain": "food", "rate": {"Ann": 2.0}},
            ["attribute: there is no attribute `given_name`"],
        ),
        (
            {"attribute": "diet", "domain": "fod", "rate": {"vegn": 2.0, "any": 1.5}},
            [
                "domain: is not among the domains of this config | did you mean `food`?",
                "rate.vegn: `diet` is never `vegn` | did you mean `vegan`?",
            ],
        ),
        (
            {
                "attribute": "age_years",
                "domain": "food",
                "rate": {"18..30": 2.0, "25": 1.5, "40..30": 1.5, "99..": 3.0},
            },
            [
                "rate.40..30: is an empty band: its high end is not in it | write it `low..high`",
                "rate.99..: `age_years` is never `99..` | `age_years` can be 18, 19, 20, 21, 22, 23, …",
                "rate.25: overlaps the row `18..30`: some values are in both",
            ],
        ),
        (
            {"attribute": "segment", "domain": "food", "rate": {"keem": 2.0}},
            ["rate.keem: `segment` is never `keem` | did you mean `keen`?"],
        ),
        (
            {"attribute": "diet", "dimension": "food.bsae", "multiply": TOFU},
            ["dimension: there is no taste `food.bsae` | did you mean `food.base`?"],
        ),
        (
            {"attribute": "diet", "dimension": "base", "multiply": TOFU},
            ["dimension: `base` is no full name of a taste | write food.base"],
        ),
        (
            {"attribute": "diet", "dimension": "travel.pace", "multiply": {"vegan": {"slow": 2.0}}},
            ["dimension: `travel` is not among the domains of this config | add `travel` to `data.domains`"],
        ),
        (
            {"attribute": "diet", "dimension": "food.base", "multiply": {"vegan": {"chickn": 2.0}}},
            ["multiply.vegan.chickn: `food.base` has no value `chickn` | did you mean `chicken`?"],
        ),
    ],
)
def test_what_there_is_not_is_told_with_the_nearest(effect: dict[str, Any], rules: list[str]) -> None:
    found = told(**effect)
    assert len(found) == len(rules) and all(one.startswith(rule) for one, rule in zip(found, rules, strict=True)), found


@pytest.mark.parametrize(
    "effect",
    [
        {"attribute": "diet", "domain": "food", "rate": {"vegan": 0}},
        {"attribute": "diet", "domain": "food", "rate": {}},
        {"attribute": "diet", "domain": "food"},
        {"attribute": "diet", "domain": "food", "multiply": TOFU},
        {"attribute": "diet", "dimension": "food.base", "multiply": TOFU, "domain": "food", "rate": {"vegan": 2}},
    ],
)
def test_an_effect_is_on_a_taste_or_on_an_amount_and_its_factors_are_above_zero(effect: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DispositionsConfig.model_validate({"effects": [effect]})


def test_bands_overlap_where_a_number_is_in_both() -> None:
    assert overlaps(["..18", "18..30", "30..", "vegan"]) == []
    assert overlaps(["0..2", "1", "2", "1.5..3"]) == [("0..2", "1"), ("0..2", "1.5..3"), ("2", "1.5..3")]


def test_effects_stand_after_the_tilts_of_the_file_and_in_no_other_domain() -> None:
    effects = DispositionsConfig.model_validate(
        {
            "effects": [
                {"attribute": "diet", "dimension": "food.base", "multiply": TOFU},
                {"attribute": "diet", "domain": "mobility", "rate": {"vegan": 2.0}},
            ]
        }
    ).effects
    domains = shaped(DOMAINS, effects)
    before, after = (of["food"].dimensions["base"].tilts for of in (DOMAINS, domains))
    assert after[:-1] == before and after[-1].multiply == TOFU
    assert domains["food"].participation == DOMAINS["food"].participation
    assert [tilt.attribute for tilt in domains["mobility"].participation.tilts][-1] == "diet"
    assert shaped(DOMAINS, []) == DOMAINS
