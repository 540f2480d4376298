"""What changes tastes inside the simulation: life events, slow change and seasons, as steps and as rows of the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import DAY, HOUR, MINUTE, WEEK, microseconds
from flows.common.draws import Draws, categorical, key_of
from flows.common.ids import opaque_ids, user_ids_of
from flows.dispositions.changes import AS_IT_IS, LEANS, RETURNS, SETS, WAVERS, Course, Steps
from flows.dispositions.life_events import Happened
from flows.dispositions.rows import NO_END, SEASONAL, SLOW, causes, values_of
from schemas.behaviour.hazards import RAMP, gives_way_to, season_starts
from schemas.config.data import Window
from schemas.domain import DimensionSpec
from schemas.life_events import LifeEvents
from schemas.tables.core import sort_rows
from schemas.tables.internal import DRIFT

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
RAMP_SHARE = (0.25, 0.5)
"""How long a slow change takes at the least and at the most, as a share of the window. Assumed."""
RAMP_AT_MOST = 16 * WEEK
"""How long it takes at the most, however long the window. Assumed."""
MARGIN = 0.05
"""Part of the window at each end in which no slow change begins or ends."""
SEASON_SPREAD = 14 * DAY
"""By how much at the most a person's season is early or late, the same each year. Assumed."""
POLICY = {"abrupt": "follow_new_value", "gradual": "follow_new_value", "seasonal": "follow_context"}


class Drift(NamedTuple):
    """Changes of one kind: what happens step by step, and the ledger row of each change.

    ``shows`` are the places in ``steps`` at which the value of each ledger row is set.
    """

    kind: str
    steps: Steps
    shows: I64
    onset_us: I64
    ended_us: I64
    """``NO_END`` where it lasts, or goes on when the window ends."""
    key: U64
    parameters: pa.Array


def abrupt(life: LifeEvents, dimensions: Mapping[str, DimensionSpec], happened: Happened) -> Drift:
    """Every dimension that a life event sets, those that held the value before too.

    So a higher rate of events adds rows and takes none away.
    """
    names = list(dimensions)
    table = [
        (event, names.index(name), list(dimensions[name].values).index(value))
        for event, spec in enumerate(life.events.values())
        for name, value in spec.moves.items()
        if name in dimensions
    ]
    by_event, column, to = (np.array(part, np.int64) for part in (zip(*table, strict=True) if table else ((), (), ())))
    first, last = (np.searchsorted(by_event, happened.event, side=side) for side in ("left", "right"))
    count = last - first
    row = np.repeat(np.arange(count.size), count)
    move = np.repeat(first, count) + np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    week = happened.week[row].astype(np.uint64)
    dimension = column[move] if row.size else np.empty(0, np.int64)
    keys = _keys("disposition", names)[dimension] + np.uint64(1) + week
    steps = Steps(
        happened.person[row],
        dimension,
        happened.at_us[row],
        np.full(row.size, SETS),
        to[move] if row.size else dimension,
        np.full(row.size, AS_IT_IS),
        happened.event[row],
        keys,
    )
    told = pc.binary_join_element_wise('{"week": ', pa.array(happened.week[row]).cast(pa.string()), "}", "")
    key = _keys("abrupt", names)[dimension] + week
    return Drift("abrupt", steps, np.arange(row.size), steps.at_us, np.full(row.size, NO_END), key, told)


