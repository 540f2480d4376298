from __future__ import annotations

import math

import numpy as np
import pytest

from flows.common.draws import Draws, categorical, exponential
from schemas.load import load_domain
from validation.fidelity import metrics
from validation.fidelity.distances import floor
from validation.fidelity.metrics import DAY_NAMES, measure
from validation.fidelity.occurrences import Occurrences, hour_counts, iso_weekday, local_hour, weekday_counts
from validation.fidelity.rhythm import gaps_h
from validation.references.reader import Reference, load_reference

DAY_US = 86_400_000_000
HOUR_US = 3_600_000_000
MONDAY_US = 20_094 * DAY_US  # 2025-01-06
OFFSET_MIN = -360


def people(hours: dict[str, list[float]], weekdays: list[float], users: int, each: int) -> Occurrences:
    """Key actions at hours drawn by day type, on days drawn by weekday, over 26 weeks."""
    draws = Draws(11, "test")
    who = np.repeat(np.arange(users), each)
    place = np.tile(np.arange(each), users)
    week = (draws.uniform("week", who, place) * 26).astype(np.int64)
    weekday = categorical(draws.uniform("weekday", who, place), weekdays)
    shares = np.where((weekday >= 5)[:, None], hours["weekend"], hours["weekday"])
    hour = categorical(draws.uniform("hour", who, place), shares)
    inside = (draws.uniform("inside", who, place) * 3600).astype(np.int64) * 1_000_000
    local = MONDAY_US + (week * 7 + weekday) * DAY_US + hour * HOUR_US + inside
    at = local - OFFSET_MIN * 60_000_000
    order = np.lexsort((at, who))
    return Occurrences(who[order], at[order], np.full(at.size, OFFSET_MIN))


def real_people(reference_id: str, users: int, each: int) -> Occurrences:
    reference = load_reference(reference_id)
    hours = {stratum: [*reference.table("hour_of_day_share", stratum).values] for stratum in ("weekday", "weekend")}
    return people(hours, [*reference.table("day_of_week_share").values], users, each)


def even_people(users: int, each: int) -> Occurrences:
    return people({"weekday": [1.0] * 24, "weekend": [1.0] * 24}, [1.0] * 7, users, each)


@pytest.mark.parametrize("metric", ["hour_of_day", "day_of_week"])
def test_a_sample_of_the_real_people_passes_and_the_naive_one_does_not(metric: str) -> None:
    good = measure("food", metric, "food_takeaway_london", real_people("food_takeaway_london", 1200, 10))
    assert (good.passed, good.verdict, good.reason) == (True, "indistinguishable", "")
    bad = measure("food", metric, "food_takeaway_london", even_people(1200, 10))
    assert (bad.passed, bad.verdict) == (False, "distinguishable")
    assert bad.worst is not None and bad.worst.value == pytest.approx(bad.worst.naive, abs=0.02)


def test_hours_swapped_between_day_types_do_not_pass_for_people_whose_weekends_differ() -> None:
    foursquare = load_reference("mobility_foursquare_nyc")
    hours = {
        "weekday": [*foursquare.table("hour_of_day_share", "weekend").values],
        "weekend": [*foursquare.table("hour_of_day_share", "weekday").values],
    }
    swapped = measure("mobility", "hour_of_day", "mobility_foursquare_nyc", people(hours, [1.0] * 7, 1200, 30))
    assert swapped.passed is False
    assert {part.stratum for part in swapped.parts} == {"weekday", "weekend"}


def test_a_small_sample_is_measured_and_decides_nothing() -> None:
    few = measure("food", "hour_of_day", "food_takeaway_london", even_people(199, 30))
    assert (few.passed, few.verdict) == (None, "insufficient")
    assert few.reason == "199 users with two or more key actions, 200 needed"
    assert few.worst is not None and few.worst.value > few.worst.limit
    little = measure("food", "hour_of_day", "food_takeaway_london", even_people(1000, 3))
    assert little.reason == "3000 key actions, 5000 needed"
    weekdays = measure("food", "day_of_week", "food_takeaway_london", even_people(999, 10))
    assert weekdays.reason == "999 users with a key action, 1000 needed"


def test_a_reference_from_which_the_naive_model_cannot_be_told_decides_nothing() -> None:
    grocers = measure("groceries", "day_of_week", "grocery_dunnhumby_cj", even_people(1200, 10))
    assert (grocers.passed, grocers.verdict) == (None, "insufficient")
    assert "the naive model is 0.03598 from grocery_dunnhumby_cj.day_of_week_share" in grocers.reason
    assert "within the limit of 0.04" in grocers.reason


def shoppers(burst: bool, users: int = 400, each: int = 20) -> Occurrences:
    """Gaps drawn from the grocery quantiles (log-linear between them), or a Poisson process of the same mean."""
    known = load_reference("grocery_dunnhumby_cj").shares("inter_event_gap_hours_quantile")
    u = Draws(3, "test").uniform("gap", np.arange(users)[:, None], np.arange(each)[None, :])
    if burst:
        p = [float(name[1:]) for name in known if name != "mean"]
        hours = 10 ** np.interp(u, p, np.log10([value for name, value in known.items() if name != "mean"]))
    else:
        hours = exponential(u) * known["mean"]
    at = MONDAY_US + np.cumsum(np.rint(hours * HOUR_US).astype(np.int64), axis=1)
    return Occurrences(np.repeat(np.arange(users), each), at.ravel(), np.zeros(at.size, np.int64))


