"""What the references of time use say of a day, as tables to draw days from: one model for all people of a build."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.behaviour.day_plan import (
    ACTIVITIES,
    CARING,
    SLEEP,
    SLOTS,
    WORK,
    AliasTable,
    Windows,
    alias_table,
    chain,
    half_hours,
    night_sleep,
    slot_of_rank,
    tilted,
    to_totals,
    windows,
    working_day,
)
from schemas.behaviour.day_plan import shares as scaled
from validation.references.reader import load_reference

F64 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]

CLOCK, HOURS, PUBLISHED = "timeuse_atus_clock_weekday", "timeuse_atus_2003_2016", "timeuse_bls_published_2018"
AGES = ("15-24", "25-34", "35-44", "45-54", "55-64", "65+")
AGE_EDGES = np.array([25, 35, 45, 55, 65])
WITH_CHILDREN = np.array([0.30, 0.45, 0.65, 0.45, 0.15, 0.03])
"""Share of people of each age group with children at home. Assumed; it only says how much of the care is theirs."""
SEXES = ("male", "female")
STRATA = len(AGES) * len(SEXES) * 2
KINDS = ("office", "day", "evening", "night", "idle", "rest")
"""Kinds of diary days: a working day without a window, with one by day, evening or night; a weekday without work; a day
of rest without work."""
FREE, BY_DAY, BY_EVENING, BY_NIGHT, IDLE, REST = range(6)
CHAIN_OF = np.array([0, 0, 0, 0, 1, 2])
"""(6,) which chain a kind of day takes: of working days, of idle weekdays, of rest."""
RESTLESSNESS = 1.0
"""Factor of how soon people leave an activity, fitted to the episodes a day of the reference."""
NO_SLOT = 49
_WEEKEND_HOURS = {
    "Sports, Exercise, and Recreation": "Participating in sports, exercise, and recreation (includes related waiting"
    " and security)",
    "Sleep": "Sleeping",
    "Household Activities": "Household activities (includes travel)",
    "Work": "Working and work-related activities (includes travel)",
    "Professional & Personal Care Services": "Professional and personal care services",
    "Eating and Drinking": "Eating and drinking (includes travel)",
    "Caring For Household Member": "Caring for and helping household members (includes travel)",
    "Consumer Purchases": "Consumer goods purchases",
    "Caring For Nonhousehold Members": "Caring for and helping nonhousehold members (includes travel)",
    "Education": "Educational activities",
    "Volunteer": "Volunteering (organizational and civic activities)",
    "Religious and Spiritual": "Religious and spiritual activities",
}
"""Activities of the reference by clock hour, as the published hours call them."""


class AtWork(NamedTuple):
    """How probable it is that somebody works on a day: (2,) of the employed who are at work and of those absent."""

    weekday: F64
    rest: F64
    employed: float
    """On a weekday, of both together."""


class DayModel(NamedTuple):
    """Tables by stratum (`stratum_of`) and kind of day."""

    at_work: AtWork
    kind_of_rank: I8
    """(strata, 1024) the kind of a working day of somebody with that rank between early and late shifts."""
    slots: I8
    """(strata, kinds, 5, 1024) half hours of waking, beginning work, ending it, bed and of the break, by rank."""
    first: AliasTable
    """(strata, 3, 16) the activity at 4:00 by chain."""
    step: AliasTable
    """(strata, 3, 47, 15, 16) the next activity by chain, half hour and activity."""


def stratum_of(age: I64, is_male: npt.NDArray[np.bool_], has_children: npt.NDArray[np.bool_]) -> I64:
    """(people,) the stratum of the tables: age group, sex, and whether children live at home."""
    group = np.searchsorted(AGE_EDGES, age, side="right")
    return np.asarray((group * 2 + ~is_male) * 2 + has_children, dtype=np.int64)


@cache
def day_model() -> DayModel:
    """The model of the references of this project, which takes a moment to make and is kept."""
    at_work = _at_work()
    working, idle, rest = _by_stratum(at_work)
    layers = windows(working)
    parts = [layers.rest, _without_night(idle), _without_night(rest)]
    following = _following()
    made = chain(np.stack(parts, axis=1).reshape(-1, SLOTS, len(ACTIVITIES)), _leaving(), following)
    step = made.step.reshape(STRATA, 3, SLOTS - 1, len(ACTIVITIES), len(ACTIVITIES))
    first = made.shares[:, 0].reshape(STRATA, 3, len(ACTIVITIES))
    kinds, slots = _slots(layers, idle, rest)
    return DayModel(at_work, kinds, slots, alias_table(first), alias_table(step))


def age_shares() -> F64:
    """(6,) shares of the age groups among the people of the reference by clock hour."""
    source = load_reference(CLOCK)
    return scaled(np.array([source.table("activity_share_at_hour", f"weekday|age={age}").n for age in AGES], float))


def employment_by_age() -> F64:
    """(6,) share of employed people in each age group, as `_employment_rate` has it."""
    return np.array([_employment_rate(f"weekday|age={age}") for age in AGES])


def _clock(stratum: str) -> F64:
    """(24, 15) shares of people by clock hour."""
    values = load_reference(CLOCK).shares("activity_share_at_hour", stratum)
    return np.array([[values[f"{hour:02d}|{name}"] for name in ACTIVITIES] for hour in range(24)])


def _at_work() -> AtWork:
    """Shares of those who work on the diary day; at weekends as much rarer as there are fewer hours of work, since our
    windows are as long on every day."""
    source = load_reference(HOURS)
    statuses = ("labor=employed-at work", "labor=employed-absent")
    tables = [source.table("participation_rate", f"nonholiday weekday|{status}") for status in statuses]
    weekday = np.array([dict(zip(table.bins, table.values, strict=True))["work"] for table in tables])
    hours = [
        [source.shares("time_use_share", f"{day}|{status}")["work"] for status in statuses]
        for day in ("nonholiday weekday", "weekend/holiday")
    ]
    weight = np.array([table.n for table in tables])
    return AtWork(
        weekday, weekday * np.array(hours[1]) / np.array(hours[0]), float((weekday * weight).sum() / weight.sum())
    )


def _employment_rate(stratum: str = "weekday") -> float:
    """Share of employed people in a stratum, by how much of the employed's work is done in it."""
    employed, idle, seen = (
        float(_clock(name)[:, WORK].sum()) for name in ("weekday|employed", "weekday|not employed", stratum)
    )
    return min(1.0, max(0.0, (seen - idle) / (employed - idle)))


