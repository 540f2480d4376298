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
from schemas.behaviour.catalogue_index import catalogue_index
from schemas.behaviour.choice import match_table
from schemas.domain import Domain
from schemas.load import load_domains, load_life_events
from schemas.tables.core import sort_rows
from schemas.tables.internal import CERTIFIED
from validation.observer.decision import decision_probability
from validation.observer.filter import Beliefs, believe
from validation.observer.parameters import observer_parameters
from validation.observer.reader import read_statements
from validation.observer.record import read_record

F64 = npt.NDArray[np.float64]


def certify(context: Context, tables: Tables) -> Tables:
    """`certified`: for every drafted task of the shard's users the decision's probability, and each constraint's belief."""
    data = context.data
    domains = load_domains(data.domains)
    users = tables["users"]
    drafts = _of_users(tables["draft_tasks"], users)
    readings = read_statements(tables["events"], domains, load_phrases())
    rows: list[dict[str, Any]] = []
    for name, domain in domains.items():
        own = drafts.filter(pc.equal(pc.list_element(drafts["domains"], 0), name))
        if own.num_rows == 0:
            continue
        index = catalogue_index(domain, tables["items"], tables["item_attributes"])
        record = read_record(tables["events"], readings, index.id_array, index.values, domain, users["user_id"].to_pylist())
        queries = (rows_of(own["user_id"], users), own["asked_at"].cast(pa.int64()).to_numpy())
        beliefs = believe(record, observer_parameters(data, domain, load_life_events()), queries)
        rows += _decisions(own, domain, beliefs, tables, data.dispositions.strength_mean)
        rows += _constraints(own, domain, beliefs, tables)
    table = pa.Table.from_pylist(rows, schema=CERTIFIED.schema())
    return {"certified": CERTIFIED.conform(sort_rows(table, CERTIFIED))}


def _of_users(table: pa.Table, users: pa.Table) -> pa.Table:
    return table.filter(pc.is_in(table["user_id"], value_set=users["user_id"].combine_chunks()))


def _decisions(own: pa.Table, domain: Domain, beliefs: Beliefs, tables: Tables, strength: float) -> list[dict[str, Any]]:
    """The tasks' own rows. Tasks with equal menus are decided together."""
    place = {task: row for row, task in enumerate(own["task_id"].to_pylist())}
    names = list(domain.value_names())
    values = list(domain.value_names().values())
    specs = list(domain.dimensions.values())
    options: dict[str, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    for row in tables["menus"].filter(pc.is_in(tables["menus"]["task_id"], value_set=own["task_id"].combine_chunks())).to_pylist():
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
            np.array(codes), [beliefs.belief[member, c, : len(values[c])] for c in columns],
            [match_table(specs[c].kind, len(values[c])) for c in columns], [strength * specs[c].strength for c in columns],
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
    for row in some.filter(pc.is_in(some["task_id"], value_set=own["task_id"].combine_chunks())).to_pylist():
        column = names.index(row["dimension"])
        values = domain.value_names()[row["dimension"]]
        true = values.index(row["value"])
        belief = beliefs.belief[place[row["task_id"]], column, : len(values)]
        top = int(belief.argmax())
        rows.append(
            _row(
                row["task_id"], row["user_id"], row["constraint_id"], p_true=float(belief[true]), top_value=values[top],
                p_top=float(belief[top]), p_without_evidence=float(beliefs.prior[column, true]), p_prior=float(beliefs.prior[column, true]),
            )
        )
    return rows


def _row(task: str, user: str, constraint: str | None, **figures: Any) -> dict[str, Any]:
    blank = dict.fromkeys(("p_decision", "p_true", "top_value", "p_top", "p_window_only", "p_without_evidence", "p_prior"))
    return {**blank, "task_id": task, "user_id": user, "constraint_id": constraint, **figures}
