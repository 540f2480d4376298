"""Talks with the assistant: true statements about a taste, and small talk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.away import instants_of
from flows.common.clock import DAY, HOUR, SECOND, WEEK
from flows.common.draws import Draws, categorical, key_of
from flows.common.pace import TALK_SECONDS, WAKING
from flows.timelines.parts import ASSISTANT, SOURCES, Content, Part, blank, code_of, part_of
from flows.timelines.rhythm import Sittings, within
from flows.timelines.sessions import line_steps
from flows.timelines.setting import People, Setting, Span
from schemas.config.data import TimelinesConfig
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
NOTHING = -1


class Talk(NamedTuple):
    """One row a talk. ``dimension`` counts within the domain; ``NOTHING`` marks small talk."""

    person: I64
    key: U64
    start_us: I64
    domain: I64
    dimension: I64
    value: I64
    disposition_row: I64

    def where(self, kept: npt.NDArray[np.bool_] | I64) -> Talk:
        """The talks marked, or of those rows."""
        return Talk(
            self.person[kept],
            self.key[kept],
            self.start_us[kept],
            self.domain[kept],
            self.dimension[kept],
            self.value[kept],
            self.disposition_row[kept],
        )


def talks(config: TimelinesConfig, domains: Mapping[str, Domain], setting: Setting) -> Talk:
    """Every talk of the window. A statement tells the lasting value, which may differ from a passing state's.

    Nobody speaks of a domain at a time at which they do nothing there, and nobody says a sensitive taste.
    """
    people, span, draws = setting.people, setting.span, setting.draws
    parts = []
    for place, (name, domain) in enumerate(domains.items()):
        for column, (dimension, spec) in enumerate(
            zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)
        ):
            if spec.sensitive:
                continue
            some = _weekly(f"statement {dimension}", config.statement_rate, people, span, draws)
            some = some.where(people.take_part(some.person, np.full(some.person.size, place), some.start_us))
            value, row = setting.tastes[name].lasting_at(some.person, some.start_us)
            full = np.ones(some.person.size, np.int64)
            parts.append(Talk(*some, full * place, full * column, value[:, column], row[:, column]))
    some = _weekly("small talk", config.small_talk_rate, people, span, draws)
    some, about = _with_topic(some, len(domains), people, draws)
    none = np.full(some.person.size, NOTHING, np.int64)
    parts.append(Talk(*some, about, none, none, none))
    return Talk(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _with_topic(some: Sittings, domains: int, people: People, draws: Draws) -> tuple[Sittings, I64]:
    """Small talk and the place of the domain that each is about: one in which the person does anything at the time."""
    takes_part = np.stack(
        [people.take_part(some.person, np.full(some.person.size, place), some.start_us) for place in range(domains)],
        axis=1,
    )
    has_topic = np.asarray(takes_part.any(axis=1), dtype=bool)
    some, takes_part = some.where(has_topic), takes_part[has_topic]
    if not some.person.size:
        return some, np.empty(0, np.int64)
    uniform = draws.uniform("small talk domain", people.numbers[some.person], some.key)
    return some, categorical(uniform, takes_part.astype(np.float64))


def talk_part(talk: Talk, setting: Setting) -> Part:
    """The talks as sessions of two lines: what is said (place 0), and the reply."""
    count = talk.person.size
    session, place = np.repeat(np.arange(count), 2), np.tile(np.array([0, 1], np.int64), count)
    who = setting.people.numbers[talk.person]
    with np.errstate(over="ignore"):
        step = line_steps("talk step", who[session], talk.key[session], place, TALK_SECONDS, setting.draws)
    return part_of(ASSISTANT, talk.domain, talk.person, talk.key, talk.start_us, session, place, step)


def talk_content(part: Part, talk: Talk) -> Content:
    """Words and replies; a true statement is driven by the disposition that it tells."""
    place, session = part.lines.place, part.lines.session
    tells = np.flatnonzero((place == 0) & (talk.disposition_row[session] >= 0))
    content = blank(place.size, "say", driven=tells, drivers=talk.disposition_row[session[tells]][:, None])
    content.action[place == 1] = code_of("reply")
    content.source[place == 1] = SOURCES.index("notification")
    return content


def _weekly(aspect: str, per_week: float, people: People, span: Span, draws: Draws) -> Sittings:
    """At most one talk of a kind a person and week, at a waking hour."""
    week = np.arange(span.start // WEEK - 1, span.end // WEEK + 2, dtype=np.int64)
    hit = draws.uniform(aspect, people.numbers[:, None], week.astype(np.uint64)[None, :]) < per_week
    person, column = np.nonzero(hit)
    key = week[column].astype(np.uint64)
    moment = draws.uniform(f"{aspect} moment", people.numbers[person], key)
    minutes = 60 * (WAKING[1] - WAKING[0])
    slot = np.floor(moment * 7 * minutes).astype(np.int64)
    second = np.floor(draws.uniform(f"{aspect} second", people.numbers[person], key) * 60).astype(np.int64)
    local = (
        week[column] * WEEK
        + (slot // minutes) * DAY
        + WAKING[0] * HOUR
        + (slot % minutes) * 60 * SECOND
        + second * SECOND
    )
    start = instants_of(people.away, local, person, people.zone[person], people.zones, span.around)
    with np.errstate(over="ignore"):
        return within(Sittings(person, key + np.uint64(key_of(aspect)), start), people, span)