def gradual(
    life: LifeEvents,
    dimensions: Mapping[str, DimensionSpec],
    liked: I64,
    share: float,
    window: tuple[int, int],
    numbers: U64,
    draws: Draws,
) -> Drift:
    """One slow change for a share of (person, habit): the old taste grows weak, half-way the new one takes its place.

    What it gives way to is drawn by the value that the person begins with, whatever else changes.
    """
    cause = causes(life).index(SLOW)
    parts: list[tuple[npt.NDArray[np.generic], ...]] = []
    for column, (name, spec) in enumerate(dimensions.items()):
        if spec.clock != "habit":
            continue
        who = np.flatnonzero(draws.uniform(f"slow change of {name}", numbers) < share)
        key = numbers[who]
        weights = gives_way_to(spec)[liked[who, column]]
        value = categorical(draws.uniform(f"slow change to {name}", key), weights) if who.size else who
        length, place = (draws.uniform(f"slow change {what} {name}", key) for what in ("length", "onset"))
        parts.append((who, np.full(who.size, column), value, *_ramp(length, place, window)))
    person, dimension, value, onset, quarter = _stacked(parts, 5)
    count, places = person.size, len(RAMP) + 1
    turn = np.tile(np.arange(places), count)
    row = np.repeat(np.arange(count), places)
    half = places // 2
    own = _keys("slow change", list(dimensions))[dimension]
    steps = Steps(
        person[row],
        dimension[row],
        onset[row] + turn * quarter[row],
        np.where(turn == half, SETS, WAVERS),
        value[row],
        np.array([*RAMP, 1.0])[turn],
        np.full(row.size, cause),
        own[row] + turn.astype(np.uint64),
    )
    parameters = json.dumps({"strength": RAMP, "value_changes": "half-way"})
    return Drift(
        "gradual",
        steps,
        np.arange(count) * places + half,
        onset,
        onset + (places - 1) * quarter,
        own,
        pa.array(np.full(count, parameters, dtype=object), pa.string()),
    )


def _ramp(length: F64, place: F64, window: tuple[int, int]) -> tuple[I64, I64]:
    """(n,) when slow changes begin, and a quarter of how long they take, in whole hours, by two uniforms."""
    start, end = window
    low, high = RAMP_SHARE
    longest = np.minimum(np.floor((low + (high - low) * length) * (end - start)), RAMP_AT_MOST)
    quarter = np.floor(longest / len(RAMP) / HOUR).astype(np.int64) * HOUR
    free = (end - start) * (1 - 2 * MARGIN) - len(RAMP) * quarter
    onset = start + np.floor(((end - start) * MARGIN + free * place) / HOUR).astype(np.int64) * HOUR
    return onset, quarter


