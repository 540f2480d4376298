"""A release small enough to read: two users, a handful of events, one task each, and nothing wrong with it."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.config import Config
from schemas.load import load_domain
from schemas.tables import RELEASED, Table, sort_rows
from schemas.tables.fields import TRAITS
from validation.report.judge import Judgement, judge
from validation.structure.folder import table_folder

START = datetime(2025, 1, 6, tzinfo=UTC)
END = START + timedelta(weeks=2)
SPLITS = {"u000000": "train", "u000001": "test"}
DIMENSIONS = tuple(load_domain("food").dimension_ids())


def tiny_config(**gates: bool) -> Config:
    return Config.model_validate(
        {
            "schema_version": 1,
            "name": "tiny",
            "data": {
                "users": 2,
                "domains": ["food"],
                "gates": gates,
                "window": {"start": START.isoformat(), "end": END.isoformat()},
            },
        }
    )


@dataclass
class Tiny:
    """Rows by table, to be spoilt by a test before they are written."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: copy.deepcopy(_rows()))
    tables: dict[str, Table] = field(default_factory=lambda: dict(RELEASED))
    config: Config = field(default_factory=tiny_config)

    def write(self, folder: Path) -> Path:
        """The release folder without its manifest and reports."""
        files, described = [], {}
        for name, declared in self.tables.items():
            rows = self.rows.get(name, [])
            table = pa.Table.from_pylist(rows, schema=_loose(declared))
            splits: dict[str, int] = {}
            for split, part in _by_split(declared, rows, table):
                path = table_folder(folder, declared) / f"{split}-00000-of-00001.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                ordered = pa.table(sort_rows(part, declared).columns, schema=declared.schema())
                pq.write_table(ordered, path, compression="zstd", store_schema=False)
                splits[split] = part.num_rows
                files.append(
                    {
                        "path": path.relative_to(folder).as_posix(),
                        "table": name,
                        "split": split,
                        "rows": part.num_rows,
                        "bytes": path.stat().st_size,
                        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                    }
                )
            described[name] = {"rows": len(rows), "digest": "not looked at", "splits": splits}
        (folder / "reports").mkdir(parents=True, exist_ok=True)
        (folder / "reports" / "files.json").write_text(json.dumps({"files": files, "tables": described}))
        return folder

    def write_manifest(self, folder: Path) -> None:
        (folder / "manifest.json").write_text(json.dumps({"config": self.config.model_dump(mode="json")}))


def _loose(declared: Table) -> pa.Schema:
    """The schema with nulls allowed, so that a test can write what is not allowed."""
    return pa.schema([pa.field(name, spec.type) for name, spec in declared.columns.items()])


def _by_split(declared: Table, rows: list[dict[str, Any]], table: pa.Table) -> list[tuple[str, pa.Table]]:
    own = [SPLITS.get(row.get("user_id") or "", "train") if declared.has_users else "catalogue" for row in rows]
    splits = [row.get("_split", split) for row, split in zip(rows, own, strict=True)]
    return [(split, table.filter(pa.array([split == other for other in splits]))) for split in sorted(set(splits))]


def _rows() -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = {
        "items": [
            {
                "item_id": f"i{n}",
                "domain": "food",
                "category": "main",
                "title": f"Dish {n}",
                "description": "A dish.",
                "price_cents": 1000 + n,
                "currency": "USD",
            }
            for n in range(3)
        ],
        "population": [
            {
                "attribute": "sex",
                "given": "",
                "among": "",
                "place": place,
                "label": sex,
                "column_name": "sex",
                "share": 0.5,
                "drawn_share": 0.5,
            }
            for place, sex in enumerate(("female", "male"))
        ],
        "item_attributes": [{"item_id": f"i{n}", "dimension": "food.cuisine", "value": "thai"} for n in range(3)],
        "days": [{"time_zone": "America/Chicago", "date": date(2025, 1, 6), "weather": "snow", "temperature_c": -2}],
        "holidays": [{"locale": "en_US", "date": date(2025, 1, 20), "holiday": "Martin Luther King Jr. Day"}],
        "tools": [
            {
                "tool_id": "food_search",
                "domain": "food",
                "name": "food_search",
                "description": "Lists.",
                "parameters": "{}",
            }
        ],
    }
    for user in SPLITS:
        for name, rows in _rows_of(user).items():
            out.setdefault(name, []).extend(rows)
    return out


