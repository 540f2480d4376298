"""All menus of a user together tell nothing, for whoever compares them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from flows.tasks.menus import HALVES, Contrast
from flows.tasks.secrecy import Shown
from tests.flows.lives import Lives
from tests.flows.tasks.asked import asked

WIDTH = 5


def tells_nothing(menus: Iterable[tuple[tuple[int, ...], int]]) -> bool:
    """Whether each option of each menu is right for as many of the users for whom every menu has a right option.

    By trying all users: one bit for each dimension. A menu is its dimensions and its half.
    """
    shapes = [
        (columns, HALVES[half] if len(columns) == 3 else tuple(itertools.product((0, 1), repeat=2)))
        for columns, half in menus
    ]
    users = [
        bits
        for bits in itertools.product((0, 1), repeat=WIDTH)
        if all(tuple(bits[c] for c in columns) in shape for columns, shape in shapes)
    ]
    assert users
    for columns, shape in shapes:
        fits = [sum(tuple(bits[c] for c in columns) == option for bits in users) for option in shape]
        if len(set(fits)) > 1:
            return False
    return True


menu_columns = st.sets(st.integers(0, WIDTH - 1), min_size=2, max_size=3).map(lambda some: tuple(sorted(some)))


@settings(max_examples=150)
@given(st.tuples(*[st.integers(0, 1)] * WIDTH), st.lists(menu_columns, min_size=1, max_size=5))
def test_a_menu_is_taken_exactly_if_all_together_still_tell_nothing(
    user: tuple[int, ...], wanted: list[tuple[int, ...]]
) -> None:
    shown = Shown()
    taken: list[tuple[tuple[int, ...], int]] = []
    for columns in wanted:
        half = 0 if len(columns) == 2 or tuple(user[c] for c in columns) in HALVES[0] else 1
        after = shown.with_menu(Contrast("food", columns, ((0, 1),) * len(columns), half))
        assert (after is not None) == tells_nothing([*taken, (columns, half)])
        if after is not None:
            shown, taken = after, [*taken, (columns, half)]


def test_a_dimension_keeps_its_two_values() -> None:
    shown = Shown().with_menu(Contrast("food", (0, 1), ((0, 1), (0, 2)), 0))
    assert shown is not None
    assert shown.with_menu(Contrast("food", (0, 2), ((0, 2), (0, 1)), 0)) is None
    assert shown.with_menu(Contrast("food", (0, 2), ((0, 1), (0, 1)), 0)) is not None


def test_comparing_the_tasks_of_a_user_leaves_every_option_as_likely(town: Lives) -> None:
    """Over the tables alone: of all tastes for which every task of the user has a right option, each option suits as many."""
    by_user = defaultdict(list)
    for one in asked(town).values():
        by_user[one.task["user_id"], one.task["domains"][0]].append(list(one.menu.values()))
    several = [menus for menus in by_user.values() if sum(len(options) == 4 for options in menus) > 1]
    assert len(several) > 50
    for menus in several:
        contested: dict[str, set[str]] = defaultdict(set)
        for options in menus:
            for dimension in options[0]:
                shown = {option[dimension] for option in options}
                contested[dimension] = contested.get(dimension, shown) & shown
        assert {len(values) for values in contested.values()} == {2}
        names = list(contested)
        tastes = [dict(zip(names, values, strict=True)) for values in itertools.product(*contested.values())]
        suits = [[sum(option.items() <= taste.items() for option in options) for options in menus] for taste in tastes]
        able = [taste for taste, counts in zip(tastes, suits, strict=True) if all(counts)]
        for options in menus:
            assert len({sum(option.items() <= taste.items() for taste in able) for option in options}) == 1
