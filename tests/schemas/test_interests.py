"""Claims about the interests file."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from ruamel.yaml import YAML

from schemas.interests import AREAS, FILE, Interests, load_interests
from schemas.load import domain_names, load_domains
from schemas.source import InputError, check, read_text


@pytest.fixture(scope="module")
def content() -> Any:
    return YAML(typ="safe").load(FILE.read_text())


def said_of(content: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        check(Interests, read_text(json.dumps(content), "interests.yaml"))
    return str(caught.value)


def test_all_seven_areas_have_about_ten_tags() -> None:
    interests = load_interests()
    assert tuple(interests.areas) == AREAS
    assert all(len(spec.tags) >= 10 for spec in interests.areas.values())


def test_every_link_points_at_a_value_of_a_domain() -> None:
    domains = load_domains(domain_names())
    assert load_interests().link_problems(domains) == []
    linked = {d for spec in load_interests().areas.values() for tag in spec.tags.values() for d in tag.links}
    assert {dimension.partition(".")[0] for dimension in linked} <= set(domains)
    assert len(linked) >= 6


def test_wrong_links_are_told_and_links_to_other_domains_are_not(content: dict[str, Any]) -> None:
    content = copy.deepcopy(content)
    content["areas"]["pets"]["tags"]["cats"]["links"] = {
        "food.mood": "good",
        "food.heat": "hottest",
        "travel.stay": "hut",
    }
    told = Interests.model_validate(content).link_problems(load_domains(["food"]))
    assert len(told) == 2
    assert "food.mood" in told[0]
    assert "values are ['mild', 'medium', 'hot']" in told[1]


def test_a_missing_area_a_repeated_tag_and_a_shared_word_are_refused(content: dict[str, Any]) -> None:
    short = copy.deepcopy(content)
    del short["areas"]["pets"]
    assert "areas ['pets'] are missing" in said_of(short)
    twice = copy.deepcopy(content)
    twice["areas"]["gaming"]["tags"]["yoga"] = {"words": ["video yoga"]}
    assert "tag `yoga` stands in sports_outdoor and in gaming" in said_of(twice)
    shared = copy.deepcopy(content)
    shared["areas"]["gaming"]["tags"]["chess"]["words"] = ["Yoga"]
    assert "`Yoga` says both sports_outdoor.yoga and gaming.chess" in said_of(shared)
