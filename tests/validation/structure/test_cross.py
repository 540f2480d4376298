from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.load import load_domain
from validation.structure.cross import check_rules, rules_of
from validation.structure.folder import Violation, open_release

Rows = dict[str, list[dict[str, Any]]]
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def broken(tiny: Any, folder: Path, group: str | None = None) -> dict[str, list[Violation]]:
    window = (tiny.config.data.window.start, tiny.config.data.window.end)
    rules = rules_of(tiny.tables, window, load_domain("food").dimension_ids())
    with open_release(tiny.write(folder), tiny.tables.values()) as database:
        return check_rules(database, [rule for rule in rules if group in (None, rule.group)])


def change(table: str, place: int = 0, **values: Any) -> Callable[[Rows], object]:
    return lambda rows: rows[table][place].update(values)


def drop(table: str, place: int = 0) -> Callable[[Rows], object]:
    return lambda rows: rows[table].pop(place)


def add(table: str, place: int = 0, **values: Any) -> Callable[[Rows], object]:
    return lambda rows: rows[table].append({**rows[table][place], **values})


def shift(table: str, column: str, by: timedelta, place: int = 0) -> Callable[[Rows], object]:
    def apply(rows: Rows) -> None:
        row = rows[table][place]
        moment: datetime = row[column]
        row[column] = moment + by

    return apply


def swap_seq(rows: Rows) -> None:
    rows["events"][0]["seq"], rows["events"][1]["seq"] = 1, 0


def end_early(table: Rows) -> None:
    table["dispositions"][0]["valid_to"] = table["dispositions"][0]["valid_from"] + 40 * DAY


def begin_late(table: Rows) -> None:
    table["dispositions"][0]["valid_from"] += 31 * DAY


def leave_a_gap(table: Rows) -> None:
    first = table["dispositions"][0]
    middle = first["valid_from"] + 35 * DAY
    table["dispositions"].append({**first, "disposition_id": "u000000-d9", "valid_from": middle + HOUR})
    first["valid_to"] = middle


def overlap(table: Rows) -> None:
    first = table["dispositions"][0]
    table["dispositions"].append({**first, "disposition_id": "u000000-d9", "valid_from": first["valid_from"] + DAY})


def give(place: int, owner: str | None, split: str, **event: Any) -> Callable[[Rows], object]:
    """Makes an item, which nobody names yet, a user's own, and changes the first line of the first user."""

    def apply(rows: Rows) -> None:
        rows["items"][place].update(owner_user_id=owner, _split=split)
        rows["item_attributes"][place].update(_split=split)
        rows["tasks"] = [{**row, "options": row["options"][:2]} for row in rows["tasks"]]
        rows["answers"] = [{**row, "options": row["options"][:2]} for row in rows["answers"]]
        rows["events"][0].update(event)

    return apply


