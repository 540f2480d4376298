"""Sessions: someone opens an app, looks, chooses among options once or several times, and is done."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR, MINUTE, SECOND, to_utc
from flows.common.draws import Draws, categorical, normal
from flows.common.pace import steps_us
from flows.timelines.choices import choosing, last_choice
from flows.timelines.parts import CLOSE, PLACES, REVIEW, SEARCH, Content, Part, code_of, part_of, skeleton
from flows.timelines.rhythm import Sittings, sittings, within
from flows.timelines.setting import Doing, People, Setting, Span, local_us
from schemas.activities import SessionActivity, Stay
from schemas.behaviour.volume import by_quantiles

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
AGAIN = np.uint64(1 << 40)
"""Added to the key of a session that follows another within minutes."""
CHECK_IN, CHECK_OUT = 15 * HOUR, 11 * HOUR
"""Local times at which what is booked begins and ends: assumed."""


def plan(doing: Doing, activity: SessionActivity, setting: Setting) -> Part:
    """Sessions with the skeleton of their lines: search, choices, close, review."""
    aspect, draws, people = doing.aspect, setting.draws, setting.people
    some = _with_repeats(sittings(doing, activity, people, setting.span, draws), activity, aspect, setting)
    who = people.numbers[some.person]
    every = np.arange(who.size)
    counts = np.array([int(n) for n in activity.lines])
    choices = counts[categorical(draws.uniform(f"{aspect} lines", who, some.key), list(activity.lines.values()))]
    nth = np.arange(choices.sum()) - np.repeat(np.cumsum(choices) - choices, choices)
    searches = every[draws.uniform(f"{aspect} search", who, some.key) < activity.search]
    reviews = every[draws.uniform(f"{aspect} review", who, some.key) < activity.review]
    closes = every[_can_close(doing, activity, setting)[some.person]]
    session, place = skeleton(
        [
            (searches, np.full(searches.size, SEARCH)),
            (np.repeat(every, choices), nth),
            (closes, np.full(closes.size, CLOSE)),
            (reviews, np.full(reviews.size, REVIEW)),
        ]
    )
    step = line_steps(f"{aspect} step", who[session], some.key[session], place, activity.seconds_per_step, draws)
    return part_of(aspect, np.full(who.size, doing.place), *some, session, place, step)


def line_steps(aspect: str, who: U64, key: U64, place: I64, median_s: float, draws: Draws) -> I64:
    """(n,) microseconds before each line, by the session's key and the place in it."""
    return steps_us(draws.uniform(aspect, who, key * PLACES + place.astype(np.uint64)), median_s)


def fill(part: Part, doing: Doing, activity: SessionActivity, setting: Setting) -> Content:
    """Content of the lines, with the closing ones and what bookings are for."""
    content = choosing(part, doing, activity, setting)
    close = np.flatnonzero(part.lines.place == CLOSE)
    if activity.stay is not None:
        _book(part, content, doing.aspect, activity.stay, setting)
    if activity.close is None or close.size == 0:
        return content
    session = part.lines.session[close]
    content.action[close] = code_of(activity.close)
    if activity.close_with == "choice":
        content.item[close] = last_choice(part, content)[session]
        if doing.has_price:
            begins = setting.things.begins[doing.domain.name]
            content.price_cents[close] = setting.things.catalogue[doing.domain.name].price_cents[
                content.item[close] - begins
            ]
    elif activity.close_with == "nothing":
        if doing.has_price:
            cost = content.price_cents[content.shown] * content.quantity[content.shown]
            total = np.bincount(part.lines.session[content.shown], weights=cost, minlength=part.person.size)
            content.price_cents[close] = total.astype(np.int64)[session]
    else:
        who, key = setting.people.numbers[part.person[session]], part.key[session]
        uniform = setting.draws.uniform(f"{doing.aspect} {activity.close_with}", who, key)
        content.item[close] = setting.things.own[doing.domain.name, activity.close_with].taken(
            part.person[session], uniform
        )
    return content


def _with_repeats(some: Sittings, activity: SessionActivity, aspect: str, setting: Setting) -> Sittings:
    """The sittings, and those that follow one within minutes."""
    who = setting.people.numbers[some.person]
    again = some.where(setting.draws.uniform(f"{aspect} again", who, some.key) < activity.again_soon)
    uniform = setting.draws.uniform(f"{aspect} again after", setting.people.numbers[again.person], again.key)
    wait = np.round(np.exp(normal(uniform)) * activity.again_minutes * 60).astype(np.int64) * SECOND + 2 * MINUTE
    both = zip(some, (again.person, again.key + AGAIN, again.start_us + wait), strict=True)
    return within(Sittings(*(np.concatenate(column) for column in both)), setting.people, setting.span)


def _can_close(doing: Doing, activity: SessionActivity, setting: Setting) -> npt.NDArray[np.bool_]:
    """(people,) whether each ends sessions with a line of its own: who has nothing to name does not."""
    count = setting.people.numbers.size
    if activity.close is None:
        return np.zeros(count, bool)
    if activity.close_with in ("nothing", "choice"):
        return np.ones(count, bool)
    return setting.things.own[doing.domain.name, activity.close_with].has > 0


def _book(part: Part, content: Content, aspect: str, stay: Stay, setting: Setting) -> None:
    """Writes into the choices when what is booked begins and ends, and for how many it is."""
    line = content.shown
    person, key, people = part.person[part.lines.session[line]], part.line_keys(line), setting.people
    lead, nights, party = (
        setting.draws.uniform(f"{aspect} {what}", people.numbers[person], key) for what in ("lead", "nights", "party")
    )
    content.starts_us[line], content.ends_us[line] = stays(
        part.at_us[line],
        person,
        np.rint(by_quantiles(stay.lead_days, lead)).astype(np.int64),
        np.maximum(1, np.rint(by_quantiles(stay.nights, nights)).astype(np.int64)),
        people,
        setting.span,
    )
    sizes = np.array([int(size) for size in stay.party])
    content.quantity[line] = sizes[categorical(party, list(stay.party.values()))]


def stays(at_us: I64, person: I64, lead_days: I64, nights: I64, people: People, span: Span) -> tuple[I64, I64]:
    """(n,) instants of check-in and check-out, on wall clocks; a check-in of the same day that is past is tomorrow's."""
    clock = local_us(at_us, person, people, span)
    day = clock // DAY + lead_days
    day += day * DAY + CHECK_IN <= clock
    years = 1 + int((lead_days + nights).max(initial=0)) // 365
    around, zone = (span.around[0], span.around[1] + years * 366 * DAY), people.zone[person]
    begins, ends = day * DAY + CHECK_IN, (day + nights) * DAY + CHECK_OUT
    return to_utc(begins, zone, people.zones, around), to_utc(ends, zone, people.zones, around)
