"""What is on show and what is taken: shown without regard to the person, taken by the declared equations."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.clock import DAY, HOUR
from flows.common.draws import Draws
from flows.timelines.shelves import Shelf, categories_on_show, options_on_show
from schemas.load import load_domain, load_domains
from schemas.tables.core import replaced
from tests.flows.lives import QUIET, Lives, fits, live, mean, run, small_config
from tests.flows.timelines.choosing import choices, softmax

DRAWS = Draws(7, "timelines")


def quiet(users: int = 40, weeks: int = 4, timelines: dict[str, Any] | None = None, **data: Any) -> Lives:
    """The clean timeline of some people of whom nothing changes."""
    config = small_config(users, weeks, disturb=QUIET, timelines=timelines or {}, **data)
    return Lives(config, live(config, last="timelines"))


def positions(lives: Lives) -> list[int]:
    """How often each place on the screen was taken."""
    some = lives["clean_events"].drop_nulls("options").select("options", "item_id").iter_rows()
    counts = Counter(options.index(item) for options, item in some)
    return [counts[place] for place in range(lives.data.timelines.options_shown)]


def test_options_are_distinct_of_one_category_and_hold_the_chosen_item(town: Lives) -> None:
    category = dict(town["items"].select("item_id", "category").iter_rows())
    domain = dict(town["items"].select("item_id", "domain").iter_rows())
    shown = town["clean_events"].drop_nulls("options")
    assert set(shown["action"].unique()) == {"order", "add"}
    for own, item, options in shown.select("domain", "item_id", "options").iter_rows():
        assert len(set(options)) == len(options) == town.data.timelines.options_shown
        assert len({category[option] for option in options}) == 1 and {domain[option] for option in options} == {own}
        assert item in options


def test_categories_are_on_show_as_often_as_they_are_popular() -> None:
    domain = load_domain("groceries")
    popularity = np.array([one.popularity for one in domain.catalogue.categories.values()])
    count = 20_000
    shown = categories_on_show(
        domain,
        np.full(count, 20_000 * DAY),
        {21: np.zeros(count, np.int64)},
        DRAWS.uniform("popular", np.arange(count)),
    )
    assert popularity.max() > 2 * popularity.min()
    assert fits(np.bincount(shown, minlength=popularity.size), popularity / popularity.sum())


def turned(lives: Lives) -> Lives:
    """The same people, each of whose values is the next one of its dimension."""
    after = {
        name: dict(zip(values, values[1:] + values[:1], strict=True))
        for domain in load_domains(lives.data.domains).values()
        for name, values in domain.value_names().items()
    }
    others = lives.tables["dispositions"]
    pairs = zip(others["dimension"].to_pylist(), others["value"].to_pylist(), strict=True)
    changed = replaced(others, {"value": pa.array([after[name][value] for name, value in pairs])})
    return Lives(lives.data, run("timelines", lives.data, lives.tables | {"dispositions": changed}))


def test_what_is_on_show_does_not_depend_on_tastes() -> None:
    lives = quiet()
    again = turned(lives)
    pairs = lives["clean_events"].join(again["clean_events"], on="event_id", how="full")
    assert pairs.select("at", "action", "options").equals(
        pairs.select(at="at_right", action="action_right", options="options_right")
    )
    chosen = pairs.drop_nulls("options")
    assert mean(chosen["item_id"] != chosen["item_id_right"]) > 0.4


def test_places_on_show_do_not_depend_on_tastes_where_both_are_gone_to() -> None:
    """Tastes decide where people are, and so now and then that there is no way to go; of what is shown they decide nothing."""
    lives = quiet(60, 4, domains=["mobility"])
    again = turned(lives)
    pairs = lives["clean_events"].drop_nulls("options").join(again["clean_events"], on="event_id")
    assert pairs.height > 0.98 * lives["clean_events"]["options"].count() > 300
    assert (pairs["options"] == pairs["options_right"]).all() and (pairs["at"] == pairs["at_right"]).all()
    assert mean(pairs["item_id"] != pairs["item_id_right"]) > 0.2


def test_categories_are_drawn_by_popularity_among_those_that_are_open_and_fit_for_the_age() -> None:
    domain = load_domain("mobility")
    names, count = list(domain.catalogue.categories), 8_000
    popularity = np.array([one.popularity for one in domain.catalogue.categories.values()])
    old = np.arange(count) % 2 == 0
    of_age = {21: np.where(old, 20_000, 20_001)}
    for hour in range(24):
        clock = np.full(count, 20_000 * DAY + hour * HOUR + HOUR - 1)
        uniform = DRAWS.uniform(f"category at {hour}", np.arange(count))
        shown = categories_on_show(domain, clock, of_age, uniform)
        for is_old in (True, False):
            open_now = [c.is_open(hour) and (is_old or c.min_age is None) for c in domain.catalogue.categories.values()]
            counts = np.bincount(shown[old == is_old], minlength=len(names))
            assert counts[np.logical_not(open_now)].sum() == 0
            assert sum(open_now) > 1 and fits(counts[open_now], popularity[open_now]), hour


def test_popular_things_are_on_show_as_often_as_their_weights_say() -> None:
    upto = np.cumsum([5, 3, 1, 1, 6, 2, 2])
    shelf = Shelf(
        np.array([9, 8, 7, 6, 5, 4, 3]),
        np.array([0, 4]),
        np.array([4, 3]),
        np.concatenate([upto[:4], upto[4:] - upto[3]]),
    )
    keys = np.arange(8_000, dtype=np.uint64)
    category = np.arange(8_000) % 2
    shown = options_on_show(shelf, category, 3, keys, keys, DRAWS, "options")
    assert fits([(shown[category == 0, 0] == row).sum() for row in (9, 8, 7, 6)], [0.5, 0.3, 0.1, 0.1])
    assert fits([(shown[category == 1, 0] == row).sum() for row in (5, 4, 3)], [0.6, 0.2, 0.2])
    assert set(shown[category == 1].ravel().tolist()) == {5, 4, 3}


@settings(max_examples=30)
@given(st.lists(st.integers(6, 12), min_size=1, max_size=3), st.integers(2, 6), st.integers(0, 2**32))
def test_no_screen_shows_a_thing_twice(sizes: list[int], count: int, key: int) -> None:
    size = np.array(sizes)
    upto = np.concatenate([np.cumsum(np.full(n, 1 + 1000 * (n % 2))) for n in sizes])
    shelf = Shelf(np.arange(size.sum()), np.cumsum(size) - size, size, upto)
    who = np.arange(60, dtype=np.uint64)
    category = np.arange(60) % len(sizes)
    shown = options_on_show(shelf, category, count, who, who + np.uint64(key), DRAWS, "options")
    assert (np.diff(np.sort(shown, axis=1), axis=1) > 0).all()
    assert (np.searchsorted(np.cumsum(size), shown, side="right") == category[:, None]).all()


def test_a_shelf_with_too_few_things_is_refused() -> None:
    shelf = Shelf(np.arange(2), np.array([0]), np.array([2]), np.array([1, 2]))
    one = np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="fewer than 3"):
        options_on_show(shelf, np.zeros(1, np.int64), 3, one, one, DRAWS, "options")


@pytest.mark.parametrize("domain", ["food", "groceries"])
def test_choices_follow_the_equations(domain: str, town: Lives) -> None:
    """The log-likelihood of what was taken is what it is on average under the model, passing states and changes counted in."""
    config = town.data.timelines
    found = expected = variance = 0.0
    seen = 0
    for choice in choices(town, domain, at_most=3_000):
        share = softmax(choice.utility, config.position_effect, config.exploration)
        logs = [math.log(p) for p in share]
        mean = sum(p * log for p, log in zip(share, logs, strict=True))
        found += logs[choice.taken]
        expected += mean
        variance += sum(p * log * log for p, log in zip(share, logs, strict=True)) - mean * mean
        seen += 1
    assert seen > 1_500 and abs(found - expected) < 4 * math.sqrt(variance)


def test_with_strong_tastes_the_best_option_is_taken() -> None:
    lives = quiet(timelines={"exploration": 0, "position_effect": 0}, dispositions={"strength_mean": 200.0})
    some = [choice for name in lives.data.domains for choice in choices(lives, name, at_most=800)]
    # A session takes nothing twice, so that the best is among those which its other lines do not take.
    others = lives["clean_events"].select("session_id", taken="item_id").drop_nulls()
    held = lives["clean_events"].drop_nulls("options").join(others, on="session_id").group_by("event_id")
    free = {
        event: [option == item or option not in taken for option in options]
        for event, item, options, taken in held.agg(pl.col("item_id", "options").first(), "taken").iter_rows()
    }
    behind = [
        max(u for u, is_free in zip(one.utility, free[one.event_id], strict=True) if is_free) - one.utility[one.taken]
        for one in some
    ]
    assert len(some) > 800 and sum(b == 0 for b in behind) > 0.98 * len(some)
    assert max(behind) < math.log(2**20)  # shares are put on a grid, and what is further behind has none


def test_exploration_takes_every_place_alike_whatever_the_taste() -> None:
    lives = quiet(timelines={"exploration": 1, "position_effect": 1.0}, dispositions={"strength_mean": 200.0})
    assert fits(positions(lives), [1 / 6] * 6)


def test_what_stands_further_down_is_taken_less() -> None:
    lives = quiet(
        timelines={"exploration": 0, "position_effect": 0.5, "price_effect": 0}, dispositions={"strength_mean": 0.001}
    )
    weight = np.exp(-0.5 * np.arange(6))
    assert fits(positions(lives), weight / weight.sum())


def test_the_screen_shows_as_many_options_as_the_config_says() -> None:
    lives = quiet(10, 2, timelines={"options_shown": 3})
    assert set(lives["clean_events"].drop_nulls("options")["options"].list.len()) == {3}


def test_the_dispositions_behind_a_choice_are_those_that_held(town: Lives) -> None:
    domains = load_domains(town.data.domains)
    lines = (
        town["clean_events"]
        .drop_nulls("options")
        .select("event_id", "domain", "at")
        .join(town["clean_truth"].select("event_id", "actor_id", "driver_disposition_ids"), on="event_id")
    )
    rows = lines.explode("driver_disposition_ids").join(
        town["dispositions"], left_on="driver_disposition_ids", right_on="disposition_id", suffix="_of"
    )
    assert rows.height == sum(lines.filter(domain=name).height * len(d.dimensions) for name, d in domains.items())
    assert (rows["actor_id"] == rows["actor_id_of"]).all()
    assert rows.select(
        (
            (pl.col("valid_from") <= pl.col("at"))
            & (pl.col("valid_to").is_null() | (pl.col("at") < pl.col("valid_to")))
        ).all()
    ).item()
    assert {"habit", "state", "trait"} == set(rows["clock"].unique())
