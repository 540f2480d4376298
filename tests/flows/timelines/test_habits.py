"""To what people come back: an earlier session of their own, what can be had, nothing twice, and what still fits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.common.clock import DAY, HOUR
from flows.common.draws import Draws
from flows.timelines.habits import History, Recall, ends, history_of, recalled
from flows.timelines.outgrown import outgrown
from flows.timelines.parts import Part, part_of
from flows.timelines.setting import People
from schemas.activities import Habit
from schemas.behaviour.effective import NEVER, EffectiveValues
from schemas.load import load_domain
from tests.flows.lives import Lives
from tests.flows.timelines.shard import START, people

I64 = npt.NDArray[np.int64]
DRAWS = Draws(7, "timelines")
COUNT, SESSIONS, LINES = 60, 40, 4
EVERYBODY = people(COUNT)


class Shelves(NamedTuple):
    """Two categories, of which the second can be had in every second session of each person only."""

    past: History

    def drawn(self, position: I64) -> I64:
        return np.where(self._is_open(position), position % 2, 0)

    def allows(self, position: I64, category: I64) -> npt.NDArray[np.bool_]:
        return self._is_open(position) | (category == 0)

    def _is_open(self, position: I64) -> npt.NDArray[np.bool_]:
        return np.asarray(self.past.session[position] % 2 == 0)


def habit(**changes: Any) -> Habit:
    figures = {"new": 0.5, "decay": 0.2, "recent": 0.3, "lag_days": 7.0, "lag_spread": 0.5, "basis": "assumed"}
    return Habit.model_validate(figures | changes)


def sessions(some: People = EVERYBODY, days: int = 3) -> Part:
    """Sessions of some lines each, every so many days, not in order of time, and the same for each person."""
    person = np.repeat(np.arange(some.numbers.size), SESSIONS)
    nth = np.tile(np.arange(SESSIONS)[::-1], some.numbers.size)
    session = np.repeat(np.arange(person.size), LINES)
    place = np.tile(np.arange(LINES), person.size)
    return part_of(
        "shop",
        np.zeros_like(person),
        person,
        nth.astype(np.uint64),
        START + nth * days * DAY,
        session,
        place,
        np.full(session.size, 30_000_000),
    )


def remembered(some: People = EVERYBODY, goes_on: Any = None, **changes: Any) -> tuple[History, Recall]:
    part = sessions(some)
    past = history_of(part, np.arange(part.lines.session.size), some, goes_on)
    return past, recalled(past, habit(**changes), Shelves(past), "shop", DRAWS)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40))
def test_chains_of_pointers_are_followed_to_their_ends(steps: list[int]) -> None:
    to = [place if step % 3 == 0 else step % (place + 1) for place, step in enumerate(steps)]
    expected = []
    for place in range(len(to)):
        while to[place] != place:
            place = to[place]
        expected.append(place)
    assert ends(np.array(to)).tolist() == expected


def test_choices_repeat_new_ones_of_earlier_sessions_of_the_same_person() -> None:
    past, recall = remembered(categories={"new": 0.5, "decay": 0, "recent": 0.5, "lag_days": 7, "lag_spread": 1})
    again = np.flatnonzero(recall.source != past.every)
    assert again.size > 0.3 * past.every.size
    root = recall.source[again]
    assert (recall.source[root] == root).all() and (past.person[root] == past.person[again]).all()
    assert (past.session[root] < past.session[again]).all()
    assert (recall.category[root] == recall.category[again]).all()


def test_nothing_is_repeated_twice_in_a_session_nor_where_it_cannot_be_had() -> None:
    past, recall = remembered(new=0.3, decay=0.5)
    pairs = past.session * past.every.size + recall.source
    assert np.unique(pairs).size == pairs.size
    assert Shelves(past).allows(past.every, recall.category).all() and (recall.category == 1).mean() > 0.1
    past, recall = remembered(new=0.3, decay=0.5, twice=True)
    pairs = past.session * past.every.size + recall.source
    assert np.unique(pairs).size < 0.95 * pairs.size


def test_whoever_goes_on_goes_somewhere_else_than_where_they_are() -> None:
    part = sessions()
    past, recall = remembered(goes_on=np.ones(part.person.size, bool), new=0.05)
    first = past.begins[past.begins > past.first[past.begins]]
    assert (recall.source[first] != recall.source[first - 1]).all()
    _, free = remembered(new=0.05)
    assert (free.source[first] == free.source[first - 1]).sum() > 20


def test_rest_makes_the_same_again_so_soon_rare() -> None:
    def soon(**changes: Any) -> int:
        past, recall = remembered(new=0.1, twice=True, **changes)
        order = np.lexsort((past.every, recall.source))
        same = np.diff(recall.source[order]) == 0
        return int((same & (np.diff(past.start_s[past.session[order]]) * 1_000_000 < 4 * DAY)).sum())

    assert soon(rest_hours=96.0) < 0.6 * soon()  # people have little else yet, so that some of it stays


def test_new_choices_become_fewer_as_the_equation_says() -> None:
    past, recall = remembered(new=0.9, decay=0.4, twice=True, recent=0.0)
    nth = past.every - past.first
    is_new = recall.source == past.every
    always_open = past.session % 2 == 0  # elsewhere what cannot be had makes for more new choices
    for low, high in ((LINES, 20), (20, 60), (60, 160)):
        here = (nth >= low) & (nth < high) & always_open
        expected = (0.9 * nth[here].astype(float) ** -0.4).mean()
        assert abs(is_new[here].mean() - expected) < 4 * (expected / here.sum()) ** 0.5


def test_recent_returns_go_to_the_session_of_their_lag() -> None:
    part = sessions()
    past = history_of(part, np.arange(part.lines.session.size), EVERYBODY)
    shelves = Shelves(past._replace(session=np.zeros_like(past.session)))  # everything can always be had
    back = habit(new=0.4, decay=0.0, recent=1.0, lag_days=9.0, lag_spread=1e-6, twice=True)
    within = past.session - past.session[past.first]
    root = within[recalled(past, back, shelves, "shop", DRAWS).source]
    late = (within >= 3) & (
        root >= 3
    )  # three days lie between two sessions; in the first nine days people return to any
    assert ((within - root)[late] % 3 == 0).all() and ((within - root)[late] == 3).sum() > 500
    assert np.bincount(root[within < 3], minlength=3).min() > 50


def test_everybody_has_their_own_habits_whoever_else_is_there() -> None:
    past, recall = remembered()
    few = People(*(column[20:30] if isinstance(column, np.ndarray) else column for column in EVERYBODY))
    own, alone = remembered(few)
    here = np.flatnonzero((past.person >= 20) & (past.person < 30))
    assert (recall.source[here] - here[0] == alone.source).all() and (past.key[here] == own.key).all()


def test_a_thing_is_given_up_once_it_no_longer_fits_and_the_new_one_is_kept() -> None:
    domain = load_domain("groceries")
    width = len(domain.dimensions)
    part = sessions()
    past = history_of(part, np.arange(part.lines.session.size), EVERYBODY)
    at_us = part.at_us[past.line]
    source = past.first + past.every % LINES  # everybody takes four things again and again
    change = START + 60 * DAY
    since = np.full((COUNT, width, 2), NEVER)
    since[:, :, 0] = START - DAY
    since[:, 0, 1] = change
    value = np.zeros_like(since)
    value[:, 0, 1] = 2
    never = np.full((COUNT, width), NEVER)
    strength = np.zeros((COUNT, width))
    strength[20:, 0] = 50.0
    firmness = np.repeat(strength[:, :, None], 2, axis=2)
    few, none = np.full(COUNT, 2), value[:, :, 0]
    tastes = EffectiveValues(since, value, value, firmness, since, few, never, never, none, none, strength)
    values = np.zeros((2, width), np.int8)
    values[1, 0] = 2
    item = past.every % 2  # every second thing is what people like from the change on
    gone = outgrown(past, source, item, at_us, tastes, domain, values, "shop", DRAWS)
    expected = (at_us >= change) & (past.person >= 20) & (item == 0)
    assert gone.line.tolist() == np.flatnonzero(expected).tolist()
    assert (source[gone.chooser] == source[gone.line]).all() and (gone.chooser <= gone.line).all()
    assert np.unique(gone.chooser).size == 40 * 2 and (at_us[gone.chooser] < change + 3 * DAY + HOUR).all()


@pytest.fixture(scope="module")
def bought(town: Lives) -> pl.DataFrame:
    return town["clean_events"].filter(domain="groceries", action="add").sort("user_id", "at", "seq")


def test_what_is_taken_out_of_habit_was_chosen_before_and_shows_no_options(town: Lives, bought: pl.DataFrame) -> None:
    habits = bought.filter(pl.col("options").is_null())
    assert 0.1 < habits.height / bought.height < 0.6
    first = bought.drop_nulls("options").group_by("user_id", "item_id").agg(pl.col("at").min().alias("first"))
    pairs = habits.join(first, on=["user_id", "item_id"], how="left")
    assert (pairs["first"] < pairs["at"]).all()
    price = dict(town["items"].select("item_id", "price_cents").iter_rows())
    assert habits["price_cents"].to_list() == [price[item] for item in habits["item_id"]]
    driven = town["clean_truth"].filter(pl.col("driver_disposition_ids").list.len() > 0)["event_id"]
    assert not habits["event_id"].is_in(driven.implode()).any()


def test_totals_count_what_is_taken_out_of_habit(town: Lives, bought: pl.DataFrame) -> None:
    due = bought.group_by("session_id").agg((pl.col("price_cents") * pl.col("quantity")).sum().alias("due"))
    closed = town["clean_events"].filter(action="checkout").join(due, on="session_id")
    assert closed.height > 100 and (closed["price_cents"] == closed["due"]).all()
