"""The clean timeline as a whole: one thing at a time, inside the window, at the right wall clock, and it adds up."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from schemas.load import load_domains
from tests.flows.lives import QUIET, Lives, is_likely, live, small_config
from tests.flows.timelines.choosing import effective, own_actor, tastes_of
from validation.references.profile import profile

ZONES = (
    "America/Chicago",
    "Europe/Madrid",
    "Australia/Lord_Howe",
    "America/Phoenix",
    "Asia/Kolkata",
    "America/St_Johns",
)
PAUSE = timedelta(seconds=5)


def test_no_two_sessions_of_a_person_overlap_the_assistants_included(town: Lives) -> None:
    sessions = town["clean_sessions"].sort("user_id", "started_at")
    pairs = sessions.with_columns(before=pl.col("ended_at").shift().over("user_id")).drop_nulls("before")
    assert "assistant" in set(sessions["app"]) and set(sessions["domain"]) == {"food", "groceries"}
    assert pairs.select((pl.col("started_at") - pl.col("before") >= PAUSE).all()).item()


def test_lines_lie_in_their_session_in_order_and_are_counted(town: Lives) -> None:
    lines = town["clean_events"].join(town["clean_sessions"], on="session_id", suffix="_of").sort("session_id", "seq")
    assert lines.height == town["clean_events"].height
    assert (lines["user_id"] == lines["user_id_of"]).all() and (lines["app"] == lines["app_of"]).all()
    assert lines.select(pl.col("at").is_between(pl.col("started_at"), pl.col("ended_at")).all()).item()
    by_session = lines.group_by("session_id").agg(
        pl.col("seq"),
        pl.col("event_count").first(),
        (pl.col("at").last() == pl.col("ended_at").last()).alias("ends"),
        (pl.col("at").diff().drop_nulls() > timedelta(0)).all().alias("rises"),
    )
    assert by_session.height == town["clean_sessions"].height
    assert by_session.select(pl.col("ends").all() & pl.col("rises").all()).item()
    assert by_session.select((pl.col("seq") == pl.int_ranges(0, pl.col("event_count"), dtype=pl.Int32)).all()).item()


def test_everything_happens_in_the_window_after_signing_up_and_is_logged_at_once(town: Lives) -> None:
    window = town.data.window
    events = town["clean_events"].join(town["users"], on="user_id")
    assert events.select(pl.col("at").is_between(window.start, window.end, closed="left").all()).item()
    assert events.select((pl.col("at") >= pl.col("signed_up_at")).all()).item()
    assert (events["logged_at"] == events["at"]).all()
    assert events["user_id"].n_unique() == town.data.users


def test_ids_are_unique_and_begin_with_their_user(town: Lives) -> None:
    for table, column in (("clean_sessions", "session_id"), ("clean_events", "event_id")):
        ids = town[table]
        assert ids[column].n_unique() == ids.height
        assert ids.select((pl.col(column).str.split("-").list.first() == pl.col("user_id")).all()).item()
    assert (
        town["clean_events"]
        .select("event_id")
        .sort("event_id")
        .equals(town["clean_truth"].select("event_id").sort("event_id"))
    )


def test_prices_are_those_of_the_catalogue_and_a_checkout_is_the_sum_of_its_lines(town: Lives) -> None:
    events = town["clean_events"].join(town["items"].select("item_id", price="price_cents"), on="item_id", how="left")
    lines = events.filter(pl.col("action").is_in(["order", "add"]))  # also what is taken again without a look at others
    assert 0 < lines["options"].null_count() < lines.height
    assert (lines["price_cents"] == lines["price"]).all() and (lines["quantity"] == 1).all()
    total = lines.group_by("session_id").agg(pl.col("price_cents").sum().alias("total"))
    paid = events.filter(action="checkout").join(total, on="session_id", how="left")
    assert (
        paid.height
        == town["clean_sessions"].filter(pl.col("domain") == "groceries", pl.col("app") != "assistant").height
    )
    assert (paid["price_cents"] == paid["total"]).all()
    assert set(events.drop_nulls("price_cents")["action"].unique()) == {"order", "add", "checkout"}
    assert set(events.drop_nulls("price_cents")["currency"].unique()) == {"USD"}


def test_stars_are_for_what_was_taken_last(town: Lives) -> None:
    events = town["clean_events"].sort("session_id", "seq")
    last = (
        events.filter(pl.col("action").is_in(["order", "add"]))
        .group_by("session_id", maintain_order=True)
        .agg(pl.col("item_id").last().alias("last"))
    )
    reviews = events.filter(action="review").join(last, on="session_id")
    assert reviews.height > 500 and (reviews["item_id"] == reviews["last"]).all()
    assert (
        reviews["rating"].is_between(1, 5).all()
        and events.filter(pl.col("action") != "review")["rating"].null_count() > 0
    )


def test_true_statements_tell_the_lasting_value_of_their_moment_and_small_talk_none(town: Lives) -> None:
    tastes, selves = tastes_of(town), own_actor(town)
    said = town["clean_statements"]
    true = said.drop_nulls("dimension")
    assert set(true["stance"]) == {"usual"} and said.filter(pl.col("dimension").is_null()).select(
        "value", "stance"
    ).null_count().row(0) != (0, 0)
    for user, at, dimension, value in true.select("user_id", "at", "dimension", "value").iter_rows():
        rows = [row for row in tastes[selves[user], dimension] if row["clock"] != "state"]
        assert effective(rows, at)["value"] == value or effective(rows, at - timedelta(hours=1))["value"] == value
    config, weeks = town.data.timelines, town.data.window.weeks
    always = town["participation"].filter(
        pl.col("rate_factor") > 0, pl.col("valid_from") <= town.data.window.start, pl.col("valid_to").is_null()
    )
    named = dict(Counter(name.split(".")[0] for name in named_dimensions(town)))
    cells = sum(named[domain] for domain in always["domain"])
    told = true.join(always, on=["user_id", "domain"], how="semi")
    assert is_likely(told.height, cells * weeks, config.statement_rate)
    small = said.filter(pl.col("dimension").is_null())
    busy = always["user_id"].unique()
    assert is_likely(
        small.filter(pl.col("user_id").is_in(busy.implode())).height, busy.len() * weeks, config.small_talk_rate
    )
    absent = town["participation"].filter(rate_factor=0)["user_id"]
    one_topic = busy.filter(busy.is_in(absent.implode()))  # as much small talk as others, all of it about one domain
    told = small.filter(pl.col("user_id").is_in(one_topic.implode()))
    assert one_topic.len() > 30 and is_likely(told.height, one_topic.len() * weeks, config.small_talk_rate)


def test_nobody_names_a_sensitive_taste_or_speaks_of_what_they_do_not_do(town: Lives) -> None:
    """Of true statements, false claims and passing states, as the log has them; small talk has a topic too."""
    said = town["statements"]
    named = said.drop_nulls("dimension")
    assert set(named["dimension"]) == named_dimensions(town) and named["stance"].n_unique() == 3
    talks = town["symbolic_events"].filter(action="say").select("event_id", "session_id")
    begun = town["symbolic_sessions"].select("session_id", "started_at")
    rows = said.join(talks, on="event_id").join(begun, on="session_id")
    rows = rows.join(town["participation"], on=["user_id", "domain"], how="left")
    assert rows.height == said.height and (rows["rate_factor"] > 0).all()
    assert (rows["started_at"] >= rows["valid_from"]).all()
    assert (rows["started_at"] < rows["valid_to"]).fill_null(True).all()


def named_dimensions(lives: Lives) -> set[str]:
    """The tastes that people speak of."""
    domains = load_domains(lives.data.domains)
    return {
        f"{name}.{key}" for name, of in domains.items() for key, spec in of.dimensions.items() if not spec.sensitive
    }


def test_each_talk_is_words_and_a_reply(town: Lives) -> None:
    talks = (
        town["clean_events"]
        .filter(app="assistant")
        .sort("session_id", "seq")
        .group_by("session_id")
        .agg("action", "source")
    )
    assert set(map(tuple, talks["action"])) == {("say", "reply")} and set(map(tuple, talks["source"])) == {
        ("self", "notification")
    }
    assert town["clean_statements"].height == talks.height


@pytest.mark.parametrize("start", [datetime(2024, 3, 4, tzinfo=UTC), datetime(2024, 9, 30, tzinfo=UTC)])
def test_every_offset_is_that_of_the_zone_through_a_change_of_the_clocks(start: datetime) -> None:
    zones = {"time_zone": {"values": list(ZONES)}}
    claims = {**QUIET, "contradictions": {"stated_vs_done": 0.5, "temporary_state": 0.5}}
    data = small_config(30, 6, start, disturb=claims, personas={"attributes": zones})
    lives = Lives(data, live(data, last="disturb"))
    zone = dict(lives["users"].select("user_id", "time_zone").iter_rows())
    assert set(zone.values()) == set(ZONES)
    for table, column in (("symbolic_events", "at"), ("symbolic_sessions", "started_at")):
        rows = lives[table].select("user_id", column, "utc_offset_min").rows()
        seen = lives[table].group_by("user_id").agg(pl.col("utc_offset_min").n_unique() > 1)
        changed = {zone[user] for user, changes in seen.iter_rows() if changes}
        assert changed == set(ZONES) - {"America/Phoenix", "Asia/Kolkata"}
        for user, at, offset in rows:
            assert at.astimezone(ZoneInfo(zone[user])).utcoffset() == timedelta(minutes=offset)


def test_the_hours_of_the_log_are_near_those_of_the_reference(town: Lives) -> None:
    """Sessions are moved a little so as not to overlap; the shape of the day stays within two points in the hundred."""
    sessions = (
        town["clean_sessions"]
        .filter(pl.col("app") != "assistant")
        .with_columns(local=pl.col("started_at").dt.replace_time_zone(None) + pl.duration(minutes="utc_offset_min"))
    )
    for name, domain in load_domains(town.data.domains).items():
        (activity,) = domain.activities.values()
        when = profile(activity.reference, activity.hours_of)
        for shares, weekend in ((when.working_hours, False), (when.resting_hours, True)):
            here = sessions.filter(pl.col("domain") == name, (pl.col("local").dt.weekday() >= 6) == weekend)
            counts = dict(here["local"].dt.hour().value_counts().iter_rows())
            bound = 0.02 + 2 * (24 / here.height) ** 0.5 / 2
            assert sum(abs(counts.get(h, 0) / here.height - shares[h]) for h in range(24)) / 2 < bound, (name, weekend)
