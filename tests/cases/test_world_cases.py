"""Faults of public reports about worlds that agents act in: impossible records, wrong amounts, gold that rules forbid.

Each test names its case.
"""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from flows.tasks.drafts import World as DraftWorld
from flows.tasks.drafts import _prove
from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domain
from tests.flows.lives import Lives, live, small_config
from validation.world.paths import gold_path
from validation.world.state import Offer, ToolState
from validation.world.tools import Toolbox
from validation.world.world import World

NOW = datetime(2025, 5, 22, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def lived() -> Lives:
    """A month of nine domains."""
    data = small_config(30, 4, domains=list(NINE_DOMAINS))
    return Lives(data, live(data, last="timelines"))


@pytest.fixture(scope="module")
def asked() -> Lives:
    """Tasks in two domains."""
    data = small_config(120, 6, tasks={"groups_per_domain": 6}, timelines={"statement_rate": 0.2})
    return Lives(data, live(data, last="selection"))


def trip(**more: object) -> Offer:
    """A stay that begins in ten days."""
    fields = {
        "item_id": "i-0000000001", "title": "Lakeside cabin", "description": "Quiet.", "price_cents": 9000,
        "currency": "USD", "category": "cabins", "starts_at": NOW + timedelta(days=10),
        "ends_at": NOW + timedelta(days=12), "origin": "Northport", "destination": "Southport", **more,
    }  # fmt: skip
    return Offer.model_validate(fields)


def test_fault_41_nobody_leaves_for_where_they_are_and_nobody_arrives_before_leaving(lived: Lives) -> None:
    ways = lived["clean_events"].filter(pl.col("action") == "arrive")
    assert ways.height > 500 and ways["origin_item_id"].null_count() == 0
    assert ways.filter(pl.col("origin_item_id") == pl.col("item_id")).is_empty()
    assert ways.filter(pl.col("starts_at") >= pl.col("ends_at")).is_empty()
    stays = lived["clean_events"].filter(pl.col("action") == "book")
    assert stays.height > 10 and stays.filter(pl.col("starts_at") >= pl.col("ends_at")).is_empty()
    assert stays.filter(pl.col("starts_at") <= pl.col("at")).is_empty()
    for wrong in ({"destination": "Northport"}, {"ends_at": NOW + timedelta(days=9)}):
        with pytest.raises(ValueError, match="origin|ends"):
            trip(**wrong)


def test_fault_41_hours_and_ages_hold_on_the_clean_timeline(lived: Lives) -> None:
    events = lived["clean_events"].filter(pl.col("options").is_not_null())
    taken = events.join(lived["items"].select("item_id", "opens_hour", "closes_hour", "min_age"), on="item_id")
    hour = ((pl.col("at").dt.epoch("s") + pl.col("utc_offset_min").cast(pl.Int64) * 60) // 3600) % 24
    timed = taken.filter(pl.col("opens_hour").is_not_null()).with_columns(hour=hour)
    is_open = (pl.col("hour") >= pl.col("opens_hour")) & (pl.col("hour") < pl.col("closes_hour"))
    is_late = pl.col("hour") < pl.col("closes_hour") - 24
    assert timed.height > 100 and timed.filter(~(is_open | is_late)).is_empty()
    limited = taken.filter(pl.col("min_age").is_not_null()).join(
        lived["personas"].select("user_id", "birth_date"), on="user_id"
    )
    age = (pl.col("at").dt.date() - pl.col("birth_date")).dt.total_days() / 365.25
    assert limited.height > 5 and limited.filter(age < pl.col("min_age") - 0.01).is_empty()


def test_fault_44_amounts_are_derived_from_the_rules_and_agree(lived: Lives) -> None:
    events = lived["clean_events"]
    baskets: dict[str, int] = defaultdict(int)
    for row in events.filter((pl.col("domain") == "groceries") & (pl.col("action") == "add")).iter_rows(named=True):
        baskets[row["session_id"]] += row["price_cents"] * (row["quantity"] or 1)
    paid = events.filter(pl.col("action") == "checkout")
    assert paid.height > 50
    assert {row["session_id"]: row["price_cents"] for row in paid.iter_rows(named=True)} == dict(baskets)


@pytest.mark.parametrize("name", NINE_DOMAINS)
def test_fault_44_the_world_charges_price_and_fee_and_nothing_else(name: str) -> None:
    domain = load_domain(name)
    offers = (trip(price_cents=1234, starts_at=None, ends_at=None, origin=None, destination=None),)
    world = World(Toolbox.of(domain), ToolState(domain=name, offers=offers, balance_cents=100_000))
    path = gold_path(domain, offers[0].item_id)
    assert [answer for call in path if "error" in (answer := world.call(**call))] == []
    tools = {tool.name: tool for tool in domain.tools}
    fees = sum(tools[call["name"]].fee_cents for call in path if "charge_fee" in tools[call["name"]].effects)
    charged = any("charge_balance" in tools[call["name"]].effects for call in path)
    assert 100_000 - world.state.balance_cents == charged * 1234 + fees


def test_fault_46_what_has_begun_cannot_be_cancelled_and_what_has_passed_cannot_be_booked() -> None:
    domain = load_domain("travel")
    tools = Toolbox.of(domain)
    cancel = next(tool for tool in domain.tools if "close_booking" in tool.effects)
    book = gold_path(domain, "i-0000000001")[0]
    flown = {"starts_at": NOW - timedelta(days=3), "ends_at": NOW - timedelta(days=1)}
    state = ToolState(domain="travel", offers=(trip(),), balance_cents=50_000, now=NOW)
    ahead = World(tools, state)
    booking = ahead.call(**book)["bookings"][0]["booking_id"]
    assert "error" not in ahead.call(cancel.name, {"booking_id": booking})
    booked = World(tools, state)
    booked.call(**book)
    later = World(tools, booked.state.model_copy(update={"now": NOW + timedelta(days=11)}))
    assert later.call(cancel.name, {"booking_id": booking})["error"]["code"] == "booking_is_ahead"
    assert later.state == booked.state.model_copy(update={"now": NOW + timedelta(days=11)})
    late = World(tools, ToolState(domain="travel", offers=(trip(**flown),), balance_cents=50_000, now=NOW))
    assert late.call(**book)["error"]["code"] == "starts_in_future"


def test_fault_46_a_gold_that_the_rules_forbid_never_becomes_a_task() -> None:
    domain = load_domain("food")
    tools = Toolbox.of(domain)
    ids = [f"i-000000000{place}" for place in range(4)]
    period = {"starts_at": None, "ends_at": None, "origin": None, "destination": None}
    offers = tuple(trip(item_id=item, left=0 if item == ids[0] else None, **period) for item in ids)
    state = ToolState(domain="food", offers=offers, balance_cents=100_000)
    options = [{"option_id": name, "item_id": item} for name, item in zip("ABCD", ids, strict=True)]
    paths = {name: gold_path(domain, item) for name, item in zip("ABCD", ids, strict=True)}
    world = DraftWorld(domain, None, [], [], "USD", 100_000, tools)  # type: ignore[arg-type]
    _prove("t1", options, {"option_ids": ["B"]}, paths, world, state)
    with pytest.raises(ValueError, match="t1"):
        _prove("t1", options, {"option_ids": ["A"]}, paths, world, state)


def test_fault_48_no_two_options_are_the_same_and_exactly_one_is_right(asked: Lives) -> None:
    values = {
        (row["item_id"], row["dimension"]): row["value"] for row in asked["item_attributes"].iter_rows(named=True)
    }
    contested = defaultdict(set)
    for row in asked["draft_constraints"].iter_rows(named=True):
        contested[row["task_id"]].add((row["dimension"], row["value"]))
    acts = asked["draft_tasks"].filter(pl.col("family") == "act")
    assert acts.height >= 20
    gold = {
        row["task_id"]: json.loads(row["gold"])["option_ids"] for row in asked["draft_answers"].iter_rows(named=True)
    }
    for task in acts.iter_rows(named=True):
        wanted = contested[task["task_id"]]
        shown = {
            option["option_id"]: frozenset((dimension, values[option["item_id"], dimension]) for dimension, _ in wanted)
            for option in task["options"]
        }
        assert len(set(shown.values())) == len(shown) == 4
        assert [name for name, has in shown.items() if has == wanted] == gold[task["task_id"]]
