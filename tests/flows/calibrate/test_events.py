"""References of one's own log."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from flows.calibrate.events import SHOWN, Log, read_log, reference_from
from flows.calibrate.read import problems
from flows.common.clock import DAY, HOUR
from flows.common.draws import Draws, keys_of, normal
from schemas.source import SourceError
from validation.fidelity.compare import has_table
from validation.fidelity.metrics import METRICS
from validation.fidelity.occurrences import Occurrences
from validation.references.reader import reference_of

DRAWS = Draws(3, "a log")
PEOPLE, TIMES = 120, 40


def log() -> Log:
    """People who come back after uneven gaps, mostly to the same things."""
    who = np.repeat(np.arange(PEOPLE), TIMES)
    nth = np.tile(np.arange(TIMES), PEOPLE)
    gap = np.exp(normal(DRAWS.uniform("gap", who, nth)) + 3 + 0.5 * normal(DRAWS.uniform("pace", who)))
    at = 20_000 * DAY + np.cumsum((gap * HOUR).reshape(PEOPLE, TIMES), axis=1).ravel().astype(np.int64)
    item = np.floor(8 * DRAWS.uniform("thing", who, nth) ** 2).astype(np.int64) + who % 3
    return Log(Occurrences(who, at, np.zeros_like(at), unit=item), keys_of([f"p{number}" for number in range(PEOPLE)]))


def table_of(some: Log) -> pa.Table:
    ours = some.occurrences
    assert ours.unit is not None
    return pa.table(
        {
            "user": [f"p{number:03d}" for number in ours.user],
            "time": pa.array(ours.at_us // 1_000_000 * 1_000_000).cast(pa.timestamp("us")),
            "item": [f"thing {number}" for number in ours.unit],
        }
    )


def test_a_log_becomes_a_reference_in_the_schema_with_its_own_figures() -> None:
    some = log()
    made = reference_from(some, "ours", "own", "a test", splits=4)
    assert list(problems(made)) == []
    tables = {(table["metric"], table["stratum"]): table for table in made["tables"]}
    gaps = np.diff(some.occurrences.at_us.reshape(PEOPLE, TIMES), axis=1).ravel() / HOUR
    of_gaps = dict(
        zip(*(tables["inter_event_gap_hours_quantile", "all"][key] for key in ("bins", "values")), strict=True)
    )
    assert of_gaps["q0.50"] == pytest.approx(np.quantile(gaps, 0.5), rel=1e-6)
    assert of_gaps["mean"] == pytest.approx(gaps.mean(), rel=1e-6)
    each = np.diff(some.occurrences.at_us.reshape(PEOPLE, TIMES), axis=1) / HOUR
    b = np.median((each.std(axis=1) - each.mean(axis=1)) / (each.std(axis=1) + each.mean(axis=1)))
    assert tables["burstiness_B", "all"]["values"][3] == pytest.approx(b, abs=1e-6)
    assert sum(tables["hour_of_day_share", "weekend"]["values"]) == pytest.approx(1, abs=1e-4)
    shares = [metric for metric, _ in tables]
    assert {"repeat_event_share", "repeat_lag_share", "user_item_rank_share"} <= set(shares)
    halves = {(one["metric"], one["distance"]): one for one in made["self_distance"] if one["stratum"] == "all"}
    ks = halves["inter_event_gap_hours_quantile", "ks"]
    assert 0 < ks["mean"] <= ks["p95"] <= ks["max"] < 0.3 and ks["users_per_half"] == PEOPLE // 2


def test_what_a_calibration_shows_has_its_table_and_its_distance_between_halves() -> None:
    made = reference_from(log(), "ours", "own", "a test", splits=4)
    reference = reference_of(json.loads(json.dumps(made)))
    told = {metric for metric in SHOWN if has_table(reference, METRICS[metric].tables)}
    assert set(SHOWN) - told == {"drift", "predictability"}  # for which nobody chose for long enough
    distances = {record.metric: record for record in reference.self_distances}
    for metric in (
        "dormant_14d_share",
        "daily_count_lag1_autocorr",
        "daily_count_lag7_autocorr",
        "gini_events_per_user",
    ):
        assert 0 <= distances[metric].mean <= distances[metric].largest, metric
    assert {"repeat_event_share", "second_order_excess_bits"} <= set(distances)


def test_nobody_and_one_person_alone_tell_no_distance_and_no_items_no_choices() -> None:
    some = log()
    assert some.occurrences.unit is not None
    nobody, alone = (reference_from(some.of(np.arange(n)), "ours", "own", "a test", splits=2) for n in (0, 1))
    assert (nobody["tables"], nobody["self_distance"], alone["self_distance"]) == ([], [], [])
    assert alone["n_users"] == 1 and alone["tables"]
    without = replace(some.occurrences, unit=np.full_like(some.occurrences.unit, -1))
    made = reference_from(Log(without, some.keys), "ours", "own", "a test", splits=2)
    assert not {"repeat_event_share", "self_recognition_rate"} & {table["metric"] for table in made["tables"]}
    assert list(problems(made)) == []


def test_halves_share_nobody_and_hang_on_the_person_alone() -> None:
    some = log()
    one, other = some.half(False), some.half(True)
    assert one.keys.size + other.keys.size == PEOPLE and not set(one.keys.tolist()) & set(other.keys.tolist())
    assert 40 < one.keys.size < 80
    fewer = some.of(np.arange(50))
    assert set(fewer.half(False).keys.tolist()) == set(one.keys.tolist()) & set(fewer.keys.tolist())
    assert np.array_equal(one.occurrences.user, np.repeat(np.arange(one.keys.size), TIMES))


def test_csv_and_parquet_and_any_order_of_lines_give_one_reference(tmp_path: Path) -> None:
    table = table_of(log())
    pq.write_table(table, tmp_path / "log.parquet")
    csv.write_csv(table.take(pa.array(np.arange(table.num_rows)[::-1])), tmp_path / "log.csv")
    logs = [read_log(tmp_path / name) for name in ("log.parquet", "log.csv")]
    one, other = (reference_from(each, "ours", "own", "a test", splits=2) for each in logs)
    assert one == other and len(one["tables"]) > 17
    assert sorted(logs[0].keys.tolist()) == sorted(logs[1].keys.tolist())
    zoned = table.set_column(1, "time", table["time"].cast(pa.timestamp("us", "America/New_York")))
    pq.write_table(zoned, tmp_path / "zoned.parquet")
    shift = (
        read_log(tmp_path / "log.parquet").occurrences.at_us - read_log(tmp_path / "zoned.parquet").occurrences.at_us
    )
    assert set(np.unique(shift)) <= {4 * HOUR, 5 * HOUR}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("who,when\na,b\n", ["there is no column `user`", "there is no column `time`"]),
        ("user,time\na,2025-01-06 10:00:00\n,soon\n", ["1 values are no times, the first `soon`"]),
        ("user,time\n", ["there are no lines"]),
    ],
)
def test_a_log_that_cannot_be_used_is_told_why(tmp_path: Path, text: str, says: list[str]) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(SourceError) as caught:
        read_log(tmp_path / "log.csv")
    assert all(any(one in str(violation) for violation in caught.value.violations) for one in says)


def test_only_csv_and_parquet_are_read(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("user,time\n")
    for name, says in (("log.txt", "must be .csv or .parquet"), ("none.csv", "cannot be read")):
        with pytest.raises(SourceError, match=says):
            read_log(tmp_path / name)
