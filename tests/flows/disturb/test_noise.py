"""Noise as it stands in the log: how much of it there is, counted without the ledger, and what it leaves behind."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest

from tests.flows.lives import Lives, changeable, is_likely, low_high
from tests.flows.timelines.choosing import choices, own_actor, softmax


@pytest.fixture(scope="module")
def lines(town: Lives) -> pl.DataFrame:
    """The clean lines beside what the log has of them: `_after` marks the log's columns.

    ``can_change`` is whether noise can change the line's item.
    """
    log = town["symbolic_events"].join(
        town["symbolic_truth"].select("event_id", "actor_id", "is_noise", "noise_kind"), on="event_id"
    )
    clean = town["clean_events"].join(town["clean_truth"].select("event_id", "actor_id"), on="event_id")
    both = clean.join(log, on="event_id", how="left", suffix="_after")
    assert both["user_id_after"].null_count() == 0
    return both.with_columns(can_change=pl.col("event_id").is_in(changeable(town)["event_id"].implode()))


def shared(town: Lives) -> set[str]:
    """Users with somebody else who can use the account."""
    return set(town["actors"].filter(pl.col("relation") != "self", pl.col("has_account_access"))["user_id"])


def test_somebody_else_uses_as_many_sessions_of_shared_households_as_the_rate_says(
    town: Lives, lines: pl.DataFrame
) -> None:
    own = own_actor(town)
    sessions = (
        lines.filter("can_change")
        .group_by("session_id")
        .agg(
            pl.col("user_id", "actor_id_after").first(),
            pl.col("actor_id_after").n_unique().alias("actors"),
        )
    )
    assert (sessions["actors"] == 1).all()
    foreign = [actor != own[user] for user, actor in sessions.select("user_id", "actor_id_after").iter_rows()]
    sessions = sessions.with_columns(foreign=pl.Series(foreign), shared=pl.col("user_id").is_in(shared(town)))
    able = sessions.filter("shared")
    assert is_likely(int(able["foreign"].sum()), able.height, town.data.disturb.noise.other_person)
    assert able["foreign"].sum() == sessions["foreign"].sum() > 200
    relation = dict(town["actors"].select("actor_id", "relation").iter_rows())
    assert {relation[actor] for actor in sessions.filter("foreign")["actor_id_after"]} == {
        "partner",
        "flatmate",
        "child",
        "parent",
    }


def test_lines_without_options_and_choices_that_a_habit_rests_on_stay_the_owners(lines: pl.DataFrame) -> None:
    kept = lines.filter(~pl.col("can_change"))
    assert kept["options"].count() > 500 and (kept["actor_id"] == kept["actor_id_after"]).all()
    assert not kept["is_noise"].any()
    chosen = kept.drop_nulls("options")
    assert (chosen["item_id"] == chosen["item_id_after"]).all()
    beside = lines.filter((pl.col("actor_id") != pl.col("actor_id_after")).any().over("session_id"))
    assert 100 < beside.filter("can_change").height < beside.height


def test_somebody_else_chooses_by_their_own_taste(town: Lives, lines: pl.DataFrame) -> None:
    """What is taken in such sessions is likelier under the other's taste than under the user's."""
    foreign = lines.filter(noise_kind="other_person").select("event_id", "actor_id_after")
    actor = dict(foreign.iter_rows())
    some = Lives(
        town.data, town.tables | {"foreign": town["symbolic_events"].filter(pl.col("event_id").is_in(actor)).to_arrow()}
    )
    config, chance = town.data.timelines, {"theirs": 0.0, "own": 0.0}
    for domain in town.data.domains:
        for name, whose in (("theirs", actor), ("own", {})):
            for choice in choices(some, domain, "foreign", 1_000, whose):
                chance[name] += softmax(choice.utility, config.position_effect, config.exploration)[choice.taken]
    assert chance["theirs"] > 1.3 * chance["own"]


def test_a_wrong_option_is_hit_as_often_as_the_rate_says(town: Lives, lines: pl.DataFrame) -> None:
    own = own_actor(town)
    alone = lines.filter("can_change").filter(pl.col("actor_id_after").is_in(list(own.values())))
    missed = alone.filter(pl.col("item_id") != pl.col("item_id_after"))
    assert is_likely(missed.height, alone.height, town.data.disturb.noise.accidental)
    assert (
        set(missed["noise_kind"]) == {"accidental"}
        and alone.filter(pl.col("noise_kind") == "accidental").height == missed.height
    )
    assert (missed["options"] == missed["options_after"]).all()
    assert missed.select(pl.col("item_id_after").is_in(pl.col("options")).all()).item()


def test_each_other_option_is_hit_alike(town: Lives, lines: pl.DataFrame) -> None:
    ledger = (
        town["symbolic_ledger"]
        .filter(kind="accidental")
        .select(pl.col("event_ids").list.first().alias("event_id"), "before", "after")
    )
    hits = lines.join(ledger, on="event_id")
    steps = [
        (options.index(after) - options.index(before)) % len(options)
        for options, before, after in hits.select("options", "before", "after").iter_rows()
    ]
    counts = [steps.count(step) for step in range(1, 6)]
    assert sum(counts) == hits.height > 1_000
    assert all(is_likely(count, hits.height, 0.2) for count in counts)


def test_lines_are_logged_twice_as_often_as_the_rate_says(town: Lives) -> None:
    clean = set(town["clean_events"]["event_id"])
    log = town["symbolic_events"]
    talks = set(town["symbolic_ledger"].filter(family="contradiction").explode("event_ids")["event_ids"])
    sessions = set(town["clean_sessions"]["session_id"])
    copies = log.filter(~pl.col("event_id").is_in(clean), pl.col("session_id").is_in(sessions))
    assert not talks & set(copies["event_id"])
    assert is_likely(copies.height, len(clean), town.data.disturb.noise.duplicate)


def test_a_copy_is_the_line_again_under_its_own_id_and_logged_later(town: Lives) -> None:
    pairs = town["symbolic_ledger"].filter(kind="duplicate").select("before", "after")
    log = town["symbolic_events"]
    both = pairs.join(log, left_on="before", right_on="event_id").join(
        log, left_on="after", right_on="event_id", suffix="_copy"
    )
    assert both.height == pairs.height > 1_000
    for column in set(log.columns) - {"event_id", "seq", "logged_at"}:
        assert both[column].eq_missing(both[f"{column}_copy"]).all(), column
    first, last = low_high(both["logged_at_copy"] - both["logged_at"])
    assert (both["logged_at"] == both["at"]).all()
    assert timedelta(seconds=1) <= first and last <= timedelta(minutes=2)
    assert (both["seq"] - both["seq_copy"]).abs().max() == 1


def test_sums_prices_and_stars_follow_the_items_that_stand_in_the_log(town: Lives) -> None:
    log = town["symbolic_events"].join(town["items"].select("item_id", price="price_cents"), on="item_id", how="left")
    first = log.filter(pl.col("event_id").is_in(set(town["clean_events"]["event_id"]))).sort("session_id", "at")
    lines = first.filter(pl.col("action").is_in(["order", "add"]))
    assert lines["options"].null_count() > 100 and (lines["price_cents"] == lines["price"]).all()
    sums = lines.group_by("session_id", maintain_order=True).agg(
        pl.col("price_cents").sum().alias("total"), pl.col("item_id").last().alias("last")
    )
    paid = first.filter(action="checkout").join(sums, on="session_id")
    assert (paid["price_cents"] == paid["total"]).all()
    reviews = first.filter(action="review").join(sums, on="session_id")
    assert reviews.height > 500 and (reviews["item_id"] == reviews["last"]).all()
    assert reviews["price_cents"].null_count() == reviews.height
    clean = town["clean_events"].filter(action="checkout").select("event_id", was="price_cents")
    assert (paid.join(clean, on="event_id").select((pl.col("was") != pl.col("price_cents")).sum()).item()) > 50