def test_gaps_of_real_shoppers_pass_and_a_poisson_process_does_not() -> None:
    good = measure("groceries", "inter_event_gap", "grocery_dunnhumby_cj", shoppers(burst=True))
    assert (good.passed, good.verdict) == (True, "indistinguishable")
    assert [part.distance for part in good.parts if part.counts] == ["ks", "wasserstein_log10"]
    bad = measure("groceries", "inter_event_gap", "grocery_dunnhumby_cj", shoppers(burst=False))
    assert bad.passed is False
    assert bad.parts[0].value == pytest.approx(bad.parts[0].naive, abs=0.01)


def test_nulls_are_named_with_their_column_and_do_not_pass() -> None:
    full = real_people("food_takeaway_london", 300, 20)
    holed = Occurrences(full.user, full.at_us, full.offset_min, holes=(("events.at", 3),))
    result = measure("food", "hour_of_day", "food_takeaway_london", holed)
    assert (result.passed, result.verdict, result.reason) == (False, "not computable", "events.at has 3 nulls")


def test_a_missing_number_in_the_reference_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = load_reference("food_takeaway_london")
    tables = tuple(
        table
        if table.metric != "day_of_week_share"
        else type(table)(
            table.metric,
            table.stratum,
            table.unit,
            table.how_computed,
            table.n,
            table.bins,
            (math.nan, *table.values[1:]),
        )
        for table in honest.tables
    )
    broken = Reference(**{**vars(honest), "tables": tables})
    monkeypatch.setattr(metrics, "load_reference", lambda _: broken)
    result = measure("food", "day_of_week", "food_takeaway_london", real_people("food_takeaway_london", 1200, 5))
    assert (result.passed, result.verdict) == (False, "not computable")
    assert result.reason == "food_takeaway_london.day_of_week_share of stratum all has no number in some bin"


def test_a_metric_that_the_reference_lacks_is_not_computable_and_says_what_there_is() -> None:
    result = measure("food", "inter_event_gap", "food_takeaway_london", real_people("food_takeaway_london", 300, 5))
    assert (result.passed, result.verdict) == (False, "not computable")
    assert "hour_of_day_share" in result.reason
    odd = measure("food", "mood", "food_takeaway_london", real_people("food_takeaway_london", 300, 5))
    assert (odd.passed, odd.verdict) == (False, "not computable")
    assert odd.reason.startswith("there is no metric `mood`; there is: hour_of_day, day_of_week, inter_event_gap, ")
    unknown = measure("food", "hour_of_day", "no_such", real_people("food_takeaway_london", 300, 5))
    assert "there is no reference `no_such`" in unknown.reason


@pytest.mark.parametrize("reference", ["grocery_dunnhumby_cj", "travel_hotel_bookings", "health_fitbit_furberg2016"])
def test_nobody_doing_anything_decides_nothing(reference: str) -> None:
    nothing, none = np.empty(0, np.int64), np.empty(0)
    nobody = Occurrences(
        *(nothing, nothing, nothing, (), nothing, nothing, nothing, none, none, none, none, none, np.empty((0, 24)))
    )
    found = {metric: measure("groceries", metric, reference, nobody, is_gate=False) for metric in metrics.METRICS}
    assert {one.passed for one in found.values()} == {None}
    assert {one.verdict for one in found.values()} <= {"insufficient", "assumed"}
    assert found["hour_of_day" if "travel" not in reference else "lead_time"].verdict == "insufficient"


@pytest.mark.parametrize(("users", "each", "weeks"), [(6000, 2, 12_000 * 178 / 13_397), (50, 240, 50)])
def test_a_source_without_people_is_counted_in_weeks_of_its_orders(users: int, each: int, weeks: float) -> None:
    """13,397 orders fill 178 weeks, so 12,000 are worth 159; but 50 people are not worth more than 50."""
    result = measure("food", "day_of_week", "food_takeaway_london", real_people("food_takeaway_london", users, each))
    assert result.parts[0].floor == pytest.approx(floor(weeks, 178, 0.021926), abs=1e-6)


def test_what_the_domain_file_gates_is_gated_and_the_rest_is_reported() -> None:
    asked = {one.metric: one for one in metrics.asked_of(load_domain("food")) if not one.is_gate}
    gated = {one.metric: one for one in metrics.asked_of(load_domain("food")) if one.is_gate}
    assert {*asked, *gated} == set(metrics.METRICS) and not {*asked} & {*gated}
    assert gated["hour_of_day"].gate == "fidelity.food.hour_of_day"
    assert gated["hour_of_day"].reference == asked["inter_event_gap"].reference == "food_takeaway_london"


def test_local_hour_and_weekday_follow_the_users_clock() -> None:
    sunday_evening_utc = np.array([19_792 * DAY_US + 23 * HOUR_US])  # 2024-03-10 23:00 UTC
    assert iso_weekday(sunday_evening_utc, np.array([0])).tolist() == [7]
    assert iso_weekday(sunday_evening_utc, np.array([60])).tolist() == [1]
    assert local_hour(sunday_evening_utc, np.array([60])).tolist() == [0]
    assert local_hour(np.array([-1]), np.array([0])).tolist() == [23]


def test_counts_and_gaps_of_a_handful() -> None:
    some = Occurrences(np.array([0, 0, 0, 1]), np.array([0, HOUR_US, 25 * HOUR_US, 5 * HOUR_US]), np.zeros(4, np.int64))
    assert hour_counts(some)[[0, 1, 5]].tolist() == [1, 2, 1]
    assert dict(zip(DAY_NAMES, weekday_counts(some).tolist(), strict=True))["Thu"] == 3
    assert gaps_h(some.user, some.at_us).tolist() == [1.0, 24.0]
    assert (some.users, some.users_with_two) == (2, 1)
