"""From all candidates to drafts of tasks: groups, menus, worlds, gold, and an account of what did not ship."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import Draws
from flows.common.stage import Context, Tables
from flows.tasks.drafts import Draft, World, draft_group
from flows.tasks.groups import Pool, Selection, pool_of, select
from flows.tasks.menus import Contrast, Menu, item_grid, menu_for
from schemas.behaviour.catalogue_index import CatalogueIndex, read_index
from schemas.behaviour.choice import match_table
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.market import load_market
from schemas.tables.core import Table, sort_rows
from schemas.tables.internal import (
    DRAFT_ANSWERS,
    DRAFT_CONSTRAINTS,
    DRAFT_POSTERIORS,
    DRAFT_REJECTS,
    DRAFT_STATES,
    DRAFT_TASKS,
    MENUS,
)
from validation.observer.decision import decision_probability
from validation.world.tools import Toolbox

F64 = npt.NDArray[np.float64]
BALANCE_STEP = 10_000
"""Balances are round numbers of the smallest unit of money."""


def select_tasks(context: Context, tables: Tables) -> Tables:
    """Drafts of all tasks of the release, and `draft_rejects` with every candidate that stands in none of them."""
    data, draws = context.data, context.draws
    candidates = tables["candidates"]
    whole = Draft([], [], [], [], [], [])
    rejects: list[dict[str, Any]] = []
    for domain in load_domains(data.domains).values():
        pool = pool_of(candidates, domain, data, draws)
        index = read_index(domain, tables["coded_items"])
        world = _world(domain, index, tables["items"], load_market(data.market).currency)
        menu_of = partial(_menu_of, domain, item_grid(domain, index), draws)
        decide = partial(_decide, domain, pool, data.dispositions.strength_mean)
        chosen = select(pool, domain, data, draws, Selection(), menu_of, decide)
        columns = list(domain.value_names())
        for group in chosen.groups:
            rows = [
                _candidate_rows(candidates, pool, member, columns, [columns[c] for c in group.contrast.columns])
                for member in group.members
            ]
            for target, found in zip(whole, draft_group(group, pool, rows, world, draws), strict=True):
                target.extend(found)
        rejects += _rejects(pool, chosen, domain, data.tasks.act_at_least)
    declared = (DRAFT_TASKS, DRAFT_STATES, DRAFT_CONSTRAINTS, DRAFT_ANSWERS, DRAFT_POSTERIORS, MENUS)
    made = {table.name: _table(table, rows) for table, rows in zip(declared, whole, strict=True)}
    return {**made, "draft_rejects": _table(DRAFT_REJECTS, rejects)}


def _table(declared: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return declared.conform(sort_rows(pa.Table.from_pylist(rows, schema=declared.schema()), declared))


def _world(domain: Domain, index: CatalogueIndex, items: pa.Table, currency: str) -> World:
    own = items.take(pc.index_in(index.id_array, value_set=items["item_id"].combine_chunks()))
    dearest = int(index.price_cents.max()) + max(tool.fee_cents for tool in domain.tools)
    balance = -(-2 * dearest // BALANCE_STEP) * BALANCE_STEP
    titles, descriptions = own["title"].to_pylist(), own["description"].to_pylist()
    return World(domain, index, titles, descriptions, currency, balance, Toolbox.of(domain))


def _menu_of(
    domain: Domain, grid: Mapping[tuple[int, ...], int], draws: Draws, contrast: Contrast, key: int
) -> Menu | None:
    return menu_for(contrast, domain, grid, key, draws)


def _decide(domain: Domain, pool: Pool, strength: float, contrast: Contrast, menu: Menu, members: list[int]) -> F64:
    """(members,) probability that the option that is right for the member is best, by what is believed of them."""
    specs = [list(domain.dimensions.values())[c] for c in contrast.columns]
    beliefs = [pool.belief[members, c, : len(spec.values)] for c, spec in zip(contrast.columns, specs, strict=True)]
    tables = [match_table(spec.kind, len(spec.values)) for spec in specs]
    each = decision_probability(menu.values, beliefs, tables, [strength * spec.strength for spec in specs])
    true = pool.true[members][:, list(contrast.columns)]
    own = (menu.values[None, :, :] == true[:, None, :]).all(axis=2).argmax(axis=1)
    return np.asarray(each[np.arange(len(members)), own])


def _candidate_rows(
    candidates: pa.Table, pool: Pool, member: int, names: list[str], wanted: list[str]
) -> list[dict[str, Any]]:
    """The candidate's rows of the wanted dimensions, in that order."""
    rows = candidates.slice(int(pool.row[member]), len(names)).to_pylist()
    by_name = {row["dimension"]: row for row in rows}
    return [by_name[name] for name in wanted]


def _rejects(pool: Pool, chosen: Selection, domain: Domain, least: float) -> list[dict[str, Any]]:
    """Why candidates did not ship. One that is confident of a wrong value is counted whether or not it stands in a group."""
    p_true, p_top = pool.p_true(), pool.belief.max(axis=2)
    wrong = (p_top >= least) & (pool.belief.argmax(axis=2) != pool.true)
    sure = p_true >= least
    names = list(domain.value_names())
    found = []
    for row, candidate in enumerate(pool.candidate_id):
        own = {"candidate_id": candidate, "user_id": pool.user[row], "family": "act"}
        if wrong[row].any():
            listed = {names[c]: round(float(p_top[row, c]), 6) for c in np.flatnonzero(wrong[row])}
            found.append({**own, "reason": "confident_and_wrong", "figures": json.dumps(listed)})
        if chosen.uses[row]:
            continue
        if sure[row].sum() < 2:
            reason = "undetermined"
        else:
            reason = "decision_undetermined" if row in chosen.undecided else "no_group"
        found.append({**own, "reason": reason, "figures": json.dumps({"determined": int(sure[row].sum())})})
    return found
