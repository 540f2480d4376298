"""From numbers to the declared tables of the clean timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import MINUTE, offset_us
from flows.common.devices import used_devices
from flows.common.draws import categorical
from flows.common.ids import opaque_ids, user_ids_of
from flows.common.pace import TALK_DEVICES
from flows.timelines.parts import ASSISTANT, NULL, PLACES, SOURCES, Content, Part
from flows.timelines.setting import Setting
from flows.timelines.talk import NOTHING, Talk
from flows.timelines.whole import Whole
from schemas.domain import Domain
from schemas.tables.core import sort_rows
from schemas.tables.fields import ACTIONS
from schemas.tables.internal import CLEAN_EVENTS, CLEAN_SESSIONS, CLEAN_STATEMENTS, CLEAN_TRUTH

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def session_rows(parts: Sequence[Part], whole: Whole, domains: Mapping[str, Domain], setting: Setting) -> pa.Table:
    """Rows of `clean_sessions`, in the order of the sessions."""
    who = setting.people.numbers[whole.person]
    used = [_app_and_device(part, list(domains.values()), setting) for part in parts]
    app, device = (pa.concat_arrays(column).take(pa.array(whole.part)) for column in zip(*used, strict=True))
    first = whole.first
    count = np.diff(first, append=whole.session.size)
    return pa.table(
        {
            "session_id": opaque_ids(setting.draws, "session", who, whole.key),
            "user_id": user_ids_of(who),
            "domain": pa.array(list(domains)).take(pa.array(whole.domain)),
            "app": app,
            "device": device,
            "started_at": _times(whole.start_us),
            "ended_at": _times(whole.at_us[first + count - 1]),
            "utc_offset_min": _offsets(whole.start_us, whole.person, setting),
            "event_count": pa.array(count.astype(np.int32)),
        },
        schema=CLEAN_SESSIONS.schema(),
    )


def _app_and_device(part: Part, domains: Sequence[Domain], setting: Setting) -> tuple[pa.Array, pa.Array]:
    """The app that each person uses for the domain, and the device of each session."""
    who, draws = setting.people.numbers[part.person], setting.draws
    uniform, owned = draws.uniform(f"{part.name} device", who, part.key), setting.people.devices_of(part.person)
    if part.name == ASSISTANT:
        return pa.repeat(ASSISTANT, who.size), used_devices(uniform, TALK_DEVICES, owned)
    if who.size == 0:
        return pa.array([], pa.string()), pa.array([], pa.string())
    domain = domains[int(part.domain[0])]
    choice = categorical(draws.uniform(f"{domain.name} app", who), [app.share for app in domain.apps])
    users = [np.flatnonzero(choice == place) for place in range(len(domain.apps))]
    device = pa.concat_arrays(
        used_devices(uniform[here], app.devices, owned[here]) for here, app in zip(users, domain.apps, strict=True)
    ).take(pa.array(np.argsort(np.concatenate(users))))
    return pa.array([app.name for app in domain.apps]).take(pa.array(choice)), device


def _offsets(at_us: I64, person: I64, setting: Setting) -> pa.Array:
    people = setting.people
    offset = offset_us(at_us, people.zone[person], people.zones, setting.span.around)
    return pa.array((offset // MINUTE).astype(np.int16))


def event_rows(
    whole: Whole, content: Content, origin: I64, sessions: pa.Table, currency: str, setting: Setting
) -> pa.Table:
    """Rows of `clean_events`, in the order of the lines."""
    person, size = whole.line_person, whole.session.size
    of_session = sessions.take(pa.array(whole.session))
    has_price = content.price_cents != NULL
    at = _times(whole.at_us)
    return pa.table(
        {
            "event_id": _event_ids(whole, setting),
            "user_id": of_session["user_id"],
            "session_id": of_session["session_id"],
            "seq": pa.array((np.arange(size) - whole.first[whole.session]).astype(np.int32)),
            "at": at,
            "logged_at": at,
            "utc_offset_min": _offsets(whole.at_us, person, setting),
            "domain": of_session["domain"],
            "app": of_session["app"],
            "action": pa.array(ACTIONS).take(pa.array(content.action)),
            "item_id": taken(setting.things.ids, content.item),
            "options": _option_lists(content, size, setting.things.ids),
            "origin_item_id": taken(setting.things.ids, origin),
            "starts_at": _times(content.starts_us),
            "ends_at": _times(content.ends_us),
            "quantity": _numbers(content.quantity, np.int32),
            "price_cents": _numbers(content.price_cents, np.int64),
            "currency": pa.array([currency]).take(pa.array(np.zeros(size, np.int8), mask=~has_price)),
            "rating": _numbers(content.stars, np.int16),
            "series": _series(content, size),
            "text": pa.nulls(size, pa.string()),
            "image_id": pa.nulls(size, pa.string()),
            "source": pa.array(SOURCES).take(pa.array(content.source)),
        },
        schema=CLEAN_EVENTS.schema(),
    )


def _event_ids(whole: Whole, setting: Setting) -> pa.Array:
    """Ids of the lines, from the session's key and the place in it."""
    with np.errstate(over="ignore"):
        keys = whole.key[whole.session] * PLACES + whole.place.astype(np.uint64)
    return opaque_ids(setting.draws, "event", setting.people.numbers[whole.line_person], keys)


