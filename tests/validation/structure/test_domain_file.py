"""What `habitus domains check` finds in a domain file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.load import domain_names, load_domain, load_domains
from schemas.source import read_text, read_yaml
from validation.structure.domain_file import DomainCheck, check_domain

ROOT = Path(__file__).parents[3]


def checked(content: Any) -> DomainCheck:
    return check_domain(read_text(json.dumps(content, indent=1), "mine.yaml"), load_domains(domain_names()))


def plain(name: str = "food") -> Any:
    return load_domain(name).model_dump(mode="json")


def told(findings: list[Any]) -> list[str]:
    return [f"{one.field}: {one.rule} {one.fix}" for one in findings]


@pytest.mark.parametrize("name", domain_names())
def test_the_built_in_domains_are_right_and_every_warning_is_meant(name: str) -> None:
    found = check_domain(read_yaml(ROOT / "schemas" / "domains" / f"{name}.yaml"), load_domains(domain_names()))
    assert found.violations == [] and found.domain is not None
    assert [one for one in told(found.warnings) if "no option menu can contrast" not in one] == []


def test_everything_that_is_wrong_is_told_at_once_with_its_line() -> None:
    content = plain()
    content["activities"]["meal"]["reference"] = "food_takeaway_londn"
    content["gates"]["hour_of_day"] = "nothing_of_the_kind"
    content["tools"][0]["effects"] = ["add_order"]
    content["dimensions"]["heat"]["tilts"] = [
        {"dimension": "groceries.pack", "multiply": {"crate": {"hot": 2.0}}, "basis": "assumed"}
    ]
    found = checked(content)
    lines = told(found.violations)
    assert found.domain is None and all(one.file == "mine.yaml" and one.line for one in found.violations)
    for part in ("did you mean `food_takeaway_london`", "gates.hour_of_day", "tools[0]", "crate"):
        assert any(part in line for line in lines), (part, lines)


def test_hours_that_the_reference_does_not_have_are_asked_for() -> None:
    content = plain()
    content["activities"]["meal"]["reference"] = "fashion_amazon_reviews_5core"
    assert any("hours_of" in line for line in told(checked(content).violations))
    content["activities"]["meal"]["hours_of"] = "timeuse_atus_clock_weekday/activity=Eating and Drinking"
    assert checked(content).violations == []


def test_values_that_nobody_can_have_are_warned_of() -> None:
    content = plain()
    heat = content["dimensions"]["heat"]
    heat["values"]["mild"]["share"], heat["values"]["medium"]["share"] = 0.0, 0.75
    heat["tilts"] = [{"attribute": "age_years", "multiply": {"0..12": {"hot": 2.0}}, "basis": "assumed"}]
    content["contexts"]["time_of_day"]["siesta"] = "3..4"
    content["catalogue"]["categories"]["wraps"] |= {"opens": 3, "closes": 4}
    lines = told(checked(content).warnings)
    for part in ("values.mild.share", "nobody has this age_years", "siesta: nothing happens", "never open"):
        assert any(part in line for line in lines), (part, lines)


def test_what_nothing_uses_is_warned_of() -> None:
    content = plain()
    content["distractors"] = dict(list(content["distractors"].items())[:5])
    content["personal"]["fridge"] = {
        "noun": "fridge", "count": {"1": 1.0}, "titles": ["Fridge"], "description": "A fridge.", "holds": "devices"
    }  # fmt: skip
    content["catalogue"]["price_factors"]["heat"] = {"mild": 1.1, "medium": 1.1, "hot": 1.1}
    lines = told(checked(content).warnings)
    for part in ("declare 12", "personal.fridge", "price_factors.heat: all values have the same factor"):
        assert any(part in line for line in lines), (part, lines)


def test_things_that_no_menu_can_contrast_and_confusable_words_and_wrong_volumes_are_warned_of() -> None:
    content = plain()
    content["records_per_day"] = 9.0
    content["dimensions"]["heat"]["values"]["hot"]["words"] = ["hot", "very mild"]
    lines = told(checked(content).warnings)
    for part in ("1,944 things", "`mild` is part of `very mild`", "lines a person and day"):
        assert any(part in line for line in lines), (part, lines)


def test_a_file_in_the_place_of_a_built_in_domain_keeps_the_values_that_life_events_move_to() -> None:
    content = plain()
    levels = content["dimensions"]["price_level"]
    levels["values"]["lavish"] = levels["values"].pop("upscale")
    levels["tilts"] = []
    content["catalogue"]["price_factors"].pop("price_level")
    levels = content["dimensions"]["portion"]
    levels["values"]["snack"] = levels["values"].pop("light")
    levels["tilts"] = []
    content["catalogue"]["price_factors"].pop("portion")
    lines = [line for line in told(checked(content).violations) if "no value of it" in line]
    assert any("dimensions.price_level.values" in line and "`new_job` moves it to `upscale`" in line for line in lines)
    assert any("dimensions.portion.values" in line and "in summer some people like `light`" in line for line in lines)
