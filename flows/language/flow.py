"""The stages `language`, which puts events in words, and `requests`, which words the tasks."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from flows.common.stage import Context, Stage, Tables
from flows.language.ask import word_requests
from flows.language.speak import speak
from prompts.load import load_phrases
from schemas.load import load_domains
from schemas.tables.core import replaced
from schemas.tables.internal import SPOKEN_EVENTS, SPOKEN_TRUTH, WORDED_TASKS


def speak_events(context: Context, tables: Tables) -> Tables:
    """`spoken_events` and `spoken_truth` of the shard."""
    events, truth = speak(
        tables["symbolic_events"],
        tables["symbolic_truth"],
        tables["statements"],
        load_domains(context.data.domains),
        load_phrases(),
        context.draws,
    )
    return {"spoken_events": events, "spoken_truth": truth}


def word_tasks(context: Context, tables: Tables) -> Tables:
    """`worded_tasks`: the drafts with requests that all tasks of a group share."""
    drafts = tables["draft_tasks"]
    answers = tables["draft_answers"]
    group = answers["group_id"].take(pc.index_in(drafts["task_id"], value_set=answers["task_id"].combine_chunks()))
    asked = pa.table(
        {
            "task_id": drafts["task_id"],
            "group_id": group,
            "family": drafts["family"],
            "domain": pc.list_element(drafts["domains"], 0),
            "dimension": _asked_about(drafts, tables["draft_constraints"]),
        }
    )
    worded = word_requests(asked, load_domains(context.data.domains), load_phrases(), context.draws)
    return {"worded_tasks": WORDED_TASKS.conform(replaced(drafts, {"request": worded["request"]}))}


def _asked_about(drafts: pa.Table, constraints: pa.Table) -> pa.ChunkedArray:
    """(tasks,) the dimension of the task's first constraint: the only one of a `know`."""
    place = pc.index_in(drafts["task_id"], value_set=constraints["task_id"].combine_chunks())
    return constraints["dimension"].take(place)


LANGUAGE_STAGE = Stage(
    "language",
    speak_events,
    reads={"symbolic_events": "disturb", "symbolic_truth": "disturb", "statements": "disturb"},
    writes=(SPOKEN_EVENTS, SPOKEN_TRUTH),
)
REQUESTS_STAGE = Stage(
    "requests",
    word_tasks,
    reads={"draft_tasks": "selection", "draft_answers": "selection", "draft_constraints": "selection"},
    writes=(WORDED_TASKS,),
)
