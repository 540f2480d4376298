"""Slow change and seasons, and what holds when they meet each other and life events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from flows.common.clock import microseconds
from flows.common.stage import Shard
from flows.dispositions.changes import AS_IT_IS, LEANS, RETURNS, SETS, WAVERS, Steps, run_course, turning_points
from schemas.behaviour.hazards import DriftRates, mean_change, season_starts
from schemas.load import load_domains, load_life_events
from tests.flows.lives import Lives, Tables, run, small_config

LIFE = load_life_events()
SPECS = {
    name: spec
    for domain in load_domains(["food", "groceries"]).values()
    for name, spec in zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)
}
HABITS = [name for name, spec in SPECS.items() if spec.clock == "habit"]
PEOPLE, WEEKS = 300, 104
NONE = {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0}


@pytest.fixture(scope="module")
def personas() -> Tables:
    return run("personas", small_config(PEOPLE, WEEKS), {}, Shard(0, PEOPLE))


def drifting(personas: Tables, zone: str = "", **drift: Any) -> Lives:
    """Two years of tastes that drift at these rates, the others at 0; ``zone`` moves everybody there."""
    states = {"contradictions": {"temporary_state": 0}}
    config = small_config(PEOPLE, WEEKS, disturb={"drift": NONE | drift, **states})
    if zone:
        users = personas["users"]
        there = pa.array([zone] * users.num_rows, pa.string())
        personas = personas | {"users": users.set_column(users.column_names.index("time_zone"), "time_zone", there)}
    return Lives(config, personas | run("dispositions", config, personas, Shard(0, PEOPLE)))


def own(lives: Lives) -> pl.DataFrame:
    """The users' own dispositions, in order of time."""
    selves = lives["actors"].filter(relation="self").select("actor_id")
    return lives["dispositions"].join(selves, on="actor_id", how="semi").sort("user_id", "dimension", "valid_from")


@pytest.fixture(scope="module")
def slow(personas: Tables) -> Lives:
    return drifting(personas, gradual_share=0.3)


@pytest.fixture(scope="module")
def yearly(personas: Tables) -> Lives:
    return drifting(personas, seasonal_share=0.4)


def test_in_a_slow_change_the_old_taste_weakens_and_the_new_one_gains_until_it_is_as_strong(slow: Lives) -> None:
    chains = own(slow).group_by("user_id", "dimension", maintain_order=True).agg("value", "strength", "valid_from")
    changed = chains.filter(pl.col("value").list.len() > 1)
    ledger = slow["drift"].join(changed, on=["user_id", "dimension"])
    assert ledger.height == changed.height == slow["drift"].height
    expected = PEOPLE * len(HABITS) * 0.3
    assert abs(ledger.height - expected) < 3.3 * (expected * 0.7) ** 0.5
    for row in ledger.iter_rows(named=True):
        assert row["value"] == [row["before"]] * 3 + [row["after"]] * 3 and row["before"] != row["after"]
        full = row["strength"][0]
        assert row["strength"] == pytest.approx([full * part for part in (1, 0.75, 0.5, 0.5, 0.75, 1)], abs=6e-4)
        assert (row["valid_from"][1], row["valid_from"][5]) == (row["onset_at"], row["ended_at"])
        assert row["valid_from"][3] - row["onset_at"] == row["ended_at"] - row["valid_from"][3]
        spec = SPECS[row["dimension"]]
        places = [list(spec.values).index(row[name]) for name in ("before", "after")]
        assert spec.kind == "categorical" or abs(places[0] - places[1]) == 1
    window = slow.data.window
    assert ledger.select(pl.col("onset_at").min() > window.start, pl.col("ended_at").max() < window.end).row(0) == (
        True,
        True,
    )
    assert set(ledger["cause"]) == {"slow change"} and set(ledger["dimension"]) == set(HABITS)


def test_a_season_comes_back_next_year_and_in_between_holds_what_held_before(yearly: Lives) -> None:
    seasons = yearly["drift"].sort("user_id", "dimension", "onset_at")
    chains = seasons.group_by("user_id", "dimension", maintain_order=True).agg("after", "onset_at", "ended_at")
    assert chains.height > 300 and chains.select(pl.col("after").list.n_unique().max()).item() == 1
    assert chains.select(pl.col("onset_at").list.len().min()).item() == 2
    start = yearly.data.window.start
    for onset, ended in chains.select("onset_at", "ended_at").iter_rows():
        if onset[0] > start:
            assert abs(onset[1] - onset[0] - timedelta(days=365)) <= timedelta(days=1)
        assert ended[0] - onset[0] < timedelta(days=93) and ended[0] < onset[1]
    changes = seasons.filter(pl.col("before") != pl.col("after"))
    rows = own(yearly)
    key = ["user_id", "dimension"]
    within = changes.join(
        rows, left_on=[*key, "onset_at", "after"], right_on=[*key, "valid_from", "value"], suffix="_of"
    )
    assert within.height == changes.height > 200 and (within["cause_of"] == "season").all()
    assert (within["valid_to"].fill_null(start) == within["ended_at"].fill_null(start)).all()
    back = changes.drop_nulls("ended_at")
    after = back.join(rows, left_on=[*key, "ended_at", "before"], right_on=[*key, "valid_from", "value"])
    assert after.height == back.height > 100


def test_a_season_brings_what_is_not_liked_anyway_as_often_as_the_share_says(yearly: Lives) -> None:
    seasons, rows = yearly["drift"], own(yearly)
    assert (seasons["before"] != seasons["after"]).all()
    first = {
        (user, name): value
        for user, name, value in rows.unique(["user_id", "dimension"], keep="first")
        .select("user_id", "dimension", "value")
        .iter_rows()
    }
    can = sum(
        any(value != first[user, name] for value in LIFE.seasons.get(name, {}).values())
        for user, name in first
        if SPECS[name].clock == "habit"
    )
    have = seasons.unique(["user_id", "dimension"]).height
    assert can > 1_000 and abs(have - 0.4 * can) < 3.3 * (0.24 * can) ** 0.5
    portion = seasons.filter(dimension="food.portion")
    assert portion.filter(pl.col("before") == "large")["after"].unique().to_list() == ["light"]


