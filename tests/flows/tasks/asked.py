"""The released tables of tasks, put together by task, with nothing but what the tables say."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from schemas.load import load_domain
from tests.flows.lives import Lives
from validation.world.checker import Gold, Task
from validation.world.state import ToolState
from validation.world.tools import Toolbox


class Asked(NamedTuple):
    """One task: its row, its answer, the contested value of each option by dimension, and its constraints."""

    task: dict[str, Any]
    answer: dict[str, Any]
    menu: Mapping[str, Mapping[str, str]]
    constraints: list[dict[str, Any]]
    state: str | None

    @property
    def gold(self) -> list[str]:
        return list(json.loads(self.answer["gold"])["option_ids"])

    def for_checker(self) -> Task:
        """The task as the checker takes it, from the tables alone."""
        domain = load_domain(self.task["domains"][0])
        items = {option["option_id"]: option["item_id"] for option in self.task["options"]}
        state = None if self.state is None else ToolState.model_validate_json(self.state)
        return Task(
            self.task["family"], items, Gold.of(json.loads(self.answer["gold"])), domain, Toolbox.of(domain), state
        )


def asked(lives: Lives, prefix: str = "") -> dict[str, Asked]:
    """Every task by id; with the prefix `draft_`, those that were drafted."""
    tasks = {row["task_id"]: row for row in lives[f"{prefix}tasks"].iter_rows(named=True)}
    answers = {row["task_id"]: row for row in lives[f"{prefix}answers"].iter_rows(named=True)}
    states = dict(lives["draft_states" if prefix else "tool_state"].select("task_id", "state").iter_rows())
    menus: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for task, option, dimension, value in (
        lives["menus"].select("task_id", "option_id", "dimension", "value").iter_rows()
    ):
        menus[task][option][dimension] = value
    constraints = defaultdict(list)
    for row in lives[f"{prefix}constraints"].iter_rows(named=True):
        constraints[row["task_id"]].append(row)
    assert tasks.keys() == answers.keys() == constraints.keys() and tasks.keys() <= menus.keys()
    return {
        name: Asked(row, answers[name], menus[name], constraints[name], states.get(name)) for name, row in tasks.items()
    }


def groups(tasks: Mapping[str, Asked], family: str) -> dict[str, list[Asked]]:
    """The tasks of a family by group."""
    found = defaultdict(list)
    for one in tasks.values():
        if one.task["family"] == family:
            found[one.answer["group_id"]].append(one)
    return dict(found)


def values_of_items(lives: Lives) -> dict[str, dict[str, str]]:
    """Item → category and value of every dimension."""
    found: dict[str, dict[str, str]] = {
        item: {"category": category} for item, category in lives["items"].select("item_id", "category").iter_rows()
    }
    for item, dimension, value in lives["item_attributes"].select("item_id", "dimension", "value").iter_rows():
        found[item][dimension] = value
    return found


def reasons(lives: Lives) -> dict[str, dict[str, Any]]:
    """Reason → candidate → figures."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for candidate, reason, figures in lives["rejects"].select("candidate_id", "reason", "figures").iter_rows():
        found[reason][candidate] = json.loads(figures)
    return found


def with_certainty(lives: Lives, lowered: Mapping[str, float]) -> pl.DataFrame:
    """`certified` with the decision's probability of some tasks set to another number."""
    own = pl.col("constraint_id").is_null() & pl.col("task_id").is_in(list(lowered))
    return lives["certified"].with_columns(
        p_decision=pl.when(own)
        .then(pl.col("task_id").replace_strict(lowered, default=None, return_dtype=pl.Float64))
        .otherwise("p_decision")
    )
