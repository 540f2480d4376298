"""From groups to the declared tables of tasks: what is asked, the world at that time, what is right and what each option means."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws, key_of, permutation
from flows.common.ids import opaque_ids, user_numbers
from flows.tasks.groups import Group, Pool
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.behaviour.choice import match_table
from schemas.domain import Domain
from validation.observer.decision import decision_probability
from validation.world.checker import Gold, Task, path_to, score
from validation.world.state import Offer, ToolState
from validation.world.tools import Toolbox

OPTION_IDS = ("A", "B", "C", "D")
LEVELS = ((np.log(20.0), "L0"), (np.log(5.0), "L2"))


class World(NamedTuple):
    """What a domain's drafts need besides the group."""

    domain: Domain
    catalogue: CatalogueIndex
    titles: list[str]
    descriptions: list[str]
    currency: str
    balance_cents: int
    """Every task's balance: enough for any single thing, the same for all, so that it tells nothing."""
    tools: Toolbox


class Draft(NamedTuple):
    """Rows of all task tables, as dictionaries."""

    tasks: list[dict[str, Any]]
    states: list[dict[str, Any]]
    constraints: list[dict[str, Any]]
    answers: list[dict[str, Any]]
    posteriors: list[dict[str, Any]]
    menus: list[dict[str, Any]]


def draft_group(group: Group, pool: Pool, rows: list[list[dict[str, Any]]], world: World, draws: Draws) -> Draft:
    """One `act` for each member, and one `know` for each of its constraints.

    ``rows`` holds for each member the candidate's rows of the contested dimensions, in the order of the contrast.
    Raises if a gold path fails or a wrong path passes: then the world and the truth disagree.
    """
    draft = Draft([], [], [], [], [], [])
    names = list(world.domain.value_names())
    values = list(world.domain.value_names().values())
    items = [world.catalogue.item_ids[row] for row in group.menu.rows]
    state = _state(world, group)
    numbers = user_numbers(pa.array([pool.user[member] for member in group.members]))
    contested = [names[c] for c in group.contrast.columns]
    task_ids = _ids(draws, "task", numbers, group, ["act", *contested])
    act_ids = _ids(draws, "constraint", numbers, group, [f"act {name}" for name in contested])
    know_ids = _ids(draws, "constraint", numbers, group, [f"know {name}" for name in contested])
    for place, member in enumerate(group.members):
        own = rows[place]
        act_id = task_ids[place][0]
        true = [values[c].index(row["value"]) for c, row in zip(group.contrast.columns, own, strict=True)]
        constraint_ids = act_ids[place]
        violated = [
            [cid for cid, want, have in zip(constraint_ids, true, option, strict=True) if want != have]
            for option in group.menu.values.tolist()
        ]
        gold = [broken == [] for broken in violated]
        if sum(gold) != 1:
            raise ValueError(f"{act_id}: {sum(gold)} options meet all constraints; must be 1")
        failures = _failures(group, own, world.domain, gold)
        options = [
            {"option_id": o, "label": world.titles[row], "item_id": item}
            for o, row, item in zip(OPTION_IDS, group.menu.rows, items, strict=True)
        ]
        draft.tasks.append(
            _task(act_id, pool.user[member], "act", own[0], world.domain, options, [t.name for t in world.domain.tools])
        )
        draft.states.append({"task_id": act_id, "state": state.to_json()})
        golden = {"option_ids": [o for o, g in zip(OPTION_IDS, gold, strict=True) if g]}
        meaning = [
            {"option_id": o, "is_gold": g, "failures": f, "violated_constraint_ids": b}
            for o, g, f, b in zip(OPTION_IDS, gold, failures, violated, strict=True)
        ]
        paths = {o: path_to(world.domain, item) for o, item in zip(OPTION_IDS, items, strict=True)}
        _prove(act_id, options, golden, paths, world, state)
        decoys = {o: path for o, path in paths.items() if o not in golden["option_ids"]}
        draft.answers.append(
            _answer(act_id, pool.user[member], group.group_id, "act", None, own, golden, meaning, json.dumps(decoys))
        )
        draft.posteriors.append(_posterior(act_id, pool.user[member], group.p_decision[place]))
        for option, chosen in zip(OPTION_IDS, group.menu.values.tolist(), strict=True):
            draft.menus.extend(
                {
                    "task_id": act_id,
                    "user_id": pool.user[member],
                    "option_id": option,
                    "dimension": names[c],
                    "value": values[c][v],
                }
                for c, v in zip(group.contrast.columns, chosen, strict=True)
            )
        weight = round(1 / len(own), 6)
        for nth, row in enumerate(own):
            draft.constraints.append(_constraint(constraint_ids[nth], act_id, row, weight))
            draft.posteriors.append(_belief(act_id, constraint_ids[nth], row, values[group.contrast.columns[nth]]))
            _draft_know(
                draft, group, nth, row, act_id, task_ids[place][1 + nth], know_ids[place][nth], world.domain, draws
            )
    return draft


