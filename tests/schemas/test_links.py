"""Links between domains."""

from __future__ import annotations

from graphlib import CycleError

import pytest

from schemas.domain import Domain
from schemas.links import drawing_order, link_problems
from schemas.load import domain_names, load_domain, load_domains


def with_tilt(name: str, dimension: str, by: str, value: str) -> Domain:
    """A built-in domain with one more link."""
    content = load_domain(name).model_dump(mode="json")
    spec = content["dimensions"][dimension]
    spec["tilts"].append({"dimension": by, "multiply": {value: {next(iter(spec["values"])): 2.0}}, "basis": "assumed"})
    return Domain.model_validate(content)


def test_the_built_in_domains_are_linked_and_in_no_circle() -> None:
    domains = load_domains(domain_names())
    assert not any(link_problems(domains).values())
    order = drawing_order(domains)
    assert sorted(order) == sorted(full for domain in domains.values() for full in domain.dimension_ids())
    links = [
        (full, tilt.dimension)
        for domain in domains.values()
        for full, spec in zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)
        for tilt in spec.tilts
        if tilt.dimension is not None
    ]
    assert all(order.index(to) < order.index(full) for full, to in links)
    pairs = {frozenset((full.split(".")[0], to.split(".")[0])) for full, to in links}
    for wanted in (("food", "groceries"), ("groceries", "wellness"), ("planning", "mobility"), ("home", "planning")):
        assert frozenset(wanted) in pairs, wanted
    assert {name for pair in pairs for name in pair} == set(domains)


def test_a_link_to_what_is_not_there_is_told_with_what_is() -> None:
    groceries = load_domain("groceries")
    lost = {"groceries": groceries, "food": with_tilt("food", "heat", "groceries.packaging", "x")}
    assert "groceries.packaging" in link_problems(lost)["food"][0][0]
    strange = {"groceries": groceries, "food": with_tilt("food", "heat", "groceries.pack", "crate")}
    rule, fix = link_problems(strange)["food"][0]
    assert "crate" in rule and "family" in fix


def test_a_link_to_a_domain_that_is_not_in_the_build_is_of_no_account() -> None:
    alone = {"food": with_tilt("food", "heat", "groceries.packaging", "x")}
    assert not any(link_problems(alone).values())
    assert len(drawing_order(alone)) == 6


def test_a_circle_of_tastes_is_told_whole() -> None:
    circle = {
        "food": with_tilt("food", "heat", "wellness.x", "y"),
        "groceries": with_tilt("groceries", "pack", "food.portion", "large"),
    }
    circle["food"] = with_tilt("food", "portion", "groceries.pack", "family")
    told = [rule for rules in link_problems(circle).values() for rule, _ in rules]
    assert len(told) == 1 and "`food.portion`" in told[0] and "`groceries.pack`" in told[0]
    with pytest.raises(CycleError):
        drawing_order(circle)
