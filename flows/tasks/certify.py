"""The proof on the words of the release: what the observer believes once the reader has read what is really there."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.household import rows_of
from flows.common.stage import Context, Tables
from prompts.load import load_phrases
from schemas.behaviour.catalogue_index import read_index
from schemas.behaviour.choice import match_table
from schemas.domain import Domain
from schemas.load import load_domains, load_life_events
from schemas.tables.core import sort_rows
from schemas.tables.internal import CERTIFIED, EVIDENCE
from validation.observer.decision import decision_probability
from validation.observer.filter import Beliefs, believe
from validation.observer.parameters import observer_parameters, prices_in
from validation.observer.reader import read_statements
from validation.observer.record import bearing_rows, read_record

I64 = npt.NDArray[np.int64]


def certify(context: Context, tables: Tables) -> Tables:
    """`certified`: for every drafted task of the shard's users the decision's probability and each constraint's belief.

    And `evidence`: the released lines that bear on each constraint.
    """
    data = context.data
    domains = load_domains(data.domains)
    users = tables["users"]
    drafts = _of_users(tables["draft_tasks"], users)
    readings = read_statements(tables["events"], domains, load_phrases())
    rows: list[dict[str, Any]] = []
    evidence = [EVIDENCE.empty()]
    for name, domain in domains.items():
        own = drafts.filter(pc.equal(pc.list_element(drafts["domains"], 0), name))
        if own.num_rows == 0:
            continue
        index = read_index(domain, tables["coded_items"])
        record = read_record(
            tables["events"],
            readings,
            index.id_array,
            index.values,
            domain,
            users["user_id"].to_pylist(),
            prices_in(data, domain, index),
        )
        queries = (rows_of(own["user_id"], users), own["asked_at"].cast(pa.int64()).to_numpy())
        beliefs = believe(record, observer_parameters(data, domain, load_life_events()), queries)
        rows += _decisions(own, domain, beliefs, tables, data.dispositions.strength_mean)
        rows += _constraints(own, domain, beliefs, tables)
        evidence.append(_evidence(own, domain, bearing_rows(record, *queries), tables))
    table = pa.Table.from_pylist(rows, schema=CERTIFIED.schema())
    return {
        "certified": CERTIFIED.conform(sort_rows(table, CERTIFIED)),
        "evidence": EVIDENCE.conform(sort_rows(pa.concat_tables(evidence), EVIDENCE)),
    }


def _of_users(table: pa.Table, users: pa.Table) -> pa.Table:
    return table.filter(pc.is_in(table["user_id"], value_set=users["user_id"].combine_chunks()))


def _decisions(
    own: pa.Table, domain: Domain, beliefs: Beliefs, tables: Tables, strength: float
) -> list[dict[str, Any]]:
    """The tasks' own rows. Tasks with equal menus are decided together."""
    place = {task: row for row, task in enumerate(own["task_id"].to_pylist())}
    names = list(domain.value_names())
    values = list(domain.value_names().values())
    specs = list(domain.dimensions.values())
    options: dict[str, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    for row in _of_tasks(tables["menus"], own).to_pylist():
        column = names.index(row["dimension"])
        options[row["task_id"]][row["option_id"]][column] = values[column].index(row["value"])
    gold = _gold(tables["draft_answers"])
    alike: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for task, menu in options.items():
        columns = tuple(sorted(next(iter(menu.values()))))
        alike[(columns, tuple(tuple(menu[o][c] for c in columns) for o in sorted(menu)))].append(task)
    rows = []
    for (columns, codes), tasks in alike.items():
        member = np.array([place[task] for task in tasks])
        each = decision_probability(
            np.array(codes),
            [beliefs.belief[member, c, : len(values[c])] for c in columns],
            [match_table(specs[c].kind, len(values[c])) for c in columns],
            [strength * specs[c].strength for c in columns],
        )
        for nth, task in enumerate(tasks):
            best = sorted(options[task]).index(gold[task])
            rows.append(_row(task, own["user_id"][place[task]].as_py(), None, p_decision=float(each[nth, best])))
    return rows


def _gold(answers: pa.Table) -> dict[str, str]:
    """Task to its one gold option."""
    found = {}
    for task, options in zip(answers["task_id"].to_pylist(), answers["options"].to_pylist(), strict=True):
        found[task] = next(option["option_id"] for option in options if option["is_gold"])
    return found


def _constraints(own: pa.Table, domain: Domain, beliefs: Beliefs, tables: Tables) -> list[dict[str, Any]]:
    """One row a constraint: the belief about its dimension."""
    place = {task: row for row, task in enumerate(own["task_id"].to_pylist())}
    names = list(domain.value_names())
    some = tables["draft_constraints"].select(["task_id", "user_id", "constraint_id", "dimension", "value"])
    rows = []
    for row in _of_tasks(some, own).to_pylist():
        column = names.index(row["dimension"])
        values = domain.value_names()[row["dimension"]]
        true = values.index(row["value"])
        belief = beliefs.belief[place[row["task_id"]], column, : len(values)]
        top = int(belief.argmax())
        rows.append(
            _row(
                row["task_id"],
                row["user_id"],
                row["constraint_id"],
                p_true=float(belief[true]),
                top_value=values[top],
                p_top=float(belief[top]),
                p_without_evidence=float(beliefs.prior[column, true]),
                p_prior=float(beliefs.prior[column, true]),
            )
        )
    return rows


def _evidence(
    own: pa.Table, domain: Domain, bearing: tuple[I64, npt.NDArray[np.int8], I64], tables: Tables
) -> pa.Table:
    """One row a constraint: the lines that bear on its dimension, in order of time."""
    constraints = _of_tasks(
        tables["draft_constraints"].select(["task_id", "user_id", "constraint_id", "dimension"]), own
    )
    query, dimension, row = bearing
    cell = query * len(domain.dimensions) + dimension  # sorted
    task = pc.index_in(constraints["task_id"], value_set=own["task_id"].combine_chunks()).to_numpy().astype(np.int64)
    column = (
        pc.index_in(constraints["dimension"], value_set=pa.array(domain.dimension_ids())).to_numpy().astype(np.int64)
    )
    wanted = task * len(domain.dimensions) + column
    first, last = np.searchsorted(cell, wanted, side="left"), np.searchsorted(cell, wanted, side="right")
    length = last - first
    offsets = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    place = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1] - first, length)
    ids = tables["events"]["event_id"].take(pa.array(row[place])).combine_chunks()
    lists = pa.ListArray.from_arrays(offsets, ids, type=EVIDENCE.columns["evidence_event_ids"].type)
    named = constraints.select(["task_id", "user_id", "constraint_id"])
    return named.append_column("evidence_event_ids", lists).cast(EVIDENCE.schema())


def _of_tasks(table: pa.Table, tasks: pa.Table) -> pa.Table:
    return table.filter(pc.is_in(table["task_id"], value_set=tasks["task_id"].combine_chunks()))


def _row(task: str, user: str, constraint: str | None, **figures: Any) -> dict[str, Any]:
    blank = dict.fromkeys(
        ("p_decision", "p_true", "top_value", "p_top", "p_window_only", "p_without_evidence", "p_prior")
    )
    return {**blank, "task_id": task, "user_id": user, "constraint_id": constraint, **figures}
