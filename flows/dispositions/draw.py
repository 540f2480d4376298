"""What people are inclined to: a liked value for each dimension, how strongly, and how it changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import DAY, WEEK, microseconds
from flows.common.draws import Draws, categorical, key_of
from flows.common.household import own_actors
from flows.common.ids import opaque_ids, user_ids_of, user_numbers
from flows.common.stage import Context, Tables
from flows.dispositions.circle import tastes_of_others
from flows.dispositions.interests import draw_interests, lean
from flows.dispositions.liked import draw_liked, draw_strengths
from flows.dispositions.participation import draw_participation, stays
from flows.dispositions.rows import (
    NO_END,
    PASSING,
    Holders,
    Piece,
    causes,
    disposition_keys,
    disposition_rows,
    no_cause,
)
from schemas.domain import DimensionSpec, Domain, LifeEvents
from schemas.load import load_domains, load_life_events
from schemas.shaped import shaped
from schemas.tables.core import sort_rows
from schemas.tables.internal import DRIFT
from schemas.tables.sealed import DISPOSITIONS

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
WEEKS_A_YEAR = 365.25 / 7


class Moves(NamedTuple):
    """What life events do to lasting values, sorted by dimension, person and time.

    Every dimension of every event is there, those that held the value before too, so that a higher rate of events adds
    rows and takes none away.
    """

    person: I64
    dimension: I64
    at_us: I64
    before: I64
    after: I64
    week: I64
    event: I64


def draw_dispositions(context: Context, tables: Tables) -> Tables:
    """`dispositions` of users and actors, and `drift`: one ledger row for each dimension that a life event sets; and
    what people are keen on (`interests`) and how much they do in each domain (`participation`).
    """
    data, draws = context.data, context.draws
    domains, life = shaped(load_domains(data.domains), data.dispositions.effects), load_life_events()
    dimensions = {
        name: spec
        for d in domains.values()
        for name, spec in zip(d.dimension_ids(), d.dimensions.values(), strict=True)
    }
    names = list(dimensions)
    personas, actors = tables["personas"], tables["actors"]
    numbers = user_numbers(personas["user_id"])
    signed_up = tables["users"]["signed_up_at"].cast(pa.int64()).to_numpy()
    start, end = (microseconds(moment.astimezone(UTC)) for moment in (data.window.start, data.window.end))
    own = data.dispositions
    interests, signs = draw_interests(own, numbers, start, draws)
    leaning = lean(own, signs, {name: list(spec.values) for name, spec in dimensions.items()})
    liked = draw_liked(domains, personas, numbers, draws, "liked", leaning)
    strength = draw_strengths(dimensions, own.strength_mean, own.strength_spread, numbers, draws, "strength")
    moves = _moves(
        life, names, dimensions, liked, numbers, start, data.window.weeks, data.disturb.drift.abrupt_per_year, draws
    )
    pieces = [*_lasting(names, liked, strength, signed_up, moves, dimensions)]
    within = stays(own, list(domains), numbers, signed_up, (start, end), draws)
    pieces.append(_states(context, domains, within, liked, strength, moves, numbers, life))
    others = actors.filter(pc.not_equal(actors["relation"], "self"))
    pieces += tastes_of_others(own, domains, dimensions, personas, others, liked, signed_up, draws)
    holders = {
        "self": Holders(own_actors(actors, personas), numbers),
        "another": Holders(others["actor_id"].combine_chunks(), user_numbers(others["user_id"])),
    }
    return {
        "dispositions": DISPOSITIONS.conform(disposition_rows(pieces, dimensions, holders, draws, life)),
        "drift": _drift_rows(moves, names, dimensions, life, numbers, draws),
        "interests": interests,
        "participation": draw_participation(own, domains, personas, numbers, signed_up, (start, end), draws),
    }


def _moves(
    life: LifeEvents,
    names: list[str],
    dimensions: Mapping[str, DimensionSpec],
    liked: I64,
    numbers: U64,
    start: int,
    weeks: int,
    per_year: float,
    draws: Draws,
) -> Moves:
    """At most one life event a person and week: the week's uniform falls below the rate, so a higher rate only adds."""
    week = np.arange(weeks, dtype=np.uint64)
    happens = draws.uniform("life event", numbers[:, None], week[None, :]) < per_year / WEEKS_A_YEAR
    person, when = np.nonzero(happens)
    kinds = list(life.events)
    kind = (
        categorical(
            draws.uniform("kind of life event", numbers[person], when.astype(np.uint64)),
            [e.share for e in life.events.values()],
        )
        if person.size
        else np.empty(0, np.int64)
    )
    second = np.floor(draws.uniform("moment of life event", numbers[person], when.astype(np.uint64)) * (WEEK / 1e6))
    at = start + when * WEEK + second.astype(np.int64) * 1_000_000
    current = liked.copy()
    found: list[tuple[I64, ...]] = []
    rank = np.arange(person.size) - np.searchsorted(person, person, side="left")
    for turn in range(int(rank.max(initial=-1)) + 1):
        for place, event in enumerate(kinds):
            chosen = np.flatnonzero((rank == turn) & (kind == place))
            for name, value in life.events[event].moves.items():
                if name not in dimensions:
                    continue
                column = names.index(name)
                to = list(dimensions[name].values).index(value)
                who = person[chosen]
                full = np.full(chosen.size, 1, np.int64)
                found.append(
                    (who, full * column, at[chosen], current[who, column], full * to, when[chosen], kind[chosen])
                )
                current[who, column] = to
    stacked = (
        [np.concatenate(parts).astype(np.int64) for parts in zip(*found, strict=True)]
        if found
        else [np.empty(0, np.int64)] * 7
    )
    order = np.lexsort((stacked[2], stacked[0], stacked[1]))
    return Moves(*(column[order] for column in stacked))