def _draft_know(
    draft: Draft,
    group: Group,
    nth: int,
    row: dict[str, Any],
    act_id: str,
    know_id: str,
    constraint_id: str,
    domain: Domain,
    draws: Draws,
) -> None:
    """The constraint as a question: which of the two contested values is the person's."""
    user = row["user_id"]
    column = group.contrast.columns[nth]
    spec = list(domain.dimensions.values())[column]
    values = list(spec.values)
    pair = group.contrast.pairs[nth]
    order = permutation(
        draws.bits("know order", key_of(group.group_id, row["dimension"]), np.arange(2, dtype=np.uint64))
    )
    shown = [values[pair[place]] for place in order.tolist()]
    ids = OPTION_IDS[: len(shown)]
    options = [
        {"option_id": o, "label": spec.values[v].words[0], "item_id": None} for o, v in zip(ids, shown, strict=True)
    ]
    gold = {"option_ids": [o for o, v in zip(ids, shown, strict=True) if v == row["value"]]}
    meaning = [
        {
            "option_id": o,
            "is_gold": v == row["value"],
            "failures": [] if v == row["value"] else _named(v, row, spec.values),
            "violated_constraint_ids": [] if v == row["value"] else [constraint_id],
        }
        for o, v in zip(ids, shown, strict=True)
    ]
    codes = np.array([[values.index(v)] for v in shown])
    belief = np.array([row["belief"]])
    p_each = decision_probability(codes, [belief], [match_table(spec.kind, len(values))], [1.0])[0]
    draft.tasks.append(_task(know_id, user, "know", row, domain, options, []))
    draft.constraints.append(_constraint(constraint_id, know_id, row, 1.0))
    draft.answers.append(
        _answer(know_id, user, f"{group.group_id}-{column}", "know", act_id, [row], gold, meaning, None)
    )
    draft.posteriors.append(_posterior(know_id, user, float(p_each[shown.index(row["value"])])))
    draft.posteriors.append(_belief(know_id, constraint_id, row, values))
    draft.menus.extend(
        {"task_id": know_id, "user_id": user, "option_id": o, "dimension": row["dimension"], "value": v}
        for o, v in zip(ids, shown, strict=True)
    )


def _ids(draws: Draws, kind: str, numbers: npt.NDArray[np.uint64], group: Group, parts: list[str]) -> list[list[str]]:
    """For each member an id for each part of the group."""
    keys = np.array([key_of(group.group_id, part) for part in parts], np.uint64)
    flat = opaque_ids(draws, kind, np.repeat(numbers, len(parts)), np.tile(keys, numbers.size)).to_pylist()
    return [flat[first : first + len(parts)] for first in range(0, len(flat), len(parts))]


def _state(world: World, group: Group) -> ToolState:
    """The world of the whole group: the four items on offer, an empty cart, the same balance for all."""
    offers = tuple(
        Offer(
            item_id=world.catalogue.item_ids[row],
            title=world.titles[row],
            description=world.descriptions[row],
            price_cents=int(world.catalogue.price_cents[row]),
            currency=world.currency,
            category=list(world.domain.catalogue.categories)[world.catalogue.category[row]],
        )
        for row in group.menu.rows.tolist()
    )
    return ToolState(
        domain=world.domain.name, currency=world.currency, offers=offers, balance_cents=world.balance_cents
    )


def _prove(
    task_id: str,
    options: list[dict[str, Any]],
    gold: dict[str, Any],
    paths: dict[str, Any],
    world: World,
    state: ToolState,
) -> None:
    """Runs every path in a fresh world: exactly the gold one passes, and doing nothing does not."""
    task = Task("act", {o["option_id"]: o["item_id"] for o in options}, Gold.of(gold), world.domain, world.tools, state)
    for option, calls in paths.items():
        passed = score(task, {"calls": calls}).passed
        if passed != (option in gold["option_ids"]):
            raise ValueError(
                f"{task_id}: the path to option {option} {'passes' if passed else 'fails'}, against the gold {gold}"
            )
    if score(task, {}).passed:
        raise ValueError(f"{task_id}: doing nothing passes")


