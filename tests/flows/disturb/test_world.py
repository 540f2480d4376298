"""Noise in nine domains: on every action by which options are taken, and what it leaves as it was."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest

from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domain
from schemas.tables.core import replaced
from tests.flows.lives import Lives, changeable, frame, is_likely, mean, run, takes

CLAIMS = {"stated_vs_done", "temporary_state"}


@pytest.fixture(scope="module")
def lines(world: Lives) -> pl.DataFrame:
    """The clean lines beside what the log has of them: `_after` marks the log's columns."""
    truth = world["symbolic_truth"].select("event_id", "is_noise", "noise_kind", actor="actor_id")
    log = world["symbolic_events"].join(truth, on="event_id")
    clean = world["clean_events"].join(world["clean_truth"].select("event_id", own="actor_id"), on="event_id")
    return clean.filter(pl.col("app") != "assistant").join(log, on="event_id", how="left", suffix="_after")


@pytest.mark.parametrize("domain", NINE_DOMAINS)
def test_choices_of_every_domain_are_missed_as_often_as_the_rate_says(
    domain: str, lines: pl.DataFrame, world: Lives
) -> None:
    chosen = lines.filter(domain=domain).drop_nulls("options")
    assert set(chosen["action"]) == set(load_domain(domain).choice_actions())
    can_change = pl.col("event_id").is_in(changeable(world)["event_id"].implode())
    alone = chosen.filter(can_change, pl.col("actor") == pl.col("own"))
    missed = alone.filter(pl.col("item_id") != pl.col("item_id_after"))
    assert is_likely(missed.height, alone.height, world.data.disturb.noise.accidental)
    assert set(missed["noise_kind"]) == {"accidental"}
    assert chosen.select(pl.col("item_id_after").is_in(pl.col("options")).all()).item()
    foreign = chosen.filter(pl.col("actor") != pl.col("own"))
    assert foreign.height > 20 and mean(foreign["item_id"] != foreign["item_id_after"]) > 0.3


def test_only_choices_and_what_follows_them_change(lines: pl.DataFrame) -> None:
    """A line without options is no choice, whatever its action: routines, messages, summaries, ways home."""
    changed = lines.filter(pl.col("item_id").ne_missing(pl.col("item_id_after")) & pl.col("options").is_null())
    assert set(changed.select("domain", "action").iter_rows()) <= {
        *((name, action) for name in NINE_DOMAINS for action in ("review", "view")),
        ("wellness", "log"),
    }
    rest = lines.filter(pl.col("options").is_null())
    assert rest["noise_kind"].count() == 0 and (rest["actor"] == rest["own"]).all()
    for column in ("starts_at", "ends_at", "series", "quantity", "options"):
        assert lines[column].eq_missing(lines[f"{column}_after"]).all(), column


def test_no_habit_repeats_what_the_log_has_nobody_take_but_where_the_clean_one_does(world: Lives) -> None:
    """Else the line without options would tell that the choice it repeats is another in the log."""
    clean, log = (takes(world, name).filter(nth=0) for name in ("clean_events", "symbolic_events"))
    repeats = takes(world, "clean_events").filter(pl.col("is_habit"), pl.col("nth") > 0)
    orphans, orphans_in_log = (set(one.filter("is_habit").select("user_id", "item_id").rows()) for one in (clean, log))
    assert repeats.height > 1_000 and orphans_in_log <= orphans


def test_a_look_names_what_is_taken_next_whoever_takes_it_and_however(lines: pl.DataFrame) -> None:
    some = lines.sort("user_id", "session_id", "at").with_columns(
        taken=pl.col("item_id_after").shift(-1).over("session_id"), of=pl.col("action").shift(-1).over("session_id")
    )
    looks = some.filter(action="view")
    assert looks.height > 500 and (looks["item_id_after"] == looks["taken"]).all() and looks["of"].n_unique() > 4
    assert 20 < looks.filter(pl.col("item_id") != pl.col("item_id_after")).height < looks.height


