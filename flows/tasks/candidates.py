"""Candidates: what could be asked of each user when, with the truth and what the observer believes. One user at a time."""

from __future__ import annotations

from datetime import UTC
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.away import Away, away_by_events, offsets_at
from flows.common.clock import DAY, MINUTE, microseconds
from flows.common.draws import Draws, key_of
from flows.common.household import own_actors, rows_of, zones_of
from flows.common.ids import id_keys, opaque_ids, user_numbers
from flows.common.stage import Context, Tables
from schemas.behaviour.catalogue_index import read_index
from schemas.behaviour.effective import EffectiveValues, effective_values
from schemas.domain import Domain
from schemas.load import load_domains, load_life_events
from schemas.tables.core import sort_rows
from schemas.tables.internal import CANDIDATES
from validation.observer.filter import Beliefs, believe
from validation.observer.parameters import observer_parameters, prices_in
from validation.observer.record import DomainRecord, bearing_rows, read_record

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
ASKED_FROM = 0.65
"""Tasks are put in the last third of the window."""
RECENT_DAYS = 28
"""A lasting value that changed within so many days counts as recent."""


class Asks(NamedTuple):
    """Points at which users can be asked about one domain."""

    person: I64
    at_us: I64
    candidate_id: pa.Array
    offset_min: I64


def find_candidates(context: Context, tables: Tables) -> Tables:
    """`candidates` of the shard: for every user, domain and point in time one row a dimension."""
    data, draws = context.data, context.draws
    domains = load_domains(data.domains)
    life = load_life_events()
    users = tables["users"]
    events = tables["symbolic_events"]
    readings = _as_read(tables["statements"], data.tasks.reader_reliability, draws)
    selves = own_actors(tables["actors"], users)
    away = away_by_events(events, users, _around(context))
    parts = []
    for domain in domains.values():
        index = read_index(domain, tables["coded_items"])
        asks = _asks(domain, users, away, context)
        record = read_record(
            events,
            readings,
            index.id_array,
            index.values,
            domain,
            users["user_id"].to_pylist(),
            prices_in(data, domain, index),
        )
        beliefs = believe(record, observer_parameters(data, domain, life), (asks.person, asks.at_us))
        tastes = effective_values(tables["dispositions"], selves, "actor_id", domain.value_names())
        parts.append(_rows(domain, asks, record, beliefs, tastes, tables, context))
    return {"candidates": CANDIDATES.conform(sort_rows(pa.concat_tables(parts), CANDIDATES))}


def _as_read(statements: pa.Table, reliability: float, draws: Draws) -> pa.Table:
    """The statements that the reader gets: words do not exist yet, so each is lost at the configured rate."""
    numbers, keys = user_numbers(statements["user_id"]), id_keys(statements["event_id"])
    read = draws.uniform("reading", numbers, keys) < reliability
    return statements.filter(pa.array(read))


def _around(context: Context) -> tuple[int, int]:
    """The window with two days on either side, for wall clocks that differ from UTC."""
    start, end = (microseconds(t.astimezone(UTC)) for t in (context.data.window.start, context.data.window.end))
    return start - 2 * DAY, end + 2 * DAY


def _asks(domain: Domain, users: pa.Table, away: Away, context: Context) -> Asks:
    """The instants: keyed by user, domain and number, to the minute, in the last part of the window.

    The clock is the one where the user is then, as a log up to then shows: no stay begins before it is booked.
    """
    data, draws = context.data, context.draws
    numbers = user_numbers(users["user_id"])
    count = data.tasks.asks_per_domain
    start, end = (microseconds(t.astimezone(UTC)) for t in (data.window.start, data.window.end))
    share = draws.uniform(f"asked {domain.name}", numbers[:, None], np.arange(count, dtype=np.uint64)[None, :])
    at = start + np.floor((ASKED_FROM + (1 - ASKED_FROM) * share) * (end - start) / MINUTE).astype(np.int64) * MINUTE
    person = np.repeat(np.arange(numbers.size), count)
    with np.errstate(over="ignore"):
        keys = np.uint64(key_of("candidate", domain.name)) + np.tile(np.arange(count, dtype=np.uint64), numbers.size)
    zone, zones = zones_of(users)
    offset = offsets_at(away, at.ravel(), person, zone[person], zones, _around(context)) // MINUTE
    return Asks(person, at.ravel(), opaque_ids(draws, "candidate", numbers[person], keys), offset)