AT = datetime(2025, 1, 8, tzinfo=UTC)  # 18:00 of the day before where both users live
WAY = {"starts_at": AT - HOUR, "ends_at": AT}
STARTS = "events.starts_at: is before `at` for an `arrive`, which has one, and after it for what is booked"
OPEN = "events.item_id: is open at that hour of the user's day, if taken then"
AGE = "events.item_id: is for people of the user's age on that day, if taken then"
OWNED = "sessions.device: is one that the user owns, if it is of the kinds that people own"
ONE_AT_LEAST = "personas.devices: have a phone or a laptop among them"
EVERY_LINE = "u000000-e0, u000000-e1, u000000-e2, u000001-e0, u000001-e1 …"
SPOILT = [
    ("references", change("events", item_id="i9"), "events.item_id: is in `items.item_id` (1): i9"),
    ("references", change("events", options=["i0", "i8"]), "events.options: is in `items.item_id` (1): i8"),
    ("references", change("events", image_id="p1"), "events.image_id: is in `images.image_id` (1): p1"),
    ("references", change("injections", event_ids=["gone"]), "injections.event_ids: is in `events.event_id` (1): gone"),
    (
        "references",
        change("event_truth", injection_ids=["x"]),
        "event_truth.injection_ids: is in `injections.injection_id` (1): x",
    ),
    (
        "references",
        change("tasks", options=[{"option_id": "o0", "label": "?", "item_id": "i7"}]),
        "tasks.options.item_id: is in `items.item_id` (1): i7",
    ),
    (
        "references",
        lambda rows: rows["answers"][0]["options"][1].update(violated_constraint_ids=["c?"]),
        "answers.options.violated_constraint_ids: is in `constraints.constraint_id` (1): c?",
    ),
    ("references", add("event_truth", event_id="ghost"), "event_truth.event_id: is in `events.event_id` (1): ghost"),
    ("splits", change("events", _split="test"), "users.user_id: is in one split in all tables (1): u000000"),
    ("splits", give(2, "u000000", "test"), "users.user_id: is in one split in all tables (1): u000000"),
    (
        "splits",
        give(2, "u000000", "catalogue"),
        "items.item_id: is in the split `catalogue` if nobody owns it, and only then (1): i2",
    ),
    (
        "splits",
        give(2, None, "train"),
        "items.item_id: is in the split `catalogue` if nobody owns it, and only then (1): i2",
    ),
    (
        "splits",
        change("item_attributes", 1, _split="train"),
        "item_attributes.item_id: is in the split of the item (1): i1",
    ),
    (
        "references",
        give(2, "u000009", "train"),
        "items.owner_user_id: is in `users.user_id` (1): u000009",
    ),
    (
        "events",
        give(2, "u000001", "test", item_id="i2"),
        "events.item_id: is nobody else's thing (1): u000000-e0",
    ),
    (
        "events",
        give(2, "u000001", "test", options=["i0", "i2"]),
        "events.options: are nobody else's things (1): u000000-e0",
    ),
    (
        "tasks",
        change("items", 2, owner_user_id="u000001", _split="test"),
        "tasks.options: are nobody else's things (1): u000000-t1",
    ),
    ("events", drop("event_truth"), "events.event_id: has a row in `event_truth` (1): u000000-e0"),
    (
        "events",
        change("event_truth", user_id="u000001"),
        "event_truth.user_id: is the user of the event (1): u000000-e0",
    ),
    ("events", shift("events", "logged_at", -HOUR), "events.logged_at: is not before `at` (1): u000000-e0"),
    (
        "events",
        shift("users", "signed_up_at", 60 * DAY),
        "events.at: is not before the user's `signed_up_at` (3): "
        + ", ".join(
            f"u000000-e{n} at 2025-01-08 00:0{n}:00.000000Z signed_up_at 2025-02-05 00:00:00.000000Z" for n in range(3)
        ),
    ),
    (
        "users",
        add("users", user_id="u000009", week_start="mon"),
        "users.week_start: is the same day for all users of a locale (3): u000000, u000001, u000009",
    ),
    (
        "events",
        change("events", action="arrive", origin_item_id="i0", **WAY),
        "events.origin_item_id: is another place than the one of an `arrive` (1): u000000-e0",
    ),
    (
        "events",
        change("events", 1, starts_at=AT + 2 * DAY, ends_at=AT + 2 * DAY),
        "events.ends_at: is after `starts_at`, and neither is without the other (1): u000000-e1",
    ),
    (
        "events",
        change("events", 1, starts_at=AT + 2 * DAY),
        "events.ends_at: is after `starts_at`, and neither is without the other (1): u000000-e1",
    ),
    ("events", change("events", action="arrive"), f"{STARTS} (1): u000000-e0"),
    ("events", change("events", action="arrive", **WAY | {"ends_at": AT + HOUR}), f"{STARTS} (1): u000000-e0"),
    (
        "events",
        change("events", 1, action="arrive", starts_at=AT + HOUR, ends_at=AT + 2 * HOUR),
        f"{STARTS} (1): u000000-e1",
    ),
    ("events", change("events", 1, action="book", **WAY), f"{STARTS} (1): u000000-e1"),
    ("events", change("items", opens_hour=19, closes_hour=26), f"{OPEN} (6): {EVERY_LINE}"),
    ("events", change("items", opens_hour=8, closes_hour=18), f"{OPEN} (6): {EVERY_LINE}"),
    ("events", change("items", min_age=35), f"{AGE} (6): {EVERY_LINE}"),
    (
        "events",
        change("events", series=[1] * 23),
        "events.series: has 24 values, none of them negative (1): u000000-e0",
    ),
    (
        "events",
        change("events", series=[1] * 23 + [-1]),
        "events.series: has 24 values, none of them negative (1): u000000-e0",
    ),
    (
        "sessions",
        shift("sessions", "ended_at", -HOUR),
        "sessions.ended_at: is not before `started_at` (1): u000000-s1 "
        "ended_at 2025-01-07 23:02:00.000000Z started_at 2025-01-08 00:00:00.000000Z",
    ),
    (
        "sessions",
        shift("sessions", "started_at", timedelta(seconds=1)),
        "events.at: lies within the session, from `started_at` to `ended_at` (1): u000000-e0",
    ),
    (
        "sessions",
        change("events", session_id="u000001-s1"),
        "events.user_id: is the user of the session (1): u000000-e0",
    ),
    ("sessions", drop("events", 2), "sessions.event_count: counts the events of the session (1): u000000-s1"),
    (
        "sessions",
        change("events", 2, seq=3),
        "events.seq: counts the lines of a session from 0 without gap (1): u000000-s1",
    ),
    ("sessions", swap_seq, "events.seq: follows `at` within a session (1): u000000-e0"),
    ("sessions", change("sessions", device="watch"), f"{OWNED} (1): u000000-s1"),
    ("sessions", change("personas", devices=["tv", "watch"]), f"{ONE_AT_LEAST} (1): u000000"),
    ("tasks", drop("answers"), "tasks.task_id: has a row in `answers` (1): u000000-t1"),
    ("tasks", drop("constraints"), "tasks.task_id: has a constraint (1): u000000-t1"),
    ("tasks", drop("tool_state"), "tasks.task_id: has a row in `tool_state` if it is an `act` task (1): u000000-t1"),
    ("tasks", change("tasks", family="know"), "tool_state.task_id: is an `act` task (1): u000000-t1"),
    ("tasks", change("constraints", user_id="u000001"), "constraints.user_id: is the user of the task (1): u000000-c1"),
    (
        "tasks",
        shift("tasks", "asked_at", -12 * DAY),
        "constraints.evidence_event_ids: are events of the user from before the task (1): u000000-c1",
    ),
    (
        "gold",
        change("answers", gold='{"option_ids": ["o9"]}'),
        "answers.gold: names options of the task (1): u000000-t1",
    ),
    (
        "gold",
        change("answers", gold='{"option_ids": ["o1"]}'),
        "answers.gold: names the options marked `is_gold` (1): u000000-t1",
    ),
    ("gold", change("answers", gold="o0"), "answers.gold: is JSON with `option_ids` or `ask` (1): u000000-t1"),
    (
        "gold",
        change("answers", gold='{"option_ids": []}'),
        "answers.gold: is JSON with `option_ids` or `ask` (1): u000000-t1",
    ),
    (
        "gold",
        lambda rows: rows["answers"][0]["options"].pop(),
        "answers.options: are the options of the task, each once (1): u000000-t1",
    ),
    (
        "gold",
        lambda rows: rows["tasks"][0]["options"].append(rows["tasks"][0]["options"][0]),
        "tasks.options: have distinct ids within a task (1): u000000-t1",
    ),
    (
        "dispositions",
        overlap,
        "dispositions.valid_from: does not overlap another of the same actor, dimension, clock, condition (1): u000000-d9",
    ),
    (
        "dispositions",
        leave_a_gap,
        "dispositions.valid_from: leaves no gap in traits and habits since the start of the window (1): u000000-d9",
    ),
    (
        "dispositions",
        begin_late,
        "dispositions.valid_from: leaves no gap in traits and habits since the start of the window (1): u000000-d0",
    ),
    (
        "dispositions",
        end_early,
        "dispositions.valid_to: leaves no gap in traits and habits before the end of the window (1): u000000-d0",
    ),
    ("dispositions", drop("dispositions"), "users.user_id: has a trait or habit in every dimension (1): u000000"),
    (
        "interests",
        change("interests", area="pets"),
        "interests.tag: is a declared tag of its `area`, with a `polarity` that it can have (1): u000000 home_baking",
    ),
    (
        "interests",
        change("interests", tag="yodelling"),
        "interests.tag: is a declared tag of its `area`, with a `polarity` that it can have (1): u000000 yodelling",
    ),
]


