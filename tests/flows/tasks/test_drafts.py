"""What is right: found a second time without the code that drafted it, and tried in the world from the tables alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from schemas.load import load_domain
from schemas.tables.fields import FAILURES
from tests.flows.lives import Lives
from tests.flows.tasks.asked import Asked, asked, values_of_items
from tests.flows.timelines.choosing import effective, own_actor, tastes_of
from validation.world.checker import path_to, score


@pytest.fixture(scope="module")
def tasks(town: Lives) -> dict[str, Asked]:
    return asked(town)


def test_gold_is_what_the_dispositions_say_at_the_time(tasks: dict[str, Asked], town: Lives) -> None:
    """State over habit over trait, in plain Python over the sealed table; options by what the catalogue says of them."""
    tastes, selves, values = tastes_of(town), own_actor(town), values_of_items(town)
    clocks: Counter[str] = Counter()
    for one in tasks.values():
        user, at = one.task["user_id"], one.task["asked_at"]
        holds = {row["dimension"]: effective(tastes[selves[user], row["dimension"]], at) for row in one.constraints}
        clocks.update(row["clock"] for row in holds.values())
        if one.task["family"] == "act":
            right = [
                o["option_id"]
                for o in one.task["options"]
                if all(values[o["item_id"]][d] == row["value"] for d, row in holds.items())
            ]
        else:
            ((dimension, row),) = holds.items()
            domain, name = dimension.split(".")
            word = load_domain(domain).dimensions[name].values[row["value"]].words[0]
            right = [o["option_id"] for o in one.task["options"] if o["label"] == word]
        assert json.loads(one.answer["gold"]) == {"option_ids": right}
        for constraint in one.constraints:
            assert constraint["value"] == holds[constraint["dimension"]]["value"]
            assert constraint["disposition_ids"] == [holds[constraint["dimension"]]["disposition_id"]]
    assert min(clocks[clock] for clock in ("trait", "habit", "state")) > 20


def test_every_gold_path_passes_and_every_other_fails(tasks: dict[str, Asked]) -> None:
    acts = [one for one in tasks.values() if one.task["family"] == "act"]
    assert len(acts) > 200
    for one in acts:
        checked = one.for_checker()
        paths = {o["option_id"]: path_to(checked.domain, o["item_id"]) for o in one.task["options"]}
        results = {option: score(checked, {"calls": calls}) for option, calls in paths.items()}
        assert [option for option, result in results.items() if result.passed] == one.gold
        assert not any(result.tool_errors for result in results.values())
        told = json.loads(one.answer["decoy_trajectories"])
        assert told == {option: calls for option, calls in paths.items() if option not in one.gold}
        assert {call["name"] for calls in paths.values() for call in calls} <= set(one.task["tool_ids"])


def test_every_question_passes_with_its_gold_and_with_nothing_else(tasks: dict[str, Asked]) -> None:
    knows = [one for one in tasks.values() if one.task["family"] == "know"]
    for one in knows:
        checked = one.for_checker()
        assert [
            o["option_id"] for o in one.task["options"] if score(checked, {"option_id": o["option_id"]}).passed
        ] == one.gold
        assert not score(checked, {"calls": [{"name": "food_place_order", "arguments": {}}]}).passed


def test_doing_nothing_scores_nothing_and_asking_is_not_needed(tasks: dict[str, Asked]) -> None:
    for one in tasks.values():
        checked = one.for_checker()
        answers: list[Any] = [{}, {"calls": []}, {"option_id": ""}, None, {"ask": True}]
        for answer in answers:
            assert not score(checked, answer).passed


@pytest.mark.parametrize("option", ["A", "B", "C", "D"])
def test_the_same_answer_to_everything_stands_at_chance(option: str, tasks: dict[str, Asked]) -> None:
    right = {"act": 0, "know": 0}
    count = Counter(one.task["family"] for one in tasks.values())
    for one in tasks.values():
        checked = one.for_checker()
        item = checked.items.get(option)
        answer = {"calls": path_to(checked.domain, item)} if item else {"option_id": option}
        right[one.task["family"]] += score(checked, answer).passed
    assert right["act"] * 4 == count["act"]
    assert right["know"] * 2 == (count["know"] if option in "AB" else 0)


def test_what_an_option_breaks_is_what_differs_from_the_truth(tasks: dict[str, Asked]) -> None:
    named: Counter[str] = Counter()
    for one in tasks.values():
        assert [o["option_id"] for o in one.answer["options"]] == [o["option_id"] for o in one.task["options"]]
        for option in one.answer["options"]:
            menu = one.menu[option["option_id"]]
            broken = {row["constraint_id"] for row in one.constraints if menu[row["dimension"]] != row["value"]}
            assert set(option["violated_constraint_ids"]) == broken
            assert option["is_gold"] == (not broken) == (option["option_id"] in one.gold)
            assert bool(option["failures"]) != option["is_gold"] and set(option["failures"]) <= set(FAILURES)
            named.update(option["failures"])
    assert {"stale_value", "believes_claim", "follows_population", "unexplained"} == set(named)


def test_a_question_names_the_failures_that_give_its_wrong_value(tasks: dict[str, Asked], town: Lives) -> None:
    rows = town["candidates"].select("user_id", "asked_at", "dimension", "stale_value", "claimed_value")
    known = {row[:3]: row[3:] for row in rows.iter_rows()}
    for one in tasks.values():
        if one.task["family"] != "know":
            continue
        dimension = one.constraints[0]["dimension"]
        domain, name = dimension.split(".")
        share = {value: spec.share for value, spec in load_domain(domain).dimensions[name].values.items()}
        stale, claimed = known[one.task["user_id"], one.task["asked_at"], dimension]
        for option in one.answer["options"]:
            value = one.menu[option["option_id"]][dimension]
            wanted = {
                "stale_value": stale == value,
                "believes_claim": claimed == value,
                "follows_population": value == max(share, key=lambda v: share[v]),
            }
            expected = [failure for failure, applies in wanted.items() if applies] or ["unexplained"]
            assert option["failures"] == ([] if option["is_gold"] else expected)


def test_ids_are_unique_belong_to_their_user_and_tell_nothing_else(tasks: dict[str, Asked], town: Lives) -> None:
    constraints = [row for one in tasks.values() for row in one.constraints]
    assert len({row["constraint_id"] for row in constraints}) == len(constraints)
    for name, one in tasks.items():
        user = one.task["user_id"]
        assert name.startswith(f"{user}-t") and all(
            row["constraint_id"].startswith(f"{user}-c") for row in one.constraints
        )
    tails: dict[str, set[str]] = {"act": set(), "know": set()}
    for name, one in tasks.items():
        tails[one.task["family"]].add(name.split("-")[1][1:])
    assert all(len(tail) == 10 for tail in tails["act"] | tails["know"]) and not tails["act"] & tails["know"]
    assert {tail[0] for tail in tails["act"]} == {tail[0] for tail in tails["know"]}


def test_weights_sum_to_one_and_strata_are_those_of_the_constraints(tasks: dict[str, Asked]) -> None:
    for one in tasks.values():
        assert sum(row["weight"] for row in one.constraints) == pytest.approx(1, abs=1e-5)
        strata = one.answer["strata"]
        assert (
            strata["constraint_count"] == len(one.constraints)
            and strata["domain_count"] == len(one.task["domains"]) == 1
        )
        assert strata["has_conflict"] == any(row["policy"] is not None for row in one.constraints)
        assert strata["implicitness"] == max(row["implicitness_measured"] for row in one.constraints)
        assert {row["dimension"].split(".")[0] for row in one.constraints} == set(one.task["domains"])
