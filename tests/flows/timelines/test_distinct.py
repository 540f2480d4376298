"""No session takes a thing twice, and whoever comes back to a choice that gave way follows it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from flows.timelines.distinct import Choices, kept_distinct
from flows.timelines.habits import History
from schemas.load import load_domain
from tests.flows.lives import Lives

I64 = npt.NDArray[np.int64]
SCREEN = 6


def worth(position: I64, options: I64) -> npt.NDArray[np.float64]:
    """The lower the number of a thing, the better."""
    return -options.astype(float)


def history(session: list[int]) -> History:
    """The choices of one person."""
    of, every = np.array(session), np.arange(len(session))
    begins = np.flatnonzero(np.append(True, np.diff(of) > 0))
    none = np.zeros_like(every)
    key = every.astype(np.uint64)
    return History(every, none, key, key, of, none, begins[of], begins, begins * 60, begins[:0])


def kept(session: list[int], by: list[int], item: dict[int, int], closed: tuple[int, ...] = ()) -> list[int]:
    """What is taken, of choices whose screens go on from what they take at first. What is ``closed`` cannot be repeated."""

    def allows(position: I64, other: I64) -> npt.NDArray[np.bool_]:
        return ~np.isin(other, closed)

    position, taken = np.array(list(item)), np.array(list(item.values()))
    made = Choices(position, taken[:, None] + np.arange(SCREEN), taken)
    by_now, now = kept_distinct(history(session), np.array(by), made, worth, allows)
    return [int(now.item[now.position == place][0]) for place in by_now]


def test_of_two_new_choices_the_later_takes_its_next_best_that_the_session_does_not_hold() -> None:
    assert kept([0, 0, 0, 1], [0, 1, 2, 3], {0: 5, 1: 5, 2: 6, 3: 5}) == [5, 7, 6, 5]


def test_a_new_choice_gives_way_to_a_return_and_its_followers_go_with_it() -> None:
    # The second session chooses what the first took, and comes back to it; the third repeats both.
    assert kept([0, 1, 1, 2, 2], [0, 1, 0, 0, 1], {0: 5, 1: 5}) == [5, 6, 5, 5, 6]


def test_of_two_returns_to_the_same_thing_the_later_comes_back_to_something_else_that_can_be_had() -> None:
    session, by, item = [0, 0, 1, 2, 2, 3], [0, 1, 2, 0, 2, 2], {0: 5, 1: 8, 2: 5}
    assert kept(session, by, item) == [5, 8, 5, 5, 8, 5]
    assert kept(session, by, item, closed=(1,)) == [5, 8, 5, 5, 5, 5]  # nothing is left


def test_what_leaves_no_other_option_stays() -> None:
    every = dict.fromkeys(range(SCREEN + 1), 5)
    taken = kept([0] * len(every), list(every), every)
    assert sorted(taken) == sorted([*range(5, 5 + SCREEN), max(taken, key=taken.count)])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8), st.booleans()), min_size=1, max_size=30))
def test_no_session_of_any_history_takes_a_thing_twice(steps: list[tuple[int, int, bool]]) -> None:
    session = np.cumsum([step == 0 for step, _, _ in steps])
    session -= session[0]
    by: list[int] = []
    item: dict[int, int] = {}
    for place, (_, thing, comes_back) in enumerate(steps):
        of = int(session[place])
        earlier = [root for root in item if session[root] < of and root not in by[int(np.searchsorted(session, of)) :]]
        by.append(earlier[thing % len(earlier)] if comes_back and earlier else place)
        if by[-1] == place:
            item[place] = 3 * thing
    taken = kept(session.tolist(), by, item)
    for of in range(int(session[-1]) + 1):
        lines = np.flatnonzero(session == of)
        again = [place for place in lines if by[place] != place]
        things = {taken[place] for place in range(int(lines[0]))}
        distinct = len({taken[place] for place in lines})
        assert distinct == lines.size or lines.size > SCREEN or len(again) > len(things) - lines.size


def test_no_basket_of_the_log_holds_a_product_twice(town: Lives) -> None:
    seen = 0
    for name in town.data.domains:
        for activity in load_domain(name).activities.values():
            if activity.mechanism != "session" or activity.habit is None or activity.habit.twice:
                continue
            lines = town["clean_events"].filter(domain=name, action=activity.choose)
            several = lines.filter(pl.len().over("session_id") > 1)
            twins = several.filter(pl.struct("session_id", "item_id").is_duplicated())
            assert twins.is_empty(), name
            seen += several["session_id"].n_unique()
    assert seen > 1_000
