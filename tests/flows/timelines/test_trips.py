"""Trips before their content: when people set out, arrive and come back."""

from __future__ import annotations

import numpy as np
import pytest

from flows.common.clock import DAY, HOUR, MINUTE, weekday_of
from flows.timelines import trips
from flows.timelines.parts import BACK, REVIEW, SEARCH, Part
from schemas.activities import TripActivity
from schemas.config.data import DomainTimeline
from tests.flows.lives import fits, is_likely
from tests.flows.timelines.shard import SPAN, START, doing, people, setting
from validation.references.profile import profile

COUNT = 800


@pytest.fixture(scope="module")
def outings() -> Part:
    one = doing("mobility", "outing", search=0.5, review=0.25)
    assert isinstance(one.activity, TripActivity)
    return trips.plan(one, one.activity, setting(people(COUNT)))


def test_every_trip_has_one_arrival_there_and_one_back_after_the_stay(outings: Part) -> None:
    lines = outings.lines
    back = outings.key >= trips.BACK_KEY
    assert is_likely(int((lines.place == SEARCH).sum()), int((~back).sum()), 0.5)
    assert is_likely(int((lines.place == REVIEW).sum()), int((~back).sum()), 0.25)
    assert (np.bincount(lines.session[lines.place == trips.THERE]) <= 1).all()
    assert np.array_equal(np.flatnonzero(back), lines.session[lines.place == BACK])
    assert np.array_equal(outings.key[~back] + trips.BACK_KEY, outings.key[back])
    assert np.array_equal(outings.person[~back], outings.person[back])
    stay = (outings.start_us[back] - (outings.start_us + outings.length_us)[~back]) / MINUTE
    assert stay.min() > 0 and abs(np.median(stay) - 50) < 1.5


def test_the_way_back_is_as_long_as_the_way_there(outings: Part) -> None:
    lines = outings.lines
    there, back = (lines.step_us[lines.place == place] for place in (trips.THERE, BACK))
    assert np.array_equal(there, back) and abs(np.median(there) / MINUTE - 18) < 0.5 and there.min() > 0


def test_people_arrive_at_the_hours_of_the_reference_and_set_out_before(outings: Part) -> None:
    at = outings.at_us[outings.lines.place == trips.THERE]
    weekend = weekday_of(at // DAY) >= 5
    when = profile("mobility_foursquare_nyc")
    for shares, here in ((when.working_hours, ~weekend), (when.resting_hours, weekend)):
        assert fits(np.bincount(at[here] % DAY // HOUR, minlength=24), shares)
    out = outings.start_us[outings.key < trips.BACK_KEY]
    assert (out < at).all() and out.min() >= SPAN.start


def test_nobody_sets_out_before_signing_up() -> None:
    one = doing("mobility", "outing", DomainTimeline(rate_factor=5), travel_minutes=120.0)
    assert isinstance(one.activity, TripActivity)
    some = people(60)._replace(signed_up_us=np.full(60, START + 10 * DAY))
    part = trips.plan(one, one.activity, setting(some))
    assert START + 10 * DAY <= part.start_us.min() < START + 11 * DAY
