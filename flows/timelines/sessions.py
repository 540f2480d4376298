"""Sessions: someone opens an app, looks, chooses among options once or several times, and is done."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws, categorical
from flows.common.pace import steps_us
from flows.timelines.booked import line_key
from flows.timelines.choices import choosing, last_choice, taking
from flows.timelines.parts import (
    CLOSE,
    COMPARE,
    PLACES,
    REVIEW,
    SEARCH,
    VIEW,
    Content,
    Part,
    code_of,
    part_of,
    skeleton,
)
from flows.timelines.rhythm import sittings
from flows.timelines.setting import Doing, Setting
from schemas.activities import SessionActivity, Stay

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


def plan(doing: Doing, activity: SessionActivity, setting: Setting) -> Part:
    """Sessions with the skeleton of their lines: search, choices, close, review."""
    aspect, draws, people = doing.aspect, setting.draws, setting.people
    some = sittings(doing, activity, people, setting.span, draws)
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
            _steps_to_choices(doing, activity, np.repeat(every, choices), nth, who, some.key, draws),
            (closes, np.full(closes.size, CLOSE)),
            (reviews, np.full(reviews.size, REVIEW)),
        ]
    )
    step = line_steps(f"{aspect} step", who[session], some.key[session], place, activity.seconds_per_step, draws)
    return part_of(aspect, np.full(who.size, doing.place), *some, session, place, step)


def _steps_to_choices(
    doing: Doing, activity: SessionActivity, session: I64, nth: I64, who: U64, key: U64, draws: Draws
) -> tuple[I64, I64]:
    """Sessions and places of the choices and of what comes before them: comparing, and a look at the thing by itself."""
    sessions, places = [session], [nth]
    for what, share, base in (("compare", activity.compare, COMPARE), ("view", activity.view, VIEW)):
        if share > 0:
            lines = key[session] * PLACES + nth.astype(np.uint64)
            here = draws.uniform(f"{doing.aspect} {what}", who[session], lines) < share
            sessions.append(session[here])
            places.append(nth[here] + base)
    return np.concatenate(sessions), np.concatenate(places)


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
            line = taking(part)
            cost = content.price_cents[line] * content.quantity[line]
            total = np.bincount(part.lines.session[line], weights=cost, minlength=part.person.size)
            content.price_cents[close] = total.astype(np.int64)[session]
    else:
        who, key = setting.people.numbers[part.person[session]], part.key[session]
        uniform = setting.draws.uniform(f"{doing.aspect} {activity.close_with}", who, key)
        content.item[close] = setting.things.own[doing.domain.name, activity.close_with].favoured(
            part.person[session], uniform
        )
    return content


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
    line, people = taking(part), setting.people
    session = part.lines.session[line]
    person, key = part.person[session], line_key(part.name, part.key[session], part.lines.place[line])
    assert setting.stays is not None, "stays are known before anything is filled"
    row = setting.stays.rows_of(person, key)
    content.starts_us[line], content.ends_us[line] = setting.stays.starts_us[row], setting.stays.ends_us[row]
    party = setting.draws.uniform(f"{aspect} party", people.numbers[person], part.line_keys(line))
    sizes = np.array([int(size) for size in stay.party])
    content.quantity[line] = sizes[categorical(party, list(stay.party.values()))]
