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
from flows.common.draws import Draws, categorical, key_of, normal
from flows.common.ids import opaque_ids, user_ids_of, user_numbers
from flows.common.stage import Context, Tables
from schemas.behaviour.choice import match_table, value_weights
from schemas.domain import DimensionSpec, Domain, LifeEvents
from schemas.links import drawing_order
from schemas.load import load_domains, load_life_events
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


class Piece(NamedTuple):
    """Rows of the table before ids and text."""

    person: I64
    dimension: I64
    value: I64
    strength: F64
    begins: I64
    ends: I64
    clock: str
    cause: list[str | None]
    key: U64
    of: str


NO_END = -1


def draw_dispositions(context: Context, tables: Tables) -> Tables:
    """`dispositions` of users and actors, and `drift`: one ledger row for each dimension that a life event sets."""
    data, draws = context.data, context.draws
    domains = load_domains(data.domains)
    dimensions = {
        name: spec
        for d in domains.values()
        for name, spec in zip(d.dimension_ids(), d.dimensions.values(), strict=True)
    }
    names = list(dimensions)
    personas, actors = tables["personas"], tables["actors"]
    numbers = user_numbers(personas["user_id"])
    signed_up = tables["users"]["signed_up_at"].cast(pa.int64()).to_numpy()
    start = microseconds(data.window.start.astimezone(UTC))
    liked = _liked(domains, personas, numbers, draws, "liked")
    strength = _strengths(
        dimensions, data.dispositions.strength_mean, data.dispositions.strength_spread, numbers, draws
    )
    life = load_life_events()
    moves = _moves(
        life, names, dimensions, liked, numbers, start, data.window.weeks, data.disturb.drift.abrupt_per_year, draws
    )
    pieces = [*_lasting(names, liked, strength, signed_up, moves, life, dimensions)]
    pieces.append(_states(context, domains, names, liked, strength, moves, numbers, start))
    selves = _actors_of(actors, personas["user_id"], is_self=True)
    rows = [
        _rows(piece, names, dimensions, selves.take(pa.array(piece.person)), numbers[piece.person], draws, life)
        for piece in pieces
    ]
    shared = np.flatnonzero(
        pc.is_in(personas["user_id"], value_set=_others(actors)["user_id"].combine_chunks()).to_numpy(
            zero_copy_only=False
        )
    )
    rows += _other_actors(
        domains, names, dimensions, personas, actors, shared, numbers, signed_up, strength, draws, life
    )
    table = pa.concat_tables(rows)
    return {
        "dispositions": DISPOSITIONS.conform(sort_rows(table, DISPOSITIONS)),
        "drift": _drift_rows(moves, names, dimensions, life, numbers, draws),
    }


def _liked(domains: Mapping[str, Domain], personas: pa.Table, numbers: U64, draws: Draws, aspect: str) -> I64:
    """(people, dimensions) code of the value each person likes best, from shares and tilts."""
    specs = {
        full: spec
        for domain in domains.values()
        for full, spec in zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)
    }
    liked: dict[str, I64] = {}
    for full in drawing_order(domains):
        weights = np.tile(np.array([v.share for v in specs[full].values.values()]), (numbers.size, 1))
        for tilt in specs[full].tilts:
            if tilt.dimension is not None and tilt.dimension not in specs:
                continue
            for level, factors in tilt.multiply.items():
                if tilt.dimension is not None:
                    here = liked[tilt.dimension] == list(specs[tilt.dimension].values).index(level)
                else:
                    here = _has_level(personas[tilt.attribute], level)
                row = np.array([factors.get(value, 1.0) for value in specs[full].values])
                weights = np.where(here[:, None], weights * row, weights)
        liked[full] = categorical(draws.uniform(f"{aspect} {full}", numbers), weights)
    return np.stack([liked[full] for full in specs], axis=1)


