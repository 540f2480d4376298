"""What people are inclined to: a liked value for each dimension, how strongly, and how it changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import DAY, WEEK, microseconds
from flows.common.draws import categorical, key_of
from flows.common.household import own_actors
from flows.common.ids import user_numbers
from flows.common.stage import Context, Tables
from flows.dispositions.changes import Course, joined, lasting_at, run_course, turning_points
from flows.dispositions.circle import tastes_of_others
from flows.dispositions.drift import abrupt, gradual, ledger_of, seasonal
from flows.dispositions.interests import draw_interests, lean
from flows.dispositions.life_events import what_happens
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
from schemas.domain import DimensionSpec, Domain
from schemas.life_events import LifeEvents
from schemas.load import load_domains, load_life_events
from schemas.shaped import shaped
from schemas.tables.sealed import DISPOSITIONS
from schemas.zones import latitude_of

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]


def draw_dispositions(context: Context, tables: Tables) -> Tables:
    """`dispositions` of users and actors, and `drift`: the ledger rows of life events, slow changes and seasons; and
    what people are keen on (`interests`) and how much they do in each domain (`participation`).
    """
    data, draws = context.data, context.draws
    domains, life = shaped(load_domains(data.domains), data.dispositions.effects), load_life_events()
    dimensions = {
        name: spec
        for d in domains.values()
        for name, spec in zip(d.dimension_ids(), d.dimensions.values(), strict=True)
    }
    personas, actors = tables["personas"], tables["actors"]
    numbers = user_numbers(personas["user_id"])
    signed_up = tables["users"]["signed_up_at"].cast(pa.int64()).to_numpy()
    start, end = (microseconds(moment.astimezone(UTC)) for moment in (data.window.start, data.window.end))
    own = data.dispositions
    interests, signs = draw_interests(own, numbers, start, draws)
    leaning = lean(own, signs, {name: list(spec.values) for name, spec in dimensions.items()})
    liked = draw_liked(domains, personas, numbers, draws, "liked", leaning)
    strength = draw_strengths(dimensions, own.strength_mean, own.strength_spread, numbers, draws, "strength")
    happened = what_happens(
        life, personas, numbers, start, data.window.weeks, data.disturb.drift.abrupt_per_year, draws
    )
    drifts = [
        abrupt(life, dimensions, happened),
        gradual(life, dimensions, liked, data.disturb.drift.gradual_share, (start, end), numbers, draws),
        seasonal(
            life,
            dimensions,
            liked,
            data.disturb.drift.seasonal_share,
            data.window,
            _is_southern(tables["users"]),
            numbers,
            draws,
        ),
    ]
    course = run_course(joined([drift.steps for drift in drifts]), liked)
    pieces = _lasting(dimensions, liked, strength, signed_up, course)
    within = stays(own, list(domains), numbers, signed_up, (start, end), draws)
    pieces.append(_states(context, domains, within, liked, strength, course, numbers, life))
    others = actors.filter(pc.not_equal(actors["relation"], "self"))
    pieces += tastes_of_others(own, domains, dimensions, personas, others, liked, signed_up, draws)
    holders = {
        "self": Holders(own_actors(actors, personas), numbers),
        "another": Holders(others["actor_id"].combine_chunks(), user_numbers(others["user_id"])),
    }
    return {
        "dispositions": DISPOSITIONS.conform(disposition_rows(pieces, dimensions, holders, draws, life)),
        "drift": ledger_of(drifts, course, dimensions, life, numbers, draws),
        "interests": interests,
        "participation": draw_participation(own, domains, personas, numbers, signed_up, (start, end), draws),
    }


def _is_southern(users: pa.Table) -> npt.NDArray[np.bool_]:
    """(people,) whether each lives south of the equator."""
    south = [zone for zone in pc.unique(users["time_zone"]).to_pylist() if latitude_of(zone) < 0]
    return np.asarray(pc.is_in(users["time_zone"], value_set=pa.array(south, pa.string())).to_numpy())


def _lasting(
    dimensions: Mapping[str, DimensionSpec], liked: I64, strength: F64, signed_up: I64, course: Course
) -> list[Piece]:
    """The value each person begins with, and one for each change; every interval ends where the next begins."""
    turns = turning_points(course, liked)
    who, at, cell = course.steps.person[turns], course.steps.at_us[turns], course.cell[turns]
    ends = np.full(turns.size, NO_END, np.int64)
    same = cell[1:] == cell[:-1]
    ends[:-1][same] = at[1:][same]
    leading = np.concatenate([[True], ~same]) if turns.size else np.empty(0, bool)
    first = np.full(liked.size, NO_END, np.int64)
    first[cell[leading]] = at[leading]
    people, column = np.arange(liked.shape[0]), course.steps.dimension[turns]
    pieces = [
        Piece(
            people,
            np.full(people.size, place),
            liked[:, place],
            strength[:, place],
            signed_up,
            first.reshape(liked.shape)[:, place],
            spec.clock,
            no_cause(people.size),
            disposition_keys(name, people.size),
            "self",
        )
        for place, (name, spec) in enumerate(dimensions.items())
    ]
    firmness = np.round(strength[who, column] * course.factor[turns], 3)
    cause, key = course.steps.cause[turns], course.steps.key[turns]
    return [*pieces, Piece(who, column, course.after[turns], firmness, at, ends, "habit", cause, key, "self")]


def _states(
    context: Context,
    domains: Mapping[str, Domain],
    within: tuple[I64, I64],
    liked: I64,
    strength: F64,
    course: Course,
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
        lasting = lasting_at(course, liked, who, column, onset, start)
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