def _rows(
    domain: Domain,
    asks: Asks,
    record: DomainRecord,
    beliefs: Beliefs,
    tastes: EffectiveValues,
    tables: Tables,
    context: Context,
) -> pa.Table:
    """The rows of one domain, dimension by dimension."""
    start = microseconds(context.data.window.start.astimezone(UTC))
    true, rows = tastes.at(asks.person, asks.at_us)
    begun = np.full(asks.person.size, start, np.int64)
    stale, _ = tastes.lasting_at(asks.person, begun)
    changed = tastes.last_change(asks.person, asks.at_us, start)
    in_state = (tastes.state_from[asks.person] <= asks.at_us[:, None]) & (
        asks.at_us[:, None] < tastes.state_to[asks.person]
    )
    days = np.round((asks.at_us[:, None] - changed) / DAY, 3)
    evidence = bearing_rows(record, asks.person, asks.at_us)
    noise = _is_noise(tables)
    history = _history(tables["symbolic_events"], asks, tables["users"])
    disposition_ids = tables["dispositions"]["disposition_id"].combine_chunks()
    every = np.arange(asks.person.size)
    size = every.size
    parts = []
    for column, (name, values) in enumerate(domain.value_names().items()):
        text = pa.array(values, pa.string())
        near = _noise_share(evidence, column, size, noise)
        status = np.where(
            in_state[:, column],
            "temporary",
            np.where((changed[:, column] > start) & (days[:, column] < RECENT_DAYS), "recent", "stable"),
        )
        code = true[:, column]
        policy, claimed = _conflicts(tables["symbolic_ledger"], name, tables["users"], asks)
        belief = beliefs.belief[:, column, : len(values)]
        parts.append(
            pa.table(
                {
                    "candidate_id": asks.candidate_id,
                    "user_id": tables["users"]["user_id"].combine_chunks().take(pa.array(asks.person)),
                    "domain": pa.array([domain.name] * size, pa.string()),
                    "asked_at": pa.array(asks.at_us).cast(CANDIDATES.columns["asked_at"].type),
                    "utc_offset_min": pa.array(asks.offset_min.astype(np.int16)),
                    "dimension": pa.array([name] * size, pa.string()),
                    "value": text.take(pa.array(code)),
                    "status": pa.array(status, pa.string()),
                    "policy": policy,
                    "is_contested": pa.array(np.zeros(size, bool)),
                    "stale_value": text.take(pa.array(stale[:, column])),
                    "claimed_value": claimed,
                    "belief": pa.ListArray.from_arrays(
                        np.arange(size + 1, dtype=np.int32) * len(values),
                        pa.array(belief.ravel()),
                        type=CANDIDATES.columns["belief"].type,
                    ),
                    "p_prior": pa.array(beliefs.prior[column, code]),
                    "noise_nearby": pa.array(near),
                    "last_change_days": pa.array(days[:, column]),
                    "history_events": pa.array(history),
                    "disposition_ids": pa.ListArray.from_arrays(
                        np.arange(size + 1, dtype=np.int32),
                        disposition_ids.take(pa.array(rows[:, column])),
                        type=CANDIDATES.columns["disposition_ids"].type,
                    ),
                    "max_log_ratio": pa.array(beliefs.max_log_ratio[every, column, code]),
                    "effective_evidence": pa.array(beliefs.effective_evidence[every, column, code]),
                },
                schema=CANDIDATES.schema(),
            )
        )
    return pa.concat_tables(parts)


def _is_noise(tables: Tables) -> npt.NDArray[np.bool_]:
    """(events,) whether each line is noise."""
    truth = tables["symbolic_truth"]
    place = pc.index_in(tables["symbolic_events"]["event_id"], value_set=truth["event_id"].combine_chunks())
    return np.asarray(truth["is_noise"].take(place).to_numpy())


def _history(events: pa.Table, asks: Asks, users: pa.Table) -> npt.NDArray[np.int32]:
    """(asks,) lines of the user's log strictly before the ask."""
    owner = rows_of(events["user_id"], users)
    at = events["at"].cast(pa.int64()).to_numpy()
    first = np.searchsorted(owner, asks.person, side="left")
    last = np.searchsorted(owner, asks.person, side="right")
    counts = [
        np.searchsorted(at[a:b], moment, side="left") for a, b, moment in zip(first, last, asks.at_us, strict=True)
    ]
    return np.array(counts, np.int32)


def _noise_share(
    bearing: tuple[I64, npt.NDArray[np.int8], I64], column: int, size: int, noise: npt.NDArray[np.bool_]
) -> F64:
    """(asks,) share of noise among the lines that bear on the dimension."""
    query, dimension, row = bearing
    here = dimension == column
    count = np.bincount(query[here], minlength=size)
    noisy = np.bincount(query[here], weights=noise[row[here]], minlength=size)
    return np.asarray(np.round(noisy / np.maximum(count, 1), 6))


POLICY_OF = {
    "abrupt": "follow_new_value",
    "gradual": "follow_new_value",
    "seasonal": "follow_context",
    "stated_vs_done": "trust_behaviour",
    "temporary_state": "follow_state_until_end",
}
"""Ledger kinds that make two records disagree, and what a correct reader concludes; the later ones speak louder."""


def _shows_from(ledger: pa.Table) -> I64:
    """(rows,) when the value of each ledger row begins to hold: a slow change is half-way then."""
    onset = ledger["onset_at"].cast(pa.int64())
    ended = pc.if_else(pc.equal(ledger["kind"], "gradual"), ledger["ended_at"].cast(pa.int64()), onset)
    begun = onset.to_numpy()
    return np.asarray(begun + (pc.coalesce(ended, onset).to_numpy() - begun) // 2)


def _conflicts(ledger: pa.Table, dimension: str, users: pa.Table, asks: Asks) -> tuple[pa.Array, pa.Array]:
    """(asks,) the policy for the dimension, null where nothing conflicts, and the value of the last false claim."""
    own = ledger.filter(pc.equal(ledger["dimension"], dimension)).sort_by(
        [("onset_at", "ascending"), ("injection_id", "ascending")]
    )
    person = rows_of(own["user_id"], users)
    onset = _shows_from(own)
    policy = np.full(asks.person.size, None, dtype=object)
    claimed = np.full(asks.person.size, None, dtype=object)
    for kind, conclusion in POLICY_OF.items():
        mine = np.flatnonzero(
            pc.and_(pc.equal(own["kind"], kind), pc.not_equal(own["before"], own["after"])).to_numpy()
        )
        after = own["after"].take(pa.array(mine)).to_pylist()
        for value, who, since in zip(
            after, person[mine], onset[mine], strict=True
        ):  # few: ledger rows of one dimension
            later = (asks.person == who) & (asks.at_us > since)
            policy[later] = conclusion
            if kind == "stated_vs_done":
                claimed[later] = value
    return pa.array(policy, pa.string()), pa.array(claimed, pa.string())
