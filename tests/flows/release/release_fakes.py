"""Small tables that conform to the declarations, for tests of what happens to tables after the stages."""

from __future__ import annotations

import datetime as dt
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from flows.common.draws import BASE32, key_of
from flows.release.publish import Published, publish, staging_folder
from flows.release.series import Limits
from flows.release.tables import stage_tables
from schemas.config import Config
from schemas.tables import RELEASED, Table, sort_rows
from schemas.tables.fields import TRAITS
from validation.report.judge import Gate, Judgement

START = dt.datetime(2025, 1, 6, tzinfo=dt.UTC)
ASKED_AT = START + dt.timedelta(days=3, hours=10, minutes=2)
"""The instant of the third line of the fourth session: that line is not before it."""
SESSIONS = 6
LINES = 4
LATE = (1, 3)
"""Session and line that reach the log only on day 4."""


def fake_config(users: int = 24, **release: Any) -> Config:
    data = {
        "users": users,
        "window": {"start": START, "end": START + dt.timedelta(weeks=2)},
        "domains": ["food"],
        "release": release,
    }
    return Config.model_validate({"schema_version": 1, "name": "tiny", "data": data})


@functools.cache
def fake_tables(users: int = 24, note: str = "") -> dict[str, pa.Table]:
    """Every released table for the users 0 to ``users``; ``note`` goes into the texts and so changes the content."""
    names = [f"u{number:06d}" for number in range(users)]
    rows: dict[str, list[dict[str, Any]]] = {
        "users": [_user(name) for name in names],
        "items": [_item(number) for number in range(5)],
        "item_attributes": [
            {"item_id": item_id(n), "dimension": "food.cuisine", "value": "thai" if n % 2 else "italian"}
            for n in range(5)
        ],
        "images": [],
        "days": [
            {"time_zone": "America/Chicago", "date": dt.date(2025, 1, day), "weather": "dry", "temperature_c": day - 9}
            for day in range(5, 20)
        ],
        "holidays": [{"locale": "en_US", "date": dt.date(2025, 1, 20), "holiday": "Martin Luther King Jr. Day"}],
        "tools": [
            {"tool_id": "food.order", "domain": "food", "name": "order", "description": "Orders.", "parameters": "{}"}
        ],
        "personas": [_persona(name, n) for n, name in enumerate(names)],
        "population": [_share(place, sex) for place, sex in enumerate(("female", "male"))],
        "rejects": [],
    }
    for number, name in enumerate(names):
        for table, made in _user_rows(number, name, note).items():
            rows.setdefault(table, []).extend(made)
    return {name: _table(RELEASED[name], rows[name]) for name in RELEASED}


def cut(tables: Mapping[str, pa.Table], size: int) -> dict[str, list[pa.Table]]:
    """The same rows in portions of ``size`` rows."""
    return {
        name: [table.slice(start, size) for start in range(0, max(1, table.num_rows), size)]
        for name, table in tables.items()
    }


def passed() -> Judgement:
    gates = {
        "cross.keys": Gate(True, 0.0, 0.0, "passed", "unique keys | all tables", {"rows": 576}),
        "fidelity.food.hours": Gate(None, float("nan"), 0.1, "insufficient sample", "3 rows", {"users": 3}),
    }
    return Judgement(gates, {}, (), ())


def failed() -> Judgement:
    return Judgement({"cross.keys": Gate(False, 2.0, 0.0, "failed", "u000001 twice", {"rows": 576})}, {}, (), ())


def stage_fake(
    staging: Path, config: Config, tables: Mapping[str, pa.Table], size: int = 1_000_000, limits: Limits | None = None
) -> dict[str, Any]:
    return stage_tables(cut(tables, size), staging, config.data, RELEASED, limits)


