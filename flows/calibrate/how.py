"""What a fitted activity does: the generator itself, run for people who have nothing but this activity in their lives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.calibrate.what import Fitted
from flows.common.clock import DAY, WEEK
from flows.common.draws import Draws, categorical
from flows.common.ids import user_ids_of
from flows.common.participation import Participation, participation_of
from flows.common.rates import rate_uniform
from flows.dispositions.participation import draw_participation
from flows.timelines.habits import history_of, recalled
from flows.timelines.parts import Part, of_one_line, part_of
from flows.timelines.replies import contacts
from flows.timelines.rhythm import TRAIN, Sittings, sittings
from flows.timelines.setting import Doing, People, Span
from flows.timelines.shelves import OpenShelves
from schemas.activities import ReplyActivity, SessionActivity
from schemas.config.data import NINE_DOMAINS, DomainTimeline
from schemas.config.dispositions import DispositionsConfig
from schemas.domain import Domain, ParticipationSpec
from validation.fidelity.occurrences import Occurrences

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
START = 20_094 * DAY
"""Monday, 6 January 2025."""
LINES_AT_MOST = 120_000
"""Choices from which habits are told: of the first people, as many as have about so many."""


@dataclass(frozen=True)
class Crowd:
    """People for whom activities are tried out: numbered from 0, in one zone, taking part as in a build."""

    domain: Domain
    people: People
    span: Span
    draws: Draws

    @property
    def size(self) -> int:
        return int(self.people.numbers.size)

    def first(self, count: int) -> Crowd:
        """The first of them, who do what they do in any larger crowd."""
        own, take = self.people, slice(0, count)
        part = own.participation
        fewer = own._replace(
            numbers=own.numbers[take],
            zone=own.zone[take],
            signed_up_us=own.signed_up_us[take],
            birth_day=own.birth_day[take],
            participation=None if part is None else _first_of(part, count),
        )
        return replace(self, people=fewer)


def _first_of(part: Participation, count: int) -> Participation:
    return Participation(
        part.rate_factor[:count], part.attribute_factor[:count], part.from_us[:count], part.to_us[:count], part.usual
    )


def crowd_of(domain: Domain, users: int, weeks: int, seed: int) -> Crowd:
    """So many people over so many weeks. Who takes part how much is drawn as in a build; attributes count for nothing."""
    numbers = np.arange(users, dtype=np.uint64)
    span = Span(START, START + weeks * WEEK)
    signed_up = np.full(users, span.start - DAY)
    config = DispositionsConfig()
    plain = domain.model_copy(update={"participation": ParticipationSpec()})
    domains = dict.fromkeys([domain.name, *NINE_DOMAINS], plain)  # the place of this one is 0
    nobody = pa.table({"user_id": user_ids_of(numbers)})
    draws = Draws(seed, "dispositions")
    drawn = draw_participation(config, domains, nobody, numbers, signed_up, (span.start, span.end), draws)
    born = np.full(users, START // DAY - 40 * 366)
    part = participation_of(drawn, nobody, list(domains), config)
    people = People(numbers, np.zeros(users, np.int64), ["UTC"], signed_up, born, part)
    return Crowd(domain, people, span, Draws(seed, "timelines"))


def times(crowd: Crowd, name: str, activity: Fitted) -> tuple[Sittings, Occurrences]:
    """What each person does of the activity: the generator's sittings by person and time, and the same as occurrences."""
    doing = Doing(crowd.domain, 0, name, activity, DomainTimeline())
    some = sittings(doing, activity, crowd.people, crowd.span, crowd.draws)
    some = some.where(crowd.people.take_part(some.person, np.zeros_like(some.person), some.start_us))
    order = np.lexsort((some.key, some.start_us, some.person))
    some = Sittings(some.person[order], some.key[order], some.start_us[order])
    return some, Occurrences(some.person, some.start_us, np.zeros(some.person.size, np.int64))


def few_enough(crowd: Crowd, name: str, activity: Fitted) -> Crowd:
    """The first people, who together choose about as often as is needed to tell habits."""
    some, _ = times(crowd, name, activity)
    upto = np.cumsum(np.bincount(some.person, minlength=crowd.size)) * _lines(activity)
    return crowd.first(min(crowd.size, max(50, int(np.searchsorted(upto, LINES_AT_MOST)))))


def _lines(activity: Fitted) -> float:
    """Mean choices a sitting."""
    if not isinstance(activity, SessionActivity):
        return 1.0
    return sum(int(count) * share for count, share in activity.lines.items())


@dataclass(frozen=True)
class Chosen:
    """Choices of some people: of things, and of their categories, once a sitting."""

    items: Occurrences
    categories: Occurrences


