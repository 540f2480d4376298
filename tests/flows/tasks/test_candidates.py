"""Candidates: the truth at the time asked, and what can be believed of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

from schemas.load import load_domains
from tests.flows.lives import Lives, mean, run
from tests.flows.timelines.choosing import effective, own_actor, tastes_of


@pytest.fixture(scope="module")
def believed(town: Lives) -> pl.DataFrame:
    """The candidates with the code of the true value and of the one believed most."""
    names = {
        name: values
        for domain in load_domains(town.data.domains).values()
        for name, values in domain.value_names().items()
    }
    rows = town["candidates"]
    true = [names[dimension].index(value) for dimension, value in rows.select("dimension", "value").iter_rows()]
    assert all(
        len(belief) == len(names[dimension]) for dimension, belief in rows.select("dimension", "belief").iter_rows()
    )
    return rows.with_columns(
        true=pl.Series(true),
        top=pl.col("belief").list.arg_max().cast(pl.Int64),
        p_top=pl.col("belief").list.max(),
        p_true=pl.Series([belief[code] for belief, code in zip(rows["belief"], true, strict=True)]),
    )


def test_every_user_is_asked_about_every_dimension_as_often_as_the_config_says(town: Lives) -> None:
    rows = town["candidates"]
    counts = rows.group_by("user_id", "dimension").agg(pl.col("asked_at").n_unique().alias("asks"), pl.len())
    assert counts.height == town.data.users * 12
    assert (counts["asks"] == town.data.tasks.asks_per_domain).all() and (
        counts["len"] == town.data.tasks.asks_per_domain
    ).all()
    window = town.data.window
    last_third = window.start + 0.65 * (window.end - window.start)
    assert rows.select(pl.col("asked_at").is_between(last_third, window.end).all()).item()
    assert (rows["asked_at"].dt.second() == 0).all()
    assert rows.group_by("candidate_id").agg(pl.col("asked_at").n_unique().alias("n"))["n"].max() == 1


def test_the_truth_is_what_the_dispositions_say(town: Lives) -> None:
    tastes, selves = tastes_of(town), own_actor(town)
    start = town.data.window.start
    seen = set()
    for row in town["candidates"].iter_rows(named=True):
        own = tastes[selves[row["user_id"]], row["dimension"]]
        holds, at = effective(own, row["asked_at"]), row["asked_at"]
        lasting = [r for r in own if r["clock"] != "state"]
        assert row["value"] == holds["value"] and row["disposition_ids"] == [holds["disposition_id"]]
        assert row["stale_value"] == effective(lasting, start)["value"]
        since = max(_began(lasting, at), start)
        assert row["last_change_days"] == pytest.approx((at - since) / timedelta(days=1), abs=0.001)
        recent = start < since and at - since < timedelta(days=28)
        assert row["status"] == ("temporary" if holds["clock"] == "state" else "recent" if recent else "stable")
        seen.add(row["status"])
    assert seen == {"temporary", "recent", "stable"}


def _began(lasting: list[dict[str, Any]], at: datetime) -> datetime:
    """When the value that lasts at the time began to hold: rows that differ in strength only are one."""
    past = [row for row in sorted(lasting, key=lambda row: row["valid_from"]) if row["valid_from"] <= at]
    first = max([n + 1 for n, row in enumerate(past) if row["value"] != past[-1]["value"]], default=0)
    began: datetime = past[first]["valid_from"]
    return began


def test_a_conflict_is_named_from_its_onset_on_and_the_last_claim_is_kept(town: Lives) -> None:
    claims = town["symbolic_ledger"].filter(kind="stated_vs_done").rows_by_key(["user_id", "dimension"], named=True)
    conflicts = pl.col("family") != "noise", pl.col("before") != pl.col("after")
    half_way = pl.col("onset_at") + (pl.col("ended_at") - pl.col("onset_at")) / 2
    shows = pl.when(pl.col("kind") == "gradual").then(half_way).otherwise(pl.col("onset_at"))
    ledger = town["symbolic_ledger"].filter(*conflicts).with_columns(onset_at=shows)
    every = ledger.rows_by_key(["user_id", "dimension"], named=True)
    active = set(town["participation"].filter(pl.col("rate_factor") > 0).select("user_id", "domain").iter_rows())
    for row in town["candidates"].iter_rows(named=True):
        key, at = (row["user_id"], row["dimension"]), row["asked_at"]
        known = [claim["after"] for claim in claims.get(key, []) if claim["onset_at"] < at]
        assert row["claimed_value"] == (known[-1] if known else None)
        policies = {one["policy"] for one in every.get(key, []) if one["onset_at"] < at}
        assert (row["policy"] in policies) if policies else (row["policy"] is None)
        is_seen = (row["user_id"], row["domain"]) in active  # of who does nothing there, nobody sees or says anything
        assert row["status"] != "temporary" or (row["policy"] == "follow_state_until_end") is is_seen
    named = {"trust_behaviour", "follow_new_value", "follow_context", "follow_state_until_end"}
    assert set(town["candidates"]["policy"]) == {None, *named}


def test_the_history_counts_the_lines_before_the_ask(town: Lives) -> None:
    some = town["candidates"].filter(dimension="food.heat").head(60)
    log = town["symbolic_events"].select("user_id", "at")
    for user, at, count in some.select("user_id", "asked_at", "history_events").iter_rows():
        assert log.filter(pl.col("user_id") == user, pl.col("at") < at).height == count


def test_beliefs_before_selection_are_as_often_right_as_they_are_sure(believed: pl.DataFrame) -> None:
    """Mean certainty against hit rate over all candidates, and among the sure ones. Two asks of a user are near copies."""
    hit = believed["top"] == believed["true"]
    assert believed.height == 7_200 and abs(mean(believed["p_top"]) - mean(hit)) < 0.025
    sure = believed["p_top"] >= 0.9
    assert 0.45 < mean(sure) < 0.95 and mean(hit) > 0.75  # a quarter of the tastes is sensitive and never said
    assert abs(mean(believed.filter(sure)["p_top"]) - mean(hit.filter(sure))) < 0.015


def test_beliefs_hang_on_nothing_after_the_ask(town: Lives) -> None:
    """With the later part of every log cut off, each candidate that was asked before is the same."""
    cut = town.data.window.start + timedelta(weeks=10)
    tables = dict(town.tables)
    for name in ("symbolic_events", "statements"):
        tables[name] = tables[name].filter(pl.Series(town[name]["at"] < cut).to_arrow())
    again = Lives(town.data, run("candidates", town.data, tables))
    before = pl.col("asked_at") < cut
    assert town["candidates"].filter(before).height > 1_000
    assert again["candidates"].filter(before).equals(town["candidates"].filter(before))
    assert not again["candidates"].equals(town["candidates"])


def test_what_is_confident_and_wrong_is_counted_among_the_rejects(town: Lives, believed: pl.DataFrame) -> None:
    wrong = believed.filter(pl.col("p_top") >= town.data.tasks.act_at_least, pl.col("top") != pl.col("true"))
    rejected = town["rejects"].filter(reason="confident_and_wrong")
    assert wrong.height > 20 and set(rejected["candidate_id"]) == set(wrong["candidate_id"])
    figures: dict[str, str] = dict(rejected.select("candidate_id", "figures").iter_rows())
    for candidate, dimension, p_top in wrong.select("candidate_id", "dimension", "p_top").iter_rows():
        assert f'"{dimension}": {round(p_top, 6)}' in figures[candidate]
