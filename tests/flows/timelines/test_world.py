"""Nine domains lived at once: nobody is in two places, nothing happens where it cannot, and there is as much as declared."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pytest

from schemas.activities import RoutineActivity, SessionActivity, TripActivity
from schemas.behaviour.volume import GRID, activity_volume, by_quantiles, records_per_day
from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domain
from tests.flows.lives import Lives, fits, frame, is_likely, live, same_rows, small_config
from validation.structure.cross import ACT_RULES, check_rules

LOCAL = pl.col("at").dt.replace_time_zone(None) + pl.duration(minutes="utc_offset_min")
LOGS = ("clean_events", "symbolic_events")
HALF_DAY = timedelta(hours=12)


def own(lives: Lives, log: str = "clean_events") -> pl.DataFrame:
    """The lines of the apps, without the talks, with the wall clock."""
    return lives[log].filter(pl.col("app") != "assistant").with_columns(local=LOCAL)


def taken(lives: Lives, log: str = "clean_events") -> pl.DataFrame:
    """The lines in which something of the catalogue is taken, among options or as before."""
    offered = lives["items"].filter(pl.col("owner_user_id").is_null()).select("item_id")
    choosing = {
        (name, activity.choose)
        for name in NINE_DOMAINS
        for activity in load_domain(name).activities.values()
        if isinstance(activity, SessionActivity | TripActivity)
    }
    pairs = pl.DataFrame(sorted(choosing), ["domain", "action"], orient="row")
    return own(lives, log).join(pairs, on=["domain", "action"], how="semi").join(offered, on="item_id", how="semi")


def kinds_by_device() -> set[str]:
    """Kinds of things of one's own to which devices do by themselves all that is done."""
    every = [activity for name in NINE_DOMAINS for activity in load_domain(name).activities.values()]
    routines = {one.on for one in every if isinstance(one, RoutineActivity) and one.by == "device"}
    return routines | {one.back_to for one in every if isinstance(one, TripActivity)}


def activities() -> list[tuple[str, str]]:
    return [
        (name, kind)
        for name in NINE_DOMAINS
        for kind, activity in load_domain(name).activities.items()
        if isinstance(activity, SessionActivity)
    ]


# Volume


@pytest.mark.parametrize("domain", NINE_DOMAINS)
def test_as_many_lines_are_made_as_the_domain_declares(domain: str, wide: Lives) -> None:
    days = wide.data.users * wide.data.window.weeks * 7
    realised = own(wide).filter(domain=domain).height / days
    declared, expected = load_domain(domain).records_per_day, records_per_day(load_domain(domain))
    assert abs(realised / declared - 1) < 0.15, (realised, declared)
    assert abs(realised / expected - 1) < 0.15, (realised, expected)


def test_all_domains_together_make_about_eleven_lines_a_person_and_day(wide: Lives) -> None:
    assert 9.5 < own(wide).height / (wide.data.users * wide.data.window.weeks * 7) < 13.8


# Time


def test_no_two_sessions_of_a_person_overlap(world: Lives) -> None:
    sessions = world["clean_sessions"].sort("user_id", "started_at")
    pairs = sessions.with_columns(before=pl.col("ended_at").shift().over("user_id")).drop_nulls("before")
    assert set(sessions["domain"]) == set(NINE_DOMAINS)
    assert pairs.select((pl.col("started_at") - pl.col("before") >= timedelta(seconds=5)).all()).item()


def test_everything_happens_in_the_window_and_after_signing_up(world: Lives) -> None:
    window = world.data.window
    events = world["clean_events"].join(world["users"], on="user_id")
    assert events.select(pl.col("at").is_between(window.start, window.end, closed="left").all()).item()
    sessions = world["clean_sessions"].join(world["users"], on="user_id")
    assert sessions.select(
        (pl.col("started_at") >= pl.max_horizontal("signed_up_at", pl.lit(window.start))).all()
    ).item()


def test_every_offset_is_that_of_the_zone_through_a_change_of_the_clocks(world: Lives) -> None:
    zone = dict(world["users"].select("user_id", "time_zone").iter_rows())
    stays = world["clean_events"].filter(action="book").select("user_id", "starts_at", "ends_at", "place_time_zone")
    changed = set()
    for user, at, offset in world["clean_events"].select("user_id", "at", "utc_offset_min").iter_rows():
        if at.astimezone(ZoneInfo(zone[user])).utcoffset() != timedelta(minutes=offset):
            there = stays.filter(pl.col("user_id") == user, pl.col("starts_at") <= at, pl.col("ends_at") > at)
            clocks = {at.astimezone(ZoneInfo(name)).utcoffset() for name in there["place_time_zone"]}
            assert timedelta(minutes=offset) in clocks, (user, at)
        else:
            changed.add((user, offset))
    counts = Counter(user for user, _ in changed)
    assert {zone[user] for user, count in counts.items() if count == 2} == set(zone.values()) - {
        "America/Phoenix",
        "Pacific/Honolulu",
    }