def seasonal(
    life: LifeEvents,
    dimensions: Mapping[str, DimensionSpec],
    liked: I64,
    share: float,
    window: Window,
    southern: npt.NDArray[np.bool_],
    numbers: U64,
    draws: Draws,
) -> Drift:
    """For a share of (person, dimension with seasons) another value in one season of every year that the window meets.

    It is one of those seasons whose value is not what the person begins with; who has none left, has no season.
    ``southern`` (people,) who lives south of the equator, where seasons come half a year later.
    """
    start, end = microseconds(window.start), microseconds(window.end)
    years = range(window.start.year - 1, window.end.year + 1)
    parts: list[tuple[npt.NDArray[np.generic], ...]] = []
    for column, (name, spec) in enumerate(dimensions.items()):
        options = life.seasons.get(name, {}) if spec.clock == "habit" else {}
        if not options:
            continue
        codes = np.array([list(spec.values).index(value) for value in options.values()])
        is_new = liked[:, column, None] != codes
        who = np.flatnonzero((draws.uniform(f"season of {name}", numbers) < share) & is_new.any(axis=1))
        key, upto = numbers[who], np.cumsum(is_new[who], axis=1)
        nth = np.floor(draws.uniform(f"which season of {name}", key) * upto[:, -1]).astype(np.int64)
        option = (upto <= nth[:, None]).sum(axis=1)
        value = codes[option]
        shift = draws.uniform(f"season early {name}", key)
        early = np.floor((2 * shift - 1) * (SEASON_SPREAD // MINUTE)).astype(np.int64) * MINUTE
        table = np.array(
            [
                [
                    [[microseconds(edge) for edge in edges] for edges in season_starts(one, side, years)]
                    for one in options
                ]
                for side in (False, True)
            ]
        )
        times = table[southern[who].astype(np.int64), option] + early[:, None, None]
        for place, calendar in enumerate(years):
            meets = np.flatnonzero((times[:, place, 0] < end) & (times[:, place, 1] > start))
            begins, ends = np.maximum(times[meets, place, 0], start), times[meets, place, 1]
            full = np.full(meets.size, column)
            parts.append((who[meets], full, value[meets], begins, ends, np.full(meets.size, calendar)))
    person, dimension, value, begins, ends, year = _stacked(parts, 6)
    over = np.flatnonzero(ends < end)
    key = _keys("season", list(dimensions))[dimension] + np.uint64(2) * year.astype(np.uint64)
    every = np.concatenate([np.arange(person.size), over])
    returns = np.arange(every.size) >= person.size
    steps = Steps(
        person[every],
        dimension[every],
        np.where(returns, ends[every], begins[every]),
        np.where(returns, RETURNS, LEANS),
        value[every],
        np.full(every.size, AS_IT_IS),
        np.full(every.size, causes(life).index(SEASONAL)),
        key[every] + returns.astype(np.uint64),
    )
    parameters = pc.binary_join_element_wise('{"year": ', pa.array(year).cast(pa.string()), "}", "")
    ended = np.where(ends < end, ends, NO_END)
    return Drift("seasonal", steps, np.arange(person.size), begins, ended, key, parameters)


def _keys(what: str, names: list[str]) -> U64:
    """(dimensions,) keys of draws and ids."""
    return np.array([key_of(what, name) for name in names], np.uint64)


def _stacked(parts: list[tuple[npt.NDArray[np.generic], ...]], width: int) -> list[I64]:
    if not parts:
        return [np.empty(0, np.int64)] * width
    return [np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)]


def ledger_of(
    drifts: list[Drift],
    course: Course,
    dimensions: Mapping[str, DimensionSpec],
    life: LifeEvents,
    numbers: U64,
    draws: Draws,
) -> pa.Table:
    """`drift`: one row for each dimension that a life event sets, each slow change, and each season of each year.

    ``course`` ran the steps of ``drifts``, one behind the other.
    """
    place = np.empty(course.order.size, np.int64)
    place[course.order] = np.arange(course.order.size)
    offset, tables = 0, []
    for drift in drifts:
        here = place[offset + drift.shows]
        tables.append(_rows(drift, course, here, dimensions, life, numbers, draws))
        offset += drift.steps.person.size
    return DRIFT.conform(sort_rows(pa.concat_tables(tables), DRIFT))


def _rows(
    drift: Drift,
    course: Course,
    here: I64,
    dimensions: Mapping[str, DimensionSpec],
    life: LifeEvents,
    numbers: U64,
    draws: Draws,
) -> pa.Table:
    """The ledger rows of one kind. ``here`` are the places in the course at which their values are set."""
    size = here.size
    users, dimension = numbers[course.steps.person[here]], course.steps.dimension[here]
    values, starts = values_of(dimensions)
    columns = DRIFT.columns

    def same(text: str) -> pa.Array:
        return pa.array(np.full(size, text, dtype=object), pa.string())

    return pa.table(
        {
            "injection_id": opaque_ids(draws, "injection", users, drift.key),
            "user_id": user_ids_of(users),
            "family": same("drift"),
            "kind": same(drift.kind),
            "policy": same(POLICY[drift.kind]),
            "is_contested": pa.array(np.zeros(size, bool)),
            "dimension": pa.array(list(dimensions), pa.string()).take(pa.array(dimension)),
            "event_ids": pa.ListArray.from_arrays(
                np.zeros(size + 1, np.int32), pa.array([], pa.string()), type=columns["event_ids"].type
            ),
            "before": values.take(pa.array(starts[dimension] + course.before[here])),
            "after": values.take(pa.array(starts[dimension] + course.steps.value[here])),
            "onset_at": pa.array(drift.onset_us).cast(columns["onset_at"].type),
            "ended_at": pa.array(drift.ended_us, mask=drift.ended_us == NO_END).cast(columns["ended_at"].type),
            "cause": pa.array(causes(life), pa.string()).take(pa.array(course.steps.cause[here])),
            "parameters": drift.parameters,
        },
        schema=DRIFT.schema(),
    )
