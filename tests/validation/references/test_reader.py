from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from validation.references.reader import FOLDER, UnknownReference, load_reference, reference_ids


def test_every_reference_names_its_source_and_licence_and_stands_in_the_readme() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(reference_ids()) >= 20
    for reference_id in reference_ids():
        reference = load_reference(reference_id)
        assert reference.reference_id == reference_id
        assert reference.source and reference.licence
        assert f"`{reference_id}`" in readme


def test_bins_are_text_and_as_many_as_the_values() -> None:
    for reference_id in reference_ids():
        for table in load_reference(reference_id).tables:
            assert len(table.bins) == len(table.values)
            assert all(isinstance(label, str) for label in table.bins)
            assert all(isinstance(value, float) for value in table.values)
            assert isinstance(table.n, int)


def test_a_bin_without_a_label_is_read_as_text() -> None:
    shares = load_reference("grocery_dunnhumby_cj").shares("department_share")
    assert shares["nan"] == 0.003291


def test_shares_keep_the_order_of_the_source() -> None:
    shares = load_reference("food_takeaway_london").shares("day_of_week_share")
    assert list(shares) == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert shares["Sat"] == 0.242218


def test_self_distance_is_that_of_the_stratum_and_distance_asked_for() -> None:
    record = load_reference("food_takeaway_london").self_distance("hour_of_day_share", "weekend", "total_variation")
    assert (record.mean, record.p95, record.users_per_half) == (0.035654, 0.048574, 172)


def test_an_unknown_reference_names_those_that_exist() -> None:
    with pytest.raises(UnknownReference, match=r"`no_such`.*food_takeaway_london"):
        load_reference("no_such")
    with pytest.raises(KeyError):
        load_reference("../README")


def test_an_unknown_table_names_its_strata_or_the_metrics() -> None:
    reference = load_reference("food_takeaway_london")
    with pytest.raises(UnknownReference, match="stratum `weekday`, stratum `weekend`"):
        reference.table("hour_of_day_share", "tuesday")
    with pytest.raises(UnknownReference, match="basket_size_share"):
        reference.table("no_such_metric")
    with pytest.raises(UnknownReference, match="total_variation of `hour_of_day_share`"):
        reference.self_distance("hour_of_day_share", "all", "hellinger")


def test_a_reference_is_read_once() -> None:
    assert load_reference("social_collegemsg") is load_reference("social_collegemsg")


def test_published_uniform_baselines_follow_from_the_tables() -> None:
    with Path(FOLDER / "naive_baseline_distance.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["baseline"] == "uniform over bins"]
    assert len(rows) > 100
    for row in rows:
        values = load_reference(row["reference_id"]).table(row["metric"], row["stratum"]).values
        distance = math.fsum(abs(value / math.fsum(values) - 1 / len(values)) for value in values) / 2
        assert distance == pytest.approx(float(row["total_variation"]), abs=6e-5)
