"""A domain file as it stands, beside halves of the raw log of real buyers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from flows.calibrate.how import crowd_of, times
from flows.calibrate.what import Fitted
from schemas.load import load_domains
from tests.validation.fidelity.raw import ABSENT, DATA, orders
from validation.fidelity.compare import Sample
from validation.fidelity.describe import describe
from validation.fidelity.exposure import Exposure
from validation.fidelity.metrics import METRICS, measure
from validation.fidelity.occurrences import ITEM, Occurrences

WEEKS = 78
pytestmark = [pytest.mark.raw, pytest.mark.skipif(DATA is None, reason=ABSENT)]


@cache
def bought() -> Occurrences:
    """What 1,000 people buy by the domain file."""
    domain = load_domains(["media"])["media"]
    activity = domain.activities["buy"]
    assert isinstance(activity, Fitted)
    return times(crowd_of(domain, 1_000, WEEKS, 42), "buy", activity)[1]


@pytest.mark.parametrize("half", [0, 1])
def test_media_buyers_pause_and_return_by_day_like_buyers_who_were_not_fitted_to(half: int) -> None:
    ours = orders()[0]
    metrics = ("dormancy", "daily_autocorrelation")
    known = describe("cdnow half", "media", ours.where(ours.user % 2 == half), splits=4, only=metrics)
    seen = Exposure(WEEKS)
    dormancy = measure("media", "dormancy", known, bought(), exposure=seen, weeks=WEEKS)
    assert np.isfinite(dormancy.parts[0].value) and dormancy.parts[0].is_within, dormancy
    compared = METRICS["daily_autocorrelation"].compare(Sample(bought(), ITEM, WEEKS, seen), known)
    found = {part.stratum: part.value for part in compared}
    assert set(found) == {"lag 1", "lag 7"} and max(found.values()) <= 0.05, found
