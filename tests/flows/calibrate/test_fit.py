"""Fits of the generator's own parameters: quick ones, and three far references in full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flows.calibrate.compare import Target, fitted_times, loss
from flows.calibrate.fit import Fit, fit, told
from flows.calibrate.how import choices, crowd_of, times
from flows.calibrate.report import is_within
from flows.calibrate.what import Fitted, activity_of, moved_quantiles
from schemas.load import load_domain
from tests.flows.calibrate.artificial import evening, heavy, weekly
from validation.fidelity.exposure import UNKNOWN
from validation.references.profile import profile_of
from validation.references.reader import reference_of


def target(made: dict[str, Any], weeks: int) -> Target:
    return Target(reference_of(made), UNKNOWN, weeks)


def shop(domain: str) -> tuple[str, Fitted]:
    name = activity_of(load_domain(domain), None)
    activity = load_domain(domain).activities[name]
    assert isinstance(activity, Fitted)
    return name, activity


def quick(tries: int) -> tuple[Fit, float, float]:
    """Takeaway orders fitted to evening shoppers, with few people; and the losses before and after."""
    aim, crowd = target(evening(), 12), crowd_of(load_domain("food"), 120, 12, 1)
    name, activity = shop("food")
    found = fit(crowd, name, activity, aim, False, tries, lambda *said: None)

    def lost(one: Fitted) -> float:
        ours = times(crowd, name, one)[1]
        return loss(aim, [(metric, "item", ours) for metric in fitted_times(aim)])

    return found, lost(activity), lost(found.activity)


def test_a_short_search_comes_nearer_at_the_hours_of_the_reference_and_finds_the_same_again() -> None:
    found, before, after = quick(12)
    assert after < before / 3
    again, _, _ = quick(12)
    assert again == found
    hours = np.array(next(t["values"] for t in evening()["tables"] if t["stratum"] == "weekday"))
    assert np.allclose(profile_of(found.activity).working_hours, hours / hours.sum(), atol=1e-5)
    assert found.activity.reference == "evening" and found.activity.rhythm.basis.startswith("calibrated to evening, ")
    assert found.activity.per_week_basis == "calibrated to evening, events_per_active_week_quantile"
    assert not found.has_habit


@pytest.mark.parametrize("domain", ["groceries", "planning", "mobility"])
def test_people_do_in_a_small_crowd_what_they_do_in_a_large_one(domain: str) -> None:
    name, activity = shop(domain)
    large, small = (crowd_of(load_domain(domain), users, 6, 1) for users in (60, 25))
    for one in (small, large.first(25)):
        ours, theirs = times(one, name, activity)[1], times(large, name, activity)[1]
        kept = theirs.user < 25
        assert np.array_equal(ours.at_us, theirs.at_us[kept]) and np.array_equal(ours.user, theirs.user[kept])
    few, many = choices(small, name, activity).items, choices(large, name, activity).items
    assert few.unit is not None and many.unit is not None
    assert np.array_equal(few.unit, many.unit[many.user < 25])


def test_quantiles_are_spread_about_their_middle_and_moved() -> None:
    moved = moved_quantiles({"q0.10": 1.0, "q0.50": 2.0, "q0.90": 4.0}, level=0.5, spread=2.0)
    assert list(moved.values()) == pytest.approx([0.5 * np.exp(0.5), 2 * np.exp(0.5), 8 * np.exp(0.5)], rel=1e-3)


def test_what_has_no_rhythm_is_refused() -> None:
    with pytest.raises(KeyError, match="no activity with a rhythm"):
        activity_of(load_domain("groceries"), "sleep")


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "made"), [("food", evening), ("groceries", weekly), ("groceries", heavy)])
def test_a_far_reference_is_reached_by_other_people_than_those_fitted(
    domain: str, made: Callable[[], dict[str, Any]]
) -> None:
    aim = target(made(), 26)
    crowd, others = (crowd_of(load_domain(domain), 2000, 26, seed) for seed in (1, 2))
    name, activity = shop(domain)
    found = fit(crowd, name, activity, aim, False, 240, lambda *said: None)
    assert not is_within(told(others, name, activity, aim))
    after = told(others, name, found.activity, aim)
    assert is_within(after), after["fitted"]
    assert len(after["fitted"]) >= 6 and all(line.is_ok is not None for line in after["fitted"])
