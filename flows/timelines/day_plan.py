"""What each person does in every half hour of every day, and how likely that makes it that they use an app then.

A person has ranks that last: how early they wake and begin, how late they end and go to bed, how far their shifts are
from the day's. On most days they keep them but for a jitter, on a few they take others. A jitter that is thrown back
at the ends leaves ranks uniform, so that people together keep the shares of the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import weekday_of
from flows.common.draws import Draws, categorical
from flows.timelines.day_models import (
    BY_DAY,
    BY_NIGHT,
    CHAIN_OF,
    IDLE,
    REST,
    WITH_CHILDREN,
    DayModel,
    age_shares,
    day_model,
    employment_by_age,
    stratum_of,
)
from schemas.behaviour.day_plan import (
    ACTIVITIES,
    COLUMNS,
    EATING,
    PLACE_OF,
    PLACES,
    QUANTILES,
    SLEEP,
    SLOTS,
    SLOTS_AFTER_MIDNIGHT,
    WORK,
)

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
U16 = npt.NDArray[np.uint16]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

TOP = 1 << 16
"""Ranks are whole numbers below it."""
CHRONOTYPES = ("morning", "intermediate", "evening")
CHRONOTYPE_EDGES = np.array([[14, 64], [20, 74], [27, 81], [33, 86], [40, 89], [47, 91]]) * TOP // 100
"""By age group, below which rank somebody counts as a morning type and below which as no evening type: the shares of
chronotypes of the population `us`, so that in it ranks stay uniform."""
OWN_BAND = 70
"""Of a hundred people, so many have a rank in the band of their chronotype, and the others anywhere. Assumed."""
KEPT_DAYS = 58_982
"""Of 65,536 days, those on which somebody keeps their ranks: nine in ten. Assumed."""
JITTER = TOP // 16
"""How far a rank strays on a day on which it is kept, at the most. Assumed."""
BEFORE_REST, BEFORE_WORK, LIE_IN = 1, -1, 1
"""Half hours by which people go to bed later before a day of rest, and earlier at the end of the last, and by which
they wake later on it. Assumed; the weekdays' mean stays the reference's but for a little."""
PANEL = 300
"""People for whom `hour_base` is found."""
MOST_FAVOURED = 1e4
"""How much an hour is raised above its profile at the most, where hardly anybody's day allows it."""
KEPT_STEPS = 40
"""Of a hundred half hours of the rest of the day, so many have one deciding number for all of a person's days. Assumed."""


class Dwellers(NamedTuple):
    """What decides how people's days look: (people,) each, in the order of the shard."""

    numbers: U64
    stratum: I64
    chronotype: I64
    """Position in `CHRONOTYPES`."""
    status: I64
    """0 employed and at work, 1 employed and absent, 2 not employed."""


class DayPlans(NamedTuple):
    """The days of people; ``state`` (people, days, 48) holds positions in `ACTIVITIES` from local midnight on."""

    state: I8
    first_day: int
    """Days since 1970-01-01 of the first."""
    is_rest: Mask
    """(people, days) whether the day is a weekend, or one of rest for another reason."""
    places: npt.NDArray[np.uint8]
    """(people, days, 24) where each is in the two halves of each hour: four times the first's place plus the other's."""

    def place(self) -> I8:
        """(people, days, 48) positions in `PLACES`."""
        return np.asarray(PLACE_OF[self.state])


def dwellers_of(numbers: U64, personas: pa.Table) -> Dwellers:
    """The people of a shard, whose numbers are in the order of `personas`."""
    age = personas["age_years"].to_numpy().astype(np.int64)
    male = pc.equal(personas["sex"], "male").to_numpy()
    children = pc.greater(pc.fill_null(pc.list_value_length(personas["children_ages"]), 0), 0).to_numpy()
    chronotype = pc.index_in(personas["chronotype"], value_set=pa.array(CHRONOTYPES)).to_numpy().astype(np.int64)
    status = pc.index_in(personas["labour_status"], value_set=pa.array(["employed-at work", "employed-absent"]))
    return Dwellers(
        numbers,
        stratum_of(age, male, children),
        chronotype,
        pc.fill_null(status, 2).to_numpy().astype(np.int64),
    )