def test_nothing_is_done_on_days_without_the_domain() -> None:
    days = {name: {"weekdays": ["tue", "wed"]} for name in NINE_DOMAINS}
    data = small_config(25, 2, domains=list(NINE_DOMAINS), timelines={"domains": days})
    lines = own(Lives(data, live(data, last="timelines")))
    assert set(lines["local"].dt.weekday()) == {2, 3} and set(lines["domain"]) == set(NINE_DOMAINS)
    assert {"arrive", "send", "log", "adjust", "book"} <= set(lines["action"])


# Ways


@pytest.mark.parametrize("log", LOGS)
def test_arrivals_come_from_elsewhere_and_end_after_they_began(log: str, world: Lives) -> None:
    arrivals = own(world, log).filter(action="arrive")
    assert (
        arrivals.height > 8_000
        and arrivals.select("origin_item_id", "starts_at", "ends_at").null_count().row(0) == (0,) * 3
    )
    assert (arrivals["origin_item_id"] != arrivals["item_id"]).all()
    assert (arrivals["starts_at"] < arrivals["ends_at"]).all() and (arrivals["ends_at"] == arrivals["at"]).all()
    others = own(world, log).filter(pl.col("action") != "arrive")
    assert others["origin_item_id"].null_count() == others.height


def test_nobody_sets_out_before_being_there_and_sessions_last_from_departure_to_arrival(world: Lives) -> None:
    arrivals = own(world).filter(action="arrive").sort("user_id", "at")
    before = arrivals.with_columns(there=pl.col("at").shift().over("user_id")).drop_nulls("there")
    assert (before["starts_at"] > before["there"]).all()
    whole = arrivals.join(world["clean_sessions"].select("session_id", "started_at"), on="session_id")
    searches = own(world).filter(action="search").select("session_id", searched="at")
    whole = whole.join(searches, on="session_id", how="left")
    departs = pl.coalesce("searched", "started_at")
    assert whole.select((pl.col("starts_at") == departs).all()).item() and whole["searched"].count() > 1_000


def test_the_origin_is_where_the_person_arrived_last_or_home(world: Lives) -> None:
    home = {user: item for item, user, kind in _own_things(world, "mobility") if kind == "home"}
    where: dict[str, tuple[datetime, str]] = {}
    followed = 0
    arrivals = own(world).filter(action="arrive").sort("user_id", "at")
    for user, at, item, origin in arrivals.select("user_id", "at", "item_id", "origin_item_id").iter_rows():
        since, place = where.get(user, (at, home[user]))
        if origin != place or at - since >= HALF_DAY:
            assert origin == home[user], (user, at)
        followed += origin == place != home[user]
        where[user] = (at, item)
    assert followed > 3_000


def test_who_went_out_comes_home_as_long_under_way_as_before(world: Lives) -> None:
    kind = {item: kind for item, _, kind in _own_things(world, "mobility")}
    arrivals = own(world).filter(action="arrive").sort("user_id", "at")
    arrivals = arrivals.with_columns(
        way=pl.col("ends_at") - pl.col("starts_at"), kind=pl.col("item_id").replace_strict(kind, default="out")
    )
    arrivals = arrivals.with_columns(
        pl.col("kind").shift().over("user_id").alias("before"),
        pl.col("kind", "way").shift(-1).over("user_id").name.prefix("next_"),
    )
    there, back = arrivals.filter(kind="out"), arrivals.filter(kind="home")
    outing = load_domain("mobility").activities["outing"]
    sessions = activity_volume(load_domain("mobility"), outing).sessions
    expected = sessions / (by_quantiles(outing.per_week, GRID).mean() / 7) - 1  # type: ignore[union-attr]
    assert there.height > 3_000 and abs(back.height / there.height - expected) < 0.1
    assert (there["next_kind"] == "home").mean() > 0.6  # type: ignore[operator]
    calm = there.filter(pl.col("next_kind") == "home", pl.col("before") != "out")  # who goes on may have to hurry
    assert calm.height > 0.4 * there.height and (calm["way"] == calm["next_way"]).mean() > 0.98  # type: ignore[operator]


