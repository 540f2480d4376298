from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tests.validation.fidelity.samples import WEEKS, lively
from validation.fidelity.exposure import (
    EXPOSURES,
    Exposure,
    cut,
    exposure_of,
    is_longer,
    is_seen_whole,
    weeks_of,
)
from validation.fidelity.metrics import measure
from validation.references.reader import load_reference, reference_ids


def test_only_known_references_have_an_exposure_and_each_says_what_it_rests_on() -> None:
    assert set(EXPOSURES) <= set(reference_ids())
    assert all(one.basis and one.weeks > 0 for one in EXPOSURES.values())
    assert math.isnan(exposure_of("my_own_log").weeks)


def test_a_longer_window_of_ours_is_cut_and_a_little_longer_one_is_not() -> None:
    ours = lively(1)
    short = cut(ours, Exposure(10), WEEKS)
    assert weeks_of(short) <= 10 < weeks_of(ours) and short.at_us.size > 0.2 * ours.at_us.size
    assert short.unit is not None and short.unit.size == short.at_us.size
    assert cut(ours, Exposure(25), WEEKS) is ours
    assert cut(ours, Exposure(math.nan), WEEKS) is ours


@pytest.mark.parametrize(("weeks", "least"), [(WEEKS, 20), (WEEKS * 2, 10), (WEEKS / 2, 20), (math.inf, 20)])
def test_the_least_events_are_those_of_the_shorter_window(weeks: float, least: int) -> None:
    ours = lively(1)
    kept = cut(ours, Exposure(weeks, events_at_least=20), WEEKS)
    counts = np.bincount(kept.user)
    before = np.bincount(ours.user[ours.at_us < ours.at_us.min() + min(weeks, WEEKS) * 7 * 86_400_000_000])
    assert counts[counts > 0].min() == least
    assert (counts > 0).sum() == (before >= least).sum()


def test_a_reference_that_watched_longer_is_shown_only_where_the_metric_hangs_on_that() -> None:
    ours, grocers = lively(1), "grocery_dunnhumby_cj"
    many = measure("groceries", "events_per_user", grocers, ours, weeks=WEEKS)
    assert many.passed is None and many.parts and not any(part.counts for part in many.parts)
    assert many.reason.startswith("shown only: grocery_dunnhumby_cj watched 52 weeks, ours are 26")
    assert measure("groceries", "events_per_user", grocers, ours, weeks=52).passed is False
    assert measure("groceries", "inter_event_gap", grocers, ours, weeks=WEEKS).passed is False
    bought = measure("media", "inter_event_gap", "media_cdnow_purchases", ours, weeks=WEEKS)
    assert bought.passed is None and "gaps of 72.2 days" in bought.reason


def test_windows_that_differ_by_a_tenth_are_alike() -> None:
    assert not is_longer(EXPOSURES["social_collegemsg"], WEEKS)
    assert is_longer(EXPOSURES["mobility_foursquare_nyc"], WEEKS)
    assert not is_longer(Exposure(math.nan), WEEKS)
    assert is_seen_whole(122.8, WEEKS) and not is_seen_whole(24 * 72.2, WEEKS) and not is_seen_whole(math.nan, WEEKS)


def test_a_reference_can_be_handed_over_itself() -> None:
    ours = lively(1)
    known = load_reference("grocery_dunnhumby_cj")
    renamed = dataclasses.replace(known, reference_id="mine")
    by_name = measure("groceries", "burstiness", known.reference_id, ours, weeks=52)
    by_itself = measure("groceries", "burstiness", renamed, ours, weeks=52)
    assert by_itself.reference == "mine"
    assert [part.value for part in by_itself.parts] == [part.value for part in by_name.parts]
