"""From arrays to the declared tables of the clean timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import MINUTE, offset_us
from flows.common.draws import Draws, categorical, key_of
from flows.common.ids import opaque_ids, user_ids_of
from flows.common.pace import TALK_DEVICES
from flows.timelines.rhythm import People, Span
from flows.timelines.talk import NOTHING, Talk
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.domain import Domain
from schemas.tables.internal import CLEAN_EVENTS, CLEAN_SESSIONS, CLEAN_STATEMENTS, CLEAN_TRUTH

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Text = npt.NDArray[np.object_]
PLACES = np.uint64(64)
"""Keys of the lines of a session: session key times 64, plus the line's place."""


class Lines(NamedTuple):
    """Lines of sessions before their content: the session's row, the place in it, microseconds after its start."""

    session: I64
    place: I64
    after_us: I64


class Part(NamedTuple):
    """Sessions of one domain, or of the assistant, with their lines. ``domain`` is a name for each session."""

    name: str
    domain: Text
    person: I64
    key: U64
    start_us: I64
    length_us: I64
    lines: Lines

    @property
    def at_us(self) -> I64:
        return self.start_us[self.lines.session] + self.lines.after_us


class Content(NamedTuple):
    """What the lines of a part hold. Row arrays of -1 stand for null; ``options`` belongs to ``option_rows``."""

    action: Text
    item_row: I64
    price_cents: I64
    is_choice: npt.NDArray[np.bool_]
    options: I64
    stars: I64
    drivers: pa.Array


def session_rows(part: Part, domains: Mapping[str, Domain], people: People, span: Span, draws: Draws) -> pa.Table:
    """Rows of `clean_sessions`; end and count are set later, from the lines."""
    who = people.numbers[part.person]
    app, device = _app_and_device(part, domains, who, draws)
    count = part.person.size
    started = pa.array(part.start_us).cast(CLEAN_SESSIONS.columns["started_at"].type)
    return pa.table(
        {
            "session_id": _session_ids(part, who, draws),
            "user_id": user_ids_of(who),
            "domain": pa.array(part.domain, pa.string()),
            "app": app,
            "device": device,
            "started_at": started,
            "ended_at": started,
            "utc_offset_min": _offsets(part.start_us, part.person, people, span),
            "event_count": pa.array(np.ones(count, np.int32)),
        },
        schema=CLEAN_SESSIONS.schema(),
    )


def _session_ids(part: Part, who: U64, draws: Draws) -> pa.Array:
    with np.errstate(over="ignore"):
        return opaque_ids(draws, "session", who, part.key + np.uint64(key_of(part.name)))


def event_ids(part: Part, who: U64, draws: Draws) -> pa.Array:
    """Ids of the lines, from the session's key and the place in it."""
    with np.errstate(over="ignore"):
        keys = part.key[part.lines.session] * PLACES + part.lines.place.astype(np.uint64) + np.uint64(key_of(part.name))
    return opaque_ids(draws, "event", who, keys)


def _app_and_device(part: Part, domains: Mapping[str, Domain], who: U64, draws: Draws) -> tuple[pa.Array, pa.Array]:
    """The app that the person uses for the domain, and the device of the session."""
    uniform = draws.uniform(f"{part.name} device", who, part.key)
    if part.name not in domains:
        names = pa.array([part.name] * who.size, pa.string())
        return names, pa.array(list(TALK_DEVICES)).take(pa.array(categorical(uniform, list(TALK_DEVICES.values()))))
    apps = domains[part.name].apps
    choice = categorical(draws.uniform(f"{part.name} app", who), [app.share for app in apps])
    device = np.empty(who.size, dtype=object)
    for place, app in enumerate(apps):
        here = choice == place
        device[here] = np.array(list(app.devices), dtype=object)[categorical(uniform[here], list(app.devices.values()))]
    return pa.array([app.name for app in apps]).take(pa.array(choice)), pa.array(device, pa.string())


