"""Hours and weekdays of references that tell them in different ways."""

from __future__ import annotations

import numpy as np
import pytest

from validation.references.profile import profile
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