def plan_days(who: Dwellers, days: I64, draws: Draws, rest: Mask | None = None) -> DayPlans:
    """The plans of consecutive local days, given as days since 1970-01-01.

    ``rest`` (people, days) marks days off beside Saturdays and Sundays. A local day begins with the end of the diary
    day before, so that the night is one.
    """
    model = day_model()
    diary = np.concatenate([days[:1] - 1, days])
    off = np.broadcast_to(weekday_of(diary) >= 5, (who.numbers.size, diary.size)).copy()
    if rest is not None:
        off[:, 1:] |= rest
    key = diary.astype(np.uint64)
    kind = _kinds(who, diary, off, model, draws)
    state = _chains(who, key, kind, model, draws)
    _lay_over(state, who, key, kind, _later_to_bed(off, diary), model, draws)
    whole = state.reshape(SLOTS, who.numbers.size, diary.size)
    local = np.empty((who.numbers.size, days.size, SLOTS), np.int8)
    local[:, :, :SLOTS_AFTER_MIDNIGHT] = whole[-SLOTS_AFTER_MIDNIGHT:, :, :-1].transpose(1, 2, 0)
    local[:, :, SLOTS_AFTER_MIDNIGHT:] = whole[:-SLOTS_AFTER_MIDNIGHT, :, 1:].transpose(1, 2, 0)
    place = PLACE_OF[local].astype(np.uint8)
    return DayPlans(local, int(days[0]), off[:, 1:], place[:, :, ::2] * np.uint8(len(PLACES)) + place[:, :, 1::2])


def hour_allowance(plans: DayPlans, person: I64, day: I64, factors: Mapping[str, float]) -> F64:
    """(n, 24) the mean over each hour of the factor of where each person is; ``day`` counts from 1970-01-01."""
    per_place = _by_place(factors)
    per_code = (per_place[:, None] + per_place[None, :]).ravel() / 2
    row = person * plans.places.shape[1] + (day - plans.first_day)
    return np.asarray(per_code[plans.places.reshape(-1, 24)[row]])


def hour_base(profile: F64, factors: Mapping[str, float], *, is_rest: bool) -> F64:
    """(24,) weights which, times a person's allowance on a day and scaled to sum to 1, are the profile on average.

    Dividing the profile by the mean allowance of people comes near that; this also makes up for people whose day allows
    more hours than other days do. Found by repeated correction over the days of a fixed panel of people; those whose day
    allows none of the profile's hours do not count, nor do hours that nobody's day allows.
    """
    plans = _panel()
    person, day = np.nonzero(plans.is_rest == is_rest)
    allowance = hour_allowance(plans, person, day + plans.first_day, factors)
    mean = allowance.mean(axis=0)
    base = np.where(mean > 0, profile / np.maximum(mean, 1e-9), 0.0)
    if not base.any():
        return np.round(profile / profile.sum(), 9)
    for _ in range(12):
        weight = base * allowance
        seen = (weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)).mean(axis=0)
        base = np.minimum(base * profile / np.maximum(seen, 1e-12), MOST_FAVOURED * profile)
    return np.round(base / base.sum(), 9)


@cache
def _panel() -> DayPlans:
    """A week of people as many of whom are of each age, sex and status as in the reference of time use."""
    draws, numbers = Draws(0, "panel of days"), np.arange(PANEL, dtype=np.uint64)
    group, sex, child, works, type_ = (
        draws.uniform(f"panel {aspect}", numbers) for aspect in ("age", "sex", "children", "work", "chronotype")
    )
    shares = age_shares()
    age = categorical(group, shares)
    stratum = (age * 2 + (sex >= 0.5)) * 2 + (child < WITH_CHILDREN[age])
    status = np.where(works < employment_by_age()[age], 0, 2)
    chronotype = (np.floor(type_ * TOP).astype(np.int64)[:, None] >= CHRONOTYPE_EDGES[age]).sum(axis=1)
    who = Dwellers(numbers, stratum.astype(np.int64), chronotype.astype(np.int64), status.astype(np.int64))
    return plan_days(who, np.arange(19_996, 20_003), draws)


