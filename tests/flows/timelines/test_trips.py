"""Trips before their content: when people set out, arrive and come back."""

from __future__ import annotations

import numpy as np
import pytest

from flows.common.clock import DAY, HOUR, MINUTE, weekday_of
from flows.timelines import trips
from flows.timelines.parts import BACK, REVIEW, SEARCH, Part
from schemas.activities import Rhythm, TripActivity
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


@pytest.fixture(scope="module")
def single() -> Part:
    """Outings of which none follows another, so that arrivals have the hours of the reference."""
    one = doing("mobility", "outing", rhythm=Rhythm(again=0.0))
    assert isinstance(one.activity, TripActivity)
    return trips.plan(one, one.activity, setting(people(COUNT)))


def test_every_trip_has_one_arrival_and_stars_and_searches_at_their_rates(outings: Part) -> None:
    lines = outings.lines
    back = outings.key >= trips.BACK_KEY
    assert is_likely(int((lines.place == REVIEW).sum()), int((~back).sum()), 0.25)
    assert 0.3 * (~back).sum() < (lines.place == SEARCH).sum() < 0.5 * (~back).sum()  # none shortly after an arrival
    assert (np.bincount(lines.session[lines.place == trips.THERE]) <= 1).all()
    assert np.array_equal(np.flatnonzero(back), lines.session[lines.place == BACK])


def test_people_come_back_after_the_stay_unless_they_go_on_before(outings: Part) -> None:
    lines = outings.lines
    back = outings.key >= trips.BACK_KEY
    there = lines.place == trips.THERE
    order = np.lexsort((outings.at_us[there], outings.person[~back]))
    person, key, at = (column[order] for column in (outings.person[~back], outings.key[~back], outings.at_us[there]))
    home = dict(
        zip(
            zip(outings.person[back], outings.key[back] - trips.BACK_KEY, strict=True),
            np.flatnonzero(back),
            strict=True,
        )
    )
    rows = np.array([home.get(trip, -1) for trip in zip(person, key, strict=True)])
    assert 0.2 < (rows < 0).mean() < 0.6  # went on
    came = rows >= 0
    stay = (outings.start_us[rows[came]] - at[came]) / MINUTE
    assert stay.min() > 0 and 40 < np.median(stay) < 51
    next_there = np.append(at[1:], SPAN.end + 400 * DAY)
    next_there[np.append(np.diff(person) != 0, True)] = SPAN.end + 400 * DAY
    ended = (outings.start_us + outings.length_us)[rows[came]]
    assert (ended < next_there[came]).all()


def test_the_way_is_as_long_back_as_there_unless_it_had_to_be_short(outings: Part) -> None:
    lines = outings.lines
    way = {}
    for place, shift in ((trips.THERE, np.uint64(0)), (BACK, trips.BACK_KEY)):
        here = lines.place == place
        session = lines.session[here]
        keys = zip(outings.person[session], outings.key[session] - shift, strict=True)
        way[place] = dict(zip(keys, lines.step_us[here], strict=True))
    pairs = np.array([(way[trips.THERE][trip], back) for trip, back in way[BACK].items() if trip in way[trips.THERE]])
    assert (pairs[:, 0] <= pairs[:, 1]).all() and (pairs[:, 0] == pairs[:, 1]).mean() > 0.6
    assert abs(np.median(pairs[:, 1]) / MINUTE - 18) < 1.0 and pairs.min() > 0


def test_people_arrive_at_the_hours_of_the_reference_and_set_out_before(single: Part) -> None:
    outings = single
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