def _lasting(
    names: list[str],
    liked: I64,
    strength: F64,
    signed_up: I64,
    moves: Moves,
    dimensions: Mapping[str, DimensionSpec],
) -> list[Piece]:
    """The value each person begins with, and one for each change; every interval ends where the next begins."""
    people = np.arange(liked.shape[0])
    pieces = []
    for column, name in enumerate(names):
        clock = dimensions[name].clock
        here = np.flatnonzero((moves.dimension == column) & (moves.before != moves.after))
        who, at = moves.person[here], moves.at_us[here]
        ends = np.full(here.size, NO_END, np.int64)
        same = who[1:] == who[:-1]
        ends[:-1][same] = at[1:][same]
        first = np.full(people.size, NO_END, np.int64)
        leading = np.concatenate([[True], ~same]) if here.size else np.empty(0, bool)
        first[who[leading]] = at[leading]
        full = np.full(people.size, column)
        pieces.append(
            Piece(
                people,
                full,
                liked[:, column],
                strength[:, column],
                signed_up,
                first,
                clock,
                no_cause(people.size),
                disposition_keys(name, people.size),
                "self",
            )
        )
        pieces.append(
            Piece(
                who,
                np.full(here.size, column),
                moves.after[here],
                strength[who, column],
                at,
                ends,
                "habit",
                moves.event[here],
                disposition_keys(name, here.size) + np.uint64(1) + moves.week[here].astype(np.uint64),
                "self",
            )
        )
    return pieces


