"""Talks and other lines to speak and to read: small tables for the tests of everything that has to do with words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from flows.common.draws import Draws
from flows.common.ids import opaque_ids, user_ids_of, user_numbers
from prompts.load import STANCES
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.tables.core import TIMESTAMP, Table
from schemas.tables.internal import STATEMENTS, SYMBOLIC_EVENTS, SYMBOLIC_TRUTH

DOMAINS = load_domains(["food", "groceries"])
DRAWS = Draws(3, "test")
START_US = 1_736_150_400_000_000
Meaning = tuple[str, str | None, str | None, str | None]
"""Domain, dimension, value, stance."""


def every_meaning(domains: Mapping[str, Domain] = DOMAINS) -> list[Meaning]:
    """Each value of each dimension in each stance."""
    return [
        (name, f"{name}.{key}", None if stance == "back_to_usual" else value, stance)
        for name, domain in domains.items()
        for key, spec in domain.dimensions.items()
        for value in spec.values
        for stance in STANCES
    ]


def small_talk(count: int, names: Sequence[str] = tuple(DOMAINS)) -> list[Meaning]:
    return [(names[number % len(names)], None, None, None) for number in range(count)]


def filled(declared: Table, columns: dict[str, Any], size: int) -> pa.Table:
    """A table of the declared shape: the columns given, and nulls or empty lists elsewhere."""
    arrays = {}
    for name, field in declared.columns.items():
        if name in columns:
            arrays[name] = pa.array(columns[name], field.type) if isinstance(columns[name], list) else columns[name]
        elif pa.types.is_list(field.type) and name not in declared.optional:
            arrays[name] = pa.array([[]] * size, field.type)
        else:
            arrays[name] = pa.nulls(size, field.type)
    return declared.conform(pa.table(arrays))


def log(actions: Sequence[str], domains: Sequence[str], **columns: Any) -> tuple[pa.Table, pa.Table]:
    """Symbolic events and their truth, one line a session, by 40 users in turn."""
    size = len(actions)
    keys = np.arange(size, dtype=np.uint64)
    users = keys % np.uint64(40)
    events = {
        "event_id": opaque_ids(DRAWS, "event", users, keys),
        "user_id": user_ids_of(users),
        "session_id": opaque_ids(DRAWS, "session", users, keys),
        "seq": [0] * size,
        "at": pa.array(START_US + np.arange(size) * 61_000_003, TIMESTAMP),
        "logged_at": pa.array(START_US + np.arange(size) * 61_000_003, TIMESTAMP),
        "utc_offset_min": [0] * size,
        "domain": list(domains),
        "app": ["assistant"] * size,
        "action": list(actions),
        "source": ["self"] * size,
    }
    made = filled(SYMBOLIC_EVENTS, {**events, **columns}, size)
    truth = {
        "event_id": made["event_id"],
        "user_id": made["user_id"],
        "actor_id": made["user_id"],
        "is_noise": [False] * size,
    }
    return made, filled(SYMBOLIC_TRUTH, truth, size)


def talks(meanings: Sequence[Meaning]) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Symbolic events, truth and statements of `say` lines with those meanings."""
    events, truth = log(["say"] * len(meanings), [meaning[0] for meaning in meanings])
    names = ("domain", "dimension", "value", "stance")
    held = {name: [meaning[place] for meaning in meanings] for place, name in enumerate(names)}
    columns = {**held, "event_id": events["event_id"], "user_id": events["user_id"], "at": events["at"]}
    return events, truth, filled(STATEMENTS, columns, len(meanings))


def copies(events: pa.Table, first: int = 1_000_000) -> pa.Table:
    """The same lines logged once more, each with an id of its own."""
    keys = np.arange(first, first + events.num_rows, dtype=np.uint64)
    ids = opaque_ids(DRAWS, "event", user_numbers(events["user_id"]), keys)
    return events.set_column(0, events.schema.field("event_id"), ids)
