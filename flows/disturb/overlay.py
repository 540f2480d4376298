"""The disturbed log: the clean timeline with its overlay, the ledger of everything done, and the truth behind each line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.away import away_by_events
from flows.common.clock import DAY, microseconds
from flows.common.devices import owned_devices
from flows.common.household import other_actors, own_actors, rows_of, zones_of
from flows.common.ids import user_numbers
from flows.common.participation import participation_of
from flows.common.presentation import presented
from flows.common.stage import Context, Tables
from flows.disturb.claims import Household, stated_vs_done, talk_rows, temporary_state
from flows.disturb.noise import NOISE_ORDER, Copies, OtherPeople, Overlay, accidental, duplicate, lines_of, other_person
from schemas.behaviour.catalogue_index import CatalogueIndex, read_index
from schemas.behaviour.effective import EffectiveValues, effective_values
from schemas.behaviour.price import price_sensitivity
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.tables.core import replaced, sort_rows
from schemas.tables.fields import NOISE_KINDS
from schemas.tables.internal import STATEMENTS, SYMBOLIC_EVENTS, SYMBOLIC_LEDGER, SYMBOLIC_SESSIONS, SYMBOLIC_TRUTH

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def disturb(context: Context, tables: Tables) -> Tables:
    """The symbolic tables of the shard: sessions, events, truth, ledger and statements.

    With all rates 0, and no drift or states, sessions, events and statements equal the clean ones.
    """
    data, draws = context.data, context.draws
    domains = load_domains(data.domains)
    events = tables["clean_events"]
    users = rows_of(events["user_id"], tables["users"])
    indexes = {n: read_index(d, tables["coded_items"]) for n, d in domains.items()}
    takes = _takes(events, domains, indexes)
    lines = lines_of(events, user_numbers(events["user_id"]), takes)
    selves, others = own_actors(tables["actors"], tables["users"]), other_actors(tables["actors"], tables["users"])
    tastes = _tastes(tables["dispositions"], selves, domains)
    noise = data.disturb.noise
    effects = {
        "other_person": other_person(
            lines,
            users,
            OtherPeople(others, _tastes(tables["dispositions"], others, domains), household_sensitivity(tables)),
            domains,
            indexes,
            data.timelines,
            noise.other_person,
            draws,
        ),
        "accidental": accidental(lines, noise.accidental, draws),
    }
    overlays = [effects[kind] for kind in NOISE_ORDER if kind in effects]
    copies = duplicate(lines, noise.duplicate, draws)
    claims, ledgers = [], [tables["drift"], *(overlay.ledger for overlay in overlays), copies.ledger]
    people = _household(tables, selves, context, list(domains))
    disposition_ids = tables["dispositions"]["disposition_id"].combine_chunks()
    for place, (name, domain) in enumerate(domains.items()):
        for made in (
            temporary_state(domain, place, tastes[name], disposition_ids, people, draws),
            stated_vs_done(domain, place, tastes[name], people, data.disturb.contradictions.stated_vs_done, draws),
        ):
            claims += made[0]
            ledgers += made[1]
    talks = talk_rows(claims, domains, people, draws)
    changed = _with_items(events, overlays, takes, indexes)
    truth = _with_truth(tables["clean_truth"], events["event_id"], overlays)
    log = pa.concat_tables([changed, _copied(changed, copies), talks.events])
    sessions = pa.concat_tables([tables["clean_sessions"], talks.sessions])
    sessions, log = presented(sessions, log, SYMBOLIC_SESSIONS, SYMBOLIC_EVENTS)
    return {
        "symbolic_sessions": sessions,
        "symbolic_events": log,
        "symbolic_truth": SYMBOLIC_TRUTH.conform(
            sort_rows(
                pa.concat_tables([truth, _copied_truth(truth, events["event_id"], copies), talks.truth]), SYMBOLIC_TRUTH
            )
        ),
        "symbolic_ledger": SYMBOLIC_LEDGER.conform(sort_rows(pa.concat_tables(ledgers), SYMBOLIC_LEDGER)),
        "statements": STATEMENTS.conform(
            sort_rows(
                pa.concat_tables([_with_copies(tables["clean_statements"], events, copies), talks.statements]),
                STATEMENTS,
            )
        ),
    }


def _tastes(dispositions: pa.Table, people: pa.Array, domains: Mapping[str, Domain]) -> dict[str, EffectiveValues]:
    return {n: effective_values(dispositions, people, "actor_id", d.value_names()) for n, d in domains.items()}


def household_sensitivity(tables: Tables) -> F64:
    """(users,) how much prices count for each, by income and household."""
    place = pc.index_in(
        tables["users"]["user_id"].combine_chunks(), value_set=tables["personas"]["user_id"].combine_chunks()
    )
    income, size = (tables["personas"][name].take(place).to_numpy() for name in ("income_usd", "household_size"))
    return price_sensitivity(income.astype(np.int64), size.astype(np.int64))


def _household(tables: Tables, selves: pa.Array, context: Context, domains: list[str]) -> Household:
    users = tables["users"]
    zone, zones = zones_of(users)
    taking_part = participation_of(tables["participation"], users, domains, context.data.dispositions)
    start, end = (microseconds(t.astimezone(UTC)) for t in (context.data.window.start, context.data.window.end))
    owned = owned_devices(tables["personas"], users)
    away = away_by_events(tables["clean_events"], users, (start - 2 * DAY, end + 2 * DAY))
    return Household(user_numbers(users["user_id"]), selves, zone, zones, start, end, owned, taking_part, away)


def _with_items(
    events: pa.Table, overlays: list[Overlay], takes: Mask, indexes: Mapping[str, CatalogueIndex]
) -> pa.Table:
    """The clean lines with the items of the overlays, the later kind over the earlier.

    Prices follow the items, lines that name what was chosen last name what stands there, and sums fit.
    """
    item = events["item_id"].combine_chunks()
    for overlay in overlays:
        place = np.full(len(item), -1, np.int64)
        place[overlay.line] = np.arange(overlay.line.size)
        item = pc.if_else(pa.array(place >= 0), overlay.item_id.take(pa.array(place, mask=place < 0)), item)
    item = item.take(pa.array(_named_by(events, takes, indexes)))
    changed = pc.fill_null(pc.not_equal(item, events["item_id"].combine_chunks()), False)
    was = events["price_cents"].combine_chunks()
    rows = np.flatnonzero(pc.and_(changed, pc.is_valid(was)).to_numpy(zero_copy_only=False))
    price = pc.fill_null(was, 0).to_numpy(zero_copy_only=False).astype(np.int64)
    for index in indexes.values():
        found = index.code_of(item.take(pa.array(rows)))
        price[rows[found >= 0]] = index.price_cents[found[found >= 0]]
    prices = pa.array(price, mask=pc.is_null(was).to_numpy(zero_copy_only=False))
    columns = {"item_id": item, "price_cents": prices, "origin_item_id": _origins(events, item)}
    return _with_totals(replaced(events, columns), changed, takes)


def _origins(events: pa.Table, item: pa.Array) -> pa.Array:
    """(lines,) where the log says that each way began: where it says that the one before ended.

    Else a line would tell that the one before is wrong. Where the two would be one place, the true one stands.
    """
    origin = events["origin_item_id"].combine_chunks()
    ways = np.flatnonzero(pc.is_valid(origin).to_numpy(zero_copy_only=False))
    user = pc.dictionary_encode(events["user_id"]).combine_chunks().indices.to_numpy()[ways]
    clean, now = (column.take(pa.array(ways)) for column in (events["item_id"].combine_chunks(), item))
    came = origin.take(pa.array(ways))
    before = pa.array(np.maximum(np.arange(ways.size) - 1, 0))
    follows = pa.array(np.append(False, user[1:] == user[:-1])[: ways.size])
    is_told = pc.and_(follows, pc.and_(pc.equal(came, clean.take(before)), pc.not_equal(now.take(before), now)))
    place = np.full(len(origin), -1, np.int64)
    place[ways] = np.arange(ways.size)
    told = pc.if_else(is_told, now.take(before), came)
    return told.take(pa.array(place, mask=place < 0))


def _takes(events: pa.Table, domains: Mapping[str, Domain], indexes: Mapping[str, CatalogueIndex]) -> Mask:
    """(lines,) whether each takes a thing of a catalogue: among options, or out of habit, where it shows none."""
    takes = np.array(pc.is_valid(events["options"]).to_numpy())
    for name, domain in domains.items():
        acts = pc.is_in(events["action"], value_set=pa.array(domain.choice_actions()))
        here = np.flatnonzero(pc.and_(pc.equal(events["domain"], name), acts).to_numpy() & ~takes)
        takes[here] = indexes[name].code_of(events["item_id"].take(pa.array(here))) >= 0
    return takes


def _named_by(events: pa.Table, takes: Mask, indexes: Mapping[str, CatalogueIndex]) -> I64:
    """(lines,) for a line that names what the session took last, as stars do, the row of that line; for a look at a
    thing the row of what is taken next; else the row itself.

    Those are the lines that take nothing and name a thing of a catalogue. Rows are in order of time.
    """
    row = np.arange(events.num_rows)
    session = pc.dictionary_encode(events["session_id"]).combine_chunks().indices.to_numpy().astype(np.int64)
    chosen, rest = np.flatnonzero(takes), np.flatnonzero(~takes & pc.is_valid(events["item_id"]).to_numpy())
    items = events["item_id"].combine_chunks().take(pa.array(rest))
    names = rest[np.any([index.code_of(items) >= 0 for index in indexes.values()], axis=0)]
    last = row.copy()
    last[session[chosen]] = chosen
    row[names] = last[session[names]]
    looks = names[pc.equal(events["action"], "view").to_numpy()[names]]
    row[looks] = chosen[np.searchsorted(chosen, looks)]
    return row


def _with_totals(events: pa.Table, changed: pa.Array, takes: Mask) -> pa.Table:
    """The sum at the end of a session whose items changed, made to fit: the price of a line that names no thing."""
    session = pc.dictionary_encode(events["session_id"]).combine_chunks()
    code, sessions = session.indices.to_numpy().astype(np.int64), len(session.dictionary)
    price, quantity = (
        pc.fill_null(events[name].combine_chunks(), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        for name in ("price_cents", "quantity")
    )
    cost = np.where(takes, price * quantity, 0)
    total = np.bincount(code, weights=cost, minlength=sessions).astype(np.int64)
    touched = np.bincount(code, weights=changed.to_numpy(zero_copy_only=False), minlength=sessions) > 0
    bears = pc.and_(pc.is_null(events["item_id"]), pc.is_valid(events["price_cents"])).to_numpy() & touched[code]
    column = pc.if_else(pa.array(bears), pa.array(total[code]), events["price_cents"].combine_chunks())
    return replaced(events, {"price_cents": column})


def _with_truth(truth: pa.Table, event_ids: pa.ChunkedArray, overlays: list[Overlay]) -> pa.Table:
    """The truth of the clean lines with what touched them: the first kind in the written order names the noise."""
    row = pc.index_in(event_ids, value_set=truth["event_id"].combine_chunks()).to_numpy().astype(np.int64)
    size = truth.num_rows
    kind = np.full(size, None, dtype=object)
    actor = truth["actor_id"].combine_chunks()
    touched: list[I64] = []
    injections: list[pa.Array] = []
    touching = sorted(
        (o for o in overlays if o.line.size), key=lambda o: NOISE_KINDS.index(o.ledger["kind"][0].as_py())
    )
    for overlay in touching:
        place = row[overlay.line]
        ledger = overlay.ledger
        name = ledger["kind"][0].as_py()
        kind[place] = [known or name for known in kind[place]]
        touched.append(place)
        injections.append(ledger["injection_id"].combine_chunks().take(pa.array(overlay.ledger_of_line)))
        if overlay.actor_id is not None:
            where = np.full(size, -1, np.int64)
            where[place] = np.arange(place.size)
            actor = pc.if_else(pa.array(where >= 0), overlay.actor_id.take(pa.array(where, mask=where < 0)), actor)
    columns = {
        "actor_id": actor,
        "is_noise": pc.is_valid(pa.array(kind, pa.string())),
        "noise_kind": pa.array(kind, pa.string()),
        "injection_ids": _lists(size, touched, injections),
    }
    return replaced(truth, columns)


def _lists(size: int, rows: list[I64], values: list[pa.Array]) -> pa.Array:
    """(size,) lists that gather the values of their rows, in the order given."""
    kind = SYMBOLIC_TRUTH.columns["injection_ids"].type
    row = np.concatenate([np.empty(0, np.int64), *rows])
    flat = pa.concat_arrays([pa.array([], pa.string()), *values])
    order = np.argsort(row, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=size))]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, flat.take(pa.array(order)), type=kind)


def _copied(events: pa.Table, copies: Copies) -> pa.Table:
    """The lines that the log has twice, as they stand in the log, under their new ids."""
    some = events.take(pa.array(copies.line))
    logged = some["logged_at"].cast(pa.int64()).to_numpy() + copies.delay_us
    return replaced(
        some,
        {"event_id": copies.event_id, "logged_at": pa.array(logged).cast(SYMBOLIC_EVENTS.columns["logged_at"].type)},
    )


def _copied_truth(truth: pa.Table, event_ids: pa.ChunkedArray, copies: Copies) -> pa.Table:
    """The truth of the copies: noise of their own, whatever touched the original; actor and dispositions are the same."""
    original = event_ids.combine_chunks().take(pa.array(copies.line))
    some = truth.take(pc.index_in(original, value_set=truth["event_id"].combine_chunks())).combine_chunks()
    size = copies.line.size
    own = pa.ListArray.from_arrays(np.arange(size + 1, dtype=np.int32), copies.ledger["injection_id"].combine_chunks())
    columns = {
        "event_id": copies.event_id,
        "is_noise": pa.array(np.ones(size, bool)),
        "noise_kind": pa.array(np.full(size, "duplicate", dtype=object), pa.string()),
        "injection_ids": own,
    }
    return replaced(some, columns)


def _with_copies(statements: pa.Table, events: pa.Table, copies: Copies) -> pa.Table:
    """The statements, and those of lines that the log has twice."""
    original = events["event_id"].combine_chunks().take(pa.array(copies.line))
    place = pc.index_in(original, value_set=statements["event_id"].combine_chunks())
    said = pc.is_valid(place)
    some = replaced(statements.take(place.filter(said)), {"event_id": copies.event_id.filter(said)})
    return pa.concat_tables([statements, some])