def publish_fake(
    out: Path,
    *,
    note: str = "",
    version: str | None = None,
    users: int = 6,
    run_id: str = "run",
    judgement: Judgement | None = None,
    size: int = 1_000_000,
    file_rows: int = 1_000_000,
    **release: Any,
) -> Published:
    """Stages and publishes the fake tables as `tiny`; files end at ``file_rows`` rows."""
    config = fake_config(users, **release)
    staging = staging_folder(out, run_id)
    stage_fake(staging, config, fake_tables(users, note), size, Limits(file_rows, group_rows=max(1, file_rows // 2)))
    return publish(staging, out, "tiny", version, judgement or passed(), config=config, tables=RELEASED)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below the folder with its bytes."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _table(declared: Table, rows: list[dict[str, Any]]) -> pa.Table:
    return sort_rows(declared.conform(pa.Table.from_pylist(rows, schema=declared.schema())), declared)


def _id(kind: str, user: int, key: int) -> str:
    """An id of the usual look."""
    bits = key_of("fake", kind, user, key)
    return f"u{user:06d}-{kind[0]}" + "".join(chr(BASE32[bits >> 5 * place & 31]) for place in range(10))


def _user(name: str) -> dict[str, Any]:
    return {
        "user_id": name,
        "locale": "en_US",
        "week_start": "sun",
        "time_zone": "America/Chicago",
        "signed_up_at": START - dt.timedelta(days=9),
    }


def item_id(number: int) -> str:
    """Three things are in the catalogue, one belongs to the user 1, of the split `test`, and one to 2, of `train`."""
    return f"food-{number}" if number < 3 else _id("belonging", number - 2, 0)


def _item(number: int) -> dict[str, Any]:
    return {
        "item_id": item_id(number),
        "domain": "food",
        "category": "main",
        "title": f"Dish {number}",
        "description": "A dish | with a bar.",
        "price_cents": 1000 + number,
        "currency": "USD",
        "owner_user_id": f"u00000{number - 2}" if number > 2 else None,
    }


def _share(place: int, sex: str) -> dict[str, Any]:
    return {
        "attribute": "sex",
        "given": "",
        "among": "",
        "place": place,
        "label": sex,
        "column_name": "sex",
        "share": 0.5,
        "drawn_share": 0.5,
    }


def _persona(name: str, number: int) -> dict[str, Any]:
    return {
        "user_id": name,
        "sample_weight": 1.0,
        "given_name": "Hiếu",
        "family_name": "אבן",
        "birth_date": dt.date(1984, 2, 29),
        "age_years": 40,
        "sex": "female",
        "education": "bachelor",
        "income_usd": 50_000,
        "occupation": None if number % 2 else "office",
        "labour_status": "employed",
        "household_size": 2,
        "marital_status": "married",
        "region": "south",
        "children_ages": [],
        "home_type": "owned",
        "chronotype": "morning",
        **dict.fromkeys(TRAITS, 50),
        "devices": ["phone"],
        "locale": "en_US",
        "time_zone": "America/Chicago",
    }


def _user_rows(number: int, name: str, note: str) -> dict[str, list[dict[str, Any]]]:
    actor, taste, task = _id("actor", number, 0), _id("disposition", number, 0), _id("task", number, 0)
    asked = ASKED_AT
    sessions, events, truths = [], [], []
    for s in range(SESSIONS):
        session, opened = _id("session", number, s), START + dt.timedelta(days=s, hours=10)
        sessions.append(
            {
                "session_id": session,
                "user_id": name,
                "domain": "food",
                "app": "Plate",
                "device": "phone",
                "started_at": opened,
                "ended_at": opened + dt.timedelta(minutes=5),
                "utc_offset_min": -360,
                "event_count": LINES,
            }
        )
        for line in range(LINES):
            event = _event(number, name, session, s, line, opened, note)
            events.append(event)
            truths.append(
                {
                    "event_id": event["event_id"],
                    "user_id": name,
                    "actor_id": actor,
                    "is_noise": (s, line) == LATE,
                    "noise_kind": "late" if (s, line) == LATE else None,
                    "injection_ids": [_id("injection", number, 0)] if (s, line) == LATE else [],
                    "driver_disposition_ids": [taste],
                    "speaker": None,
                    "alt_text": None,
                }
            )
    late = next(e for e in events if e["logged_at"] != e["at"])
    constraint = _id("constraint", number, 0)
    return {
        "sessions": sessions,
        "events": events,
        "event_truth": truths,
        "actors": [
            {"actor_id": actor, "user_id": name, "relation": "self", "has_account_access": True, "attributes": []}
        ],
        "interests": [
            {
                "user_id": name,
                "area": "pets",
                "tag": "cats",
                "polarity": "likes",
                "began_at": START - dt.timedelta(days=400),
                "is_recent": False,
            }
        ],
        "participation": [
            {
                "user_id": name,
                "domain": "food",
                "rate_factor": 1.0,
                "attribute_factor": 1.0,
                "valid_from": START,
                "valid_to": None,
            }
        ],
        "dispositions": [_disposition(name, actor, taste)],
        "injections": [_injection(number, name, late)],
        "tasks": [_task(name, task, asked)],
        "tool_state": [{"task_id": task, "state": json.dumps({"cart": []})}],
        "constraints": [_constraint(name, task, constraint, taste, events[0]["event_id"])],
        "answers": [_answer(name, task, constraint)],
        "posteriors": [
            {"task_id": task, "user_id": name, "constraint_id": which, "p_decision": 0.95}
            for which in (None, constraint)
        ],
    }


def _event(number: int, name: str, session: str, s: int, line: int, opened: dt.datetime, note: str) -> dict[str, Any]:
    at = opened + dt.timedelta(minutes=line)
    chosen = line == LINES - 1
    return {
        "event_id": _id("event", number, s * LINES + line),
        "user_id": name,
        "session_id": session,
        "seq": line,
        "at": at,
        "logged_at": START + dt.timedelta(days=4) if (s, line) == LATE else at,
        "utc_offset_min": -360,
        "domain": "food",
        "app": "Plate",
        "action": "order" if chosen else "view",
        "item_id": f"food-{(number + s) % 3}" if chosen else None,
        "options": ["food-0", "food-1", "food-2"] if chosen else None,
        "quantity": 1 if chosen else None,
        "price_cents": 1999 if chosen else None,
        "currency": "USD" if chosen else None,
        "rating": None,
        "series": [1, 2] if line == 1 else None,
        "text": f"thai, bitte – 好 {note}" if line == 0 else None,
        "image_id": None,
        "source": "self",
    }


def _disposition(name: str, actor: str, taste: str) -> dict[str, Any]:
    return {
        "disposition_id": taste,
        "user_id": name,
        "actor_id": actor,
        "dimension": "food.cuisine",
        "value": "thai",
        "weights": [{"value": "thai", "weight": 0.75}, {"value": "italian", "weight": 0.25}],
        "strength": 1.5,
        "clock": "trait",
        "valid_from": START,
        "valid_to": None,
        "condition": None,
        "cause": None,
        "is_sensitive": False,
    }


def _injection(number: int, name: str, late: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "injection_id": _id("injection", number, 0),
        "user_id": name,
        "family": "noise",
        "kind": "duplicate",
        "policy": "ignore_duplicate",
        "is_contested": False,
        "dimension": None,
        "event_ids": [late["event_id"]],
        "before": None,
        "after": None,
        "onset_at": late["at"],
        "ended_at": None,
        "cause": None,
        "parameters": "{}",
    }


def _task(name: str, task: str, asked: dt.datetime) -> dict[str, Any]:
    return {
        "task_id": task,
        "user_id": name,
        "family": "act",
        "domains": ["food"],
        "asked_at": asked,
        "utc_offset_min": -360,
        "request": "Order dinner.",
        "tool_ids": ["food.order"],
        "options": [{"option_id": f"o{n}", "label": f"Dish {n}", "item_id": f"food-{n}"} for n in range(3)],
    }


def _constraint(name: str, task: str, constraint: str, taste: str, event: str) -> dict[str, Any]:
    return {
        "constraint_id": constraint,
        "task_id": task,
        "user_id": name,
        "dimension": "food.cuisine",
        "operator": "is",
        "value": "thai",
        "hardness": "hard",
        "weight": 1.0,
        "status": "stable",
        "evidence_event_ids": [event],
        "disposition_ids": [taste],
    }


def _answer(name: str, task: str, constraint: str) -> dict[str, Any]:
    strata = {
        "constraint_count": 1,
        "distance_days": 3.0,
        "implicitness": "L2",
        "noise_nearby": 0.0,
        "has_conflict": False,
        "domain_count": 1,
        "history_events": 13,
    }
    options = [
        {
            "option_id": f"o{n}",
            "is_gold": n == 1,
            "failures": [] if n == 1 else ["ignores_history"],
            "violated_constraint_ids": [] if n == 1 else [constraint],
        }
        for n in range(3)
    ]
    return {
        "task_id": task,
        "user_id": name,
        "group_id": "g0",
        "twin_id": None,
        "family_true": "act",
        "parent_task_id": None,
        "proof": "core",
        "is_hard": False,
        "strata": strata,
        "gold": json.dumps({"option_ids": ["o1"]}),
        "options": options,
        "decoy_trajectories": None,
    }
