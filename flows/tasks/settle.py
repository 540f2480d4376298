"""The last word on tasks: groups in which every decision follows from the released words ship, the others do not."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from flows.common.stage import Context, Tables
from flows.tasks.groups import twos_beside
from schemas.tables.core import Table, replaced, sort_rows
from schemas.tables.sealed import ANSWERS, CONSTRAINTS, POSTERIORS, REJECTS
from schemas.tables.visible import TASKS, TOOL_STATE

OPEN, WITH_ITS_GROUP, TOO_MANY_TWOS = "words_leave_it_open", "falls_with_its_group", "too_many_of_two_constraints"
"""Reasons in `rejects`."""


def settle(context: Context, tables: Tables) -> Tables:
    """The released tables of tasks. A group falls with its weakest decision, its `know` tasks with it.

    Groups of two constraints fall also where those of three have become too few beside them.
    """
    config = context.data.tasks
    answers = tables["draft_answers"]
    decided = tables["certified"].filter(pc.is_null(tables["certified"]["constraint_id"]))
    p_decision = decided["p_decision"].take(
        pc.index_in(answers["task_id"], value_set=decided["task_id"].combine_chunks())
    )
    weak = pc.fill_null(pc.less(p_decision, config.act_at_least), True)  # what was not certified does not ship
    families = _family(answers)
    fallen = pc.is_in(families, value_set=pc.unique(families.filter(weak)))
    surplus = pc.is_in(families, value_set=_surplus(answers, families, fallen, config.two_constraint_share))
    reason = pc.if_else(weak, OPEN, pc.if_else(fallen, WITH_ITS_GROUP, pc.if_else(surplus, TOO_MANY_TWOS, None)))
    kept = answers["task_id"].filter(pc.is_null(reason)).combine_chunks()
    return {
        "tasks": _kept(TASKS, tables["worded_tasks"], kept),
        "tool_state": _kept(TOOL_STATE, tables["draft_states"], kept),
        "constraints": _kept(CONSTRAINTS, _with_evidence(tables["draft_constraints"], tables["evidence"]), kept),
        "answers": _kept(ANSWERS, answers, kept),
        "posteriors": _kept(POSTERIORS, tables["certified"], kept),
        "rejects": _rejects(tables["draft_rejects"], answers, reason, p_decision),
    }


def _family(answers: pa.Table) -> pa.Array:
    """(tasks,) the group of the `act` that a task is or belongs to."""
    act = pc.coalesce(answers["parent_task_id"], answers["task_id"])
    return answers["group_id"].take(pc.index_in(act, value_set=answers["task_id"].combine_chunks())).combine_chunks()


def _surplus(answers: pa.Table, families: pa.Array, fallen: pa.Array, share: float) -> pa.Array:
    """Standing groups of two constraints beyond their share, the last by name, which is a keyed hash."""
    standing = pc.and_(pc.is_null(answers["parent_task_id"]), pc.invert(fallen))
    size = pc.struct_field(answers["strata"], "constraint_count")
    threes, twos = (pc.unique(families.filter(pc.and_(standing, pc.equal(size, count)))) for count in (3, 2))
    return twos.take(pc.sort_indices(twos)).slice(twos_beside(len(threes), share))


def _kept(declared: Table, table: pa.Table, task_ids: pa.Array) -> pa.Table:
    return declared.conform(sort_rows(table.filter(pc.is_in(table["task_id"], value_set=task_ids)), declared))


def _with_evidence(constraints: pa.Table, evidence: pa.Table) -> pa.Table:
    place = pc.index_in(constraints["constraint_id"], value_set=evidence["constraint_id"].combine_chunks())
    return replaced(constraints, {"evidence_event_ids": evidence["evidence_event_ids"].take(place)})


def _rejects(rejects: pa.Table, answers: pa.Table, reason: pa.ChunkedArray, p_decision: pa.ChunkedArray) -> pa.Table:
    """The rejects so far, and every drafted task that does not ship."""
    out = pc.is_valid(reason)
    some = answers.filter(out)
    more = pa.table(
        {
            "candidate_id": some["task_id"],
            "user_id": some["user_id"],
            "family": some["family_true"],
            "reason": reason.filter(out),
            "figures": pa.array(
                [json.dumps({"p_decision": p}) for p in p_decision.filter(out).to_pylist()], pa.string()
            ),
        },
        schema=REJECTS.schema(),
    )
    return REJECTS.conform(sort_rows(pa.concat_tables([rejects.cast(REJECTS.schema()), more]), REJECTS))
