"""Talks with the assistant: true statements about a taste, and small talk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR, SECOND, WEEK, to_utc
from flows.common.draws import Draws, categorical, key_of
from flows.common.pace import WAKING
from flows.timelines.rhythm import People, Sittings, Span, within
from schemas.behaviour.effective import EffectiveValues
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

    def where(self, kept: npt.NDArray[np.bool_]) -> Talk:
        """The talks marked."""
        return Talk(
            self.person[kept],
            self.key[kept],
            self.start_us[kept],
            self.domain[kept],
            self.dimension[kept],
            self.value[kept],
            self.disposition_row[kept],
        )


def talks(
    config: TimelinesConfig,
    domains: Mapping[str, Domain],
    people: People,
    span: Span,
    tastes: Mapping[str, EffectiveValues],
    draws: Draws,
) -> Talk:
    """Every talk of the window. A statement tells the lasting value, which may differ from a passing state's."""
    parts = []
    for place, (name, domain) in enumerate(domains.items()):
        for column, dimension in enumerate(domain.dimension_ids()):
            some = _weekly(f"statement {dimension}", config.statement_rate, people, span, draws)
            value, row = tastes[name].lasting_at(some.person, some.start_us)
            full = np.ones(some.person.size, np.int64)
            parts.append(Talk(*some, full * place, full * column, value[:, column], row[:, column]))
    some = _weekly("small talk", config.small_talk_rate, people, span, draws)
    about = categorical(
        draws.uniform("small talk domain", people.numbers[some.person], some.key), np.ones(len(domains))
    )
    none = np.full(some.person.size, NOTHING, np.int64)
    parts.append(Talk(*some, about, none, none, none))
    return Talk(*(np.concatenate(column) for column in zip(*parts, strict=True)))


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
    start = to_utc(local, people.zone[person], people.zones, span.around)
    with np.errstate(over="ignore"):
        return within(Sittings(person, key + np.uint64(key_of(aspect)), start), people, span)