def choices(crowd: Crowd, name: str, activity: Fitted) -> Chosen:
    """What people take: returns as in a build; what is new comes by popularity, as nobody here has a taste.

    So what is given up because a taste has changed is not given up here.
    """
    some, _ = times(crowd, name, activity)
    part, aspect = _part(crowd, name, activity, some), f"{crowd.domain.name} {name}"
    if isinstance(activity, ReplyActivity):
        return _written_to(crowd, name, activity, part)
    past = history_of(part, np.arange(part.lines.session.size), crowd.people)
    ages = {one.min_age for one in crowd.domain.catalogue.categories.values() if one.min_age is not None}
    of_age = {age: crowd.people.of_age(age)[past.person] for age in ages}
    uniform = crowd.draws.uniform(f"{aspect} category", past.who, past.key)
    shelves = OpenShelves(crowd.domain, part.at_us[past.line], of_age, uniform)
    recall = recalled(past, activity.habit, shelves, aspect, crowd.draws)
    item = _by_popularity(crowd, recall.category, past.who, past.key, aspect)[recall.source]
    session = part.lines.session[past.line]
    when = part.start_us[session]
    order = np.lexsort((part.lines.place[past.line], session, when, past.person))
    plain = Occurrences(past.person[order], when[order], np.zeros(order.size, np.int64), session=session[order])
    return Chosen(replace(plain, unit=item[order]), replace(plain, unit=recall.category[recall.source][order]))


def _written_to(crowd: Crowd, name: str, activity: ReplyActivity, part: Part) -> Chosen:
    """To whom messages go, thread by thread; who has how many contacts is drawn as in a build."""
    aspect, spec, people = part.name, crowd.domain.personal[activity.on], crowd.people
    counts = sorted((int(count), share) for count, share in spec.count.items())
    if spec.count_by is None:
        drawn = crowd.draws.uniform(f"{aspect} own", people.numbers)
    else:
        drawn = rate_uniform(crowd.draws.seed, f"{crowd.domain.name} {spec.count_by}", people.numbers)
    has = np.array([count for count, _ in counts])[categorical(drawn, [share for _, share in counts])][part.person]
    thread = part.key // np.uint64(TRAIN)
    if activity.habit is None:
        uniform = crowd.draws.uniform(f"{aspect} {activity.on}", people.numbers[part.person], thread)
        nth = np.floor(uniform * has).astype(np.int64)
    else:
        doing = Doing(crowd.domain, 0, name, activity, DomainTimeline())
        nth = contacts(part, thread, doing, activity.habit, people, crowd.draws) % np.maximum(1, has)
    known = np.flatnonzero(has > 0)
    plain = Occurrences(part.person[known], part.start_us[known], np.zeros(known.size, np.int64), session=known)
    unit = part.person[known] * (counts[-1][0] + 1) + nth[known]
    return Chosen(replace(plain, unit=unit), replace(plain, unit=np.zeros_like(unit)))


def _part(crowd: Crowd, name: str, activity: Fitted, some: Sittings) -> Part:
    """The sittings with their choices, all of them at the moment at which each begins."""
    aspect, who = f"{crowd.domain.name} {name}", crowd.people.numbers[some.person]
    if not isinstance(activity, SessionActivity):
        return of_one_line(aspect, 0, some.person, some.key, some.start_us, np.zeros(who.size, np.int64))
    counts = np.array([int(count) for count in activity.lines])
    size = counts[categorical(crowd.draws.uniform(f"{aspect} lines", who, some.key), list(activity.lines.values()))]
    session = np.repeat(np.arange(size.size), size)
    place = np.arange(session.size) - np.repeat(np.cumsum(size) - size, size)
    domain = np.zeros(who.size, np.int64)
    return part_of(aspect, domain, some.person, some.key, some.start_us, session, place, np.zeros_like(place))


def _by_popularity(crowd: Crowd, category: I64, who: U64, key: U64, aspect: str) -> I64:
    """(n,) a thing of each category, by the law of Zipf by which things are on show."""
    shop = crowd.domain.catalogue
    each = crowd.domain.item_count() // len(shop.categories)
    weight = np.arange(1, each + 1, dtype=np.float64) ** -shop.popularity_exponent
    upto = np.rint(np.cumsum(weight) / weight.sum() * 2.0**30).astype(np.int64)
    drawn = np.floor(crowd.draws.uniform(f"{aspect} thing", who, key) * 2.0**30).astype(np.int64)
    return np.asarray(category * each + np.minimum(np.searchsorted(upto, drawn, side="right"), each - 1))