NAMES = [f"{group}: {told.split(':')[0]} {place}" for place, (group, _, told) in enumerate(SPOILT)]


@pytest.mark.parametrize(("group", "spoil", "told"), SPOILT, ids=NAMES)
def test_what_breaks_a_rule_is_named_with_table_column_rule_and_ids(
    group: str, spoil: Callable[[Rows], object], told: str, tiny: Any, tmp_path: Path
) -> None:
    spoil(tiny.rows)
    assert told in [str(violation) for violation in broken(tiny, tmp_path, group)[group]]


def test_a_sound_release_breaks_no_rule(tiny: Any, tmp_path: Path) -> None:
    found = broken(tiny, tmp_path)
    groups = {"references", "splits", "users", "events", "sessions", "tasks", "gold", "dispositions", "interests"}
    assert set(found) == groups
    assert not any(found.values())


def test_a_user_may_use_what_is_their_own(tiny: Any, tmp_path: Path) -> None:
    give(2, "u000000", "train", item_id="i2", options=["i0", "i2"])(tiny.rows)
    assert not any(broken(tiny, tmp_path).values())


@pytest.mark.parametrize(
    "holds",
    [
        change("events", action="arrive", item_id="i0", origin_item_id="i1", **WAY),
        change("events", action="book", starts_at=AT + DAY, ends_at=AT + 2 * DAY),
        change("items", opens_hour=18, closes_hour=19),
        change("items", opens_hour=20, closes_hour=43),  # until 19:00 of the day after
        change("items", min_age=34),
        change("events", series=[0] * 24),
        lambda rows: [
            (row.update(options=None, action="review"), rows["items"][0].update(opens_hour=2, closes_hour=3))
            for row in rows["events"]
        ],
    ],
)
def test_what_can_be_done_breaks_no_rule(holds: Callable[[Rows], object], tiny: Any, tmp_path: Path) -> None:
    holds(tiny.rows)
    assert broken(tiny, tmp_path, "events") == {"events": []}


