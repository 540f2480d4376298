"""Swap groups: one request, one menu, four users for whom four different options are right."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.common.ids import user_numbers
from flows.common.splits import split_of
from flows.tasks.groups import twos_beside
from tests.flows.lives import Lives, live, run, small_config
from tests.flows.tasks.asked import Asked, asked, groups


@pytest.fixture(scope="module", params=["", "draft_"])
def tasks(request: pytest.FixtureRequest, town: Lives) -> dict[str, Asked]:
    """The released tasks, and the drafted ones."""
    return asked(town, request.param)


def test_a_group_has_four_users_of_one_split_with_four_options_right(tasks: dict[str, Asked], town: Lives) -> None:
    users = town.tables["users"]["user_id"]
    split = dict(zip(users.to_pylist(), split_of(user_numbers(users), town.data).tolist(), strict=True))
    found = groups(tasks, "act")
    assert len(found) > 50
    for members in found.values():
        assert len({one.task["user_id"] for one in members}) == len(members) == 4
        assert len({split[one.task["user_id"]] for one in members}) == 1
        assert sorted(option for one in members for option in one.gold) == ["A", "B", "C", "D"]
    assert {split[members[0].task["user_id"]] for members in found.values()} == {"train", "test"}


def test_what_a_group_sees_is_the_same_for_all(tasks: dict[str, Asked], town: Lives) -> None:
    for family in ("act", "know"):
        for members in groups(tasks, family).values():
            shared = [
                {key: one.task[key] for key in ("request", "options", "tool_ids", "domains")} | {"state": one.state}
                for one in members
            ]
            assert all(one == shared[0] for one in shared)
            assert all(one.menu == members[0].menu for one in members)


def test_questions_about_one_constraint_are_balanced_two_and_two(tasks: dict[str, Asked]) -> None:
    found = groups(tasks, "know")
    for members in found.values():
        assert Counter(option for one in members for option in one.gold) == {"A": 2, "B": 2}
        assert len(members) == 4 and all(
            len(one.constraints) == 1 and one.state is None and not one.task["tool_ids"] for one in members
        )
    assert len(found) >= 2 * len(groups(tasks, "act"))


def test_each_constraint_of_an_act_is_asked_about_in_one_question(tasks: dict[str, Asked]) -> None:
    children: dict[str, list[Asked]] = {}
    for one in tasks.values():
        if one.task["family"] == "know":
            children.setdefault(one.answer["parent_task_id"], []).append(one)
    acts = {name: one for name, one in tasks.items() if one.task["family"] == "act"}
    assert children.keys() == acts.keys()
    for name, act in acts.items():
        asks = {(k.constraints[0]["dimension"], k.constraints[0]["value"]) for k in children[name]}
        assert asks == {(row["dimension"], row["value"]) for row in act.constraints} and len(children[name]) == len(
            act.constraints
        )
        for know in children[name]:
            assert all(know.task[key] == act.task[key] for key in ("user_id", "asked_at", "utc_offset_min", "domains"))
            dimension = know.constraints[0]["dimension"]
            assert {option[dimension] for option in know.menu.values()} == {
                option[dimension] for option in act.menu.values()
            }


def test_quotas_are_kept(tasks: dict[str, Asked], town: Lives) -> None:
    config = town.data.tasks
    acts = [one for one in tasks.values() if one.task["family"] == "act"]
    by_domain = Counter(one.task["domains"][0] for one in acts)
    assert by_domain.keys() == set(town.data.domains) and max(by_domain.values()) <= 4 * config.groups_per_domain
    uses = Counter((one.task["user_id"], one.task["domains"][0], one.task["asked_at"]) for one in acts)
    assert max(uses.values()) == config.tasks_per_candidate
    twos = sum(len(one.constraints) == 2 for one in acts)
    assert twos <= config.two_constraint_share * len(acts)
    assert {len(one.constraints) for one in acts} <= {2, 3}


@pytest.mark.parametrize(
    "change",
    [
        {"groups_per_domain": 0},
        {"groups_per_domain": 3},
        {"groups_per_domain": 200, "tasks_per_candidate": 1, "two_constraint_share": 0.1},
    ],
)
def test_other_quotas_are_kept_too(change: dict[str, float], town: Lives) -> None:
    first = town.data.users // 3
    data = small_config(first, 12, tasks=change)
    few = {
        "candidates": town.tables["candidates"].filter(
            pl.Series(town["candidates"]["user_id"] < f"u{first:06d}").to_arrow()
        )
    }
    made = Lives(data, run("selection", data, town.tables | few))
    acts = made["draft_answers"].filter(family_true="act")
    domain = dict(made["draft_tasks"].select("task_id", pl.col("domains").list.first()).iter_rows())
    by_domain = Counter(domain[task] for task in acts["task_id"])
    assert max(by_domain.values(), default=0) <= 4 * change["groups_per_domain"]
    if change["groups_per_domain"] == 3:
        assert set(by_domain.values()) == {12}
    uses = (
        made["draft_tasks"].filter(family="act").group_by("user_id", "asked_at", pl.col("domains").list.first()).len()
    )
    assert (uses["len"] <= data.tasks.tasks_per_candidate).all()
    count = acts["strata"].struct.field("constraint_count")
    assert (count == 2).sum() <= data.tasks.two_constraint_share * len(count)
    out = set(made["draft_rejects"].filter(pl.col("reason") != "confident_and_wrong")["candidate_id"])
    assert len(out) + uses.height == few["candidates"].num_rows / 6


@given(st.integers(0, 10_000), st.floats(0, 0.2))
def test_twos_beside_threes_are_no_more_than_their_share_and_no_fewer_than_need_be(threes: int, share: float) -> None:
    twos = twos_beside(threes, share)
    assert twos <= share * (threes + twos) + 1e-4 and twos + 1 > share * (threes + twos + 1) - 1e-4


def test_a_fifth_of_twos_is_one_beside_four() -> None:
    assert [twos_beside(threes, 0.2) for threes in (0, 3, 4, 8, 39, 40)] == [0, 0, 1, 2, 9, 10]


@pytest.mark.parametrize("domain", ["food", "groceries"])
def test_nothing_that_a_group_shares_tells_who_is_who(domain: str, tasks: dict[str, Asked], town: Lives) -> None:
    """Whatever rule looks at request, options and state alone is right for one of four; here some that come to mind."""
    price = dict(town["items"].select("item_id", "price_cents").iter_rows())
    rules: dict[str, Callable[[Asked], int]] = {
        "first": lambda one: 0,
        "last": lambda one: 3,
        "cheapest": lambda one: int(np.argmin([price[o["item_id"]] for o in one.task["options"]])),
        "longest label": lambda one: int(np.argmax([len(o["label"]) for o in one.task["options"]])),
        "lowest id": lambda one: int(
            np.argmin(
                [sorted(p["item_id"] for p in one.task["options"]).index(o["item_id"]) for o in one.task["options"]]
            )
        ),
    }
    acts = [one for one in tasks.values() if one.task["family"] == "act" and one.task["domains"] == [domain]]
    for name, rule in rules.items():
        right = sum(one.task["options"][rule(one)]["option_id"] in one.gold for one in acts)
        assert right * 4 == len(acts), name


def test_the_state_shows_the_options_in_their_order_and_is_the_same_for_all_but_for_them(
    tasks: dict[str, Asked],
) -> None:
    rest = defaultdict(set)
    for one in tasks.values():
        if one.state is not None:
            state = json.loads(one.state)
            assert [offer["item_id"] for offer in state.pop("offers")] == [
                option["item_id"] for option in one.task["options"]
            ]
            assert [option["option_id"] for option in one.task["options"]] == ["A", "B", "C", "D"]
            rest[state["domain"]].add(json.dumps(state, sort_keys=True))
    assert len(rest) == 2 and all(len(states) == 1 for states in rest.values())


def test_too_few_people_make_no_group() -> None:
    data = small_config(3, 2, tasks={"asks_per_domain": 1})
    tables = live(data)
    assert tables["tasks"].num_rows == tables["answers"].num_rows == tables["tool_state"].num_rows == 0
    assert set(tables["rejects"]["reason"].to_pylist()) <= {"undetermined", "no_group", "confident_and_wrong"}