def _failures(group: Group, rows: list[dict[str, Any]], domain: Domain, gold: list[bool]) -> list[list[str]]:
    """For each option the failures that lead to it: simple readers of the truth, each with one fault."""
    specs = [list(domain.dimensions.values())[c] for c in group.contrast.columns]
    readers = {
        "stale_value": [row["stale_value"] for row in rows],
        "believes_claim": [row["claimed_value"] or row["value"] for row in rows],
        "follows_population": [max(spec.values, key=lambda v, s=spec: s.values[v].share) for spec in specs],  # type: ignore[misc]
    }
    named: list[list[str]] = [[] for _ in gold]
    for failure, wanted in readers.items():
        utility = [0] * len(gold)
        for place, (spec, value) in enumerate(zip(specs, wanted, strict=True)):
            match = match_table(spec.kind, len(spec.values))[list(spec.values).index(value)]
            for option in range(len(gold)):
                utility[option] += round(2 * float(match[group.menu.values[option, place]]))
        best = [o for o, u in enumerate(utility) if u == max(utility)]
        if len(best) == 1 and not gold[best[0]]:
            named[best[0]].append(failure)
    return [[] if right else (names or ["unexplained"]) for right, names in zip(gold, named, strict=True)]


def _named(value: str, row: dict[str, Any], values: Any) -> list[str]:
    """The failures that would give this wrong value."""
    found = [
        name
        for name, wrong in (("stale_value", row["stale_value"]), ("believes_claim", row["claimed_value"]))
        if wrong == value
    ]
    if value == max(values, key=lambda v: values[v].share):
        found.append("follows_population")
    return found or ["unexplained"]


def _task(
    task_id: str,
    user: str,
    family: str,
    row: dict[str, Any],
    domain: Domain,
    options: list[dict[str, Any]],
    tools: list[str],
) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "user_id": user,
        "family": family,
        "domains": [domain.name],
        "asked_at": row["asked_at"],
        "utc_offset_min": row["utc_offset_min"],
        "request": "",
        "options": options,
        "tool_ids": tools,
    }


def _measured(row: dict[str, Any]) -> str:
    """How openly the value shows: by the largest single likelihood ratio, else a pattern (design: L0, L2, L3)."""
    ratio = row["max_log_ratio"] or 0.0
    return next((level for least, level in LEVELS if ratio >= least), "L3")


def _constraint(constraint_id: str, task_id: str, row: dict[str, Any], weight: float) -> dict[str, Any]:
    return {
        "constraint_id": constraint_id,
        "task_id": task_id,
        "user_id": row["user_id"],
        "dimension": row["dimension"],
        "operator": "is",
        "value": row["value"],
        "hardness": "soft",
        "weight": weight,
        "status": row["status"],
        "policy": row["policy"],
        "implicitness_intended": None,
        "implicitness_measured": _measured(row),
        "evidence_event_ids": [],
        "window_event_ids": None,
        "necessary_event_ids": None,
        "effective_evidence": row["effective_evidence"],
        "disposition_ids": row["disposition_ids"],
    }


def _answer(
    task_id: str,
    user: str,
    group_id: str,
    family: str,
    parent: str | None,
    rows: list[dict[str, Any]],
    gold: dict[str, Any],
    options: list[dict[str, Any]],
    decoys: str | None,
) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "user_id": user,
        "group_id": group_id,
        "twin_id": None,
        "family_true": family,
        "parent_task_id": parent,
        "proof": None,
        "is_hard": None,
        "strata": {
            "constraint_count": len(rows),
            "distance_days": min(row["last_change_days"] for row in rows),
            "implicitness": max(_measured(row) for row in rows),
            "noise_nearby": round(sum(row["noise_nearby"] for row in rows) / len(rows), 6),
            "has_conflict": any(row["policy"] is not None for row in rows),
            "domain_count": 1,
            "history_events": rows[0]["history_events"],
        },
        "gold": json.dumps(gold),
        "options": options,
        "decoy_trajectories": decoys,
    }


def _posterior(task_id: str, user: str, p_decision: float) -> dict[str, Any]:
    return {
        "task_id": task_id,
        "user_id": user,
        "constraint_id": None,
        "p_decision": p_decision,
        "p_true": None,
        "top_value": None,
        "p_top": None,
        "p_window_only": None,
        "p_without_evidence": None,
        "p_prior": None,
    }


def _belief(task_id: str, constraint_id: str, row: dict[str, Any], values: list[str]) -> dict[str, Any]:
    belief = row["belief"]
    top = max(range(len(values)), key=belief.__getitem__)
    return {
        **_posterior(task_id, row["user_id"], 0.0),
        "constraint_id": constraint_id,
        "p_decision": None,
        "p_true": belief[values.index(row["value"])],
        "top_value": values[top],
        "p_top": belief[top],
        "p_without_evidence": row["p_prior"],
        "p_prior": row["p_prior"],
    }