def taken(values: pa.Array, row: I64) -> pa.Array:
    """Values by row, null where the row is negative."""
    return values.take(pa.array(row, mask=row < 0))


def _times(us: I64) -> pa.Array:
    return pa.array(us, mask=us == NULL).cast(CLEAN_EVENTS.columns["at"].type)


def _numbers(values: I64, kind: type[np.signedinteger]) -> pa.Array:
    missing = values == NULL
    return pa.array(np.where(missing, 0, values).astype(kind), mask=missing)


def _option_lists(content: Content, size: int, ids: pa.Array) -> pa.Array:
    """(lines,) lists of item ids in the order shown; null where nothing was on show."""
    offsets, has_some = _bounds(content.shown, content.options.shape[1], size)
    flat, kind = ids.take(pa.array(content.options.ravel())), CLEAN_EVENTS.columns["options"].type
    return pa.ListArray.from_arrays(offsets, flat, type=kind, mask=pa.array(~has_some))


def _series(content: Content, size: int) -> pa.Array:
    """(lines,) lists of numbers; null where there is no series."""
    offsets, has_some = _bounds(content.counted, content.series.shape[1], size)
    flat, kind = pa.array(content.series.ravel().astype(np.int32)), CLEAN_EVENTS.columns["series"].type
    return pa.ListArray.from_arrays(offsets, flat, type=kind, mask=pa.array(~has_some))


def _bounds(lines: I64, width: int, size: int) -> tuple[pa.Array, Mask]:
    """Offsets of lists of one width that only some lines have, and which do."""
    has_some = np.zeros(size, bool)
    has_some[lines] = True
    return pa.array(np.concatenate([[0], np.cumsum(has_some * width)]).astype(np.int32)), has_some


def truth_rows(
    whole: Whole, content: Content, events: pa.Table, actors: pa.Array, disposition_ids: pa.Array
) -> pa.Table:
    """Rows of `clean_truth`: every clean line is the user's own and no noise; some express tastes."""
    size = events.num_rows
    lists = CLEAN_TRUTH.columns["injection_ids"].type
    counts = np.bincount(content.driven, minlength=size)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    rows = pa.table(
        {
            "event_id": events["event_id"],
            "user_id": events["user_id"],
            "actor_id": actors.take(pa.array(whole.line_person)),
            "is_noise": pa.array(np.zeros(size, bool)),
            "noise_kind": pa.nulls(size, pa.string()),
            "injection_ids": pa.ListArray.from_arrays(
                np.zeros(size + 1, np.int32), pa.array([], pa.string()), type=lists
            ),
            "driver_disposition_ids": pa.ListArray.from_arrays(
                offsets, disposition_ids.take(pa.array(content.drivers)), type=lists
            ),
            "speaker": pa.nulls(size, pa.string()),
            "alt_text": pa.nulls(size, pa.string()),
        },
        schema=CLEAN_TRUTH.schema(),
    )
    rows = sort_rows(rows, CLEAN_TRUTH)
    ids = rows["event_id"].combine_chunks()
    if pc.any(pc.equal(ids[1:], ids[:-1])).as_py():  # a hash of 50 bits allows it
        raise ValueError("two lines share an event_id; choose another seed")
    return rows


def statement_rows(whole: Whole, talk: Talk, events: pa.Table, domains: Mapping[str, Domain]) -> pa.Table:
    """Rows of `clean_statements`: what each `say` means. The talks are the first part."""
    said = np.flatnonzero((whole.part[whole.session] < talk.person.size) & (whole.place == 0))
    talk = talk.where(whole.part[whole.session[said]])
    names = [dimension for domain in domains.values() for dimension in domain.dimension_ids()]
    values = [list(spec.values) for domain in domains.values() for spec in domain.dimensions.values()]
    starts = np.cumsum([0] + [len(domain.dimensions) for domain in domains.values()])
    widths = np.cumsum([0] + [len(v) for v in values])
    tells = talk.dimension != NOTHING
    dimension = np.where(tells, starts[talk.domain] + talk.dimension, -1)
    value = np.where(tells, widths[dimension] + talk.value, -1)
    some = events.take(pa.array(said))
    rows = pa.table(
        {
            "event_id": some["event_id"],
            "user_id": some["user_id"],
            "at": some["at"],
            "domain": some["domain"],
            "dimension": taken(pa.array(names), dimension),
            "value": taken(pa.array([v for vs in values for v in vs]), value),
            "stance": pa.array(np.full(said.size, "usual", dtype=object), pa.string(), mask=~tells),
        },
        schema=CLEAN_STATEMENTS.schema(),
    )
    return sort_rows(rows, CLEAN_STATEMENTS)
