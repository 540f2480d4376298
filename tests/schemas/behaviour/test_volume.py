"""How many lines activities make: by hand for small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from schemas.behaviour.volume import activity_volume, by_quantiles, records_per_day, slots_kept, volume
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


def test_the_lines_of_a_session_are_search_choices_close_and_review() -> None:
    shape: dict[str, Any] = {
        "per_week": SEVEN,
        "again_soon": 0.0,
        "search": 0.5,
        "lines": {"1": 0.5, "3": 0.5},
        "review": 0.25,
    }
    assert lines("groceries", "shop", **shape) == (1, pytest.approx(0.5 + 2 + 1 + 0.25))
    assert lines("food", "meal", **shape) == (1, pytest.approx(0.5 + 2 + 0.25))
    assert lines("food", "meal", 3.0, **{**shape, "again_soon": 0.5}) == (4.5, pytest.approx(4.5 * 2.75))


def test_who_has_nothing_of_the_kind_makes_no_line() -> None:
    shape = {"per_week": SEVEN, "search": 0.0, "lines": {"1": 1.0}, "review": 0.0, "again_soon": 0.0}
    domain = with_count("planning", "contact", n0=0.4, n2=0.6)
    plan = domain.activities["plan"].model_copy(update=shape)
    assert activity_volume(domain, plan) == (1, pytest.approx(1.6))
    thread = domain.activities["messages"].model_copy(update={"per_week": SEVEN, "more": 0.5})
    assert activity_volume(domain, thread) == (pytest.approx(1.2), pytest.approx(1.2))
    home = with_count("home", "lamp", n0=0.5, n1=0.5)
    lamps = home.activities["lamps"].model_copy(update={"per_day": {"q0.0": 2.4, "q1.0": 2.4}, "kept": 0.5})
    assert activity_volume(home, lamps) == (0.5, 0.5)


def test_trips_come_back_and_summaries_are_one_a_day_at_the_most() -> None:
    assert lines("mobility", "outing", per_week=SEVEN, search=0.3, review=0.1) == (2, pytest.approx(2.4))
    assert lines("wellness", "steps", worn=0.8) == (0.8, 0.8) == lines("wellness", "steps", 0.5, worn=1.6)
    assert lines("wellness", "steps", 2.0, worn=0.8) == (1, 1)


@pytest.mark.parametrize("name", NINE_DOMAINS)
def test_domains_make_what_they_declare(name: str) -> None:
    domain = load_domain(name)
    assert records_per_day(domain) == pytest.approx(domain.records_per_day, rel=0.05)
    each = [activity_volume(domain, activity) for activity in domain.activities.values()]
    assert volume(domain) == (pytest.approx(sum(one[0] for one in each)), pytest.approx(sum(one[1] for one in each)))
    assert records_per_day(domain, 2.0) <= 2 * records_per_day(domain) + 1e-9