def test_who_works_goes_to_work_on_most_working_days(world: Lives) -> None:
    owner = {user for _, user, kind in _own_things(world, "mobility") if kind == "workplace"}
    always = world["participation"].filter(
        pl.col("rate_factor") > 0,
        pl.col("valid_from") <= world.data.window.start,
        pl.col("valid_to").is_null(),
        domain="mobility",
    )
    works = world["personas"].filter(pl.col("labour_status") == "employed-at work", pl.col("user_id").is_in(owner))
    works = works.join(always, on="user_id", how="semi")
    places = [item for item, _, kind in _own_things(world, "mobility") if kind == "workplace"]
    commutes = own(world).filter(pl.col("action") == "arrive", pl.col("item_id").is_in(places))
    per_day = commutes.join(works, on="user_id", how="semi").height / works.height / (world.data.window.weeks * 5)
    assert works.height > 40 and 0.65 < per_day < 0.95
    idle = world["personas"].filter(pl.col("labour_status") == "not_in_labor_force")
    assert commutes.join(idle, on="user_id", how="semi").height < 0.1 * commutes.height


# Bookings


def test_bookings_begin_in_the_afternoon_of_a_later_day_and_end_on_a_morning(world: Lives) -> None:
    booked = own(world).filter(action="book")
    assert booked.height > 250 and (booked["starts_at"] > booked["at"]).all()
    for zone, begins, ends in booked.select("place_time_zone", "starts_at", "ends_at").iter_rows():
        first, last = (moment.astimezone(ZoneInfo(zone)) for moment in (begins, ends))
        assert (first.time(), last.time()) == (time(15), time(11)) and first.date() < last.date()
    stay = load_domain("travel").activities["trip"].stay  # type: ignore[union-attr]
    assert stay is not None
    nights = (booked["ends_at"] - booked["starts_at"]).dt.total_days() + 1
    lead = (booked["starts_at"] - booked["at"]).dt.total_days()
    assert abs(nights.median() - 4) <= 1 and abs(lead.median() / stay.lead_days["q0.50"] - 1) < 0.35  # type: ignore[operator]
    counts = dict(booked["quantity"].value_counts().iter_rows())
    assert fits([counts.get(int(size), 0) for size in stay.party], list(stay.party.values()))
    others = own(world).filter(~pl.col("action").is_in(["book", "arrive"]))
    assert others.select("starts_at", "ends_at").null_count().row(0) == (others.height,) * 2


# Hours and ages


@pytest.mark.parametrize("log", LOGS)
def test_nothing_is_taken_outside_its_opening_hours(log: str, world: Lives) -> None:
    limited = world["items"].drop_nulls("opens_hour").select("item_id", "opens_hour", "closes_hour")
    had = taken(world, log).join(limited, on="item_id")
    hour = pl.col("local").dt.hour()
    is_open = (hour >= pl.col("opens_hour")) & (hour < pl.col("closes_hour")) | (hour < pl.col("closes_hour") - 24)
    assert had["options"].null_count() > 100 < had["options"].count() and had.select(is_open.all()).item()
    shown = (
        own(world, log).drop_nulls("options").explode("options").join(limited, left_on="options", right_on="item_id")
    )
    assert shown.select(is_open.all()).item()
    assert had.filter(hour < 4).height > 0  # bars close at four


@pytest.mark.parametrize("log", LOGS)
def test_nobody_is_shown_what_they_are_too_young_for(log: str, world: Lives) -> None:
    born = dict(world["personas"].select("user_id", "birth_date").iter_rows())
    limited = dict(world["items"].drop_nulls("min_age").select("item_id", "min_age").iter_rows())
    shown = own(world, log).drop_nulls("options").explode("options").filter(pl.col("options").is_in(limited))
    ages = [
        (_age(born[user], local.date()), limited[item])
        for user, local, item in shown.select("user_id", "local", "options").iter_rows()
    ]
    had = taken(world, log).filter(pl.col("item_id").is_in(limited)).select("user_id", "local", "item_id")
    ages += [(_age(born[user], local.date()), limited[item]) for user, local, item in had.iter_rows()]
    assert had.height > 200 and len(ages) > 1_000 and all(age >= least for age, least in ages)
    young = {user for user, day in born.items() if _age(day, date(2025, 4, 1)) < 21}
    assert len(young) >= 3 and taken(world, log).filter(pl.col("user_id").is_in(young)).height > 500


