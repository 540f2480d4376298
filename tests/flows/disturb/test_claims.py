"""Contradictions: talks that behaviour does not bear out, and passing states that are told of."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import polars as pl
import pytest
from scipy import stats

from schemas.load import load_domains
from tests.flows.lives import Lives, is_likely, live, low_high, small_config
from tests.flows.timelines.choosing import effective, own_actor, tastes_of


def always(town: Lives) -> pl.DataFrame:
    """People and the domains in which they do something all through the window."""
    start = town.data.window.start
    rows = town["participation"].filter(pl.col("rate_factor") > 0, pl.col("valid_from") <= start)
    return rows.filter(pl.col("valid_to").is_null()).select("user_id", "domain")


def cells(town: Lives) -> int:
    """Tastes that these people speak of: those that are not sensitive."""
    domains = load_domains(town.data.domains)
    named = {name: sum(not spec.sensitive for spec in of.dimensions.values()) for name, of in domains.items()}
    return sum(named[name] for name in always(town)["domain"])


@pytest.fixture(scope="module")
def added(town: Lives) -> pl.DataFrame:
    """Statements that are neither of the clean timeline nor copies of its lines, with their ledger rows."""
    sessions = set(town["clean_sessions"]["session_id"])
    log = town["symbolic_events"].filter(~pl.col("session_id").is_in(sessions))
    ledger = (
        town["symbolic_ledger"]
        .explode("event_ids")
        .rename({"event_ids": "event_id"})
        .select(
            "event_id",
            "injection_id",
            "kind",
            "policy",
            "before",
            "after",
            "onset_at",
            "ended_at",
            "cause",
            ledger_dimension="dimension",
        )
    )
    return (
        town["statements"]
        .join(log.select("event_id", "session_id"), on="event_id")
        .join(ledger, on="event_id", how="left")
    )


def test_every_added_talk_is_a_contradiction_of_the_ledger(added: pl.DataFrame) -> None:
    assert set(added["kind"]) == {"stated_vs_done", "temporary_state"}
    assert (added["dimension"] == added["ledger_dimension"]).all()
    assert dict(added.select("stance", "kind").unique().iter_rows()) == {
        "usual": "stated_vs_done",
        "for_now": "temporary_state",
        "back_to_usual": "temporary_state",
    }


def test_false_claims_are_as_frequent_as_the_rate_says(town: Lives, added: pl.DataFrame) -> None:
    claims = added.filter(stance="usual")
    assert claims.select("user_id", "dimension").is_unique().all()
    told = claims.join(always(town), on=["user_id", "domain"], how="semi")
    assert is_likely(told.height, cells(town), town.data.disturb.contradictions.stated_vs_done)


def test_false_claims_name_another_value_than_the_one_that_lasts(town: Lives, added: pl.DataFrame) -> None:
    tastes, selves = tastes_of(town), own_actor(town)
    claims = added.filter(stance="usual")
    for row in claims.iter_rows(named=True):
        lasting = [r for r in tastes[selves[row["user_id"]], row["dimension"]] if r["clock"] != "state"]
        assert row["before"] == effective(lasting, row["onset_at"])["value"] != row["after"] == row["value"]
        assert row["policy"] == "trust_behaviour"
    assert claims.select((pl.col("at") - pl.col("onset_at")).max()).item() < timedelta(minutes=15)
    values = {
        v
        for domain in load_domains(town.data.domains).values()
        for names in domain.value_names().values()
        for v in names
    }
    assert set(claims["value"]) <= values and claims["value"].n_unique() > 20


def test_passing_states_are_as_frequent_as_the_rate_says_and_all_are_told_of(town: Lives, added: pl.DataFrame) -> None:
    domain = pl.col("dimension").str.split(".").list.first().alias("domain")
    states = town["dispositions"].filter(clock="state").with_columns(domain)
    config = town.data.disturb.contradictions
    lasting = states.join(always(town), on=["user_id", "domain"], how="semi")
    assert is_likely(lasting.height, cells(town), config.temporary_state)
    takes_part = town["participation"].filter(pl.col("rate_factor") > 0).select("user_id", "domain")
    told = added.filter(stance="for_now").join(states, left_on="cause", right_on="disposition_id", suffix="_state")
    assert told.height == states.join(takes_part, on=["user_id", "domain"], how="semi").height
    assert (
        (told["value"] == told["value_state"]).all()
        and (told["value"] == told["after"]).all()
        and (told["value"] != told["before"]).all()
    )
    assert (told["onset_at"] == told["valid_from"]).all() and (told["ended_at"] == told["valid_to"]).all()
    shortest, longest = low_high(told["valid_to"] - told["valid_from"])
    hour, most = timedelta(hours=1), timedelta(days=config.state_days)
    assert most / 3 - hour <= shortest and longest <= most + hour


def test_a_state_is_announced_within_half_a_day_and_its_end_within_a_day(town: Lives, added: pl.DataFrame) -> None:
    said = added.with_columns(since=pl.col("at") - pl.col("onset_at"), after_end=pl.col("at") - pl.col("ended_at"))
    for_now, over = (said.filter(stance=stance) for stance in ("for_now", "back_to_usual"))
    talk = timedelta(minutes=15)
    for waits, most in ((for_now["since"], timedelta(hours=12)), (over["after_end"], timedelta(days=1))):
        first, last = low_high(waits)
        assert timedelta(0) <= first and last <= most + talk
    assert (over["value"] == over["before"]).all() and (over["policy"] == "follow_state_until_end").all()
    end = town.data.window.end - timedelta(days=1, minutes=15)
    early = pl.col("ended_at") < end
    ending, ended = (rows.filter(early).join(always(town), on=["user_id", "domain"]) for rows in (for_now, over))
    assert is_likely(ended.height, ending.height, 0.75)


def test_nothing_but_the_words_tells_a_false_claim_from_a_true_one(town: Lives, added: pl.DataFrame) -> None:
    """Seconds, waiting times, hours of the day and devices are distributed alike."""
    talks = (
        town["symbolic_sessions"]
        .filter(app="assistant")
        .with_columns(local=pl.col("started_at").dt.replace_time_zone(None) + pl.duration(minutes="utc_offset_min"))
    )
    lines = (
        town["symbolic_events"]
        .filter(action="say")
        .join(talks, on="session_id")
        .join(town["statements"].filter(stance="usual").select("event_id"), on="event_id")
    )
    lines = lines.with_columns(
        waits=(pl.col("at") - pl.col("started_at")).dt.total_seconds(),
        answers=(pl.col("ended_at") - pl.col("at")).dt.total_seconds(),
        second=pl.col("started_at").dt.second().cast(pl.Int64),
        hour=pl.col("local").dt.hour().cast(pl.Int64),
        day=pl.col("local").dt.weekday().cast(pl.Int64),
        phone=(pl.col("device") == "phone").cast(pl.Int64),
    )
    false = lines["event_id"].is_in(set(added["event_id"]))
    assert false.sum() > 100
    for column in ("waits", "answers", "second", "hour", "day", "phone"):
        assert stats.ks_2samp(lines.filter(false)[column], lines.filter(~false)[column]).pvalue > 0.001, column
    assert lines["hour"].min() == 8 and lines["hour"].max() == 21


@pytest.mark.parametrize(
    "contradictions", [{"stated_vs_done": 1.0, "temporary_state": 0}, {"stated_vs_done": 0, "temporary_state": 1.0}]
)
def test_talks_stay_in_a_short_window(contradictions: dict[str, Any]) -> None:
    data = small_config(20, 2, disturb={"contradictions": contradictions})
    lives = Lives(data, live(data, last="disturb"))
    ends = lives["symbolic_sessions"]
    assert ends.select(pl.col("started_at").min() >= data.window.start, pl.col("ended_at").max() < data.window.end).row(
        0
    ) == (True, True)
    assert set(lives["symbolic_ledger"].filter(family="contradiction")["kind"]) == {
        name for name, rate in contradictions.items() if rate
    }
