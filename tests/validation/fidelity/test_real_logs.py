"""The tables of the references, computed again from the raw logs where those lie beside the project."""

from __future__ import annotations

import csv
from datetime import UTC, date, datetime
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from tests.validation.fidelity.raw import ABSENT, DATA, DAY_US, orders
from validation.fidelity import rhythm
from validation.fidelity.compare_rhythm import times_of
from validation.fidelity.describe import tables_of
from validation.fidelity.exposure import Exposure
from validation.fidelity.metrics import measure
from validation.fidelity.naive import constant_rate
from validation.fidelity.occurrences import Occurrences, hour_counts, weekday_counts
from validation.references.reader import Reference, load_reference

pytestmark = [
    pytest.mark.raw,
    pytest.mark.skipif(DATA is None, reason=ABSENT),
]


def quantiles_of(reference: Reference, table: str, values: npt.NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """Published and computed quantiles, and the mean after them."""
    stratum = next(one.stratum for one in reference.tables if one.metric == table)
    known = reference.shares(table, stratum)
    p = [float(name[1:]) for name in known if name.startswith("q")]
    return list(known.values()), [*np.quantile(values, p).tolist(), float(values.mean())]


def ordinal(american: str) -> int:
    """The day of a date such as 4/12/2016."""
    month, day, year = map(int, american.split("/"))
    return date(year, month, day).toordinal()


def test_cdnow_tables_come_out_of_its_log() -> None:
    known = load_reference("media_cdnow_purchases")
    ours = times_of(orders()[0], known)
    user, at = ours.user, ours.at_us
    counts = rhythm.events_per_user(user)
    computed = {
        "events_per_user_quantile": counts.astype(np.float64),
        "events_per_active_week_quantile": rhythm.events_per_active_week(user, at),
        "inter_event_gap_days_quantile": rhythm.gaps_h(user, at) / 24,
        "burstiness_B": rhythm.burstiness(user, at),
        "burstiness_Bn": rhythm.burstiness_finite(user, at),
        "memory_M": rhythm.memory(user, at),
    }
    for table, values in computed.items():
        published, found = quantiles_of(known, table, values)
        assert found == pytest.approx(published, abs=1e-4), table
        assert known.table(table).n == values.size
    assert rhythm.top_share(counts) == pytest.approx(known.shares("top10pct_user_event_share")["share"], abs=1e-6)
    assert rhythm.gini(counts) == pytest.approx(known.shares("gini_events_per_user")["gini"], abs=1e-6)
    week = weekday_counts(ours) / counts.sum()
    assert week.tolist() == pytest.approx(list(known.shares("day_of_week_share").values()), abs=1e-6)


def test_cdnow_baskets_are_the_discs_of_a_day() -> None:
    ours, discs = orders()
    first = np.flatnonzero(np.r_[True, (np.diff(ours.user) != 0) | (np.diff(ours.at_us) != 0)])
    size = np.add.reduceat(discs, first)
    shares = np.bincount(np.minimum(size, 11), minlength=12)[1:] / size.size
    published = load_reference("media_cdnow_purchases").shares("basket_size_share")
    assert shares.tolist() == pytest.approx(list(published.values()), abs=1e-6)


@pytest.mark.parametrize("metric", ["inter_event_gap", "events_per_user", "events_per_active_week", "top_share"])
def test_half_of_the_buyers_are_like_all_of_them_and_naive_buyers_are_not(metric: str) -> None:
    ours = orders()[0]
    half = ours.where(ours.user % 2 == 0)
    seen = Exposure(78)
    good = measure("media", metric, "media_cdnow_purchases", half, exposure=seen, weeks=78)
    bad = measure("media", metric, "media_cdnow_purchases", constant_rate(half), exposure=seen, weeks=78)
    assert (good.passed, bad.passed) == (True, False)


def test_a_reference_for_counts_by_day_and_pauses_can_be_made_of_the_buyers() -> None:
    """Figures that no shared table has: they are those of this log, computed here."""
    ours = orders()[0]
    tables = {table.metric: dict(zip(table.bins, table.values, strict=True)) for table in tables_of(ours)}
    assert 0.9 < tables["dormant_14d_share"]["share"] < 1
    assert abs(tables["daily_count_lag1_autocorr"]["mean"]) < 0.05


@cache
def walkers() -> Occurrences:
    """Fitbit's days with their hourly steps; the days' totals are those of the hours."""
    assert DATA is not None
    with (DATA / "fitbit_furberg2016" / "hourlySteps_merged.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    user = np.array([int(row["Id"]) for row in rows])
    day = np.array([ordinal(row["ActivityDay"]) for row in rows])
    hour = np.array([int(row["ActivityHour"].split(":")[0]) for row in rows])
    steps = np.array([float(row["StepTotal"]) for row in rows])
    _, number = np.unique(user, return_inverse=True)
    key, place = np.unique(number * 1_000_000 + day, return_inverse=True)
    by_hour = np.zeros((key.size, 24))
    np.add.at(by_hour, (place, hour), steps)
    at = (key % 1_000_000 - date(1970, 1, 1).toordinal()) * DAY_US
    return Occurrences(key // 1_000_000, at, np.zeros(key.size, np.int64), by_hour=by_hour)


def test_fitbit_hours_come_out_of_its_log() -> None:
    known, ours = load_reference("health_fitbit_furberg2016"), walkers()
    weekend = (ours.at_us // DAY_US + 3) % 7 >= 5
    for stratum, chosen in (("all", ours), ("weekday", ours.where(~weekend)), ("weekend", ours.where(weekend))):
        shares = hour_counts(chosen) / hour_counts(chosen).sum()
        assert shares.tolist() == pytest.approx(list(known.shares("hour_of_day_share", stratum).values()), abs=1e-6)


def test_fitbit_days_come_out_of_its_log() -> None:
    assert DATA is not None
    with (DATA / "fitbit_furberg2016" / "dailyActivity_merged.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    user = np.array([int(row["Id"]) for row in rows])
    day = np.array([ordinal(row["ActivityDate"]) for row in rows])
    steps = np.array([float(row["TotalSteps"]) for row in rows])
    worn = steps > 0
    order = np.lexsort((day, user))
    user, day, steps, worn = user[order], day[order], steps[order], worn[order]
    known = load_reference("health_fitbit_furberg2016")
    published, found = quantiles_of(known, "daily_steps_quantile", steps[worn])
    assert found == pytest.approx(published, abs=1e-3)
    lag = rhythm.autocorrelation(user[worn], np.arange(int(worn.sum())), steps[worn], 1)
    published, found = quantiles_of(known, "daily_steps_lag1_autocorr", lag)
    assert lag.size == 32 and found == pytest.approx(published, abs=1e-4)
    week = np.bincount((day + 6) % 7, steps)
    assert (week / week.sum()).tolist() == pytest.approx(
        list(known.shares("day_of_week_share", "steps").values()), abs=1e-6
    )


def test_the_homes_tables_come_out_of_their_log() -> None:
    assert DATA is not None
    with (DATA / "ordonez_home_adl" / "adl.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    starts = [datetime.fromisoformat(row["ts"]).replace(tzinfo=UTC) for row in rows]
    minutes = np.array(
        [
            (datetime.fromisoformat(row["end"]).replace(tzinfo=UTC) - at).total_seconds() / 60
            for row, at in zip(rows, starts, strict=True)
        ]
    )
    known = load_reference("housing_home_activities_ordonez")
    at = np.array([int(start.timestamp()) for start in starts]) * 1_000_000
    hours = hour_counts(Occurrences(np.zeros(at.size, np.int64), at, np.zeros(at.size, np.int64))) / at.size
    assert hours.tolist() == pytest.approx(list(known.shares("hour_of_day_share", "all activities").values()), abs=1e-6)
    names, counts = np.unique([row["activity"] for row in rows], return_counts=True)
    assert dict(zip(names.tolist(), counts / len(rows), strict=True)) == pytest.approx(
        known.shares("category_share"), abs=1e-6
    )
    published, found = quantiles_of(known, "activity_duration_minutes_quantile", minutes[minutes > 0])
    assert found == pytest.approx(published, abs=1e-4)
