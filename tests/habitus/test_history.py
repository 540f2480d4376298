from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import habitus
from habitus.history import build_history, parse_window
from tests.flows.release.release_fakes import ASKED_AT, START, fake_tables

DAY = dt.timedelta(days=1)


@pytest.fixture(scope="module")
def release(published: Path) -> habitus.Release:
    return habitus.open_release(published)


@pytest.fixture(scope="module")
def task(release: habitus.Release) -> str:
    return str(release.tasks()["task_id"][2].as_py())


def test_only_lines_strictly_before_the_task_by_both_times_are_there(release: habitus.Release, task: str) -> None:
    history = release.history(task)
    assert history.asked_at == ASKED_AT
    assert set(history.events["user_id"].to_pylist()) == {history.user_id}
    assert max(history.events["at"].to_pylist()) < ASKED_AT
    assert max(history.events["logged_at"].to_pylist()) < ASKED_AT
    every = release.table("events")
    expected = every.filter(
        pc.and_(
            pc.equal(every["user_id"], history.user_id),
            pc.and_(pc.less(every["at"], pa.scalar(ASKED_AT)), pc.less(every["logged_at"], pa.scalar(ASKED_AT))),
        )
    )
    assert history.events.equals(expected)
    assert history.events.num_rows == 4 + 3 + 4 + 2, "one line is logged later, one happens at the very instant"


def test_sessions_are_cut_to_what_is_visible(release: habitus.Release, task: str) -> None:
    sessions = release.history(task).sessions
    assert sessions["event_count"].to_pylist() == [4, 3, 4, 2]
    opened = [START + number * DAY + dt.timedelta(hours=10) for number in range(4)]
    assert sessions["started_at"].to_pylist() == opened
    minutes = [5, 2, 5, 1]
    assert sessions["ended_at"].to_pylist() == [
        o + dt.timedelta(minutes=m) for o, m in zip(opened, minutes, strict=True)
    ]
    assert sessions.schema.equals(release.table("sessions").schema)


def test_a_window_keeps_the_last_stretch(release: habitus.Release, task: str) -> None:
    two_days = release.history(task, window="2d")
    assert two_days.events["at"].to_pylist()[0] == ASKED_AT - 2 * DAY, "the first instant of the window is in it"
    assert two_days.sessions["event_count"].to_pylist() == [1, 4, 2]
    assert release.history(task, window=2 * DAY).events.equals(two_days.events)
    assert release.history(task, window="48h").events.equals(two_days.events)
    assert release.history(task, window="9w").events.equals(release.history(task).events)
    assert release.history(task, window=dt.timedelta(seconds=1)).sessions.num_rows == 0


@pytest.mark.parametrize("window", ["", "d", "90", "90 d", "-1d", "1m", "0d", dt.timedelta(0), dt.timedelta(days=-1)])
def test_a_window_that_is_none_is_refused(window: str | dt.timedelta) -> None:
    with pytest.raises(ValueError, match="window is"):
        parse_window(window)


def test_other_peoples_things_are_not_shown(release: habitus.Release, task: str) -> None:
    history = release.history(task)
    assert history.user_id in ("u000001", "u000002") or history.items["owner_user_id"].to_pylist().count(None) == 3
    for owner in set(history.items["owner_user_id"].to_pylist()):
        assert owner in (None, history.user_id)
    owned = {
        release.history(t).user_id: release.history(t).items.num_rows for t in release.tasks()["task_id"].to_pylist()
    }
    assert owned["u000001"] == owned["u000002"] == 4
    assert owned["u000003"] == 3


def test_attributes_of_items_are_in_the_structured_view_only(release: habitus.Release, task: str) -> None:
    assert release.history(task).item_attributes is None
    structured = release.history(task, view="structured")
    assert structured.item_attributes is not None
    assert set(structured.item_attributes["item_id"].to_pylist()) == set(structured.items["item_id"].to_pylist())
    with pytest.raises(habitus.ReleaseError, match="'natural' or 'structured'"):
        release.history(task, view="full")  # type: ignore[arg-type]


def test_an_unknown_task_is_named(release: habitus.Release) -> None:
    with pytest.raises(habitus.UnknownTask, match=r"no task 'u000000-t' in tiny 0\.1\.0"):
        release.history("u000000-t")
    with pytest.raises(KeyError):
        release.history("")


def test_history_never_touches_the_truth(published: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(published, tmp_path / "copy"))
    release = habitus.open_release(folder)
    shutil.rmtree(folder / "sealed")
    for name in release.tasks()["task_id"].to_pylist():
        assert release.history(name, view="structured").events.num_rows == 13


def test_histories_do_not_depend_on_what_was_asked_before(release: habitus.Release, published: Path) -> None:
    names = release.tasks()["task_id"].to_pylist()
    forth = {name: release.history(name).events for name in names}
    again = habitus.open_release(published)
    assert all(again.history(name).events.equals(forth[name]) for name in reversed(names))


def test_a_line_that_is_dated_ahead_is_not_known_before_it_happens() -> None:
    """No release holds one, for `logged_at` is never before `at`; the rule asks for both all the same."""
    place = EVENTS.column_names.index("logged_at")
    ahead = EVENTS.set_column(place, "logged_at", pa.repeat(pa.scalar(START, EVENTS["at"].type), EVENTS.num_rows))
    task = {"task_id": "t", "user_id": "u000000", "asked_at": ASKED_AT}
    history = build_history(task, "natural", None, SESSIONS, ahead, EVENTS.slice(0, 0), None)
    assert max(history.events["at"].to_pylist()) < ASKED_AT
    assert history.events.num_rows == 4 + 4 + 4 + 2


EVENTS = fake_tables(1)["events"]
SESSIONS = fake_tables(1)["sessions"]


@given(minutes=st.integers(-60, 7 * 24 * 60))
def test_at_any_instant_sessions_agree_with_visible_lines(minutes: int) -> None:
    asked = START + dt.timedelta(minutes=minutes)
    task = {"task_id": "t", "user_id": "u000000", "asked_at": asked}
    history = build_history(task, "natural", None, SESSIONS, EVENTS, EVENTS.slice(0, 0), None)
    assert sum(history.sessions["event_count"].to_pylist()) == history.events.num_rows
    for session in history.sessions.to_pylist():
        lines = [line for line in history.events.to_pylist() if line["session_id"] == session["session_id"]]
        assert len(lines) == session["event_count"] > 0
        assert max(line["at"] for line in lines) <= session["ended_at"] < asked