def _rows_of(user: str) -> dict[str, list[dict[str, Any]]]:
    own = {"user_id": user}
    me, session, event, task = f"{user}-a1", f"{user}-s1", f"{user}-e", f"{user}-t1"
    at = [START + timedelta(days=2, minutes=minute) for minute in range(3)]
    liked = [f"{user}-d{place}" for place in range(len(DIMENSIONS))]
    events = [
        {
            **own,
            "event_id": f"{event}{n}",
            "session_id": session,
            "seq": n,
            "at": moment,
            "logged_at": moment,
            "utc_offset_min": -360,
            "domain": "food",
            "app": "Platehop",
            "action": action,
            "item_id": "i0",
            "options": ["i0", "i1"],
            "source": "self",
        }
        for n, (moment, action) in enumerate(zip(at, ("view", "order", "review"), strict=True))
    ]
    options = [{"option_id": f"o{n}", "label": f"Dish {n}", "item_id": f"i{n}"} for n in range(3)]
    judged = [
        {
            "option_id": f"o{n}",
            "is_gold": n == 0,
            "failures": [],
            "violated_constraint_ids": [] if n == 0 else [f"{user}-c1"],
        }
        for n in range(3)
    ]
    return {
        "users": [
            {
                **own,
                "locale": "en_US",
                "week_start": "sun",
                "time_zone": "America/Chicago",
                "signed_up_at": START - timedelta(days=30),
            }
        ],
        "sessions": [
            {
                **own,
                "session_id": session,
                "domain": "food",
                "app": "Platehop",
                "device": "phone",
                "started_at": at[0],
                "ended_at": at[-1],
                "utc_offset_min": -360,
                "event_count": 3,
            }
        ],
        "events": events,
        "personas": [
            {
                **own,
                "sample_weight": 1.0,
                "given_name": "Ada",
                "family_name": "Ito",
                "birth_date": date(1990, 5, 1),
                "age_years": 34,
                "sex": "female",
                "education": "HS",
                "income_usd": 40000,
                "labour_status": "employed",
                "household_size": 1,
                "marital_status": "single",
                "region": "midwest",
                "children_ages": [],
                "home_type": "rent",
                "chronotype": "morning",
                **dict.fromkeys(TRAITS, 50),
                "devices": ["phone", "tv"],
                "locale": "en_US",
                "time_zone": "America/Chicago",
            }
        ],
        "actors": [{**own, "actor_id": me, "relation": "self", "has_account_access": True, "attributes": []}],
        "interests": [
            {
                **own,
                "area": "food_drink",
                "tag": "home_baking",
                "polarity": "likes",
                "began_at": START - timedelta(days=400),
                "is_recent": False,
            }
        ],
        "participation": [
            {
                **own,
                "domain": "food",
                "rate_factor": 1.0,
                "attribute_factor": 1.0,
                "valid_from": START - timedelta(days=30),
            }
        ],
        "dispositions": [
            {
                **own,
                "disposition_id": name,
                "actor_id": me,
                "dimension": dimension,
                "value": "thai",
                "weights": [{"value": "thai", "weight": 1.0}],
                "strength": 1.0,
                "clock": "trait",
                "valid_from": START - timedelta(days=30),
                "is_sensitive": False,
            }
            for name, dimension in zip(liked, DIMENSIONS, strict=True)
        ],
        "injections": [
            {
                **own,
                "injection_id": f"{user}-i1",
                "family": "noise",
                "kind": "accidental",
                "policy": "ignore_event",
                "is_contested": False,
                "event_ids": [f"{event}0"],
                "onset_at": at[0],
                "parameters": "{}",
            }
        ],
        "event_truth": [
            {
                **own,
                "event_id": row["event_id"],
                "actor_id": me,
                "is_noise": False,
                "injection_ids": [],
                "driver_disposition_ids": [liked[0]],
            }
            for row in events
        ],
        "tasks": [
            {
                **own,
                "task_id": task,
                "family": "act",
                "domains": ["food"],
                "asked_at": END,
                "utc_offset_min": -360,
                "request": "Dinner?",
                "options": options,
                "tool_ids": ["food_search"],
            }
        ],
        "tool_state": [{"task_id": task, "state": "{}"}],
        "constraints": [
            {
                **own,
                "constraint_id": f"{user}-c1",
                "task_id": task,
                "dimension": "food.cuisine",
                "operator": "is",
                "value": "thai",
                "hardness": "hard",
                "weight": 1.0,
                "status": "stable",
                "evidence_event_ids": [f"{event}1"],
                "disposition_ids": [liked[0]],
            }
        ],
        "answers": [
            {
                **own,
                "task_id": task,
                "group_id": "g1",
                "family_true": "act",
                "strata": {"constraint_count": 1},
                "gold": json.dumps({"option_ids": ["o0"]}),
                "options": judged,
            }
        ],
    }


@pytest.fixture
def tiny() -> Tiny:
    return Tiny()


# Judgements that several tests look at: each takes seconds, as Great Expectations does.


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Judgement]:
    """A release with nothing wrong, and its judgement."""
    tiny = Tiny()
    folder = tiny.write(tmp_path_factory.mktemp("sound"))
    return folder, judge(folder, tiny.config.data)


@pytest.fixture(scope="session")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Judgement]:
    """A release with a price below zero, an order of a thing that is not, and nothing else wrong."""
    tiny = Tiny()
    tiny.rows["events"][0].update(price_cents=-5, item_id="<i9>")
    folder = tiny.write(tmp_path_factory.mktemp("spoilt"))
    return folder, judge(folder, tiny.config.data)


@pytest.fixture(scope="session")
def unreadable(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Judgement]:
    """A release whose sessions lack a column."""
    tiny = Tiny()
    folder = tiny.write(tmp_path_factory.mktemp("unreadable"))
    path = folder / "data/sessions/train-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["device"]), path, store_schema=False)
    return folder, judge(folder, tiny.config.data)
