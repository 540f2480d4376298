"""Which app people use and when they go over to another; and the holes in the log of an app."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flows.common.clock import DAY, HOUR, WEEK
from flows.timelines.apps import apps_used
from flows.timelines.outages import LONGEST, is_logged, is_lost
from flows.timelines.parts import Content, Part, blank, of_one_line
from flows.timelines.setting import Setting, Span
from flows.timelines.whole import whole_of
from schemas.config.data import TimelinesConfig
from schemas.domain import Domain
from schemas.load import load_domain
from tests.flows.lives import is_likely
from tests.flows.timelines.shard import START, people, setting

FOOD = load_domain("food")
PEOPLE, WEEKS = 200, 52
YEAR = Span(START, START + WEEKS * WEEK)


def lived(**rates: float) -> Setting:
    config = TimelinesConfig.model_validate({"app_changes_per_year": 0, "outages_per_year": 0, **rates})
    return setting(people(PEOPLE), span=YEAR, config=config)


def every_hour(some: Setting, step: int = 6 * HOUR, name: str = "food order") -> Part:
    """A session of one line every six hours of everybody."""
    at = np.arange(YEAR.start, YEAR.end, step)
    person = np.repeat(np.arange(PEOPLE), at.size)
    key = np.arange(person.size).astype(np.uint64)
    return of_one_line(name, 0, person, key, np.tile(at, PEOPLE), np.zeros(person.size, np.int64))


def apps(domain: Domain, rate: float) -> Any:
    """(people, instants) the app of each."""
    some = lived(app_changes_per_year=rate)
    part = every_hour(some)
    return apps_used(domain, part.person, part.start_us, some).reshape(PEOPLE, -1)


def test_who_never_changes_uses_one_app_by_its_share() -> None:
    used = apps(FOOD, 0)
    assert (used == used[:, :1]).all()
    assert is_likely(int((used[:, 0] == 0).sum()), PEOPLE, FOOD.apps[0].share / sum(app.share for app in FOOD.apps))


def test_people_change_as_often_as_declared_and_to_another_app() -> None:
    used = apps(FOOD, 2.0)
    changes = int((np.diff(used, axis=1) != 0).sum())
    assert is_likely(changes, PEOPLE * WEEKS, 2 * 7 / 365.25)
    assert (used[:, 0] == apps(FOOD, 0)[:, 0]).mean() > 0.95  # those who begin are the same


def test_of_three_apps_the_next_is_one_of_the_other_two() -> None:
    one = FOOD.apps[0]
    third = one.model_copy(update={"name": "Third", "share": 1.0})
    three = FOOD.model_copy(update={"apps": (*FOOD.apps, third)})
    used = apps(three, 12.0)
    assert set(np.unique(used)) == {0, 1, 2} and is_likely(
        int((np.diff(used, axis=1) != 0).sum()), PEOPLE * WEEKS, 12 * 7 / 365.25
    )


def lost(rate: float) -> Any:
    some = lived(outages_per_year=rate, app_changes_per_year=1.0)
    return is_lost(every_hour(some), [FOOD], some).reshape(PEOPLE, -1)


def test_a_higher_rate_only_takes_more_away() -> None:
    none, few, many = lost(0), lost(0.5), lost(4.0)
    assert not none.any() and few.any() and not (few & ~many).any() and many.sum() > 5 * few.sum()


def test_holes_last_for_hours_to_days_and_come_as_often_as_declared() -> None:
    """Of a geometric spacing of six hours most holes swallow at least one session."""
    gone = lost(2.0)
    edge = np.diff(np.pad(gone.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    begins, ends = np.flatnonzero(edge.ravel() == 1), np.flatnonzero(edge.ravel() == -1)
    hours = (ends - begins) * 6
    assert 1.4 * PEOPLE < begins.size < 2.2 * PEOPLE
    assert 6 <= np.median(hours) <= 24 and (hours >= 48).mean() > 0.05 and hours.max() * HOUR <= LONGEST + 6 * HOUR


@pytest.mark.parametrize("name", ["assistant", "food order"])
def test_the_assistant_and_bookings_lose_nothing(name: str) -> None:
    some = lived(outages_per_year=4.0)
    part = every_hour(some, name=name)
    content: Content = blank(part.person.size, "book")
    booked = np.arange(0, part.person.size, 2)
    content.starts_us[booked] = part.start_us[booked] + DAY
    kept = is_logged([part], whole_of([part]), content, {"food": FOOD}, some)
    assert kept[booked].all() and kept.all() == (name == "assistant")