def test_a_way_begins_where_the_log_says_that_the_one_before_ended(lines: pl.DataFrame) -> None:
    """Else the next line would tell which arrival is wrong."""
    ways = lines.drop_nulls("origin_item_id").sort("user_id", "at")
    before = ways.select(pl.col("item_id", "item_id_after").shift(1).over("user_id").name.prefix("last_"))
    ways = pl.concat([ways, before], how="horizontal").filter(pl.col("last_item_id") == pl.col("origin_item_id"))
    misled = ways.filter(pl.col("last_item_id") != pl.col("last_item_id_after"))
    told = misled["origin_item_id_after"] == misled["last_item_id_after"]
    assert misled.height > 300 and mean(told) > 0.99
    assert misled.filter(~told).select((pl.col("last_item_id_after") == pl.col("item_id_after")).all()).item()
    true = ways.filter(pl.col("last_item_id") == pl.col("last_item_id_after"))
    assert (true["origin_item_id"] == true["origin_item_id_after"]).all()
    assert lines.filter(pl.col("origin_item_id_after") == pl.col("item_id_after")).is_empty()


def test_who_closes_with_the_last_choice_closes_with_what_stands_there(lines: pl.DataFrame) -> None:
    ordered = lines.filter(domain="wellness").sort("session_id", "at")
    last = (
        ordered.filter(action="add")
        .group_by("session_id", maintain_order=True)
        .agg(last=pl.col("item_id_after").last())
    )
    closes = ordered.filter(pl.col("action").is_in(["log", "review"])).join(last, on="session_id")
    assert (closes["item_id_after"] == closes["last"]).all()
    assert closes.filter(action="log", is_noise=False).filter(pl.col("item_id") != pl.col("item_id_after")).height > 100


def test_totals_count_each_thing_as_often_as_it_was_bought(lines: pl.DataFrame) -> None:
    bought = lines.filter(domain="groceries", action="add")
    total = bought.group_by("session_id").agg(total=(pl.col("price_cents_after") * pl.col("quantity_after")).sum())
    paid = lines.filter(domain="groceries", action="checkout").join(total, on="session_id")
    assert (paid["price_cents_after"] == paid["total"]).all()
    assert paid.filter(pl.col("price_cents") != pl.col("price_cents_after")).height > 200


def from_another_option(world: Lives, options: int) -> pa.Table:
    """The clean lines, each choice of which comes from the first of the other options; screens cut to so many."""
    events = world["clean_events"]
    screens = [
        None if shown is None else [item, *(one for one in shown if one != item)][:options]
        for item, shown in events.select("item_id", "options").iter_rows()
    ]
    schema = world.tables["clean_events"].schema
    origins = [None if screen is None else screen[1] for screen in screens]
    return replaced(
        world.tables["clean_events"],
        {
            "options": pa.array(screens, schema.field("options").type),
            "origin_item_id": pa.array(origins, schema.field("origin_item_id").type),
        },
    )


def test_noise_leads_nobody_to_where_they_are_although_it_is_on_show(world: Lives) -> None:
    rates = world.data.disturb.noise.model_copy(update={"accidental": 0.5, "other_person": 0.5})
    data = world.data.model_copy(update={"disturb": world.data.disturb.model_copy(update={"noise": rates})})
    log = frame(run("disturb", data, world.tables | {"clean_events": from_another_option(world, 6)})["symbolic_events"])
    chosen = log.drop_nulls("options")
    assert (chosen["item_id"] != chosen["origin_item_id"]).all()
    missed = chosen.filter(pl.col("item_id") != pl.col("options").list.first())
    assert missed.height > 10_000
    lone = run("disturb", data, world.tables | {"clean_events": from_another_option(world, 2)})
    two = frame(lone["symbolic_events"]).drop_nulls("options")
    assert (two["item_id"] == two["options"].list.first()).all()  # where there is no other way, nobody is led astray
    assert set(frame(lone["symbolic_ledger"])["kind"]) == {"other_person", "duplicate"} | CLAIMS


def test_a_copy_has_the_way_the_stay_and_the_series_of_its_original(world: Lives) -> None:
    pairs = world["symbolic_ledger"].filter(kind="duplicate").select("before", "after")
    log = world["symbolic_events"]
    both = pairs.join(log, left_on="before", right_on="event_id").join(
        log, left_on="after", right_on="event_id", suffix="_copy"
    )
    for column in ("item_id", "starts_at", "ends_at", "origin_item_id", "series"):
        assert both[column].eq_missing(both[f"{column}_copy"]).all() and both[column].count() > 5, column