def _states(
    context: Context,
    domains: Mapping[str, Domain],
    within: tuple[I64, I64],
    liked: I64,
    strength: F64,
    moves: Moves,
    numbers: U64,
    life: LifeEvents,
) -> Piece:
    """One passing state for a share of (person, dimension): another value for some days in the middle of the window.

    A state is told of when it begins and when it is over. So sensitive tastes, which are never named, have none, and
    none begins or ends before a person does anything in the domain or after that: ``within`` as ``stays`` gives it.
    """
    config, draws = context.data.disturb.contradictions, context.draws
    start, length_us = microseconds(context.data.window.start.astimezone(UTC)), context.data.window.weeks * WEEK
    parts: list[tuple[npt.NDArray[np.generic], ...]] = []
    specs = [
        (f"{domain}.{name}", place, spec)
        for place, (domain, of) in enumerate(domains.items())
        for name, spec in of.dimensions.items()
    ]
    for column, (name, place, spec) in enumerate(specs):
        who = np.flatnonzero(
            draws.uniform(f"state {name}", numbers) < (0 if spec.sensitive else config.temporary_state)
        )
        key = numbers[who]
        days = config.state_days * (1 + 2 * draws.uniform(f"state length {name}", key)) / 3
        onset = (
            start
            + np.floor((0.1 + 0.8 * draws.uniform(f"state onset {name}", key)) * length_us / 60e6).astype(np.int64)
            * 60_000_000
        )
        ends = onset + np.round(days * 24).astype(np.int64) * (DAY // 24)
        stays_on = (within[0][who, place] <= onset) & (ends < within[1][who, place])
        who, key, onset, ends = who[stays_on], key[stays_on], onset[stays_on], ends[stays_on]
        lasting = _lasting_value(liked[:, column], moves, column, who, onset)
        share = np.tile(np.array([v.share for v in spec.values.values()]), (who.size, 1))
        share[np.arange(who.size), lasting] = 0.0
        value = categorical(draws.uniform(f"state value {name}", key), share) if who.size else np.empty(0, np.int64)
        of_state = np.full(who.size, np.uint64(key_of("state", name)))
        parts.append((who, np.full(who.size, column), value, strength[who, column], onset, ends, of_state))
    person, dimension, value, its_strength, begins, ends, keys = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    cause = np.full(person.size, causes(life).index(PASSING))
    return Piece(person, dimension, value, its_strength, begins, ends, "state", cause, keys.astype(np.uint64), "self")


def _lasting_value(liked: I64, moves: Moves, column: int, who: I64, at_us: I64) -> I64:
    """(n,) code of the lasting value of these people at these instants."""
    value = liked[who].copy()
    here = np.flatnonzero(moves.dimension == column)
    for move in here:  # few: life events that touch this dimension, in order of time within a person
        value = np.where((who == moves.person[move]) & (at_us >= moves.at_us[move]), moves.after[move], value)
    return value


def _drift_rows(
    moves: Moves,
    names: list[str],
    dimensions: Mapping[str, DimensionSpec],
    life: LifeEvents,
    numbers: U64,
    draws: Draws,
) -> pa.Table:
    """One ledger row a move."""
    values = [list(dimensions[name].values) for name in names]
    events = list(life.events)
    users = numbers[moves.person]
    keys = np.array([key_of("abrupt", names[d]) for d in moves.dimension], np.uint64) + moves.week.astype(np.uint64)
    ids = opaque_ids(draws, "injection", users, keys)
    columns = DRIFT.columns
    table = pa.table(
        {
            "injection_id": ids,
            "user_id": user_ids_of(users),
            "family": pa.array(["drift"] * users.size, pa.string()),
            "kind": pa.array(["abrupt"] * users.size, pa.string()),
            "policy": pa.array(["follow_new_value"] * users.size, pa.string()),
            "is_contested": pa.array(np.zeros(users.size, bool)),
            "dimension": pa.array([names[d] for d in moves.dimension], pa.string()),
            "event_ids": pa.array([[] for _ in range(users.size)], columns["event_ids"].type),
            "before": pa.array([values[d][v] for d, v in zip(moves.dimension, moves.before, strict=True)], pa.string()),
            "after": pa.array([values[d][v] for d, v in zip(moves.dimension, moves.after, strict=True)], pa.string()),
            "onset_at": pa.array(moves.at_us).cast(columns["onset_at"].type),
            "ended_at": pa.nulls(users.size, columns["ended_at"].type),
            "cause": pa.array([events[k] for k in moves.event], pa.string()),
            "parameters": pa.array([json.dumps({"week": int(w)}) for w in moves.week], pa.string()),
        },
        schema=DRIFT.schema(),
    )
    return DRIFT.conform(sort_rows(table, DRIFT))
