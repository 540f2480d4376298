"""Hours and weekdays of references that tell them in different ways."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from schemas.activities import OwnProfile
from schemas.load import load_domain
from validation.references.profile import profile, profile_of
from validation.references.reader import UnknownReference, load_reference


@pytest.mark.parametrize(
    "reference",
    ["food_takeaway_london", "housing_bdew_h25_load", "mobility_capital_bikeshare", "mobility_chicago_taxi"],
)
def test_every_profile_is_three_distributions(reference: str) -> None:
    found = profile(reference)
    assert (found.working_hours.shape, found.resting_hours.shape, found.week.shape) == ((24,), (24,), (7,))
    assert all(np.isclose(part.sum(), 1.0) and (part >= 0).all() for part in found)
    assert not np.allclose(found.working_hours, found.resting_hours)


def test_types_of_day_are_taken_as_told() -> None:
    table = load_reference("food_takeaway_london").shares("hour_of_day_share", "weekend")
    assert profile("food_takeaway_london").resting_hours[19] == pytest.approx(table["19"] / sum(table.values()))
    source = load_reference("housing_bdew_h25_load")
    months = [t for t in source.tables if t.metric == "hour_of_day_share" and t.stratum.startswith("working day|")]
    mean = np.mean([table.values[7] for table in months])
    assert len(months) == 12 and profile("housing_bdew_h25_load").working_hours[7] == pytest.approx(mean, rel=1e-4)


def test_hours_can_come_from_a_stratum_of_another_file() -> None:
    sleep = profile("fashion_amazon_reviews_5core", "timeuse_atus_clock_weekday/activity=Sleep")
    assert sleep.working_hours[3] > 20 * sleep.working_hours[12]
    assert sleep.week[1] == pytest.approx(0.181045, abs=1e-3)


def test_a_week_that_is_not_told_is_even_and_hours_that_are_not_told_are_an_error() -> None:
    assert np.allclose(profile("health_studentlife_activity").week, 1 / 7)
    with pytest.raises(UnknownReference, match="hours_of"):
        profile("fashion_amazon_reviews_5core")
    with pytest.raises(UnknownReference, match="no_such"):
        profile("fashion_amazon_reviews_5core", "no_such")


def own(**other: object) -> dict[str, object]:
    return {
        "weekday_hours": [1 / 24] * 24,
        "weekend_hours": [0.5, 0.5, *[0.0] * 22],
        "week": [1 / 7] * 7,
        "basis": "ours",
    } | other


def test_an_activity_can_hold_its_hours_itself_and_then_needs_no_file() -> None:
    meal = load_domain("food").activities["meal"]
    mine = meal.model_copy(update={"reference": "nowhere", "profile": OwnProfile.model_validate(own())})
    found = profile_of(mine)
    assert np.allclose(found.working_hours, 1 / 24) and found.resting_hours[:2].tolist() == [0.5, 0.5]
    assert np.array_equal(profile_of(meal).week, profile(meal.reference, meal.hours_of).week)
    with pytest.raises(UnknownReference, match="nowhere"):
        profile_of(meal.model_copy(update={"reference": "nowhere", "hours_of": None}))


@pytest.mark.parametrize(
    ("key", "shares", "says"),
    [
        ("weekday_hours", [0.5, 0.5], "there are 2 shares; must be 24"),
        ("weekend_hours", [0.5] * 24, "shares sum to 12; must sum to 1"),
        ("week", [1.0], "there are 1 shares; must be 7, one for each of the days of the week, Monday first"),
    ],
)
def test_a_profile_is_whole_or_told_why_not(key: str, shares: list[float], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        OwnProfile.model_validate(own(**{key: shares}))
