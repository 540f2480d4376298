"""Daily lines of a device: on which days, how much, and at which hours."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flows.common.clock import DAY, HOUR, MINUTE, offset_us, weekday_of
from flows.timelines import summaries
from flows.timelines.parts import SOURCES, Part
from flows.timelines.setting import Doing, People, Span
from schemas.activities import SummaryActivity
from schemas.behaviour.volume import by_quantiles
from schemas.config.data import DomainTimeline
from tests.flows.lives import is_likely
from tests.flows.timelines.shard import DRAWS, SPAN, START, doing, people, setting
from validation.references.profile import profile_of

COUNT = 400


def planned(one: Doing, some: People | None = None, span: Span = SPAN) -> Part:
    assert isinstance(one.activity, SummaryActivity)
    return summaries.plan(one, one.activity, setting(some or people(COUNT), span=span))


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=5), st.lists(st.floats(1e-9, 1e3), min_size=24, max_size=24)
)
def test_hours_add_up_to_the_day_and_none_is_negative(totals: list[int], shares: list[float]) -> None:
    made = summaries.spread_over(np.array(totals), np.tile(shares, (len(totals), 1)))
    assert made.shape == (len(totals), 24) and made.min() >= 0 and made.sum(axis=1).tolist() == totals
    assert (np.abs(made - np.outer(totals, np.array(shares) / sum(shares))) < 2 + 1e-4 * max(totals)).all()


def test_every_worn_day_that_is_whole_has_one_line_at_one_minute_to_midnight() -> None:
    zones = ("America/Chicago", "Asia/Tokyo")
    signed_up = np.where(np.arange(COUNT) % 4 < 2, START - DAY, START + 3 * DAY + HOUR)
    some = people(COUNT, zones)._replace(signed_up_us=signed_up)
    part = planned(doing("wellness", "steps", worn=1.0), some)
    local = part.at_us + offset_us(part.at_us, some.zone[part.person], list(zones), SPAN.around)
    assert set((local % DAY).tolist()) == {23 * HOUR + 59 * MINUTE} and part.is_pinned
    days = local // DAY - START // DAY
    first, last = {}, {}
    for who in range(4):  # Chicago is behind the window's clock, Tokyo ahead of it
        mine = np.sort(days[part.person == who])
        first[who], last[who] = int(mine[0]), int(mine[-1])
        assert mine.tolist() == list(range(first[who], last[who] + 1))
    assert (first, last) == ({0: 0, 1: 1, 2: 3, 3: 4}, {0: 54, 1: 55, 2: 54, 3: 55})


def test_days_are_worn_as_often_as_declared_and_only_on_the_days_of_the_config() -> None:
    part = planned(doing("wellness", "steps", worn=0.7))
    assert is_likely(part.person.size, COUNT * 56, 0.7)
    half = planned(doing("wellness", "steps", DomainTimeline(rate_factor=0.5, weekdays=["sat"]), worn=0.7))
    assert set(weekday_of(half.key.astype(np.int64)).tolist()) == {5} and is_likely(half.person.size, COUNT * 8, 0.35)


def test_totals_have_the_mean_of_their_person_and_the_declared_spread() -> None:
    one = doing("wellness", "steps", worn=1.0, day_spread=0.5)
    part = planned(one)
    assert isinstance(one.activity, SummaryActivity)
    content = summaries.fill(part, one, one.activity, setting(people(COUNT)))
    total = content.series.sum(axis=1)
    mean = by_quantiles(one.activity.per_day, DRAWS.uniform("wellness steps mean", people(COUNT).numbers))
    assert abs((total / mean[part.person]).mean() - 1) < 0.02
    assert abs(np.log(total / mean[part.person]).std() - 0.5) < 0.01
    assert (content.item == -1).all() and set(content.source.tolist()) == {SOURCES.index("import")}


def test_hours_lie_as_the_reference_says_for_working_days_and_weekends() -> None:
    one = doing("wellness", "steps", worn=1.0)
    part = planned(one)
    assert isinstance(one.activity, SummaryActivity)
    series = summaries.fill(part, one, one.activity, setting(people(COUNT))).series
    when = profile_of(one.activity)
    weekend = weekday_of(part.key.astype(np.int64)) >= 5
    for shares, here in ((when.working_hours, ~weekend), (when.resting_hours, weekend)):
        found = series[here].sum(axis=0) / series[here].sum()
        assert np.abs(found - shares).sum() / 2 < 0.02
    assert len({tuple(row) for row in series[:100].tolist()}) == 100
