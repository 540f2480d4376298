"""Rules about time, each seen failing on rows that break it. Users of the release live in America/Chicago."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from schemas.invariants import MAY_BREAK, ONE_SESSION, breakers
from validation.structure.cross import check_rules
from validation.structure.folder import connect
from validation.structure.time_rules import add_offsets, time_rules

Rows = dict[str, list[dict[str, Any]]]
READ = ("users", "personas", "sessions", "events", "injections", "tasks")
"""The tables of the rules."""
AT = datetime(2025, 1, 8, tzinfo=UTC)
SECOND, MINUTE, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(days=1)


def broken(tiny: Any) -> list[str]:
    """Every violation, as it is told; of tables in memory, which costs a tenth of files."""
    window = (tiny.config.data.window.start, tiny.config.data.window.end)
    with connect() as database:
        for name in READ:
            columns = [pa.field(column, spec.type) for column, spec in tiny.tables[name].columns.items()]
            database.register(name, pa.Table.from_pylist(tiny.rows.get(name, []), schema=pa.schema(columns)))
        add_offsets(database, window)
        return [str(violation) for violation in check_rules(database, time_rules(window))["time"]]


def change(table: str, place: int = 0, **values: Any) -> Callable[[Rows], object]:
    return lambda rows: rows[table][place].update(values)


def all_of(*steps: Callable[[Rows], object]) -> Callable[[Rows], object]:
    return lambda rows: [step(rows) for step in steps]


def another_session(begins: timedelta, lasts: timedelta, **values: Any) -> Callable[[Rows], object]:
    """A session of the first user that begins so long after their own begins, with one line at its end."""

    def apply(rows: Rows) -> None:
        session, event = rows["sessions"][0], rows["events"][0]
        start = session["started_at"] + begins
        own = {"session_id": "u000000-s9", "started_at": start, "ended_at": start + lasts, "event_count": 1}
        rows["sessions"].append({**session, **own, **values})
        line = {"event_id": "u000000-e9", "session_id": "u000000-s9", "at": start + lasts, "logged_at": start + lasts}
        rows["events"].append({**event, **line})
        rows["event_truth"].append({**rows["event_truth"][0], "event_id": "u000000-e9", "injection_ids": []})

    return apply


def claimed(kind: str, *events: str) -> Callable[[Rows], object]:
    """A ledger row of the kind that lists these lines."""

    def apply(rows: Rows) -> None:
        rows["injections"].append(
            {**rows["injections"][0], "injection_id": "u000000-x9", "kind": kind, "event_ids": list(events)}
        )

    return apply


def arrivals(second_sets_out: timedelta, kind: str = "") -> Callable[[Rows], object]:
    """The first two lines arrive; the way to the second place began so long after the first arrival."""

    def apply(rows: Rows) -> None:
        first, second = rows["events"][:2]
        first.update(action="arrive", starts_at=first["at"] - MINUTE, ends_at=first["at"])
        second.update(action="arrive", starts_at=first["at"] + second_sets_out, ends_at=second["at"])
        if kind:
            claimed(kind, second["event_id"])(rows)

    return apply


SOON = AT + 30 * SECOND
"""Between the first line and the second."""


def stay(zone: str, begins: datetime, nights: int = 3, *, place: int = 0, offset: int = 60) -> Callable[[Rows], object]:
    """The line in that place books a stay; the second and the third show the clock of somewhere else."""
    booking: dict[str, Any] = {
        "action": "book",
        "starts_at": begins,
        "ends_at": begins + nights * DAY,
        "place_time_zone": zone,
    }
    return all_of(change("events", place, **booking), *(shown(line, offset) for line in (1, 2)))


def shown(line: int, offset: int) -> Callable[[Rows], object]:
    return change("events", line, utc_offset_min=offset)


def asked(at: datetime, offset: int) -> Callable[[Rows], object]:
    return change("tasks", asked_at=at, utc_offset_min=offset)


DEVICE = (
    "sessions.started_at: is not before the end of another session of the user on the same device, unless a declared "
    "kind added it (1): u000000-s9 started_at 2025-01-08 00:00:30.000000Z before 2025-01-08 00:02:00.000000Z"
)
WAY = (
    "events.starts_at: is not before the user's arrival before, for an `arrive` (1): u000000-e1 starts_at "
    "2025-01-07 23:59:59.000000Z before 2025-01-08 00:00:00.000000Z"
)
ZONE = (
    "utc_offset_min: is that of the `place_time_zone` of the user's stay that covers the instant, else of their "
    "`time_zone`"
)
WRONG_AT_0 = f"events.{ZONE} (1): u000000-e0 at 2025-01-08 00:00:00.000000Z "
WRONG_AT_1 = f"events.{ZONE} (1): u000000-e1 at 2025-01-08 00:01:00.000000Z 60"
OVERLAPS = stay("Asia/Tokyo", SOON + DAY, place=1)
"""Booked after the stay that the first line books, which lasts for two nights more when this one begins."""
SPOILT = [
    (another_session(30 * SECOND, 10 * MINUTE), DEVICE),
    (
        all_of(another_session(30 * SECOND, 10 * MINUTE), claimed("duplicate", "u000000-e9")),
        DEVICE,
    ),
    (
        change("sessions", ended_at=AT + 171_720 * SECOND),
        "sessions.ended_at: is the `at` of the last line of the session (1): u000000-s1 ended_at "
        "2025-01-09 23:42:00.000000Z last 2025-01-08 00:02:00.000000Z",
    ),
    (
        change("users", signed_up_at=AT + SECOND),
        "sessions.started_at: is not before the user's `signed_up_at` (1): u000000-s1 started_at "
        "2025-01-08 00:00:00.000000Z signed_up_at 2025-01-08 00:00:01.000000Z",
    ),
    (
        change("events", 2, at=datetime(2025, 1, 20, tzinfo=UTC)),
        "events.at: lies within the window of the release (1): u000000-e2 at 2025-01-20 00:00:00.000000Z",
    ),
    (
        change("events", 0, at=datetime(2025, 1, 5, 23, 59, 59, tzinfo=UTC)),
        "events.at: lies within the window of the release (1): u000000-e0 at 2025-01-05 23:59:59.000000Z",
    ),
    (
        change("users", signed_up_at=datetime(2025, 1, 20, tzinfo=UTC)),
        "users.signed_up_at: is before the end of the window (1): u000000 signed_up_at 2025-01-20 00:00:00.000000Z",
    ),
    (
        all_of(
            change("personas", birth_date=datetime(2024, 6, 1, tzinfo=UTC).date()),
            change("users", signed_up_at=datetime(2024, 6, 1, 12, tzinfo=UTC)),
        ),
        "personas.birth_date: is before the user's `signed_up_at` (1): u000000 birth_date 2024-06-01 signed_up_at "
        "2024-06-01 12:00:00.000000Z",
    ),
    (arrivals(-SECOND), WAY),
    (arrivals(-SECOND, "accidental"), WAY),
    (change("events", utc_offset_min=-300), f"{WRONG_AT_0}-300"),
    (change("sessions", utc_offset_min=-300), f"sessions.{ZONE} (1): u000000-s1"),
    (change("tasks", utc_offset_min=-300), f"tasks.{ZONE} (1): u000000-t1"),
    (change("users", time_zone="Europe/Atlantis"), f"events.{ZONE} (3): u000000-e0"),
    (all_of(stay("Europe/Madrid", AT - DAY, nights=1), shown(2, -360)), WRONG_AT_1),
    (all_of(stay("Europe/London", SOON), shown(2, 0)), WRONG_AT_1),
    (
        all_of(stay("Europe/Madrid", SOON), change("events", 0, user_id="u000001"), shown(2, -360)),
        WRONG_AT_1.replace("(1)", "(3)"),
    ),
    (all_of(stay("Europe/Madrid", SOON), shown(1, -360)), f"{WRONG_AT_1[:-2]}-360"),
    (all_of(stay("Europe/Madrid", SOON), asked(AT + DAY, -360)), f"tasks.{ZONE} (1): u000000-t1"),
    (all_of(stay("Europe/Madrid", SOON), OVERLAPS, shown(1, 540)), f"{WRONG_AT_1[:-2]}540"),
    (all_of(stay("Europe/Madrid", SOON), OVERLAPS, asked(AT + 2 * DAY, 540)), f"tasks.{ZONE} (1): u000000-t1"),
    (all_of(stay("Europe/Madrid", SOON), OVERLAPS, asked(AT + 4 * DAY, 60)), f"tasks.{ZONE} (1): u000000-t1"),
]


@pytest.mark.parametrize(("spoil", "told"), SPOILT, ids=[f"{n} {told[:40]}" for n, (_, told) in enumerate(SPOILT)])
def test_what_breaks_a_rule_about_time_is_named_with_its_instants(
    spoil: Callable[[Rows], object], told: str, tiny: Any
) -> None:
    spoil(tiny.rows)
    found = broken(tiny)
    assert any(line.startswith(told) for line in found), found


HOLDS = [
    lambda rows: None,
    another_session(2 * MINUTE, 10 * MINUTE),
    another_session(30 * SECOND, 10 * MINUTE, device="laptop"),
    *(
        all_of(another_session(30 * SECOND, 10 * MINUTE), claimed(kind, "u000000-e9"))
        for kind in ("stated_vs_done", "temporary_state")
    ),
    arrivals(timedelta(0)),
    arrivals(-SECOND, "duplicate"),
    stay("Europe/Madrid", SOON),
    all_of(stay("Europe/Madrid", SOON), asked(AT + DAY, 60)),
    *(all_of(stay("Europe/Madrid", SOON), OVERLAPS, asked(AT + 4 * DAY, offset)) for offset in (540, -360)),
    change("users", signed_up_at=AT),
]


@pytest.mark.parametrize("holds", HOLDS)
def test_what_can_be_breaks_no_rule_about_time(holds: Callable[[Rows], object], tiny: Any) -> None:
    holds(tiny.rows)
    assert broken(tiny) == []


def test_a_clock_is_that_of_the_season(tiny: Any) -> None:
    """In June the offset of January is wrong, and so on the day of the change: 2025-03-09 08:00 UTC in Chicago."""
    for at, offset in (
        (datetime(2025, 3, 9, 7, 59, 59, tzinfo=UTC), -360),
        (datetime(2025, 3, 9, 8, tzinfo=UTC), -300),
    ):
        for said in (-360, -300):
            tiny.rows["events"][0].update(at=at, utc_offset_min=said)
            wrong = [line for line in broken(tiny) if "utc_offset_min" in line]
            assert bool(wrong) == (said != offset), (at, said)


def test_what_may_break_a_rule_is_declared_with_its_kind() -> None:
    assert breakers(ONE_SESSION) == tuple(kind for kind, broken in MAY_BREAK.items() if ONE_SESSION in broken)
    assert set(breakers(ONE_SESSION)) == {"stated_vs_done", "temporary_state"}
