"""What is taken of what is shown, and the rest of a session in which people choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from flows.common.draws import categorical, normal
from flows.timelines.distinct import Choices, kept_distinct
from flows.timelines.exposure import with_feed
from flows.timelines.habits import History, history_of, recalled
from flows.timelines.outgrown import outgrown
from flows.timelines.parts import COMPARE, REVIEW, SEARCH, VIEW, Content, Part, blank, code_of
from flows.timelines.prices import taken_at_prices
from flows.timelines.setting import Doing, Setting, local_us
from flows.timelines.shelves import OpenShelves, options_on_show
from schemas.activities import Choosing
from schemas.behaviour.choice import position_cost
from schemas.behaviour.taste import taste_utility

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Allows = Callable[[I64, I64], Mask | None]
USUAL_MATCH, MATCH_SPREAD = 0.5, 0.22
"""Mean and standard deviation of the share of dimensions in which what is taken matches the taste: assumed."""


class Taken(NamedTuple):
    """Choices among options: what each line shows, what it takes, and the dispositions behind that."""

    line: I64
    """(n,) rows of the part's lines."""
    options: I64
    """(n, options) rows of the domain's catalogue."""
    item: I64
    """(n,)"""
    drivers: I64
    """(n, dimensions) rows of the dispositions that held."""


def choosing(part: Part, doing: Doing, activity: Choosing, setting: Setting, goes_on: Mask | None = None) -> Content:
    """Content of the lines that every choosing session has: search, what is taken, stars. Other lines are left blank.

    What is taken out of habit shows no options. ``goes_on`` (sessions,) marks those that cannot repeat the choice before.
    """
    aspect, lines = doing.aspect, part.lines
    index, begins = setting.things.catalogue[doing.domain.name], setting.things.begins[doing.domain.name]
    line = taking(part)
    item, chosen = _chosen(part, line, doing, activity, setting, goes_on)
    content = blank(
        lines.place.size,
        activity.choose,
        shown=chosen.line,
        options=chosen.options + begins,
        driven=chosen.line,
        drivers=chosen.drivers,
    )
    content.item[line] = item + begins
    content.quantity[line] = 1
    if doing.has_price:
        content.price_cents[line] = index.price_cents[item]
    content.action[lines.place == SEARCH] = code_of("search")
    content.action[lines.place >= COMPARE] = code_of("compare")
    _look_at(part, line, content)
    review = np.flatnonzero(lines.place == REVIEW)
    content.action[review] = code_of("review")
    content.item[review] = last_choice(part, content)[lines.session[review]]
    content.stars[review] = _stars(
        part, review, content.item[review] - begins, f"{aspect} stars", activity.stars, doing, setting
    )
    return content


def _look_at(part: Part, line: I64, content: Content) -> None:
    """Writes into the lines of things looked at by themselves which these are: those that are taken next."""
    place, session = part.lines.place, part.lines.session
    looks = np.flatnonzero((place >= VIEW) & (place < COMPARE))
    content.action[looks] = code_of("view")
    content.item[looks] = content.item[line[np.searchsorted(session[line], session[looks]) + place[looks] - VIEW]]


def taking(part: Part) -> I64:
    """Lines in which something is taken, among options or out of habit."""
    return np.flatnonzero(part.lines.place < SEARCH)


def last_choice(part: Part, content: Content) -> I64:
    """(sessions,) row of what was taken last in each."""
    last, line = np.full(part.person.size, -1, np.int64), taking(part)
    last[part.lines.session[line]] = content.item[line]
    return last


def _chosen(
    part: Part, line: I64, doing: Doing, activity: Choosing, setting: Setting, goes_on: Mask | None
) -> tuple[I64, Taken]:
    """(n,) what each line takes, in rows of the catalogue; and the choices that are made for it, in order of the lines."""
    past = history_of(part, line, setting.people, goes_on)
    at_us = part.at_us[past.line]
    shelves = _shelves(past, at_us, doing, setting)
    recall = recalled(past, activity.habit, shelves, doing.aspect, setting.draws)
    new = np.flatnonzero(recall.source == past.every)
    made = [_taken(part, past.line[new], recall.category[new], doing, setting)]
    taken = np.empty(line.size, np.int64)
    taken[new] = made[0].item
    taken = taken[recall.source]
    if activity.habit is not None:
        tastes, values = setting.tastes[doing.domain.name], setting.things.catalogue[doing.domain.name].values
        gone = outgrown(past, recall.source, taken, at_us, tastes, doing.domain, values, doing.aspect, setting.draws)
        anew = gone.line[gone.line == gone.chooser]
        made.append(_taken(part, past.line[anew], recall.category[anew], doing, setting))
        taken[anew] = made[1].item
        taken[gone.line] = taken[gone.chooser]
        if not activity.habit.twice and past.begins.size < past.line.size:
            by = recall.source.copy()
            by[gone.line] = gone.chooser

            def allows(position: I64, other: I64) -> Mask | None:
                return shelves.allows(position, recall.category[other])

            taken = _taken_once(part, past, by, made, doing, setting, allows)
    both = [np.concatenate(columns) for columns in zip(*made, strict=True)]
    order = np.argsort(both[0], kind="stable")
    item = np.empty(part.lines.place.size, np.int64)
    item[past.line] = taken
    return item[line], Taken(*(column[order] for column in both))


