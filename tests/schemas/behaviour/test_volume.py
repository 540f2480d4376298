"""How many lines activities make: by hand for small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from schemas.activities import Rhythm
from schemas.behaviour.volume import (
    ABOUT_MINUTES,
    AT_WORK,
    USUAL,
    activity_volume,
    by_quantiles,
    records_per_day,
    slots_kept,
    volume,
)
from schemas.config.data import NINE_DOMAINS
from schemas.domain import Domain
from schemas.load import load_domain

SEVEN = {"q0.0": 7.0, "q1.0": 7.0}


def lines(domain: str, activity: str, factor: float = 1.0, **changes: Any) -> tuple[float, float]:
    """Sessions and lines a day of an activity with other figures."""
    loaded = load_domain(domain)
    return activity_volume(loaded, loaded.activities[activity].model_copy(update=changes), factor)


def with_count(domain: str, kind: str, **count: float) -> Domain:
    loaded = load_domain(domain)
    spec = loaded.personal[kind].model_copy(
        update={"count": {name.lstrip("n"): share for name, share in count.items()}}
    )
    return loaded.model_copy(update={"personal": {**loaded.personal, kind: spec}})


def test_values_lie_between_quantiles_by_the_logarithm_and_are_flat_beyond() -> None:
    found = by_quantiles({"q0.25": 1.0, "q0.75": 4.0}, np.array([0.0, 0.25, 0.5, 0.75, 1.0]))
    assert found.tolist() == [1.0, 1.0, 2.0, 4.0, 4.0]
    assert by_quantiles({"q0.0": 1.0, "q1.0": np.e}, (np.arange(1000) + 0.5) / 1000).mean() == pytest.approx(
        np.e - 1, rel=1e-3
    )


def test_habits_are_whole_ones_and_the_rest() -> None:
    assert slots_kept(np.array([0.0, 1.0, 2.25]), 4).tolist() == [[0] * 4, [1, 0, 0, 0], [1, 1, 0.25, 0]]


def test_the_lines_of_a_session_are_search_looks_choices_close_and_review() -> None:
    shape: dict[str, Any] = {
        "per_week": SEVEN,
        "search": 0.5,
        "lines": {"1": 0.5, "3": 0.5},
        "review": 0.25,
        "view": 0.0,
        "compare": 0.0,
    }
    assert lines("groceries", "shop", **shape) == (1, pytest.approx(0.5 + 2 + 1 + 0.25))
    assert lines("food", "meal", **shape) == (1, pytest.approx(0.5 + 2 + 0.25))
    assert lines("food", "meal", 3.0, **shape) == (3, pytest.approx(3 * 2.75))
    assert lines("food", "meal", **{**shape, "view": 0.3, "compare": 0.1}) == (1, pytest.approx(2.75 + 0.8))


def test_who_has_nothing_of_the_kind_makes_no_line() -> None:
    shape = {"per_week": SEVEN, "search": 0.0, "lines": {"1": 1.0}, "review": 0.0, "view": 0.0, "compare": 0.0}
    domain = with_count("planning", "contact", n0=0.4, n2=0.6)
    plan = domain.activities["plan"].model_copy(update=shape)
    assert activity_volume(domain, plan) == (1, pytest.approx(1.6))
    thread = domain.activities["messages"].model_copy(update={"per_week": SEVEN})
    assert activity_volume(domain, thread) == (pytest.approx(0.6), pytest.approx(0.6))
    home = with_count("home", "lamp", n0=0.5, n1=0.5)
    lamps = home.activities["lamps"].model_copy(update={"per_day": {"q0.0": 2.4, "q1.0": 2.4}, "kept": 0.5})
    assert activity_volume(home, lamps) == (0.5, 0.5)


def test_people_come_back_from_trips_unless_they_go_on() -> None:
    """By hand: whether the next comes within an hour of the first decides on searches, within 90 minutes on coming home."""
    alone = Rhythm(again=0, sway=0, dormant_share=0)
    trip: dict[str, Any] = {"per_week": {"q0.0": 7e-4, "q1.0": 7e-4}, "search": 0.3, "review": 0.1}
    assert lines("mobility", "outing", rhythm=alone, **trip) == (
        pytest.approx(2e-4, rel=1e-4),
        pytest.approx(2.4e-4, rel=1e-4),
    )
    ways: dict[str, Any] = {"travel_minutes": 20.0, "stay_minutes": 50.0, **trip}
    soon = Rhythm(
        again=0.4, again_between=0, soon_minutes=60, soon_spread=np.log(1.5), later_share=0.25, later_hours=1e9
    )
    within_hour, within_ninety = 0.4 * 0.75 * 0.5, 0.4 * 0.75 * stats.norm.cdf(1)
    back = 1 - within_ninety
    assert lines("mobility", "outing", rhythm=soon, **ways) == (
        pytest.approx((1 + back) * 1e-4, rel=1e-4),
        pytest.approx((0.3 * (1 - within_hour) + 1.1 + back) * 1e-4, rel=1e-4),
    )
    often = {**trip, "per_week": SEVEN}
    sessions, _ = lines("mobility", "outing", rhythm=alone, **{**ways, **often})
    assert sessions == pytest.approx(1 + np.exp(-90 / ABOUT_MINUTES))  # who goes often meets the next trip by chance


def test_habits_are_made_up_for_by_those_who_keep_them_up_to_every_day() -> None:
    assert lines("wellness", "steps", worn=0.8) == (0.8, 0.8) == lines("wellness", "steps", 0.5, worn=1.6)
    assert 0.8 < USUAL < 0.9 and lines("wellness", "steps", 2.0, worn=0.8) == (USUAL, USUAL)
    commute = lines("mobility", "commute", kept=0.5)[1]
    assert commute == pytest.approx(AT_WORK * 0.5 * (1 - load_domain("mobility").personal["workplace"].count["0"]))


@pytest.mark.parametrize("name", NINE_DOMAINS)
def test_domains_make_what_they_declare(name: str) -> None:
    domain = load_domain(name)
    assert records_per_day(domain) == pytest.approx(domain.records_per_day, rel=0.05)
    each = [activity_volume(domain, activity) for activity in domain.activities.values()]
    assert volume(domain) == (pytest.approx(sum(one[0] for one in each)), pytest.approx(sum(one[1] for one in each)))
    assert records_per_day(domain, 2.0) <= 2 * records_per_day(domain) + 1e-9