def _age(born: date, day: date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


# One's own things and days


def test_what_is_done_to_ones_own_things_is_done_to_ones_own(world: Lives) -> None:
    owner = {item: (user, kind) for domain in NINE_DOMAINS for item, user, kind in _own_things(world, domain)}
    some = own(world).filter(pl.col("options").is_null(), pl.col("item_id").is_in(owner))
    kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for user, domain, action, item in some.select("user_id", "domain", "action", "item_id").iter_rows():
        assert owner[item][0] == user
        kinds[domain, action].add(owner[item][1])
    assert dict(kinds) == {
        ("home", "adjust"): {"thermostat", "lamp"},
        ("mobility", "arrive"): {"home", "workplace"},
        ("planning", "invite"): {"contact"},
        ("planning", "send"): {"contact"},
    }


def test_a_day_has_one_line_of_a_device_with_a_value_for_every_hour(world: Lives) -> None:
    lines = own(world).drop_nulls("series")
    assert (
        0.75 * 200 * 38 < lines.height < 0.92 * 200 * 42  # worn on 0.92 of the days, and not by everybody
        and set(lines["domain"]) == {"wellness"}
        and set(lines["source"]) == {"import"}
    )
    assert set(lines["series"].list.len()) == {24} and lines["series"].list.min().min() >= 0  # type: ignore[operator]
    assert lines["item_id"].null_count() == lines.height
    assert lines.select("user_id", pl.col("local").dt.date()).n_unique() == lines.height
    assert (lines["local"].dt.time() == time(23, 59)).mean() > 0.9  # type: ignore[operator]
    assert (lines["local"].dt.hour() == 23).all()
    kind = {item: kind for name in NINE_DOMAINS for item, _, kind in _own_things(world, name)}
    others = (
        own(world)
        .filter(pl.col("series").is_null())
        .with_columns(kind=pl.col("item_id").replace_strict(kind, default=None))
    )
    by_device = sorted(kinds_by_device())  # what no person writes: a phone that notices, a clock that sets
    written = pl.col("kind").is_in(by_device).fill_null(False) & (pl.col("action") != "review")
    assert set(others.filter(written)["source"]) == {"import"} and set(others.filter(written)["kind"]) == set(by_device)
    assert set(others.filter(~written)["source"]) == {"self"}


# Sessions


@pytest.mark.parametrize(("domain", "name"), activities())
def test_sessions_have_the_shape_of_the_domain_file(domain: str, name: str, world: Lives) -> None:
    activity = load_domain(domain).activities[name]
    assert isinstance(activity, SessionActivity)
    lines = own(world).filter(domain=domain)
    chosen = taken(world).filter(domain=domain, action=activity.choose)
    lines = lines.join(chosen.select("session_id").unique(), on="session_id")
    sessions = lines.group_by("session_id").agg(
        (pl.col("action") == activity.choose).sum().alias("lines"),
        (pl.col("action") == "search").any().alias("search"),
        (pl.col("action") == "review").any().alias("review"),
        (pl.col("action") == (activity.close or "none")).sum().alias("close"),
        pl.col("action").sort_by("at").alias("order"),
    )
    assert sessions.height > 60
    assert is_likely(int(sessions["search"].sum()), sessions.height, activity.search)
    assert is_likely(int(sessions["review"].sum()), sessions.height, activity.review)
    counts = dict(sessions["lines"].value_counts().iter_rows())
    assert fits([counts.get(int(number), 0) for number in activity.lines], list(activity.lines.values()))
    assert set(sessions["close"]) == {int(activity.close is not None)}
    taken_in_all = int(sessions["lines"].sum())
    for step, share in (("view", activity.view), ("compare", activity.compare)):
        assert is_likely(lines.filter(action=step).height, taken_in_all, share), step
    letters = {"search": "s", "compare": "c", "view": "v", activity.choose: "x", "review": "r"}
    if activity.close is not None:
        letters[activity.close] = "z"
    shape = re.compile(f"s?(c?v?x)+{'z' if activity.close else ''}r?")
    for order in sessions["order"].to_list():
        assert shape.fullmatch("".join(letters[action] for action in order)), order


def test_a_closing_line_names_the_last_choice_or_bears_the_total_or_names_ones_own(world: Lives) -> None:
    lines = own(world).sort("session_id", "at")
    chosen = taken(world).sort("session_id", "at")
    last = chosen.group_by("session_id", maintain_order=True).agg(
        pl.col("item_id").last().alias("last"), (pl.col("price_cents") * pl.col("quantity")).sum().alias("total")
    )
    closes = lines.join(chosen.select("event_id"), on="event_id", how="anti").join(last, on="session_id")
    named = closes.filter(domain="wellness", action="log")
    assert named.height > 1_000 and (named["item_id"] == named["last"]).all()
    paid = closes.filter(domain="groceries", action="checkout")
    assert (
        paid.height > 1_000
        and (paid["price_cents"] == paid["total"]).all()
        and paid["item_id"].null_count() == paid.height
    )
    sent = closes.filter(domain="planning", action="invite")
    assert sent.height > 1_000 and sent["price_cents"].null_count() == sent.height
    assert set(sent["item_id"]) <= {item for item, _, _ in _own_things(world, "planning")}


def test_lines_cost_what_things_cost_where_anything_is_paid(world: Lives) -> None:
    chosen = own(world).drop_nulls("options").join(world["items"].select("item_id", price="price_cents"), on="item_id")
    free = {name for name in NINE_DOMAINS if load_domain(name).catalogue.price_for == "nothing"}
    assert (
        free
        and (
            chosen.filter(~pl.col("domain").is_in(free)).select((pl.col("price_cents") == pl.col("price")).all())
        ).item()
    )
    assert own(world).filter(pl.col("domain").is_in(free))["price_cents"].count() == 0
    assert set(own(world).drop_nulls("price_cents")["currency"]) == {"USD"}
    assert own(world).drop_nulls("currency")["price_cents"].null_count() == 0


def test_people_use_one_app_a_domain_at_a_time_whatever_they_do(world: Lives) -> None:
    lines = own(world).sort("user_id", "domain", "at")
    used = lines.group_by("user_id", "domain").agg(pl.col("app").rle().len().alias("spells"))
    changes = used.select((pl.col("spells") - 1).sum()).item()
    assert used.height > 100 and changes <= 0.1 * used.height and (used["spells"] == 1).mean() > 0.9
    devices: Any = (
        world["clean_sessions"].filter(pl.col("app") != "assistant").group_by("app").agg(pl.col("device").unique())
    )
    declared = {app.name: set(app.devices) for name in NINE_DOMAINS for app in load_domain(name).apps}
    assert all(set(found) - {"phone", "laptop"} <= declared[app] for app, found in devices.iter_rows())


def test_people_use_devices_of_their_own(world: Lives) -> None:
    used = world["clean_sessions"].join(world["personas"].select("user_id", "devices"), on="user_id")
    assert used.select(pl.col("device").is_in(pl.col("devices")).all()).item()
    assert set(used.filter(pl.col("app") == "assistant")["device"]) == {"phone", "laptop", "speaker"}


def _own_things(lives: Lives, domain: str) -> list[tuple[str, str, str]]:
    """(item, owner, kind) of the personal things of a domain."""
    rows = lives["personal_items"].filter(domain=domain).select("item_id", "owner_user_id", "category")
    return list(rows.iter_rows())


@pytest.mark.parametrize("log", LOGS)
def test_the_rules_of_a_release_hold(log: str, world: Lives) -> None:
    with duckdb.connect() as database:
        for name, table in (("events", log), ("items", "items"), ("personas", "personas")):
            database.register(name, world.tables[table])
        found = check_rules(database, ACT_RULES)
    assert found == {"events": []}


def test_fewer_people_are_the_first_of_more_and_the_size_of_a_shard_changes_nothing() -> None:
    """For every mechanism: whoever else is there, in one's shard or at all, moves no line of one's own."""
    nine = {"domains": list(NINE_DOMAINS)}
    many, few = (live(small_config(count, 2, **nine), last="timelines") for count in (20, 13))
    small = live(small_config(20, 2, **nine), last="timelines", size=7)
    for name in ("clean_sessions", "clean_events", "clean_truth", "clean_statements"):
        assert same_rows(many[name], small[name]), name
        assert frame(many[name]).filter(pl.col("user_id") < "u000013").equals(frame(few[name])), name


def test_what_a_subscription_covers_bears_no_price(world: Lives) -> None:
    events = world["clean_events"].filter(domain="media")
    played, bought = events.filter(action="play"), events.filter(action="purchase")
    assert played.height > 1_000 and played["price_cents"].null_count() == played.height
    assert bought.height > 20 and bought["price_cents"].null_count() == 0
