"""Noise: small named functions, each an overlay on the clean lines, applied in the order of ``NOISE_ORDER``.

Every kind draws its targets from the clean lines with an aspect of its own, so that one rate touches no other kind and
a higher rate only adds. What a kind writes into a line is what it would write there if it were alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import SECOND
from flows.common.draws import Draws, categorical, key_of
from flows.common.ids import id_keys, opaque_ids
from flows.disturb.ledger import injection_ids, ledger_rows, single_lists
from flows.disturb.purse import price_loss
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.behaviour.choice import choice_shares, position_cost
from schemas.behaviour.effective import EffectiveValues
from schemas.behaviour.taste import taste_utility
from schemas.config.data import TimelinesConfig
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
NOISE_ORDER = ("other_person", "accidental", "duplicate")
"""Kinds that act before words are spoken, in the order of application. `corrupt` follows once there are words."""


class Lines(NamedTuple):
    """The clean lines of a shard as arrays: what noise needs to know of them."""

    events: pa.Table
    number: U64
    key: U64
    at_us: I64
    can_change: npt.NDArray[np.bool_]
    """Whether noise may write another item there: choices among options, but for those that a habit rests on."""


class Overlay(NamedTuple):
    """What a kind does: lines it chooses anew with their items, and its ledger rows.

    ``line`` and ``ledger_of_line`` say which ledger row touched which clean line.
    """

    line: I64
    item_id: pa.Array
    ledger: pa.Table
    ledger_of_line: I64
    actor_id: pa.Array | None = None


def lines_of(events: pa.Table, numbers: U64, takes: npt.NDArray[np.bool_]) -> Lines:
    """``numbers`` are the users of the lines; ``takes`` says which take a thing of a catalogue."""
    return Lines(
        events,
        numbers,
        id_keys(events["event_id"]),
        events["at"].cast(pa.int64()).to_numpy(),
        pc.is_valid(events["options"]).to_numpy() & ~_begins_habit(events, takes),
    )


def _begins_habit(events: pa.Table, takes: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(lines,) whether each is a user's first take of a thing that they take again later out of habit, without options.

    With another item there, the habit would repeat what the log has nobody take, and so tell which line is wrong.
    Rows are in order of time.
    """
    row = np.flatnonzero(takes)
    user, item = (
        pc.dictionary_encode(events[name].take(pa.array(row))).combine_chunks().indices.to_numpy().astype(np.int64)
        for name in ("user_id", "item_id")
    )
    _, first, thing = np.unique(user * (item.max(initial=0) + 1) + item, return_index=True, return_inverse=True)
    shows = pc.is_valid(events["options"]).to_numpy()[row]
    is_repeated = np.bincount(thing[~shows], minlength=first.size) > 0
    begins = np.zeros(events.num_rows, bool)
    begins[row[first[is_repeated & shows[first]]]] = True
    return begins


def accidental(lines: Lines, rate: float, draws: Draws) -> Overlay:
    """Another option of the screen was hit than the one intended, each as likely as the next; never where one comes from."""
    choices = np.flatnonzero(lines.can_change)
    hit = choices[draws.uniform("accidental", lines.number[choices], lines.key[choices]) < rate]
    others = _differ(lines, hit, "item_id") & _differ(lines, hit, "origin_item_id")
    able = others.any(axis=1)
    hit, others = hit[able], others[able]
    place = categorical(draws.uniform("accidental option", lines.number[hit], lines.key[hit]), others)
    flat = lines.events["options"].take(pa.array(hit)).combine_chunks().flatten()
    other = flat.take(pa.array(np.arange(hit.size) * others.shape[1] + place))
    intended = lines.events["item_id"].take(pa.array(hit)).combine_chunks()
    with np.errstate(over="ignore"):
        ids = injection_ids(draws, lines.number[hit], lines.key[hit] + np.uint64(key_of("accidental")))
    ledger = ledger_rows(
        ids,
        lines.number[hit],
        "noise",
        "accidental",
        "ignore_event",
        single_lists(lines.events["event_id"].take(pa.array(hit)).combine_chunks()),
        lines.at_us[hit],
        before=intended,
        after=other,
    )
    return Overlay(hit, other, ledger, np.arange(hit.size))


def _differ(lines: Lines, line: I64, column: str) -> npt.NDArray[np.bool_]:
    """(n, options) whether each option of the lines' screens is another thing than the one in that column."""
    flat = lines.events["options"].take(pa.array(line)).combine_chunks().flatten()
    width = len(flat) // line.size if line.size else 1
    thing = lines.events[column].combine_chunks().take(pa.array(np.repeat(line, width)))
    same = pc.fill_null(pc.equal(flat, thing), False).to_numpy(zero_copy_only=False)
    return np.asarray(~same.reshape(-1, width))


class OtherPeople(NamedTuple):
    """For each user of the shard, who else may use the account: an actor id or null, and that actor's tastes by domain.

    Both pay from one purse.
    """

    actor_id: pa.Array
    tastes: Mapping[str, EffectiveValues]
    sensitivity: F64
    """(users,) how much prices count in each household."""


