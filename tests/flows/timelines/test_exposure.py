"""A feed that has learned the person."""

from __future__ import annotations

import numpy as np
import pytest

from tests.flows.lives import QUIET, Lives, live, mean, run, small_config
from tests.flows.timelines.choosing import choices


def of_bias(bias: float, known: Lives | None = None) -> Lives:
    data = small_config(40, 3, domains=["food"], disturb=QUIET, timelines={"exposure_bias": bias, "price_effect": 0})
    tables = known.tables if known else live(data, last="dispositions")
    return Lives(data, tables | run("timelines", data, tables))


@pytest.fixture(scope="module")
def plain() -> Lives:
    return of_bias(0.0)


def test_more_bias_shows_more_of_what_fits(plain: Lives) -> None:
    fit: list[float] = []
    change: list[float] = []
    before = plain["clean_events"].drop_nulls("options").sort("event_id")["options"].explode()
    for bias in (0.0, 0.3, 0.6):
        lives = of_bias(bias, plain)
        fit.append(float(np.mean([one.utility for one in choices(lives, "food")])))
        log = lives["clean_events"].drop_nulls("options").sort("event_id")
        assert (log["options"].list.n_unique() == 6).all()
        assert log.select("event_id", "at").equals(
            plain["clean_events"].drop_nulls("options").sort("event_id").select("event_id", "at")
        )
        assert [item in shown for item, shown in log.select("item_id", "options").iter_rows()].count(False) == 0
        change.append(mean(log["options"].explode() != before))
    assert fit[0] < fit[1] - 0.2 < fit[2] - 0.4
    assert change[0] == 0 and 0.15 < change[1] < 0.4 < change[2] < 0.7


def test_what_the_feed_shows_is_of_the_category_that_was_looked_at(plain: Lives) -> None:
    category = dict(plain["items"].select("item_id", "category").iter_rows())
    lives = of_bias(0.9, plain)
    before = dict(plain["clean_events"].drop_nulls("options").select("event_id", "options").iter_rows())
    shown = lives["clean_events"].drop_nulls("options").select("event_id", "options")
    for event, options in shown.iter_rows():
        assert {category[one] for one in options} == {category[before[event][0]]}