def _has_level(column: pa.ChunkedArray, level: str) -> npt.NDArray[np.bool_]:
    """Whether each person has the attribute's value, or lies in its band `low..high`, the high end excluded."""
    if ".." in level:
        low, high = (float(part) for part in level.split(".."))
        value = column.to_numpy()
        return np.asarray((value >= low) & (value < high))
    return np.asarray(pc.fill_null(pc.equal(column.cast(pa.string()), level), False).to_numpy(zero_copy_only=False))


def _strengths(dimensions: Mapping[str, DimensionSpec], mean: float, spread: float, numbers: U64, draws: Draws) -> F64:
    """(people, dimensions) log-normal about the configured median, in steps of 0.001."""
    columns = []
    for name, spec in dimensions.items():
        factor = np.exp(spread * normal(draws.uniform(f"strength {name}", numbers)))
        columns.append(np.round(mean * spec.strength * factor, 3))
    return np.stack(columns, axis=1)


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
    life: LifeEvents,
    dimensions: Mapping[str, DimensionSpec],
) -> list[Piece]:
    """The value each person begins with, and one for each change; every interval ends where the next begins."""
    people = np.arange(liked.shape[0])
    pieces = []
    events = list(life.events)
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
        base = np.uint64(key_of("disposition", name))
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
                [None] * people.size,
                np.full(people.size, base),
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
                [events[k] for k in moves.event[here]],
                base + 1 + moves.week[here].astype(np.uint64),
                "self",
            )
        )
    return pieces


