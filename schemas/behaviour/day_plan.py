"""What people do on a day, half hour by half hour: plain arithmetic on shares of people, without a draw.

A day here is a diary day, from 4:00 to 4:00 in 48 half hours, as diaries of time use are kept. It is made of three
layers whose shares add up to those of the reference by construction:

- night's sleep, from falling asleep to waking, and for those who work at night a sleep by day;
- a working window, from beginning to end, of the day, the evening or the night, with a break in it;
- what is left of the shares, the rest of the day, as a chain of activities whose shares in each half hour are given.

A layer of the first two kinds is a distribution of beginnings and one of ends: where all begin before any ends, the
share of people inside is met however beginning and end hang together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int8]
U16 = npt.NDArray[np.uint16]

SLOTS = 48
SLOTS_AFTER_MIDNIGHT = 8
"""Half hours of a diary day that lie before 4:00 of the next."""
ACTIVITIES = (
    "Sports, Exercise, and Recreation",
    "Personal Care",
    "Sleep",
    "Socializing, Relaxing, and Leisure",
    "Household Activities",
    "Work",
    "Professional & Personal Care Services",
    "Eating and Drinking",
    "Caring For Household Member",
    "Consumer Purchases",
    "Other",
    "Caring For Nonhousehold Members",
    "Education",
    "Volunteer",
    "Religious and Spiritual",
)
"""As the reference names and orders them."""
SLEEP, WORK, EATING, CARING, EDUCATION = 2, 5, 7, 8, 12
PLACES = ("asleep", "at_work", "at_home", "out")
PLACE_OF = np.array([3, 2, 0, 2, 2, 1, 3, 2, 2, 3, 3, 3, 1, 3, 3], dtype=np.int8)
"""(15,) where each activity is done, as a position in `PLACES`. Assumed: school counts as work, meals are at home, and
`Other`, which has the ways from place to place in it, is out."""
QUANTILES = 1024
"""Steps of the tables that turn a rank into a half hour."""
COLUMNS = 16
"""Columns of an alias table: the activities and one that is never chosen."""
GRID = 4096
"""Steps within a column of an alias table."""


class Windows(NamedTuple):
    """Of a working day, (..., 48): shares of people inside each layer. ``rest`` (..., 48, 15) is what is left."""

    sleep: F64
    sleep_by_day: F64
    day: F64
    evening: F64
    night: F64
    pause: F64
    rest: F64


class Chain(NamedTuple):
    """A chain over activities: (classes, 48, 15) shares, and for all half hours but the last (classes, 47, 15, 15)
    how probable each activity is after each."""

    shares: F64
    step: F64


class AliasTable(NamedTuple):
    """Rows of probabilities over 15 activities, to be drawn from with one number of 16 bits: see `alias_table`."""

    threshold: U16
    other: I8


def half_hours(hourly: F64) -> F64:
    """(..., 48, k) shares from 4:00 on, from (..., 24, k) by clock hour: sloped within it, with its mean."""
    before, after = np.roll(hourly, 1, axis=-2), np.roll(hourly, -1, axis=-2)
    slope = np.clip((after - before) / 8, -hourly, hourly)
    both = np.stack([hourly - slope, hourly + slope], axis=-2)
    flat = both.reshape(*hourly.shape[:-2], SLOTS, hourly.shape[-1])
    return shares(np.roll(flat, -SLOTS_AFTER_MIDNIGHT, axis=-2))


def shares(amounts: F64) -> F64:
    """Scaled to sum to 1 along the last axis."""
    return np.asarray(amounts / amounts.sum(axis=-1, keepdims=True))


def tilted(base: F64, seen: F64, expected: F64, softness: float = 0.002) -> F64:
    """Shares of a group within a group: those of ``base`` times how much more than expected the other group does.

    ``softness`` keeps activities that next to nobody does at that hour from being multiplied by noise.
    """
    return shares(base * (seen + softness) / (expected + softness))


def working_day(employed: F64, idle: F64, at_work: float) -> F64:
    """Shares on days of work, if ``employed`` is the mean of a share ``at_work`` of such days and days like ``idle``."""
    return shares(np.maximum(employed - (1 - at_work) * idle, 0.0) / at_work)


def to_totals(base: F64, totals: F64, rounds: int = 60) -> F64:
    """(15,) factors of the activities by which the shares (48, 15) take up the given (15,) share of the day each."""
    factor = np.ones(base.shape[-1])
    for _ in range(rounds):
        factor = factor * totals / np.maximum(shares(base * factor).mean(axis=0), 1e-9)
    return factor


def falling(values: F64) -> F64:
    """The largest curve not above the given one that never rises along the last axis."""
    return np.asarray(np.minimum.accumulate(values, axis=-1))


def rising(values: F64) -> F64:
    """The largest curve not above the given one that never falls along the last axis."""
    return np.asarray(falling(values[..., ::-1])[..., ::-1])


def night_sleep(asleep: F64) -> F64:
    """(..., 48) share in the night's sleep: falls to nothing in the afternoon and rises again.

    What people sleep in the afternoon and never wake from that day cannot be night's sleep; it is left for naps.
    """
    middle = SLOTS // 2
    morning, evening = falling(asleep[..., :middle]), rising(asleep[..., middle:])
    base_morning, base_evening = morning[..., -1:], evening[..., :1]
    top_morning, top_evening = morning[..., :1], evening[..., -1:]
    morning = (morning - base_morning) * top_morning / np.maximum(top_morning - base_morning, 1e-9)
    evening = (evening - base_evening) * top_evening / np.maximum(top_evening - base_evening, 1e-9)
    return np.concatenate([morning, evening], axis=-1)


def windows(day: F64) -> Windows:
    """The layers of a working day with shares (..., 48, 15).

    Assumed, as the reference tells no shifts: as many work at night as are at work at the hour when fewest are, from
    between 21:00 and 24:00 to between 5:00 and 8:00, and sleep from about 9:30 to about 15:30; of the others who are at
    work after 20:00, four in five began between 13:00 and 17:00; the break of a working day is the dip around noon.
    """
    slot = np.arange(SLOTS)
    asleep, at_work, eating = day[..., SLEEP], day[..., WORK], day[..., EATING]
    share = np.minimum(
        at_work[..., 40:].min(axis=-1), np.minimum(at_work[..., :2].min(axis=-1), asleep[..., 9:26].min(axis=-1))
    )
    night = share[..., None] * np.clip(np.maximum((8 - slot) / 6, (slot - 33) / 6), 0.0, 1.0)
    night = np.minimum(night, at_work)
    by_day = share[..., None] * np.clip(np.minimum((slot - 8) / 4, (26 - slot) / 4), 0.0, 1.0)
    late = 0.8 * falling((at_work - night)[..., 32:])
    before = np.clip((slot[:32] - 17) / 8, 0.0, 1.0) * late[..., :1]
    evening = np.minimum(np.concatenate([before, late], axis=-1), at_work - night)
    left = at_work - night - evening
    filled = np.minimum(
        np.maximum.accumulate(left, axis=-1), np.maximum.accumulate(left[..., ::-1], axis=-1)[..., ::-1]
    )
    noon = 17
    up_to = left + np.where((slot >= 12) & (slot < 24), np.minimum(filled - left, 0.8 * eating), 0.0)
    by_daylight = np.concatenate([rising(up_to[..., :noon]), falling(up_to[..., noon:])], axis=-1)
    by_daylight = np.minimum(by_daylight, by_daylight[..., noon - 1 : noon + 1].min(axis=-1, keepdims=True))
    pause = np.maximum(by_daylight - left, 0.0)
    sleep = night_sleep(asleep - by_day)
    rest = day.copy()
    rest[..., SLEEP] -= sleep + by_day
    rest[..., WORK] -= night + evening + by_daylight - pause
    rest[..., EATING] -= pause
    return Windows(sleep, by_day, by_daylight, evening, night, pause, np.maximum(rest, 0.0))


def slot_of_rank(reached: F64, low: F64 | float = 0.0, high: F64 | float = 1.0) -> I8:
    """(..., 1024) the first half hour at which the share (..., 48) that has begun exceeds a rank; 48 where none does.

    The ranks are the middles of 1024 equal steps from ``low`` to ``high``, given by row or for all.
    """
    step = (np.arange(QUANTILES) + 0.5) / QUANTILES
    low_, high_ = np.asarray(low)[..., None], np.asarray(high)[..., None]
    rank = np.round(low_ + (high_ - low_) * step, 9)
    steady = np.round(np.maximum.accumulate(reached, axis=-1), 9)
    found = np.zeros((*np.broadcast_shapes(reached.shape[:-1], rank.shape[:-1]), QUANTILES), np.int8)
    for slot in range(SLOTS):
        found += steady[..., slot, None] <= rank
    return found


def chain(rest: F64, leaving: F64, following: F64, rounds: int = 20) -> Chain:
    """The chain with the shares of ``rest`` (classes, 48, 15) in which activities follow each other as people's do.

    ``leaving`` (15,) is the share of those at an activity who do something else half an hour later, raised where the
    share of the activity falls faster. ``following`` (15, 15) says what comes after what, with nothing on the diagonal;
    it is fitted to who leaves and who enters by proportional fitting, where a little on the diagonal leaves room for an
    activity that nearly all are at.
    """
    at = shares(rest + 1e-6)
    now, then = at[:, :-1], at[:, 1:]
    leave = np.minimum(np.maximum(now - then, now * leaving), now)
    enter = then - now + leave
    kernel = following + 0.02 * np.eye(len(following))
    left, right = np.ones_like(leave), np.ones_like(enter)
    for _ in range(rounds):
        left = leave / np.maximum((kernel * right[..., None, :]).sum(axis=-1), 1e-12)
        right = enter / np.maximum((kernel * left[..., :, None]).sum(axis=-2), 1e-12)
    flow = left[..., :, None] * kernel * right[..., None, :]
    stay = np.maximum(now - flow.sum(axis=-1), 0.0)
    flow += stay[..., :, None] * np.eye(at.shape[-1])
    return Chain(at, shares(flow))


def alias_table(rows: F64) -> AliasTable:
    """Tables (..., 16) for drawing from rows of 15 probabilities by Walker's method, on a grid of 2**-16.

    A number of 16 bits names a column with its upper four; if its lower twelve are below the column's threshold, the
    column is the outcome, and else the column's other one. Walker, "An efficient method for generating discrete random
    variables with general distributions", ACM TOMS 3 (1977) 253; filled in the order of Vose (1991).
    """
    flat = rows.reshape(-1, rows.shape[-1])
    whole = np.zeros((len(flat), COLUMNS), np.int64)
    upto = np.round(np.cumsum(flat, axis=1) / flat.sum(axis=1, keepdims=True), 9) * (COLUMNS * GRID)
    whole[:, : flat.shape[1]] = np.diff(np.rint(upto).astype(np.int64), axis=1, prepend=0)
    threshold, other = np.full((len(flat), COLUMNS), GRID), np.tile(np.arange(COLUMNS), (len(flat), 1))
    line, open_ = np.arange(len(flat)), np.ones((len(flat), COLUMNS), bool)
    for _ in range(COLUMNS - 1):
        small = np.where(open_, whole, COLUMNS * GRID + 1).argmin(axis=1)
        large = np.where(open_, whole, -1).argmax(axis=1)
        threshold[line, small] = np.minimum(whole[line, small], GRID)
        other[line, small] = large
        whole[line, large] -= GRID - threshold[line, small]
        open_[line, small] = False
    shape = (*rows.shape[:-1], COLUMNS)
    return AliasTable(threshold.astype(np.uint16).reshape(shape), other.astype(np.int8).reshape(shape))
