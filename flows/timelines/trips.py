"""Trips: someone leaves for a place chosen among options, arrives, stays, and goes on or comes back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.away import is_away
from flows.common.clock import HOUR, SECOND
from flows.common.pace import steps_us
from flows.timelines.choices import choosing
from flows.timelines.parts import BACK, REVIEW, SEARCH, SOURCES, Content, Part, moved, part_of, skeleton, together
from flows.timelines.rhythm import Sittings, is_within, sittings
from flows.timelines.sessions import line_steps
from flows.timelines.setting import Doing, Setting
from schemas.activities import TripActivity
from schemas.behaviour.effective import NEVER

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
THERE = 0
"""Place of the line of arrival at what was chosen."""
BACK_KEY = np.uint64(1 << 41)
"""Added to the key of a trip for the session in which one comes back."""


def plan(doing: Doing, activity: TripActivity, setting: Setting) -> Part:
    """A session for each arrival: search, way, arrival and stars; and one in which the person comes back, if they do.

    Who arrives somewhere else before they could be back goes on from where they are.
    """
    aspect, draws, people = doing.aspect, setting.draws, setting.people
    some = _in_time(sittings(doing, activity, people, setting.span, draws))
    who = people.numbers[some.person]
    way = steps_us(draws.uniform(f"{aspect} way", who, some.key), 60 * activity.travel_minutes)
    stay = steps_us(draws.uniform(f"{aspect} stay", who, some.key), 60 * activity.stay_minutes)
    if people.away is not None:
        here = ~is_away(people.away, some.person, some.start_us - way, some.start_us + stay + way)
        some, who, way, stay = some.where(here), who[here], way[here], stay[here]
    since = _since_last(some)
    way_there = np.where(since < 2 * way, np.maximum(since // 2 // SECOND * SECOND, SECOND), way)
    out = _way_there(doing, activity, some, way_there, since, setting)
    home_at = some.start_us + stay + way
    leaves_next = np.append(some.start_us[1:] - way_there[1:], NEVER)
    leaves_next[np.append(some.person[1:] != some.person[:-1], True)[: some.person.size]] = NEVER
    goes_back = np.flatnonzero(home_at < leaves_next)
    back = part_of(
        aspect,
        np.full(goes_back.size, doing.place),
        some.person[goes_back],
        some.key[goes_back] + BACK_KEY,
        (some.start_us + stay)[goes_back],
        np.arange(goes_back.size),
        np.full(goes_back.size, BACK),
        way[goes_back],
    )
    both = together(out, back)
    return moved(both, both.start_us, is_within(both.start_us, both.person, people, setting.span))


def _in_time(some: Sittings) -> Sittings:
    """The sittings in order of person and time."""
    return some.where(np.lexsort((some.start_us, some.person)))


def _since_last(some: Sittings) -> I64:
    """(n,) microseconds since the person's sitting before, of sittings in order; ``NEVER`` for the first."""
    since = np.diff(some.start_us, prepend=0)
    since[np.diff(some.person, prepend=-1) != 0] = NEVER
    return since


def fill(part: Part, doing: Doing, activity: TripActivity, setting: Setting) -> Content:
    """Content of the lines, with those of coming back, always to the same place."""
    content = choosing(part, doing, activity, setting, goes_on=_goes_on(part))
    back = np.flatnonzero(part.lines.place == BACK)
    own = setting.things.own[doing.domain.name, activity.back_to]
    content.item[back] = own.usual(part.person[part.lines.session[back]])
    content.source[back] = SOURCES.index(
        "import"
    )  # the phone notices; people log where they go, not that they are home
    return content


def _goes_on(part: Part) -> Mask:
    """(sessions,) whether the person sets out from where they went last, without coming home before: to another place."""
    is_back = np.zeros(part.person.size, bool)
    is_back[part.lines.session[part.lines.place == BACK]] = True
    order = np.lexsort((part.start_us, part.person))
    same = np.append(False, part.person[order][1:] == part.person[order][:-1])[: order.size]
    goes_on = np.zeros(part.person.size, bool)
    goes_on[order] = same & ~is_back[order] & ~np.append(False, is_back[order][:-1])[: order.size]
    return goes_on


def _way_there(doing: Doing, activity: TripActivity, some: Sittings, way: I64, since: I64, setting: Setting) -> Part:
    """The sessions of setting out. The reference tells when people arrive, so they begin earlier by what comes before.

    Who arrived somewhere shortly before does not search first.
    """
    aspect, draws = doing.aspect, setting.draws
    who = setting.people.numbers[some.person]
    every = np.arange(who.size)
    searches = every[(draws.uniform(f"{aspect} search", who, some.key) < activity.search) & (since >= HOUR)]
    reviews = every[draws.uniform(f"{aspect} review", who, some.key) < activity.review]
    session, place = skeleton(
        [
            (searches, np.full(searches.size, SEARCH)),
            (every, np.full(every.size, THERE)),
            (reviews, np.full(reviews.size, REVIEW)),
        ]
    )
    step = line_steps(f"{aspect} step", who[session], some.key[session], place, activity.seconds_per_step, draws)
    step = np.where(place == THERE, way[session], step)
    out = part_of(aspect, np.full(who.size, doing.place), *some, session, place, step)
    return out._replace(start_us=some.start_us - out.lines.after_us[place == THERE])