def _by_stratum(at_work: AtWork) -> tuple[F64, F64, F64]:
    """(strata, 48, 15) shares of working days, idle weekdays and days of rest without work.

    The reference tells employment, age and sex one by one. Within the employed, and within the others, an age or a sex
    is as much more at something as it is than is explained by how many of it are employed.
    """
    employed, idle = half_hours(_clock("weekday|employed")), half_hours(_clock("weekday|not employed"))
    pooled_working, pooled_idle = employed, idle
    care = _care_with_and_without_children()
    out: list[tuple[F64, F64]] = []
    for age, with_children in zip(AGES, WITH_CHILDREN, strict=True):
        for sex in SEXES:
            both = []
            for base in (employed, idle):
                made = base
                for name in (f"weekday|age={age}", f"weekday|sex={sex}"):
                    rate = _employment_rate(name)
                    made = tilted(made, half_hours(_clock(name)), rate * employed + (1 - rate) * idle)
                both.append(made)
            mean = with_children * care[1] + (1 - with_children) * care[0]
            for own in care:
                factor = np.ones(len(ACTIVITIES))
                factor[CARING] = own / mean
                out.append((scaled(both[0] * factor), scaled(both[1] * factor)))
    on = np.stack([working_day(one, other, at_work.employed) for one, other in out])
    off = np.stack([other for _, other in out])
    return on, off, np.stack([_rested(one, pooled_idle, pooled_working, at_work) for one in off])


def _care_with_and_without_children() -> tuple[float, float]:
    """Share of the day spent on care of people of the household, without and with children there."""
    source = load_reference(HOURS)
    without, with_them = (
        source.shares("time_use_share", f"nonholiday weekday|children_in_household={answer}")["care_household"]
        for answer in ("no", "yes")
    )
    return without, with_them


def _rested(own: F64, idle: F64, employed: F64, at_work: AtWork) -> F64:
    """(48, 15) shares of a day of rest, from those of an idle weekday.

    No reference tells weekends by clock hour. Assumed: a day of rest is an idle weekday with each activity's shares
    raised or lowered alike at all hours, so that all people together come to the weekday's hours of the reference times
    the ratio of the published hours of weekends and weekdays.
    """
    rate = _employment_rate()
    on = working_day(employed, idle, at_work.employed).mean(axis=0)
    weekday = half_hours(_clock("weekday")).mean(axis=0)
    working = rate * at_work.rest[0]
    wanted = scaled(np.maximum((scaled(weekday * _weekend_ratio()) - working * on) / (1 - working), weekday * 0.02))
    return scaled(own * to_totals(idle, wanted))


def _weekend_ratio() -> F64:
    """(15,) published hours of each activity at weekends over those of weekdays."""
    source = load_reference(PUBLISHED)
    weekday, weekend = (
        source.shares("hours_per_day", day) for day in ("Nonholiday weekdays", "Weekend days and holidays")
    )
    sports = _WEEKEND_HOURS[ACTIVITIES[0]]

    def ratio(name: str) -> float:
        if name in _WEEKEND_HOURS:
            return weekend[_WEEKEND_HOURS[name]] / weekday[_WEEKEND_HOURS[name]]
        here, there = (
            {
                "Personal Care": hours["Personal care activities (includes travel)"] - hours["Sleeping"],
                "Socializing, Relaxing, and Leisure": hours["Leisure and sports (includes travel)"] - hours[sports],
                "Other": hours["Telephone calls, mail, and e-mail (includes travel)"]
                + hours["Other activities, not elsewhere classified (includes misc. travel and data codes)"],
            }[name]
            for hours in (weekday, weekend)
        )
        return there / here

    return np.array([ratio(name) for name in ACTIVITIES])