def _states(
    context: Context,
    domains: Mapping[str, Domain],
    names: list[str],
    liked: I64,
    strength: F64,
    moves: Moves,
    numbers: U64,
    start: int,
) -> Piece:
    """One passing state for a share of (person, dimension): another value for some days in the middle of the window."""
    config, draws = context.data.disturb.contradictions, context.draws
    length_us = context.data.window.weeks * WEEK
    parts: list[tuple[npt.NDArray[np.generic], ...]] = []
    specs = [spec for d in domains.values() for spec in d.dimensions.values()]
    for column, (name, spec) in enumerate(zip(names, specs, strict=True)):
        who = np.flatnonzero(draws.uniform(f"state {name}", numbers) < config.temporary_state)
        key = numbers[who]
        days = config.state_days * (1 + 2 * draws.uniform(f"state length {name}", key)) / 3
        onset = (
            start
            + np.floor((0.1 + 0.8 * draws.uniform(f"state onset {name}", key)) * length_us / 60e6).astype(np.int64)
            * 60_000_000
        )
        ends = onset + np.round(days * 24).astype(np.int64) * (DAY // 24)
        lasting = _lasting_value(liked[:, column], moves, column, who, onset)
        share = np.tile(np.array([v.share for v in spec.values.values()]), (who.size, 1))
        share[np.arange(who.size), lasting] = 0.0
        value = categorical(draws.uniform(f"state value {name}", key), share) if who.size else np.empty(0, np.int64)
        parts.append(
            (
                who,
                np.full(who.size, column),
                value,
                strength[who, column],
                onset,
                ends,
                np.full(who.size, np.uint64(key_of("state", name))),
            )
        )
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Piece(
        joined[0],
        joined[1],
        joined[2],
        joined[3],
        joined[4],
        joined[5],
        "state",
        ["passing state"] * joined[0].size,
        joined[6].astype(np.uint64),
        "self",
    )


def _lasting_value(liked: I64, moves: Moves, column: int, who: I64, at_us: I64) -> I64:
    """(n,) code of the lasting value of these people at these instants."""
    value = liked[who].copy()
    here = np.flatnonzero(moves.dimension == column)
    for move in here:  # few: life events that touch this dimension, in order of time within a person
        value = np.where((who == moves.person[move]) & (at_us >= moves.at_us[move]), moves.after[move], value)
    return value


def _rows(
    piece: Piece,
    names: list[str],
    dimensions: Mapping[str, DimensionSpec],
    actor_ids: pa.Array,
    users: U64,
    draws: Draws,
    life: LifeEvents,
) -> pa.Table:
    """The piece as rows of `dispositions`, dimension by dimension."""
    tables = []
    columns = DISPOSITIONS.columns
    for column in np.unique(piece.dimension):
        spec = dimensions[names[column]]
        here = np.flatnonzero(piece.dimension == column)
        values = pa.array(list(spec.values), pa.string())
        weights = value_weights(piece.value[here], piece.strength[here], match_table(spec.kind, len(values)))
        pair = pa.StructArray.from_arrays(
            [values.take(pa.array(np.tile(np.arange(len(values)), here.size))), pa.array(weights.ravel())],
            fields=list(columns["weights"].type.value_type),
        )
        causes = [piece.cause[place] for place in here]
        ends = piece.ends[here]
        tables.append(
            pa.table(
                {
                    "disposition_id": opaque_ids(draws, f"disposition of {piece.of}", users[here], piece.key[here]),
                    "user_id": user_ids_of(users[here]),
                    "actor_id": actor_ids.take(pa.array(here)),
                    "dimension": pa.array([names[column]] * here.size, pa.string()),
                    "value": values.take(pa.array(piece.value[here])),
                    "weights": pa.ListArray.from_arrays(
                        np.arange(here.size + 1, dtype=np.int32) * len(values), pair, type=columns["weights"].type
                    ),
                    "strength": pa.array(piece.strength[here], pa.float64()),
                    "clock": pa.array([piece.clock] * here.size, pa.string()),
                    "valid_from": pa.array(piece.begins[here]).cast(columns["valid_from"].type),
                    "valid_to": pa.array(ends, mask=ends == NO_END).cast(columns["valid_to"].type),
                    "condition": pa.nulls(here.size, pa.string()),
                    "cause": pa.array(causes, pa.string()),
                    "is_sensitive": pa.array(
                        [spec.sensitive or _is_sensitive(cause, life) for cause in causes], pa.bool_()
                    ),
                },
                schema=DISPOSITIONS.schema(),
            )
        )
    return pa.concat_tables(tables) if tables else DISPOSITIONS.empty()


def _is_sensitive(cause: str | None, life: LifeEvents) -> bool:
    return cause in life.events and life.events[cause].sensitive


def _others(actors: pa.Table) -> pa.Table:
    return actors.filter(pc.not_equal(actors["relation"], "self"))


def _actors_of(actors: pa.Table, user_ids: pa.ChunkedArray, *, is_self: bool) -> pa.Array:
    """The actor of each user, in the order of the users."""
    some = actors.filter(pc.equal(actors["relation"], "self")) if is_self else _others(actors)
    place = pc.index_in(user_ids, value_set=some["user_id"].combine_chunks())
    return (
        some["actor_id"].combine_chunks().take(place.combine_chunks() if isinstance(place, pa.ChunkedArray) else place)
    )


def _other_actors(
    domains: Mapping[str, Domain],
    names: list[str],
    dimensions: Mapping[str, DimensionSpec],
    personas: pa.Table,
    actors: pa.Table,
    shared: I64,
    numbers: U64,
    signed_up: I64,
    strength: F64,
    draws: Draws,
    life: LifeEvents,
) -> list[pa.Table]:
    """Lasting tastes of the people around the users, drawn apart from the users' own."""
    some = personas.take(pa.array(shared))
    liked = _liked(domains, some, numbers[shared], draws, "other's liked")
    ids = _actors_of(actors, some["user_id"], is_self=False)
    rows = []
    for column, name in enumerate(names):
        full = np.full(shared.size, column)
        piece = Piece(
            np.arange(shared.size),
            full,
            liked[:, column],
            strength[shared, column],
            signed_up[shared],
            np.full(shared.size, NO_END, np.int64),
            dimensions[name].clock,
            [None] * shared.size,
            np.full(shared.size, np.uint64(key_of("disposition", name))),
            "another",
        )
        rows.append(_rows(piece, names, dimensions, ids, numbers[shared], draws, life))
    return rows


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
