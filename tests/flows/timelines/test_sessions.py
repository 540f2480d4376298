"""Sessions before their content: repeats, closing lines; and when what is booked takes place, at home."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flows.common.clock import DAY, HOUR, MINUTE, SECOND
from flows.timelines import sessions
from flows.timelines.parts import CLOSE, PLACES, REVIEW, SEARCH, VIEW, Part
from flows.timelines.rhythm import TRAIN
from flows.timelines.setting import Doing
from flows.timelines.stays import period
from schemas.activities import Rhythm, SessionActivity
from tests.flows.lives import is_likely
from tests.flows.timelines.shard import SPAN, START, doing, people, setting

COUNT = 400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def planned(one: Doing, own: dict[tuple[str, str], list[int]] | None = None) -> Part:
    assert isinstance(one.activity, SessionActivity)
    return sessions.plan(one, one.activity, setting(people(COUNT), own))


def test_as_many_sessions_are_followed_by_another_within_minutes_as_declared() -> None:
    rhythm = Rhythm(again=0.3, again_between=0, soon_minutes=12, soon_spread=0.5, later_share=0)
    part = planned(doing("groceries", "shop", rhythm=rhythm))
    again = part.key % TRAIN > 0
    assert is_likely(int(again.sum()), again.size, 0.3)
    begun = dict(zip(zip(part.person.tolist(), part.key.tolist(), strict=True), part.start_us.tolist(), strict=True))
    waits = [
        (start - begun[person, key - 1]) / MINUTE
        for (person, key), start in begun.items()
        if key % TRAIN and (person, key - 1) in begun
    ]
    assert len(waits) > 0.99 * again.sum() and min(waits) > 0 and is_likely(sum(w < 12 for w in waits), len(waits), 0.5)


def test_lines_stand_in_order_search_looks_choices_close_review_each_a_step_after_the_other() -> None:
    part = planned(doing("groceries", "shop", search=0.5, review=0.5, view=0.3, compare=0.2))
    lines = part.lines
    same = lines.session[1:] == lines.session[:-1]
    what, nth = lines.place // VIEW, lines.place % VIEW  # 0 choices and others, 1 a look at the thing, 2 a comparison
    rank = np.select([nth == SEARCH, nth == CLOSE, nth == REVIEW], [-1, 900, 901], 3 * nth + 2 - what)
    for look, share in ((1, 0.3), (2, 0.2)):
        assert is_likely(int((what == look).sum()), int((lines.place < SEARCH).sum()), share)
    leads_to_choice = np.isin(
        lines.session * int(PLACES) + nth, (lines.session * int(PLACES) + lines.place)[lines.place < SEARCH]
    )
    assert leads_to_choice[what > 0].all()
    assert (np.diff(rank)[same] > 0).all() and (np.diff(lines.after_us)[same] == lines.step_us[1:][same]).all()
    assert (lines.step_us >= SECOND).all() and np.unique(lines.session).size == part.person.size
    last = np.flatnonzero(np.append(~same, True))
    assert (lines.after_us[last] == part.length_us).all()
    assert abs(np.median(lines.step_us) / SECOND - 25) < 1


def test_who_has_nothing_of_the_kind_ends_sessions_without_a_closing_line() -> None:
    has = [0, 2] * (COUNT // 2)
    part = planned(doing("planning", "plan"), {("planning", "contact"): has})
    closes = np.isin(np.arange(part.person.size), part.lines.session[part.lines.place == CLOSE])
    assert np.array_equal(closes, part.person % 2 == 1) and 0 < closes.sum() < closes.size


@given(
    st.sampled_from(["America/Chicago", "Asia/Kolkata", "Pacific/Honolulu"]),
    st.integers(0, 8 * 7 * 24 * 60),
    st.integers(0, 400),
    st.integers(1, 30),
)
def test_a_stay_begins_and_ends_by_the_wall_clock_and_never_before_it_is_booked(
    zone: str, minute: int, lead: int, nights: int
) -> None:
    at = START + minute * MINUTE
    booked = (EPOCH + timedelta(microseconds=at)).astimezone(ZoneInfo(zone))
    day = booked.date().toordinal() - EPOCH.date().toordinal() + lead
    one = [np.array([number]) for number in (day, nights, at, 0)]
    begins, ends = (EPOCH + timedelta(microseconds=int(us[0])) for us in period(*one, [zone], SPAN))
    first, last = begins.astimezone(ZoneInfo(zone)), ends.astimezone(ZoneInfo(zone))
    is_late = lead == 0 and booked.hour >= 15
    assert begins > booked and (first.hour, first.minute, last.hour, last.minute) == (15, 0, 11, 0)
    assert (first.date() - booked.date()).days == lead + is_late and (last.date() - first.date()).days == nights


def test_a_stay_booked_at_the_very_minute_of_checking_in_begins_the_day_after() -> None:
    one = [np.array([number]) for number in (START // DAY, 1, START + 15 * HOUR, 0)]
    begins, ends = period(*one, ["UTC"], SPAN)
    assert begins.tolist() == [START + DAY + 15 * HOUR] and ends.tolist() == [START + 2 * DAY + 11 * HOUR]
