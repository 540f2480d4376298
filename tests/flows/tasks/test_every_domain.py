"""Every domain, and a tenth that is only a YAML file, gives tasks that are right by their own world."""

from __future__ import annotations

import json
from collections import Counter

import polars as pl
import pytest

from schemas.config.data import BUILT_IN, NINE_DOMAINS
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.source import check, read_text
from tests.docs.pages import worked_domain
from tests.flows.lives import Lives, live, small_config
from tests.flows.tasks.asked import Asked, asked
from validation.world.checker import Gold, Task, path_to, score
from validation.world.state import ToolState
from validation.world.tools import Toolbox

TEN = (*NINE_DOMAINS, "gardening")


@pytest.fixture(scope="module")
def ten() -> Lives:
    """64 people over five weeks who speak of their tastes often."""
    own = check(Domain, read_text(worked_domain(), "gardening.yaml")).model_dump(mode="json")
    data = small_config(
        64,
        5,
        domains={**dict.fromkeys(NINE_DOMAINS, BUILT_IN), "gardening": own},
        timelines={"statement_rate": 0.6},
        disturb={"drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0}},
        tasks={"groups_per_domain": 4, "asks_per_domain": 1},
    )
    return Lives(data, live(data))


@pytest.fixture(scope="module")
def tasks(ten: Lives) -> dict[str, Asked]:
    return asked(ten)


@pytest.fixture(scope="module")
def domains(ten: Lives) -> dict[str, Domain]:
    return load_domains(ten.data.domains)


def task_of(one: Asked, domain: Domain) -> Task:
    items = {option["option_id"]: option["item_id"] for option in one.task["options"]}
    state = None if one.state is None else ToolState.model_validate_json(one.state)
    gold = Gold.of(json.loads(one.answer["gold"]))
    return Task(one.task["family"], items, gold, domain, Toolbox.of(domain), state)


@pytest.mark.parametrize("name", TEN)
def test_exactly_the_gold_option_passes_and_doing_nothing_fails(
    name: str, tasks: dict[str, Asked], domains: dict[str, Domain]
) -> None:
    acts = [one for one in tasks.values() if one.task["domains"] == [name] and one.task["family"] == "act"]
    assert len(acts) >= 8
    for one in acts:
        task = task_of(one, domains[name])
        passed = [
            option
            for option, item in task.items.items()
            if score(task, {"calls": path_to(task.domain, item or "")}).passed
        ]
        assert passed == one.gold
        assert not score(task, {"calls": []}).passed and not score(task, {}).passed
        reading = [{"name": tool.name, "arguments": {}} for tool in task.domain.tools if tool.verb in ("search", "get")]
        assert not score(task, {"calls": reading}).passed


@pytest.mark.parametrize("name", TEN)
def test_gold_stands_at_every_place_and_no_label_names_a_value_that_the_others_do_not(
    name: str, tasks: dict[str, Asked], domains: dict[str, Domain]
) -> None:
    acts = [one for one in tasks.values() if one.task["domains"] == [name] and one.task["family"] == "act"]
    by_group = Counter((one.answer["group_id"], one.gold[0]) for one in acts)
    assert set(by_group.values()) == {1} and len(by_group) % 4 == 0
    for one in acts:
        for dimension in {row["dimension"].split(".")[1] for row in one.constraints}:
            spec = domains[name].dimensions[dimension]
            words = [word.casefold() for value in spec.values.values() for word in value.words]
            named = [any(word in option["label"].casefold() for word in words) for option in one.task["options"]]
            assert len(set(named)) == 1, (one.task["options"], dimension)


def test_the_tenth_is_lived_in_and_owned_like_the_others(ten: Lives) -> None:
    events = ten["events"].filter(pl.col("domain") == "gardening")
    assert {"buy", "adjust", "say", "search"} <= set(events["action"])
    things = ten["personal_items"].filter(pl.col("domain") == "gardening")
    assert set(things["category"]) == {"sprinkler"} and 10 < things["owner_user_id"].n_unique() < 40
    assert ten["tools"].filter(pl.col("domain") == "gardening").height == 7
