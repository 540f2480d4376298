"""What is taken of what is shown, and the rest of a session in which people choose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.draws import categorical, normal
from flows.timelines.parts import REVIEW, SEARCH, Content, Part, blank, code_of
from flows.timelines.setting import Doing, Setting, local_us
from flows.timelines.shelves import categories_on_show, options_on_show
from schemas.activities import Choosing
from schemas.behaviour.choice import choice_shares, position_cost
from schemas.behaviour.taste import taste_utility

I64 = npt.NDArray[np.int64]


def choosing(part: Part, doing: Doing, activity: Choosing, setting: Setting) -> Content:
    """Content of the lines that every choosing session has: search, choices, stars. Other lines are left blank."""
    aspect, lines = doing.aspect, part.lines
    index, begins = setting.things.catalogue[doing.domain.name], setting.things.begins[doing.domain.name]
    shown = np.flatnonzero(lines.place < SEARCH)
    options = _options(part, shown, doing, setting)
    taken, drivers = _taken(part, shown, options, doing, setting)
    item = options[np.arange(shown.size), taken]
    content = blank(
        lines.place.size, activity.choose, shown=shown, options=options + begins, driven=shown, drivers=drivers
    )
    content.item[shown] = item + begins
    content.quantity[shown] = 1
    if doing.has_price:
        content.price_cents[shown] = index.price_cents[item]
    content.action[lines.place == SEARCH] = code_of("search")
    review = np.flatnonzero(lines.place == REVIEW)
    content.action[review] = code_of("review")
    content.item[review] = last_choice(part, content)[lines.session[review]]
    content.stars[review] = _stars(part, review, content.item[review] - begins, f"{aspect} stars", doing, setting)
    return content


def last_choice(part: Part, content: Content) -> I64:
    """(sessions,) row of what was chosen last in each."""
    last = np.full(part.person.size, -1, np.int64)
    last[part.lines.session[content.shown]] = content.item[content.shown]
    return last


def _options(part: Part, line: I64, doing: Doing, setting: Setting) -> I64:
    """(n, options) rows of the domain's catalogue that the lines show: of one category each, open, and fit for the age."""
    person, key = part.person[part.lines.session[line]], part.line_keys(line)
    who = setting.people.numbers[person]
    ages = {one.min_age for one in doing.domain.catalogue.categories.values() if one.min_age is not None}
    category = categories_on_show(
        doing.domain,
        local_us(part.at_us[line], person, setting.people, setting.span),
        {age: setting.people.of_age(age)[person] for age in ages},
        setting.draws.uniform(f"{doing.aspect} category", who, key),
    )
    stock, count = setting.things.shelf[doing.domain.name], setting.config.options_shown
    return options_on_show(stock, category, count, who, key, setting.draws, f"{doing.aspect} options")


def _taken(part: Part, line: I64, options: I64, doing: Doing, setting: Setting) -> tuple[I64, I64]:
    """(n,) position of the option taken, and (n, dimensions) rows of the dispositions that held."""
    person = part.person[part.lines.session[line]]
    tastes = setting.tastes[doing.domain.name]
    value, row = tastes.at(person, part.at_us[line])
    values = setting.things.catalogue[doing.domain.name].values
    utility = taste_utility(doing.domain, values, value, tastes.strength[person], options)
    utility -= position_cost(options.shape[1], setting.config.position_effect)
    uniform = setting.draws.uniform(f"{doing.aspect} choice", setting.people.numbers[person], part.line_keys(line))
    return categorical(uniform, choice_shares(utility, setting.config.exploration)), row


def _stars(part: Part, review: I64, item: I64, aspect: str, doing: Doing, setting: Setting) -> I64:
    """(reviews,) one to five stars: the share of dimensions that match the person's lasting taste, and some noise. Assumed."""
    session = part.lines.session[review]
    person = part.person[session]
    value, _ = setting.tastes[doing.domain.name].lasting_at(person, part.start_us[session])
    matched = (setting.things.catalogue[doing.domain.name].values[item] == value).sum(axis=1) / value.shape[1]
    spread = 0.8 * normal(setting.draws.uniform(aspect, setting.people.numbers[person], part.key[session]))
    return np.asarray(np.clip(np.round(2.4 + 3.2 * matched + spread), 1, 5).astype(np.int64))
