"""From numbers to the declared tables of the clean timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.away import offsets_at
from flows.common.clock import MINUTE
from flows.common.devices import used_devices
from flows.common.ids import ID_SHIFT, id_bits, ids_of, opaque_ids, repeated, user_ids_of
from flows.common.pace import TALK_DEVICES
from flows.timelines.apps import apps_used
from flows.timelines.booked import Stays
from flows.timelines.parts import ARRIVE, ASSISTANT, NULL, PLACES, SOURCES, Content, Part, code_of
from flows.timelines.setting import Setting
from flows.timelines.talk import NOTHING, Talk
from flows.timelines.whole import Whole
from schemas.domain import Domain
from schemas.tables.core import sort_rows
from schemas.tables.fields import ACTIONS
from schemas.tables.internal import CLEAN_EVENTS, CLEAN_SESSIONS, CLEAN_STATEMENTS, CLEAN_TRUTH

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
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
            "user_id": _user_ids(whole.person, setting),
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
    """The app that each person uses for the domain at that time, and the device of each session."""
    who, draws = setting.people.numbers[part.person], setting.draws
    uniform, owned = draws.uniform(f"{part.name} device", who, part.key), setting.people.devices_of(part.person)
    if part.name == ASSISTANT:
        return pa.repeat(ASSISTANT, who.size), used_devices(uniform, TALK_DEVICES, owned)
    if who.size == 0:
        return pa.array([], pa.string()), pa.array([], pa.string())
    domain = domains[int(part.domain[0])]
    choice = apps_used(domain, part.person, part.start_us, setting)
    users = [np.flatnonzero(choice == place) for place in range(len(domain.apps))]
    place = np.empty(who.size, np.int64)
    place[np.concatenate(users)] = np.arange(who.size)
    device = pa.concat_arrays(
        used_devices(uniform[here], app.devices, owned[here]) for here, app in zip(users, domain.apps, strict=True)
    ).take(pa.array(place))
    return pa.array([app.name for app in domain.apps]).take(pa.array(choice)), device


def _offsets(at_us: I64, person: I64, setting: Setting) -> pa.Array:
    people = setting.people
    offset = offsets_at(people.away, at_us, person, people.zone[person], people.zones, setting.span.around)
    return pa.array((offset // MINUTE).astype(np.int16))


def event_rows(
    whole: Whole,
    content: Content,
    origin: I64,
    sessions: pa.Table,
    currency: str,
    setting: Setting,
    stays: Stays | None = None,
) -> pa.Table:
    """Rows of `clean_events`, in the order of the lines. ``stays`` tell where what was booked lies; None for at home."""
    person, size = whole.line_person, whole.session.size
    of_session = sessions.select(["domain", "app"]).take(pa.array(whole.session))
    has_price = content.price_cents != NULL
    at = _times(whole.at_us)
    return pa.table(
        {
            "event_id": ids_of("event", setting.people.numbers[person], _event_bits(whole, setting)),
            "user_id": _user_ids(person, setting),
            "session_id": repeated(sessions["session_id"].combine_chunks(), np.bincount(whole.session)),
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
            "place_time_zone": _place_zones(whole, content, setting, stays),
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


def _user_ids(person: I64, setting: Setting) -> pa.Array:
    """Ids of the users of rows that are in the order of the people."""
    numbers = setting.people.numbers
    return repeated(user_ids_of(numbers), np.bincount(person, minlength=numbers.size))


def _event_bits(whole: Whole, setting: Setting) -> U64:
    """What the ids of the lines are made of, from the session's key and the place in it."""
    with np.errstate(over="ignore"):
        keys = whole.key[whole.session] * PLACES + whole.place.astype(np.uint64)
    return id_bits(setting.draws, "event", setting.people.numbers[whole.line_person], keys)


def _place_zones(whole: Whole, content: Content, setting: Setting, stays: Stays | None) -> pa.Array:
    """(lines,) the zone in which the stay lies that was booked, null for every other line."""
    booked = np.flatnonzero((content.starts_us != NULL) & (content.action != code_of(ARRIVE)))
    zone, zones = np.full(whole.session.size, -1, np.int64), setting.people.zones
    zone[booked] = setting.people.zone[whole.line_person[booked]]
    if stays is not None:
        zones = stays.zones
        with np.errstate(over="ignore"):
            keys = whole.key[whole.session[booked]] * PLACES + whole.place[booked].astype(np.uint64)
        row = stays.rows_of(whole.line_person[booked], keys)
        zone[booked[row >= 0]] = stays.zone[row[row >= 0]]
    return taken(pa.array(zones, pa.string()), zone)


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
    whole: Whole, content: Content, events: pa.Table, actors: pa.Array, disposition_ids: pa.Array, setting: Setting
) -> pa.Table:
    """Rows of `clean_truth`: every clean line is the user's own and no noise; some express tastes.

    In the order of the ids, which is that of the people and, of each, of what the ids are made of.
    """
    size, person = events.num_rows, whole.line_person
    bits = _event_bits(whole, setting) >> ID_SHIFT
    order = _by_person(person, bits)
    bits = bits[order]
    if ((bits[1:] == bits[:-1]) & (person[1:] == person[:-1])).any():  # a hash of 50 bits allows it
        raise ValueError("two lines share an event_id; choose another seed")
    lists = CLEAN_TRUTH.columns["injection_ids"].type
    counts = np.bincount(content.driven, minlength=size)
    starts, counts = (np.cumsum(counts) - counts)[order], counts[order]
    ends = np.cumsum(counts)
    drivers = content.drivers.ravel()[np.arange(content.driven.size) + np.repeat(starts - (ends - counts), counts)]
    return pa.table(
        {
            "event_id": ids_of("event", setting.people.numbers[person], bits << ID_SHIFT),
            "user_id": events["user_id"],
            "actor_id": repeated(actors, np.bincount(person, minlength=len(actors))),
            "is_noise": pa.array(np.zeros(size, bool)),
            "noise_kind": pa.nulls(size, pa.string()),
            "injection_ids": pa.ListArray.from_arrays(
                np.zeros(size + 1, np.int32), pa.array([], pa.string()), type=lists
            ),
            "driver_disposition_ids": pa.ListArray.from_arrays(
                np.append(0, ends).astype(np.int32), disposition_ids.take(pa.array(drivers)), type=lists
            ),
            "speaker": pa.nulls(size, pa.string()),
            "alt_text": pa.nulls(size, pa.string()),
        },
        schema=CLEAN_TRUTH.schema(),
    )


def _by_person(person: I64, bits: U64) -> I64:
    """(n,) the order by person, whose rows lie together already, and then by these whole numbers below 2**50."""
    if int(person.max(initial=0)) < 1 << 13:
        return np.argsort(person.astype(np.uint64) << np.uint64(50) | bits)
    return np.lexsort((bits, person))


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
