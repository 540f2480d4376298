"""Claims about the interests file."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML

from prompts.load import one_of
from schemas.interests import AREAS, FILE, Interest, Interests, load_interests
from schemas.load import domain_names, load_domains
from schemas.source import InputError, check, read_text


@pytest.fixture(scope="module")
def content() -> Any:
    return YAML(typ="safe").load(FILE.read_text())


def said_of(content: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        check(Interests, read_text(json.dumps(content), "interests.yaml"))
    return str(caught.value)


def every_tag() -> dict[str, Interest]:
    return {tag: interest for spec in load_interests().areas.values() for tag, interest in spec.tags.items()}


def test_all_seven_areas_have_forty_tags_or_more_each_with_two_ways_of_saying_it() -> None:
    interests = load_interests()
    assert tuple(interests.areas) == AREAS
    counts = {area: len(spec.tags) for area, spec in interests.areas.items()}
    assert {area: count for area, count in counts.items() if count < 40} == {}
    assert [tag for tag, interest in every_tag().items() if len(interest.words) < 2] == []


def test_the_words_of_a_tag_never_stand_inside_those_of_another() -> None:
    said = [(tag, word.casefold()) for tag, interest in every_tag().items() for word in interest.words]
    found = [(tag, one_of([word])) for tag, word in said]
    inside = [(tag, other, text) for tag, word in found for other, text in said if tag != other and word.search(text)]
    assert inside == []


def test_some_tags_can_only_be_liked_and_some_only_be_disliked() -> None:
    one_sided = {tuple(interest.polarity) for interest in every_tag().values() if len(interest.polarity) == 1}
    assert one_sided == {("likes",), ("dislikes",)}
    assert [tag for tag, interest in every_tag().items() if interest.polarity == ["dislikes"] and interest.links] == []


def test_every_link_points_at_a_value_of_a_domain() -> None:
    domains = load_domains(domain_names())
    assert load_interests().link_problems(domains) == []
    linked = {dimension.partition(".")[0] for interest in every_tag().values() for dimension in interest.links}
    assert linked <= set(domains)


@pytest.mark.parametrize("name", domain_names())
def test_every_domain_is_linked_by_several_tags_in_several_dimensions(name: str) -> None:
    links = [(tag, dimension) for tag, interest in every_tag().items() for dimension in interest.links]
    here = [(tag, dimension) for tag, dimension in links if dimension.partition(".")[0] == name]
    assert len({tag for tag, _ in here}) >= 6
    assert len({dimension for _, dimension in here}) >= 3


def test_a_third_of_all_tags_and_a_tenth_of_each_area_is_linked() -> None:
    areas = load_interests().areas
    shares = {area: np.mean([bool(tag.links) for tag in spec.tags.values()]) for area, spec in areas.items()}
    assert np.mean([bool(tag.links) for tag in every_tag().values()]) >= 1 / 3
    assert min(shares.values()) >= 0.1


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
