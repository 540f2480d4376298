"""Where people are: each arrival comes from the place before it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flows.common.clock import HOUR
from flows.timelines.arrivals import origins

arrivals = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 3)), max_size=20, unique_by=lambda row: row[:2]
)


@given(arrivals)
def test_the_origin_is_the_place_before_or_home_after_half_a_day(rows: list[tuple[int, int, int]]) -> None:
    person, at, place = (np.array([row[n] for row in rows], np.int64) for n in range(3))
    home = np.array([0, 1, -1])
    before, leads_on = origins(person, at * HOUR, place, home)
    for row, (who, hour, where) in enumerate(rows):
        earlier = [other for other in rows if other[0] == who and hour - 12 < other[1] < hour]
        expected = max(earlier, key=lambda other: other[1])[2] if earlier else home[who]
        assert before[row] == expected and leads_on[row] == (expected != where)


def test_leaving_out_who_is_there_already_leaves_nobody_arriving_where_they_are() -> None:
    person, place = np.zeros(6, np.int64), np.array([0, 5, 5, 0, 0, 6])  # at home, out, out, home, home, out
    before, leads_on = origins(person, np.arange(6) * HOUR, place, np.array([0]))
    assert leads_on.tolist() == [False, True, False, True, False, True]
    assert before[leads_on].tolist() == [0, 5, 0]
