"""What an agent may see: the tables of `data/`."""

from __future__ import annotations

from schemas.tables.core import Table
from schemas.tables.fields import TASK_OPTIONS, pick

USERS = Table(
    name="users",
    layer="visible",
    key=("user_id",),
    minimum_rows=1,
    doc="Account facts, one row a user.",
    columns=pick("user_id", "locale", "week_start", "time_zone", "signed_up_at"),
)
ITEMS = Table(
    name="items",
    layer="visible",
    key=("item_id",),
    minimum_rows=1,
    doc="The catalogue of all domains, and what users have of their own: homes, contacts, devices.",
    columns=pick(
        "item_id",
        "domain",
        "category",
        "title",
        "description",
        "price_cents",
        "currency",
        "owner_user_id",
        "min_age",
        "opens_hour",
        "closes_hour",
    ),
    optional=frozenset({"owner_user_id", "min_age", "opens_hour", "closes_hour"}),
    references={"owner_user_id": "users.user_id"},
)
ITEM_ATTRIBUTES = Table(
    name="item_attributes",
    layer="visible",
    key=("item_id", "dimension"),
    minimum_rows=1,
    doc="What each item is, in symbols: the structured view. The natural view withholds this table.",
    columns=pick("item_id", "dimension", "value"),
    references={"item_id": "items.item_id"},
)
DAYS = Table(
    name="days",
    layer="visible",
    key=("time_zone", "date"),
    minimum_rows=1,
    doc="The weather in every zone where users live, on every local day of the window. It is the same for everybody there.",
    columns=pick("time_zone", "date", "weather", "temperature_c"),
    references={"time_zone": "users.time_zone"},
)
HOLIDAYS = Table(
    name="holidays",
    layer="visible",
    key=("locale", "date"),
    doc="Public holidays of the whole land of each locale that users have, in the window.",
    columns=pick("locale", "date", "holiday"),
    references={"locale": "users.locale"},
)
SESSIONS = Table(
    name="sessions",
    layer="visible",
    key=("user_id", "started_at", "session_id"),
    minimum_rows=1,
    doc="Sittings with an app.",
    columns=pick(
        "session_id", "user_id", "domain", "app", "device", "started_at", "ended_at", "utc_offset_min", "event_count"
    ),
    references={"user_id": "users.user_id"},
)
EVENTS = Table(
    name="events",
    layer="visible",
    key=("user_id", "at", "event_id"),
    minimum_rows=1,
    doc="The log: every line that apps kept about the user, disturbances included.",
    columns=pick(
        "event_id",
        "user_id",
        "session_id",
        "seq",
        "at",
        "logged_at",
        "utc_offset_min",
        "domain",
        "app",
        "action",
        "item_id",
        "options",
        "origin_item_id",
        "starts_at",
        "ends_at",
        "place_time_zone",
        "quantity",
        "price_cents",
        "currency",
        "rating",
        "series",
        "text",
        "image_id",
        "source",
    ),
    optional=frozenset(
        {
            "item_id",
            "options",
            "origin_item_id",
            "starts_at",
            "ends_at",
            "place_time_zone",
            "quantity",
            "price_cents",
            "currency",
            "rating",
            "series",
            "text",
            "image_id",
        }
    ),
    references={
        "user_id": "users.user_id",
        "session_id": "sessions.session_id",
        "item_id": "items.item_id",
        "origin_item_id": "items.item_id",
    },
)
IMAGES = Table(
    name="images",
    layer="visible",
    key=("image_id",),
    doc="Pictures, each stored once.",
    columns=pick("image_id", "image"),
)
TOOLS = Table(
    name="tools",
    layer="visible",
    key=("tool_id",),
    minimum_rows=1,
    doc="What an agent may call, as JSON Schemas that an OpenAI-style client takes as they are.",
    columns=pick("tool_id", "domain", "name", "description", "parameters"),
)
TOOL_STATE = Table(
    name="tool_state",
    layer="visible",
    key=("task_id",),
    doc="The world at the task's time: offers, cart, orders, balance.",
    columns=pick("task_id", "state"),
    references={"task_id": "tasks.task_id"},
)
TASKS = Table(
    name="tasks",
    layer="visible",
    key=("task_id",),
    doc="What is asked of an agent. `family` tells the form only.",
    columns=pick(
        "task_id",
        "user_id",
        "family",
        "domains",
        "asked_at",
        "utc_offset_min",
        "request",
        "options",
        "tool_ids",
        options=TASK_OPTIONS,
    ),
    references={"user_id": "users.user_id"},
)