def _offsets(at_us: I64, person: I64, people: People, span: Span) -> pa.Array:
    return pa.array((offset_us(at_us, people.zone[person], people.zones, span.around) // MINUTE).astype(np.int16))


def event_rows(
    part: Part,
    sessions: pa.Table,
    content: Content,
    index: CatalogueIndex | None,
    currency: str | None,
    people: People,
    span: Span,
    draws: Draws,
) -> pa.Table:
    """Rows of `clean_events`, in the order of the lines."""
    lines = part.lines
    person = part.person[lines.session]
    who = people.numbers[person]
    size = who.size
    of_session = sessions.take(pa.array(lines.session))
    at = pa.array(part.at_us).cast(CLEAN_EVENTS.columns["at"].type)
    has_price = content.price_cents >= 0
    no_items = pa.nulls(size, pa.string())
    is_reply = np.equal(content.action, "reply")
    return pa.table(
        {
            "event_id": event_ids(part, who, draws),
            "user_id": of_session["user_id"],
            "session_id": of_session["session_id"],
            "seq": pa.array(np.zeros(size, np.int32)),
            "at": at,
            "logged_at": at,
            "utc_offset_min": _offsets(part.at_us, person, people, span),
            "domain": of_session["domain"],
            "app": of_session["app"],
            "action": pa.array(content.action, pa.string()),
            "item_id": no_items if index is None else _taken(index.id_array, content.item_row),
            "options": option_lists(index, content.is_choice, content.options),
            "quantity": pa.array(np.ones(size, np.int32), mask=~content.is_choice),
            "price_cents": pa.array(content.price_cents, mask=~has_price),
            "currency": no_items if currency is None else pa.array([currency] * size, pa.string(), mask=~has_price),
            "rating": pa.array(content.stars.astype(np.int16), mask=content.stars < 0),
            "series": pa.nulls(size, CLEAN_EVENTS.columns["series"].type),
            "text": pa.nulls(size, pa.string()),
            "image_id": pa.nulls(size, pa.string()),
            "source": pa.array(np.where(is_reply, "notification", "self"), pa.string()),
        },
        schema=CLEAN_EVENTS.schema(),
    )


def _taken(values: pa.Array, row: I64) -> pa.Array:
    """Values by row, null where the row is -1."""
    return values.take(pa.array(row, mask=row < 0))


def option_lists(index: CatalogueIndex | None, is_choice: npt.NDArray[np.bool_], options: I64) -> pa.Array:
    """(lines,) lists of item ids in the order shown; null where nothing was on show."""
    kind = CLEAN_EVENTS.columns["options"].type
    if index is None:
        return pa.nulls(is_choice.size, kind)
    lengths = np.where(is_choice, options.shape[1], 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat = index.id_array.take(pa.array(options.ravel()))
    return pa.ListArray.from_arrays(pa.array(offsets), flat, type=kind, mask=pa.array(~is_choice))


def driver_lists(size: int, rows: I64, drivers: I64, disposition_ids: pa.Array) -> pa.Array:
    """(lines,) lists of disposition ids, empty where a line expresses no taste."""
    lengths = np.zeros(size, np.int64)
    lengths[rows] = drivers.shape[1]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat = disposition_ids.take(pa.array(drivers.ravel()))
    return pa.ListArray.from_arrays(offsets, flat, type=CLEAN_TRUTH.columns["driver_disposition_ids"].type)


def truth_rows(events: pa.Table, actor_ids: pa.Array, drivers: pa.Array) -> pa.Table:
    """Rows of `clean_truth`: every clean line is the user's own and no noise."""
    size = events.num_rows
    empty = pa.ListArray.from_arrays(
        np.zeros(size + 1, np.int32), pa.array([], pa.string()), type=CLEAN_TRUTH.columns["injection_ids"].type
    )
    return pa.table(
        {
            "event_id": events["event_id"],
            "user_id": events["user_id"],
            "actor_id": actor_ids,
            "is_noise": pa.array(np.zeros(size, bool)),
            "noise_kind": pa.nulls(size, pa.string()),
            "injection_ids": empty,
            "driver_disposition_ids": drivers,
            "speaker": pa.nulls(size, pa.string()),
            "alt_text": pa.nulls(size, pa.string()),
        },
        schema=CLEAN_TRUTH.schema(),
    )


def statement_rows(part: Part, talk: Talk, events: pa.Table, domains: Mapping[str, Domain]) -> pa.Table:
    """Rows of `clean_statements`: what each `say` means."""
    said = np.flatnonzero(part.lines.place == 0)
    session = part.lines.session[said]
    names = [dimension for domain in domains.values() for dimension in domain.dimension_ids()]
    values = [list(spec.values) for domain in domains.values() for spec in domain.dimensions.values()]
    starts = np.cumsum([0] + [len(domain.dimensions) for domain in domains.values()])
    widths = np.cumsum([0] + [len(v) for v in values])
    tells = talk.dimension[session] != NOTHING
    dimension = np.where(tells, starts[talk.domain[session]] + talk.dimension[session], -1)
    value = np.where(tells, widths[dimension] + talk.value[session], -1)
    some = events.take(pa.array(said))
    return pa.table(
        {
            "event_id": some["event_id"],
            "user_id": some["user_id"],
            "at": some["at"],
            "domain": some["domain"],
            "dimension": _taken(pa.array(names), dimension),
            "value": _taken(pa.array([v for vs in values for v in vs]), value),
            "stance": pa.array(np.full(said.size, "usual", dtype=object), pa.string(), mask=~tells),
        },
        schema=CLEAN_STATEMENTS.schema(),
    )


def unique_ids(table: pa.Table, column: str) -> None:
    """Nothing; raises if an id repeats, which a hash of 50 bits allows but must never pass unseen."""
    if pc.count_distinct(table[column]).as_py() != table.num_rows:
        raise ValueError(f"two rows share a {column}; choose another seed")
