"""A shard made by hand, for tests of single mechanisms: people, things of their own, and no tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.clock import DAY, WEEK
from flows.common.draws import Draws
from flows.timelines.setting import Doing, People, Setting, Span
from flows.timelines.things import Own, Things
from schemas.config.data import DomainTimeline, TimelinesConfig
from schemas.domain import Domain
from schemas.load import load_domain

I64 = npt.NDArray[np.int64]
START = 20_094 * DAY  # Monday, 2025-01-06
SPAN = Span(START, START + 8 * WEEK)
DRAWS = Draws(7, "timelines")


def people(count: int, zones: tuple[str, ...] = ("UTC",)) -> People:
    """Grown-ups who signed up the day before, spread over the zones."""
    numbers = np.arange(count)
    born = np.full(count, START // DAY - 40 * 366)
    return People(numbers.astype(np.uint64), numbers % len(zones), list(zones), np.full(count, START - DAY), born)


def doing(domain: str | Domain, activity: str, own: DomainTimeline | None = None, **changes: Any) -> Doing:
    """An activity of a domain file, with other figures where ``changes`` say so."""
    loaded = load_domain(domain) if isinstance(domain, str) else domain
    return Doing(loaded, 0, activity, loaded.activities[activity].model_copy(update=changes), own or DomainTimeline())


def setting(
    some: People, own: Mapping[tuple[str, str], list[int]] | None = None, span: Span = SPAN, config: Any = None
) -> Setting:
    """A shard in which each person has so many things of each kind."""
    things, first = {}, 0
    for kind, counts in (own or {}).items():
        has = np.array(counts, np.int64)
        things[kind] = Own(np.cumsum(has) - has, has, first + np.arange(has.sum()))
        first += int(has.sum())
    ids = pa.array([f"own {number}" for number in range(first)], pa.string())
    return Setting(some, span, config or TimelinesConfig(), Things(ids, {}, {}, {}, things), {}, DRAWS)