def other_person(
    lines: Lines,
    users: I64,
    others: OtherPeople,
    domains: Mapping[str, Domain],
    indexes: Mapping[str, CatalogueIndex],
    config: TimelinesConfig,
    rate: float,
    draws: Draws,
) -> Overlay:
    """Somebody else of the household used the account in a session too and chose by their own taste.

    Theirs are the choices that can be changed; what the owner takes out of habit there, and what a habit rests on, stays
    the owner's. Whoever arrives somewhere by that does not arrive where the account's owner was.
    ``users`` is each line's row among the users of the shard.
    """
    session = pc.dictionary_encode(lines.events["session_id"]).combine_chunks()
    names, code = session.dictionary, session.indices.to_numpy().astype(np.int64)
    first = np.unique(code, return_index=True)[1]
    number, key = lines.number[first], id_keys(names)
    shared = pc.is_valid(others.actor_id).to_numpy(zero_copy_only=False)[users[first]]
    can_change = np.bincount(code[lines.can_change], minlength=len(names)) > 0
    picked = shared & can_change & (draws.uniform("other person", number, key) < rate)
    line = np.flatnonzero(picked[code] & lines.can_change)
    items = np.empty(line.size, dtype=object)
    for name, domain in domains.items():
        here = np.flatnonzero(pc.equal(lines.events["domain"].take(pa.array(line)), name).to_numpy())
        if here.size == 0:
            continue
        rows = line[here]
        index = indexes[name]
        flat = lines.events["options"].take(pa.array(rows)).combine_chunks().flatten()
        options = index.code_of(flat).reshape(rows.size, -1)
        value, _, strength = others.tastes[name].held_at(users[rows], lines.at_us[rows])
        utility = taste_utility(domain, index.values, value, strength, options)
        utility -= position_cost(options.shape[1], config.position_effect)
        utility -= price_loss(lines.events, users, rows, options, others.sensitivity, domain, index, config)
        uniform = draws.uniform("other person choice", lines.number[rows], lines.key[rows])
        shares = np.where(_differ(lines, rows, "origin_item_id"), choice_shares(utility, config.exploration), 0.0)
        taken = categorical(uniform, shares)
        items[here] = index.id_array.take(pa.array(options[np.arange(rows.size), taken])).to_numpy(zero_copy_only=False)
    return _session_overlay(
        lines, line, pa.array(items, pa.string()), code, picked, number, key, names, others, users[first], draws
    )


def _session_overlay(
    lines: Lines,
    line: I64,
    items: pa.Array,
    code: I64,
    picked: npt.NDArray[np.bool_],
    number: U64,
    key: U64,
    names: pa.Array,
    others: OtherPeople,
    user: I64,
    draws: Draws,
) -> Overlay:
    """One ledger row a session, over the lines that the other person chose."""
    sessions = np.flatnonzero(picked)
    order = line[np.argsort(code[line], kind="stable")]
    counts = np.bincount(code[line], minlength=picked.size)[sessions]
    event_ids = pa.ListArray.from_arrays(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        lines.events["event_id"].take(pa.array(order)).combine_chunks(),
    )
    with np.errstate(over="ignore"):
        ids = injection_ids(draws, number[sessions], key[sessions] + np.uint64(key_of("other_person")))
    actor = others.actor_id.take(pa.array(user[sessions]))
    onset = lines.at_us[order[np.cumsum(counts) - counts]]
    parameters = pa.array(
        [
            json.dumps({"actor_id": a, "session_id": s})
            for a, s in zip(actor.to_pylist(), names.take(pa.array(sessions)).to_pylist(), strict=True)
        ],
        pa.string(),
    )
    ledger = ledger_rows(
        ids, number[sessions], "noise", "other_person", "attribute_to_other", event_ids, onset, parameters=parameters
    )
    row_of = np.full(picked.size, -1, np.int64)
    row_of[sessions] = np.arange(sessions.size)
    return Overlay(line, items, ledger, row_of[code[line]], actor_id=actor.take(pa.array(row_of[code[line]])))


class Copies(NamedTuple):
    """Lines that the log has twice: which clean line, the copy's id and delay, and the ledger."""

    line: I64
    event_id: pa.Array
    delay_us: I64
    ledger: pa.Table


def duplicate(lines: Lines, rate: float, draws: Draws) -> Copies:
    """The same line again, logged some seconds later under an id of its own."""
    hit = np.flatnonzero(draws.uniform("duplicate", lines.number, lines.key) < rate)
    number, key = lines.number[hit], lines.key[hit]
    delay = (2 + np.floor(draws.uniform("duplicate delay", number, key) * 89)).astype(np.int64) * SECOND
    with np.errstate(over="ignore"):
        copy_ids = opaque_ids(draws, "event", number, key + np.uint64(key_of("copy")))
        ids = injection_ids(draws, number, key + np.uint64(key_of("duplicate")))
    original = lines.events["event_id"].take(pa.array(hit)).combine_chunks()
    ledger = ledger_rows(
        ids,
        number,
        "noise",
        "duplicate",
        "ignore_duplicate",
        single_lists(copy_ids),
        lines.at_us[hit],
        before=original,
        after=copy_ids,
    )
    return Copies(hit, copy_ids, delay, ledger)
