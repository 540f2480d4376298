"""Trips: someone leaves for a place chosen among options, arrives, stays, and comes back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.pace import steps_us
from flows.timelines.choices import choosing
from flows.timelines.parts import BACK, REVIEW, SEARCH, Content, Part, moved, part_of, skeleton, together
from flows.timelines.rhythm import Sittings, is_within, sittings
from flows.timelines.sessions import line_steps
from flows.timelines.setting import Doing, Setting
from schemas.activities import TripActivity

I64 = npt.NDArray[np.int64]
THERE = 0
"""Place of the line of arrival at what was chosen."""
BACK_KEY = np.uint64(1 << 41)
"""Added to the key of a trip for the session in which one comes back."""


def plan(doing: Doing, activity: TripActivity, setting: Setting) -> Part:
    """Two sessions a trip: search, arrival and stars; and after the stay the arrival back, as long under way as before."""
    out = _way_there(doing, activity, setting)
    who = setting.people.numbers[out.person]
    stay = steps_us(setting.draws.uniform(f"{doing.aspect} stay", who, out.key), 60 * activity.stay_minutes)
    every = np.arange(who.size)
    back = part_of(
        doing.aspect,
        out.domain,
        out.person,
        out.key + BACK_KEY,
        out.start_us + out.length_us + stay,
        every,
        np.full(who.size, BACK),
        _way(doing, activity, Sittings(out.person, out.key, out.start_us), setting),
    )
    return together(out, back)


def fill(part: Part, doing: Doing, activity: TripActivity, setting: Setting) -> Content:
    """Content of the lines, with those of coming back, always to the same place."""
    content = choosing(part, doing, activity, setting)
    back = np.flatnonzero(part.lines.place == BACK)
    own = setting.things.own[doing.domain.name, activity.back_to]
    content.item[back] = own.usual(part.person[part.lines.session[back]])
    return content


def _way_there(doing: Doing, activity: TripActivity, setting: Setting) -> Part:
    """The sessions of setting out. The reference tells when people arrive, so they begin earlier by what comes before."""
    aspect, draws, people, span = doing.aspect, setting.draws, setting.people, setting.span
    some = sittings(doing, activity, people, span, draws)
    who = people.numbers[some.person]
    every = np.arange(who.size)
    searches = every[draws.uniform(f"{aspect} search", who, some.key) < activity.search]
    reviews = every[draws.uniform(f"{aspect} review", who, some.key) < activity.review]
    session, place = skeleton(
        [
            (searches, np.full(searches.size, SEARCH)),
            (every, np.full(every.size, THERE)),
            (reviews, np.full(reviews.size, REVIEW)),
        ]
    )
    step = line_steps(f"{aspect} step", who[session], some.key[session], place, activity.seconds_per_step, draws)
    step = np.where(place == THERE, _way(doing, activity, some, setting)[session], step)
    out = part_of(aspect, np.full(who.size, doing.place), *some, session, place, step)
    start = some.start_us - out.lines.after_us[place == THERE]
    return moved(out, start, is_within(start, some.person, people, span))


def _way(doing: Doing, activity: TripActivity, some: Sittings, setting: Setting) -> I64:
    """(n,) microseconds under way, the same there and back."""
    uniform = setting.draws.uniform(f"{doing.aspect} way", setting.people.numbers[some.person], some.key)
    return steps_us(uniform, 60 * activity.travel_minutes)
