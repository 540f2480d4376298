"""The last word on tasks: groups in which every decision follows from the released words ship, the others do not."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from flows.common.stage import Context, Tables
from schemas.tables.core import Table, replaced, sort_rows
from schemas.tables.sealed import ANSWERS, CONSTRAINTS, POSTERIORS, REJECTS
from schemas.tables.visible import TASKS, TOOL_STATE


def settle(context: Context, tables: Tables) -> Tables:
    """The released tables of tasks. A group falls with its weakest decision, its `know` tasks with it."""
    least = context.data.tasks.act_at_least
    decided = tables["certified"].filter(pc.is_null(tables["certified"]["constraint_id"]))
    weak = decided.filter(pc.less(decided["p_decision"], least))
    answers = tables["draft_answers"]
    families = _family(answers)
    fallen = pc.unique(families.filter(pc.is_in(answers["task_id"], value_set=weak["task_id"].combine_chunks())))
    kept = answers["task_id"].filter(pc.invert(pc.is_in(families, value_set=fallen))).combine_chunks()
    return {
        "tasks": _kept(TASKS, tables["worded_tasks"], kept),
        "tool_state": _kept(TOOL_STATE, tables["draft_states"], kept),
        "constraints": _kept(CONSTRAINTS, _with_evidence(tables["draft_constraints"], tables["evidence"]), kept),
        "answers": _kept(ANSWERS, answers, kept),
        "posteriors": _kept(POSTERIORS, tables["certified"], kept),
        "rejects": _rejects(tables["draft_rejects"], weak, tables["worded_tasks"]),
    }


def _family(answers: pa.Table) -> pa.Array:
    """(tasks,) the group of the `act` that a task is or belongs to."""
    act = pc.coalesce(answers["parent_task_id"], answers["task_id"])
    return answers["group_id"].take(pc.index_in(act, value_set=answers["task_id"].combine_chunks())).combine_chunks()


def _kept(declared: Table, table: pa.Table, task_ids: pa.Array) -> pa.Table:
    return declared.conform(sort_rows(table.filter(pc.is_in(table["task_id"], value_set=task_ids)), declared))


def _with_evidence(constraints: pa.Table, evidence: pa.Table) -> pa.Table:
    place = pc.index_in(constraints["constraint_id"], value_set=evidence["constraint_id"].combine_chunks())
    return replaced(constraints, {"evidence_event_ids": evidence["evidence_event_ids"].take(place)})


def _rejects(rejects: pa.Table, weak: pa.Table, tasks: pa.Table) -> pa.Table:
    """The rejects so far, and every task whose decision the words left open."""
    family = tasks["family"].take(pc.index_in(weak["task_id"], value_set=tasks["task_id"].combine_chunks()))
    more = pa.table(
        {
            "candidate_id": weak["task_id"], "user_id": weak["user_id"], "family": family,
            "reason": pa.array(["words_leave_it_open"] * weak.num_rows, pa.string()),
            "figures": pa.array([json.dumps({"p_decision": p}) for p in weak["p_decision"].to_pylist()], pa.string()),
        },
        schema=REJECTS.schema(),
    )
    return REJECTS.conform(sort_rows(pa.concat_tables([rejects.cast(REJECTS.schema()), more]), REJECTS))
