"""Requests put in words: the same for every task of a group."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import Draws, keys_of
from flows.language.fill import fill, gathered
from prompts.load import ANY, Phrases
from schemas.domain import Domain

FORMS = ("act", "know")


def word_requests(tasks: pa.Table, domains: Mapping[str, Domain], phrases: Phrases, draws: Draws) -> pa.Table:
    """The tasks with their `request`, worded by (group_id, family, dimension) and the domain's bank.

    Needs task_id, group_id, family, domain, dimension; the dimension counts for `know`, which asks about it by the name
    that people give it and names no value. An `act` names neither, so all of a group read the same. Raises ValueError
    for a family without words, an unknown dimension, and a group whose tasks lie in several domains.
    """
    family = tasks["family"].to_numpy(zero_copy_only=False)
    domain = tasks["domain"].to_numpy(zero_copy_only=False)
    strange = sorted((set(family.tolist()) - set(FORMS)) | (set(domain.tolist()) - set(domains)))
    if strange:
        raise ValueError(f"no words for {strange}; families are {list(FORMS)}, domains {sorted(domains)}")
    _check_groups(tasks)
    about = pc.if_else(pc.equal(tasks["family"], "know"), tasks["dimension"], "")
    nouns = {f"{name}.{key}": spec.noun for name, d in domains.items() for key, spec in d.dimensions.items()}
    known = pa.array(list(nouns), pa.string())
    noun_place = pc.index_in(tasks["dimension"], value_set=known, skip_nulls=True).combine_chunks()
    lost = pc.is_null(noun_place).to_numpy(zero_copy_only=False) & (family == "know")
    if lost.any():
        example = tasks["task_id"][int(np.flatnonzero(lost)[0])]
        raise ValueError(f"task {example} asks about a dimension that no domain declares")
    noun = pa.array(list(nouns.values()), pa.string()).take(noun_place)
    named = pc.binary_join_element_wise(tasks["group_id"], tasks["family"], about, " ")
    keys = pc.dictionary_encode(named).combine_chunks()
    lines = keys_of(keys.dictionary.to_pylist())[keys.indices.to_numpy()] if tasks.num_rows else np.empty(0, np.uint64)
    parts = []
    for form, banks, slots in (("act", phrases.request.act, {}), ("know", phrases.request.know, {"noun": noun})):
        for name in sorted(domains):
            rows = np.flatnonzero((family == form) & (domain == name))
            given = {slot: texts.take(pa.array(rows)) for slot, texts in slots.items()}
            parts.append((rows, fill(banks.get(name, banks[ANY]), lines[rows], given, draws, f"{form} request")))
    request = gathered(parts, tasks.num_rows)
    if "request" in tasks.column_names:
        return tasks.set_column(tasks.column_names.index("request"), "request", request)
    return tasks.append_column("request", request)


def _check_groups(tasks: pa.Table) -> None:
    distinct = tasks.select(["group_id", "domain"]).group_by(["group_id", "domain"]).aggregate([])
    counts = distinct.group_by("group_id").aggregate([("domain", "count")])
    mixed = counts.filter(pc.greater(counts["domain_count"], 1))["group_id"].to_pylist()
    if mixed:
        raise ValueError(f"{len(mixed)} groups hold tasks of several domains, such as {min(mixed)}")
