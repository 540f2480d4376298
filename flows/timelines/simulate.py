"""The clean timeline: sessions and events of a shard's people over the window, without words and without disturbance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

import pyarrow.compute as pc

from flows.common.clock import microseconds
from flows.common.holidays import locales_of, rest_days
from flows.common.household import own_actors
from flows.common.participation import participation_of
from flows.common.stage import Context, Tables
from flows.common.weather import weather_of
from flows.timelines import replies, routines, sessions, summaries, trips
from flows.timelines.booked import Stays
from flows.timelines.day_plan import dwellers_of, plan_days
from flows.timelines.outages import is_logged
from flows.timelines.parts import Content, Part, moved, with_ways
from flows.timelines.rows import event_rows, session_rows, statement_rows, truth_rows
from flows.timelines.setting import Doing, Setting, Span, people_of
from flows.timelines.settle import settled
from flows.timelines.stays import away_at, planned_stays, still_booked
from flows.timelines.talk import talk_content, talk_part, talks
from flows.timelines.things import homes, things_of
from flows.timelines.whole import arrived, in_order, joined, whole_of
from schemas.activities import ReplyActivity, RoutineActivity, SessionActivity, SummaryActivity, TripActivity
from schemas.behaviour.effective import effective_values
from schemas.config.data import DomainTimeline
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.market import load_market


def simulate(context: Context, tables: Tables) -> Tables:
    """The clean tables of the shard: sessions, events, truth and statements."""
    domains, doings = load_domains(context.data.domains), _doings(context)
    at_home, actors = _setting(context, tables, domains), own_actors(tables["actors"], tables["users"])
    weekdays = {doing.place: doing.own.weekdays for doing in doings if doing.own.weekdays is not None}
    booking = {n: _of_participants(_planned(d, at_home), at_home) for n, d in enumerate(doings) if _books(d)}
    stays = planned_stays([(part, doings[n]) for n, part in booking.items()], at_home)
    setting = _living(stays, at_home)
    talk = talks(context.data.timelines, domains, setting)
    others = {n: _of_participants(_planned(d, setting), setting) for n, d in enumerate(doings) if n not in booking}
    planned = [talk_part(talk, setting), *((booking | others)[n] for n in range(len(doings)))]
    parts, kept = settled(planned, weekdays, setting.people, setting.span)
    talk, stays = talk.where(kept[0]), still_booked(stays, [parts[1 + n] for n in booking], setting.span)
    setting = _living(stays, at_home)
    filled = [_filled(part, doing, setting) for part, doing in zip(parts[1:], doings, strict=True)]
    whole, content = whole_of(parts), joined([talk_content(parts[0], talk), *filled])
    origin, leads_on = arrived(whole, content, homes(domains, setting.things, setting.people.numbers.size))
    leads_on &= is_logged(parts, whole, content, domains, setting)
    whole, content, lines = in_order(whole, content, leads_on)
    log, currency = session_rows(parts, whole, domains, setting), load_market(context.data.market).currency
    events = event_rows(whole, content, origin[lines], log, currency, setting, stays)
    disposition_ids = tables["dispositions"]["disposition_id"].combine_chunks()
    return {
        "clean_sessions": log,
        "clean_events": events,
        "clean_truth": truth_rows(whole, content, events, actors, disposition_ids, setting),
        "clean_statements": statement_rows(whole, talk, events, domains),
    }


def _books(doing: Doing) -> bool:
    return isinstance(doing.activity, SessionActivity) and doing.activity.stay is not None


def _living(stays: Stays, setting: Setting) -> Setting:
    """The setting in which people are where they booked to be."""
    return setting._replace(stays=stays, people=setting.people._replace(away=away_at(stays, setting.span)))


def _setting(context: Context, tables: Tables, domains: Mapping[str, Domain]) -> Setting:
    actors, window = own_actors(tables["actors"], tables["users"]), context.data.window
    people = people_of(tables["users"], tables["personas"])
    span = Span(*(microseconds(moment.astimezone(UTC)) for moment in (window.start, window.end)))
    row = pc.index_in(tables["users"]["user_id"], value_set=tables["personas"]["user_id"].combine_chunks())
    rest = rest_days(*locales_of(tables["users"]), span.days)
    plans = plan_days(dwellers_of(people.numbers, tables["personas"].take(row)), span.days, context.draws, rest)
    weather = weather_of(people.zones, span.days, context.draws.seed)
    taking_part = participation_of(tables["participation"], tables["users"], list(domains), context.data.dispositions)
    return Setting(
        people._replace(participation=taking_part, plans=plans, weather=weather),
        span,
        context.data.timelines,
        things_of(domains, tables),
        {n: effective_values(tables["dispositions"], actors, "actor_id", d.value_names()) for n, d in domains.items()},
        context.draws,
    )


def _doings(context: Context) -> list[Doing]:
    """Every activity of every domain, in the order of the config and of the domain files."""
    own = context.data.timelines.domains
    return [
        Doing(domain, place, name, activity, own.get(domain.name, DomainTimeline()))
        for place, domain in enumerate(load_domains(context.data.domains).values())
        for name, activity in domain.activities.items()
    ]


def _planned(doing: Doing, setting: Setting) -> Part:
    """The sessions of an activity, before any of them gives way to another."""
    match doing.activity:
        case SessionActivity() as activity:
            return sessions.plan(doing, activity, setting)
        case TripActivity() as activity:
            return trips.plan(doing, activity, setting)
        case RoutineActivity() as activity:
            return routines.plan(doing, activity, setting)
        case ReplyActivity() as activity:
            return replies.plan(doing, activity, setting)
        case SummaryActivity() as activity:
            return summaries.plan(doing, activity, setting)


def _of_participants(part: Part, setting: Setting) -> Part:
    """The sessions that fall into the time in which their people take part in the domain."""
    return moved(part, part.start_us, setting.people.take_part(part.person, part.domain, part.start_us))


def _filled(part: Part, doing: Doing, setting: Setting) -> Content:
    """What the lines of an activity hold, at the times at which they happen."""
    match doing.activity:
        case SessionActivity() as activity:
            content = sessions.fill(part, doing, activity, setting)
        case TripActivity() as activity:
            content = trips.fill(part, doing, activity, setting)
        case RoutineActivity() as activity:
            content = routines.fill(part, doing, activity, setting)
        case ReplyActivity() as activity:
            content = replies.fill(part, doing, activity, setting)
        case SummaryActivity() as activity:
            content = summaries.fill(part, doing, activity, setting)
    return with_ways(part, content)