def test_seasons_are_those_of_the_hemisphere(personas: Tables) -> None:
    north, south = (
        drifting(personas, zone, seasonal_share=0.4)["drift"].filter(pl.col("dimension") == "food.portion")
        for zone in ("America/New_York", "Australia/Sydney")
    )
    for drift, light, large in ((north, 6, 12), (south, 12, 6)):
        inside = drift.filter(pl.col("onset_at") > datetime(2025, 1, 7, tzinfo=UTC))
        for value, month in (("light", light), ("large", large)):
            onset = inside.filter(after=value)["onset_at"]
            middle = {datetime(year, month, 1, tzinfo=UTC) for year in (2025, 2026)}
            assert len(onset) > 40
            assert all(min(abs(at - first) for first in middle) <= timedelta(days=14) for at in onset)
    in_winter = north.filter(pl.col("onset_at") == datetime(2025, 1, 6, tzinfo=UTC))  # when the window begins
    assert in_winter.height > 20 and set(in_winter["after"]) == {"large"}
    [(begins, _)] = season_starts("summer", True, [2025])
    assert begins.month == 12
    assert set(north["user_id"]) == set(south["user_id"])


@pytest.mark.parametrize("kind", ["gradual", "seasonal"])
def test_a_share_raised_adds_rows_of_its_kind_and_touches_no_other(kind: str, personas: Tables) -> None:
    base: dict[str, Any] = {"abrupt_per_year": 1.0, "gradual_share": 0.1, "seasonal_share": 0.1}
    few, many = (drifting(personas, **base | {f"{kind}_share": share})["drift"] for share in (0.1, 0.4))
    before, after = (set(drift.filter(kind=kind)["injection_id"]) for drift in (few, many))
    assert 50 < len(before) < len(after) / 2 and before < after
    columns = [name for name in few.columns if name != "before"]  # what was changed by the other kind may differ
    rest, still = (drift.filter(pl.col("kind") != kind).select(columns) for drift in (few, many))
    assert rest.height > 100 and rest.equals(still)
    kept = many.filter(pl.col("injection_id").is_in(before)).select(columns)
    assert kept.equals(few.filter(kind=kind).select(columns))


def test_without_rates_everybody_keeps_what_they_begin_with(personas: Tables) -> None:
    still = drifting(personas)
    assert still["drift"].is_empty()
    rows = own(still)
    assert rows.height == PEOPLE * len(SPECS) and rows["valid_to"].null_count() == rows.height


def test_the_observers_mean_of_change_is_what_happens_on_average(personas: Tables) -> None:
    rates: dict[str, Any] = {"abrupt_per_year": 3.0, "gradual_share": 0.2, "seasonal_share": 0.0}
    drift = drifting(personas, **rates)["drift"]
    days = WEEKS * 7.0
    moves = sum(mean_change(name, spec, LIFE, DriftRates(3.0, 0.2, 0.0, days)).per_day for name, spec in SPECS.items())
    expected = PEOPLE * days * moves
    assert drift.height == pytest.approx(expected, rel=0.1)  # few people, and each event is several rows
    seasons = drifting(personas, seasonal_share=0.4)["drift"]
    there = sum(mean_change(n, s, LIFE, DriftRates(0, 0, 0.4, days)).per_day / 2 for n, s in SPECS.items())
    begun = seasons.filter(pl.col("onset_at") > datetime(2025, 1, 6, tzinfo=UTC)).height
    assert begun == pytest.approx(PEOPLE * days * there, rel=0.1)


def steps_of(*steps: tuple[int, int, int, float]) -> Steps:
    """Steps of one taste of one person: second, kind, value, factor."""
    second, kind, value, factor = (np.array(column) for column in zip(*steps, strict=True))
    none = np.zeros(second.size, np.int64)
    return Steps(none, none, second * 1_000_000, kind, value, factor, none, none.astype(np.uint64))


def test_the_last_change_counts_and_a_season_goes_back_to_the_last_that_lasts() -> None:
    liked = np.array([[0]])
    met = steps_of(
        (10, LEANS, 1, AS_IT_IS),
        (20, SETS, 2, AS_IT_IS),  # a life event in the season
        (30, RETURNS, 0, AS_IT_IS),
        (40, LEANS, 1, AS_IT_IS),
        (50, RETURNS, 0, AS_IT_IS),
        (60, SETS, 2, AS_IT_IS),  # nothing new
    )
    course = run_course(met, liked)
    assert course.before.tolist() == [0, 1, 2, 2, 1, 2] and course.after.tolist() == [1, 2, 2, 1, 2, 2]
    assert turning_points(course, liked).tolist() == [0, 1, 3, 4]


def test_a_strength_that_wavers_is_a_change_and_of_two_steps_at_once_the_later_kind_holds() -> None:
    liked = np.array([[3]])
    course = run_course(steps_of((10, WAVERS, 0, 0.5), (20, LEANS, 1, AS_IT_IS), (20, SETS, 2, 0.75)), liked)
    turns = turning_points(course, liked)
    assert course.after[turns].tolist() == [3, 1] and course.factor[turns].tolist() == [0.5, 0.75]
    assert (np.diff(course.steps.at_us[turns]) > 0).all()
    assert microseconds(datetime(1970, 1, 1, tzinfo=UTC)) < course.steps.at_us[turns[0]]