def _taken_once(
    part: Part, past: History, by: I64, made: list[Taken], doing: Doing, setting: Setting, allows: Allows
) -> I64:
    """(n,) what each takes, nothing more than once in a session; choices that give way are brought up to date in ``made``.

    ``by`` (n,) is the position of the choice that each takes.
    """

    def worth(position: I64, options: I64) -> F64:
        at_us = part.at_us[past.line[position]]
        value, _, strength = setting.tastes[doing.domain.name].held_at(past.person[position], at_us)
        return _utility(value, strength, options, doing, setting)

    place = np.empty(part.lines.place.size, np.int64)
    place[past.line] = past.every
    line, options, item = (np.concatenate(both) for both in zip(*(one[:3] for one in made), strict=True))
    by, choices = kept_distinct(past, by, Choices(place[line], options, item), worth, allows)
    ends = np.cumsum([one.item.size for one in made])
    for nth, now in enumerate(np.split(choices.item, ends[:-1])):
        made[nth] = made[nth]._replace(item=now)
    taken = np.empty(by.size, np.int64)
    taken[choices.position] = choices.item
    return taken[by]


def _shelves(past: History, at_us: I64, doing: Doing, setting: Setting) -> OpenShelves:
    """What can be had where and when each choice is made."""
    uniform = setting.draws.uniform(f"{doing.aspect} category", past.who, past.key)
    categories = doing.domain.catalogue.categories.values()
    if doing.domain.catalogue.is_free_to_all:
        return OpenShelves(doing.domain, at_us[:0], {}, uniform)
    ages = {one.min_age for one in categories if one.min_age is not None}
    clock = local_us(at_us, past.person, setting.people, setting.span)
    return OpenShelves(doing.domain, clock, {age: setting.people.of_age(age)[past.person] for age in ages}, uniform)


def _taken(part: Part, line: I64, category: I64, doing: Doing, setting: Setting) -> Taken:
    """What lines show of their categories, without regard to the person, and what the person takes of it."""
    person, key, at_us = part.person[part.lines.session[line]], part.line_keys(line), part.at_us[line]
    who = setting.people.numbers[person]
    stock, count = setting.things.shelf[doing.domain.name], setting.config.options_shown
    options = options_on_show(stock, category, count, who, key, setting.draws, f"{doing.aspect} options")
    options = with_feed(options, category, person, at_us, who, key, doing, setting)
    tastes = setting.tastes[doing.domain.name]
    value, row, strength = tastes.held_at(person, at_us)
    utility = _utility(value, strength, options, doing, setting)
    uniform = setting.draws.uniform(f"{doing.aspect} choice", who, key)
    place = taken_at_prices(utility, options, uniform, person, at_us, doing, setting)
    return Taken(line, options, options[np.arange(line.size), place], row)


def _utility(value: I64, strength: F64, options: I64, doing: Doing, setting: Setting) -> F64:
    """(n, options) by what people like how much, (n, dimensions) each, and by the place on the screen; prices aside."""
    values = setting.things.catalogue[doing.domain.name].values
    utility = taste_utility(doing.domain, values, value, strength, options)
    utility -= position_cost(options.shape[1], setting.config.position_effect)
    return utility


def _stars(
    part: Part, review: I64, item: I64, aspect: str, stars: Mapping[str, float], doing: Doing, setting: Setting
) -> I64:
    """(reviews,) one to five stars, with the shares of the activity: the more, the more dimensions match the person's
    lasting taste, give or take a mood. How much each counts is assumed."""
    session = part.lines.session[review]
    person = part.person[session]
    value, _ = setting.tastes[doing.domain.name].lasting_at(person, part.start_us[session])
    matched = (setting.things.catalogue[doing.domain.name].values[item] == value).sum(axis=1) / value.shape[1]
    mood = normal(setting.draws.uniform(aspect, setting.people.numbers[person], part.key[session]))
    pleased = np.round(ndtr(0.75 * (matched - USUAL_MATCH) / MATCH_SPREAD + 0.66 * mood), 9)
    return 1 + categorical(np.minimum(pleased, 1 - 2.0**-53), list(stars.values()))