def _without_night(day: F64) -> F64:
    rest = day.copy()
    rest[..., SLEEP] -= night_sleep(day[..., SLEEP])
    return np.maximum(rest, 0.0)


def _following() -> F64:
    """(15, 15) what comes after what."""
    source = load_reference(CLOCK)
    out = np.zeros((len(ACTIVITIES), len(ACTIVITIES)))
    for row, name in enumerate(ACTIVITIES):
        known = source.shares("next_activity_probability", f"from={name}")
        out[row] = [known.get(other, 0.0) for other in ACTIVITIES]
    return out


def _leaving() -> F64:
    """(15,) share of those at an activity who are at another half an hour later: changes over half hours, by the counts
    of the reference, night's sleep and working windows aside."""
    source = load_reference(CLOCK)
    people = source.table("activity_share_at_hour", "weekday").n
    hours = _clock("weekday").sum(axis=0)
    changes = [source.table("next_activity_probability", f"from={name}").n for name in ACTIVITIES]
    rate = np.array(changes) / people / (2 * hours)
    rate[SLEEP] = 0.4  # naps, of about an hour (assumed)
    rate[WORK] = 0.3  # work outside a window (assumed)
    return np.minimum(RESTLESSNESS * rate, 0.95)


def _slots(layers: Windows, idle: F64, rest: F64) -> tuple[I8, I8]:
    """The kinds of working days by rank, and the half hours of all kinds of days by rank."""
    day, late, night = (layer.max(axis=-1) for layer in (layers.day, layers.evening, layers.night))
    steps = (np.arange(1024) + 0.5) / 1024
    edges = np.stack([day, 1 - late - night, 1 - night], axis=1)
    code = np.array([BY_DAY, FREE, BY_EVENING, BY_NIGHT], dtype=np.int8)
    kinds = code[(np.round(edges, 9)[:, :, None] <= steps).sum(axis=1)]
    asleep = layers.sleep / (1 - night)[:, None]
    evening_share = late / (1 - night)
    slots = np.zeros((STRATA, len(KINDS), 5, 1024), np.int8)
    slots[:, :, 1:3], slots[:, :, 4] = NO_SLOT, NO_SLOT
    for kind in (FREE, BY_DAY, BY_EVENING):
        low, high = (1 - evening_share, 1.0) if kind == BY_EVENING else (0.0, 1 - evening_share)
        slots[:, kind, 0], slots[:, kind, 3] = _sleep_slots(asleep, low, high)
    for kind, all_day in ((IDLE, idle), (REST, rest)):
        slots[:, kind, 0], slots[:, kind, 3] = _sleep_slots(night_sleep(all_day[..., SLEEP]), 0.0, 1.0)
    for kind, layer in ((BY_DAY, layers.day), (BY_EVENING, layers.evening)):
        slots[:, kind, 1], slots[:, kind, 2] = _inside(layer)
    slots[:, BY_NIGHT, 0], slots[:, BY_NIGHT, 3] = _inside(layers.sleep_by_day)
    outside = 1 - layers.night / np.maximum(night, 1e-9)[:, None]
    slots[:, BY_NIGHT, 2] = slot_of_rank(np.where(np.arange(SLOTS) < SLOTS // 2, outside, 1.0))
    slots[:, BY_NIGHT, 1] = slot_of_rank(np.where(np.arange(SLOTS) < SLOTS // 2, 0.0, 1 - outside))
    broken = np.cumsum(layers.pause / np.maximum(layers.day, 0.05), axis=-1)
    slots[:, BY_DAY, 4] = slot_of_rank(broken / np.maximum(broken[:, -1:], 1.0))
    return kinds, slots


def _sleep_slots(asleep: F64, low: F64 | float, high: F64 | float) -> tuple[I8, I8]:
    """Half hours of waking and of going to bed, by rank."""
    is_morning = np.arange(SLOTS) < SLOTS // 2
    return (
        slot_of_rank(np.where(is_morning, 1 - asleep, 1.0), low, high),
        slot_of_rank(np.where(is_morning, 0.0, asleep), low, high),
    )


def _inside(layer: F64) -> tuple[I8, I8]:
    """Half hours at which a window begins and ends, by rank, from the share of people inside."""
    share = layer / np.maximum(layer.max(axis=-1, keepdims=True), 1e-9)
    peak = share.argmax(axis=-1)[..., None]
    before = np.arange(SLOTS) <= peak
    return slot_of_rank(np.where(before, share, 1.0)), slot_of_rank(np.where(before, 0.0, 1 - share))
