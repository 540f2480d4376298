"""Claims about the domain files themselves."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from schemas.domain import Domain
from schemas.load import domain_names, load_domain, load_domains, load_life_events
from schemas.source import InputError, check, read_text
from validation.world.tools import tool_problems

ROOT = Path(__file__).parents[2]
NAMES = domain_names()


def plain(name: str) -> Any:
    return YAML(typ="safe").load((ROOT / "schemas" / "domains" / f"{name}.yaml").read_text())


def said_of(content: Any) -> str:
    with pytest.raises(InputError) as caught:
        check(Domain, read_text(json.dumps(content), "mine.yaml"))
    return str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_domain_has_what_every_domain_needs(name: str) -> None:
    domain = load_domain(name)
    assert len(domain.dimensions) >= 6
    assert len(domain.distractors) >= 2
    assert len(domain.tools) >= 5
    assert math.isclose(sum(domain.session.lines.values()), 1.0, abs_tol=1e-3)
    assert list(domain.rhythm.sessions_per_week.values()) == sorted(domain.rhythm.sessions_per_week.values())


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_of_a_domain_can_work_and_bears_its_name(name: str) -> None:
    domain = load_domain(name)
    assert tool_problems(domain.tools) == []
    assert [tool.name for tool in domain.tools if not tool.name.startswith(f"{name}_")] == []


def test_no_word_means_something_in_two_domains() -> None:
    seen: dict[str, str] = {}
    for domain in load_domains(NAMES).values():
        for dimension, spec in domain.dimensions.items():
            for value, value_spec in spec.values.items():
                for word in value_spec.words:
                    place = f"{domain.name}.{dimension}.{value}"
                    assert seen.setdefault(word.casefold(), place) == place


def test_life_events_move_habits_to_values_that_exist() -> None:
    domains = load_domains(NAMES)
    for event in load_life_events().events.values():
        for dimension, value in event.moves.items():
            domain, _, name = dimension.partition(".")
            assert value in domains[domain].dimensions[name].values, dimension
            assert domains[domain].dimensions[name].clock == "habit", dimension


def test_grocery_baskets_and_rates_are_those_of_the_reference() -> None:
    tables = json.loads((ROOT / "validation/references/grocery_dunnhumby_cj.json").read_text())["tables"]
    found = {table["metric"]: dict(zip(table["bins"], table["values"], strict=True)) for table in reversed(tables)}
    groceries = load_domain("groceries")
    shares = {int(lines): share for lines, share in groceries.session.lines.items()}
    for lines in range(1, 31):
        assert abs(shares[lines] - found["basket_size_share"][str(lines)]) < 1e-4
    assert list(shares) == list(range(1, 41))
    assert abs(sum(shares[lines] for lines in range(31, 41)) - found["basket_size_share"]["31+"]) < 1e-3
    for quantile, rate in groceries.rhythm.sessions_per_week.items():
        assert rate == found["events_per_active_week_quantile"][quantile]


def test_a_template_that_names_something_unknown_or_too_little_is_refused() -> None:
    content = plain("food")
    content["catalogue"]["titles"] = ["{heat} {noun} of {mood}"]
    content["catalogue"]["descriptions"] = ["{title} {tilte}"]
    text = said_of(content)
    for part in ("names unknown `{mood}`", "does not name `{cuisine}`", "names unknown `{tilte}`"):
        assert part in text


def test_a_template_with_a_broken_brace_is_refused() -> None:
    content = plain("food")
    content["catalogue"]["titles"] = ["{heat"]
    assert "cannot be read" in said_of(content)


def test_prices_of_things_that_do_not_exist_are_refused() -> None:
    content = plain("groceries")
    content["catalogue"]["base_price_cents"]["toys"] = 900
    content["catalogue"]["price_factors"]["pack"]["crate"] = 9.0
    content["catalogue"]["price_factors"]["mood"] = {"good": 1.0}
    text = said_of(content)
    for part in ("`toys`", "`pack: crate`", "`mood: good`"):
        assert part in text


def test_a_misspelt_precondition_is_refused_with_the_names_that_exist() -> None:
    content = plain("groceries")
    content["tools"][2]["requires"] = ["item_is_ofered"]
    assert "item_is_offered" in said_of(content)