def _by_place(factors: Mapping[str, float]) -> F64:
    """(4,) factors in the order of `PLACES`; 1 where none is given."""
    return np.array([factors.get(place, 1.0) for place in PLACES])


def _kinds(who: Dwellers, diary: I64, off: Mask, model: DayModel, draws: Draws) -> I64:
    """(people, diary days) the kind of each, a position in `KINDS`."""
    every = who.numbers[:, None]
    bits = draws.bits("day plan work", every, diary.astype(np.uint64)[None, :])
    by_weekday = draws.bits("day plan weekday", every, np.arange(7, dtype=np.uint64)[None, :])
    always = draws.bits("day plan weekdays", every)
    chosen = bits & np.uint64(0xFF)
    own = np.where(chosen < 102, always, np.where(chosen < 192, by_weekday[:, weekday_of(diary)], bits))
    chance = np.where(
        off,
        np.append(model.at_work.rest, 0.0)[who.status][:, None],
        np.append(model.at_work.weekday, 0.0)[who.status][:, None],
    )
    works = (own >> np.uint64(40)).astype(np.int64) < np.rint(chance * 2.0**24).astype(np.int64)
    shift = _lasting(_rank_of_chronotype("day plan shift", who, draws), bits >> np.uint64(8), TOP // 256)
    kind = model.kind_of_rank[who.stratum[:, None], shift * QUANTILES // TOP]
    return np.where(works, kind, np.where(off, REST, IDLE)).astype(np.int64)


def _rank_of_chronotype(aspect: str, who: Dwellers, draws: Draws) -> I64:
    """(people,) ranks that are low in morning types and high in evening types."""
    bits = draws.bits(aspect, who.numbers)
    edges = np.column_stack([np.zeros(len(CHRONOTYPE_EDGES), np.int64), CHRONOTYPE_EDGES, np.full(6, TOP)])
    group = who.stratum // 4
    low, high = edges[group, who.chronotype], edges[group, who.chronotype + 1]
    rank = (bits >> np.uint64(48)).astype(np.int64)
    inside = (bits & np.uint64(0xFFFF)).astype(np.int64) * 100 < OWN_BAND * TOP
    return np.where(inside, low + rank * (high - low) // TOP, rank)


def _lasting(rank: I64, bits: U64, jitter: int) -> I64:
    """(people, days) the person's rank with a day's jitter, or on a few days another one. Uses the lower 48 bits."""
    kept = (bits & np.uint64(0xFFFF)) < KEPT_DAYS
    stray = (bits >> np.uint64(16) & np.uint64(0xFFFF)).astype(np.int64)
    other = (bits >> np.uint64(32) & np.uint64(0xFFFF)).astype(np.int64)
    return np.where(kept, _thrown_back(rank[:, None] + (stray * 2 - TOP + 1) * jitter // TOP), other)


def _thrown_back(rank: I64) -> I64:
    """Ranks beyond an end, as far inside of it."""
    up = np.where(rank < 0, -1 - rank, rank)
    return np.where(up >= TOP, 2 * TOP - 1 - up, up)


def _chains(who: Dwellers, key: U64, kind: I64, model: DayModel, draws: Draws) -> I8:
    """(48, people x days) what each would do if neither asleep nor at work, by the chain of the kind of day."""
    people, days = kind.shape
    table = (who.stratum[:, None] * 3 + CHAIN_OF[kind]).ravel().astype(np.int32)
    lasting = draws.bits("day plan usual steps", who.numbers[:, None], np.arange(12, dtype=np.uint64)[None, :])
    state = np.empty((SLOTS, people * days), np.int8)
    threshold, other = model.step.threshold.ravel(), model.step.other.ravel()
    for quarter in range(12):
        todays = draws.bits("day plan steps", who.numbers[:, None], key[None, :] * np.uint64(12) + np.uint64(quarter))
        usual = np.repeat(lasting[:, quarter], days)
        takes_usual = todays.ravel() % np.uint64(100) < KEPT_STEPS
        four = np.where(takes_usual, usual, _mixed_low(todays.ravel())).view(np.uint16).reshape(-1, 4)
        for nth in range(4):
            slot, number = 4 * quarter + nth, four[:, nth]
            if slot == 0:
                line = table * COLUMNS
                state[0] = _alias(model.first.threshold.ravel(), model.first.other.ravel(), line, number)
                continue
            line = ((table * (SLOTS - 1) + (slot - 1)) * len(ACTIVITIES) + state[slot - 1]) * COLUMNS
            state[slot] = _alias(threshold, other, line, number)
    return state


def _mixed_low(bits: U64) -> U64:
    """The same bits with the low ones, which have decided something, folded with others."""
    return bits ^ (bits >> np.uint64(29)) * np.uint64(0x9E3779B97F4A7C15)


def _alias(threshold: U16, other: I8, line: npt.NDArray[np.int32], number: U16) -> I8:
    """(n,) one outcome each from the rows that begin at ``line``, by a number of 16 bits."""
    column = number >> np.uint16(12)
    at = line + column
    return np.where((number & np.uint16(0xFFF)) < threshold[at], column.astype(np.int8), other[at])


def _later_to_bed(off: Mask, diary: I64) -> I8:
    """(people x days) half hours by which everybody goes to bed later than usual on such a day."""
    is_off_next = np.column_stack([off[:, 1:], np.full(len(off), weekday_of(diary[-1:] + 1)[0] >= 5)])
    shift = np.where(is_off_next, BEFORE_REST, np.where(off, BEFORE_WORK, 0))
    return shift.astype(np.int8).ravel()


def _lay_over(state: I8, who: Dwellers, key: U64, kind: I64, later: I8, model: DayModel, draws: Draws) -> None:
    """Lays sleep and working windows over what people would do otherwise, in place."""
    early = _rank_of_chronotype("day plan early", who, draws)
    apart = (draws.bits("day plan late", who.numbers) >> np.uint64(48)).astype(np.int64)
    late = _thrown_back(early + (apart * 2 - TOP + 1) // 2)
    first = draws.bits("day plan mornings", who.numbers[:, None], key[None, :])
    second = draws.bits("day plan evenings", who.numbers[:, None], key[None, :])
    # Waking and beginning have one rank, and so have ending and going to bed: whoever begins early is up early.
    begins = (_lasting(early, first, JITTER) * QUANTILES // TOP).ravel()
    ends = (_lasting(late, second, JITTER) * QUANTILES // TOP).ravel()
    breaks = ((second >> np.uint64(48)).astype(np.int64) * QUANTILES // TOP).ravel()
    row = ((who.stratum[:, None] * len(model.slots[0]) + kind) * 5 * QUANTILES).ravel()
    slots = model.slots.ravel()
    wake, start = slots[row + begins], slots[row + QUANTILES + begins]
    end, bed = slots[row + 2 * QUANTILES + ends], slots[row + 3 * QUANTILES + ends]
    pause = slots[row + 4 * QUANTILES + breaks]
    wake = wake + LIE_IN * ((kind.ravel() == REST) & (wake > 0))
    bed = np.where((kind.ravel() != BY_NIGHT) & (bed < SLOTS), np.maximum(bed + later, end * (end < SLOTS)), bed)
    by_night, has_window = kind.ravel() == BY_NIGHT, (kind.ravel() >= BY_DAY) & (kind.ravel() <= BY_NIGHT)
    for slot in range(SLOTS):
        now = state[slot]
        # Those who work at night sleep and are off between two half hours, and all others sleep and are off outside.
        asleep = ((slot < wake) | (slot >= bed)) ^ by_night
        at_work = np.where(by_night, (slot < end) | (slot >= start), (slot >= start) & (slot < end)) & has_window
        now[asleep] = SLEEP
        now[at_work] = WORK
        now[at_work & (pause == slot)] = EATING
