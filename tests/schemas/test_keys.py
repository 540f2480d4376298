"""What is said of keys: in words for every key, with an effect and, of numbers, a unit."""

from __future__ import annotations

import pytest

from schemas.config import Config
from schemas.config.effects import EFFECTS, effect_of, unit_of
from schemas.explain import slot_at
from schemas.keys import default_text, keys_of, range_text, sections, value_text

KEYS = {key: (slot, field) for path, model in sections(Config) for key, slot, field in keys_of(model, path)}


@pytest.mark.parametrize(
    ("key", "kind", "limits", "default"),
    [
        ("data.users", "whole number", "from 1, to 999,999", "required"),
        ("data.disturb.noise.corrupt", "number", "from 0, to 1", "`0.01`"),
        ("data.window.start", "time with offset", "", "required"),
        ("data.language.speaker", "`embedded`", "", '`"embedded"`'),
        ("data.release.splits", "map of shares", "sums to 1", '`{"train": 0.5, "test": 0.5}`'),
        ("data.timelines.domains", "map of sections", "", "`{}`"),
        ("data.timelines.domains.<name>.rate_factor", "number", "above 0", "`1.0`"),
        ("data.personas.attributes.<name>.table", "map of maps of shares", "sums to 1", "not set"),
        ("data.personas.attributes.<name>.number.quantiles", "map of numbers", "", "not set"),
        ("data.personas.attributes.<name>.number.by.<name>.scale", "number", "above 0", "not set"),
        (
            "data.personas.correlations.<number>.between",
            "list of text",
            "at least 2 entries, at most 2 entries",
            "required",
        ),
        ("data.personas.rules.<number>.name", "text", "at least 1 character", "required"),
        ("data.dispositions.effects.<number>.rate", "map of factors", "each above 0", "not set"),
        ("data.personas.attributes.<name>.unique", "true or false", "", "`false`"),
    ],
)
def test_a_key_is_told_in_words(key: str, kind: str, limits: str, default: str) -> None:
    slot, field = KEYS[key]
    assert (value_text(slot), range_text(slot), default_text(field)) == (kind, limits, default)


def test_every_key_of_the_data_has_an_effect_of_its_section_and_every_effect_a_key() -> None:
    assert [key for key in KEYS if not effect_of(key)] == []
    assert [key for key in KEYS if key.startswith("data.") and effect_of(key) == EFFECTS["data"]] == []
    assert [key for key in EFFECTS if slot_at(Config, tuple(key.split("."))) is None] == []


def test_the_effect_of_a_key_is_that_of_the_nearest_section() -> None:
    assert effect_of("data.disturb.noise.duplicate") == EFFECTS["data.disturb"]
    assert effect_of("data.disturb.noise.corrupt") == EFFECTS["data.disturb.noise.corrupt"]
    assert effect_of("execution.workers") == EFFECTS["execution"]


def test_units_follow_the_name() -> None:
    assert unit_of("data.disturb.contradictions.state_days") == "days"
    assert unit_of("data.personas.attributes.pet.far_off_share") == "share, 0 to 1"
    assert unit_of("data.window.start") == ""