def test_asking_needs_no_gold_option(tiny: Any, tmp_path: Path) -> None:
    tiny.rows["answers"][0]["gold"] = '{"ask": true}'
    tiny.rows["answers"][0]["options"][0]["is_gold"] = False
    assert broken(tiny, tmp_path, "gold") == {"gold": []}


def test_a_trait_that_a_habit_takes_over_from_leaves_no_gap_and_a_state_may_lie_on_top(
    tiny: Any, tmp_path: Path
) -> None:
    first = tiny.rows["dispositions"][0]
    moved = first["valid_from"] + 40 * DAY
    state = {**first, "disposition_id": "u000000-d8", "clock": "state", "valid_from": moved, "valid_to": moved + DAY}
    habit = {**first, "disposition_id": "u000000-d9", "clock": "habit", "valid_from": moved}
    first["valid_to"] = moved
    tiny.rows["dispositions"] += [state, habit]
    assert broken(tiny, tmp_path, "dispositions") == {"dispositions": []}


def test_no_more_than_five_ids_are_named_and_all_are_counted(tiny: Any, tmp_path: Path) -> None:
    tiny.rows["event_truth"] = []
    (violation,) = broken(tiny, tmp_path, "events")["events"]
    assert violation.count == 6
    assert violation.examples == ("u000000-e0", "u000000-e1", "u000000-e2", "u000001-e0", "u000001-e1")
    assert str(violation).endswith("u000001-e1 …")
