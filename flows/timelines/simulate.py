"""The clean timeline: sessions and events of a shard's people over the window, without words and without disturbance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.clock import SECOND, microseconds
from flows.common.draws import Draws, categorical, normal
from flows.common.household import own_actors, zones_of
from flows.common.ids import user_numbers
from flows.common.pace import TALK_SECONDS, steps_us
from flows.common.presentation import presented
from flows.common.stage import Context, Tables
from flows.timelines.choices import chosen_positions, options_on_show, shelf
from flows.timelines.rhythm import People, Span, is_on, sittings, without_overlap
from flows.timelines.rows import (
    PLACES,
    Content,
    Lines,
    Part,
    driver_lists,
    event_rows,
    session_rows,
    statement_rows,
    truth_rows,
    unique_ids,
)
from flows.timelines.talk import Talk, talks
from schemas.behaviour.catalogue_index import CatalogueIndex, catalogue_index
from schemas.behaviour.effective import EffectiveValues, effective_values
from schemas.config.data import DomainTimeline
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.tables.core import sort_rows
from schemas.tables.internal import CLEAN_EVENTS, CLEAN_SESSIONS, CLEAN_STATEMENTS, CLEAN_TRUTH

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
SEARCH, CLOSE, REVIEW = 60, 61, 62
"""Places of lines that are no choice; choices take 0 to 59."""
PAUSE = 30 * SECOND
"""Between two sessions of one person, at the least."""


def simulate(context: Context, tables: Tables) -> Tables:
    """The clean tables of the shard: sessions, events, truth and statements."""
    data, draws = context.data, context.draws
    domains = load_domains(data.domains)
    people = _people(tables["users"])
    span = Span(*(microseconds(t.astimezone(UTC)) for t in (data.window.start, data.window.end)))
    actor_ids = own_actors(tables["actors"], tables["users"])
    tastes = {
        name: effective_values(tables["dispositions"], actor_ids, "actor_id", domain.value_names())
        for name, domain in domains.items()
    }
    talk = talks(data.timelines, domains, people, span, tastes, draws)
    parts = [
        _domain_part(domain, data.timelines.domains.get(name, DomainTimeline()), people, span, draws)
        for name, domain in domains.items()
    ]
    parts, kept = _one_at_a_time(
        [*parts, _talk_part(talk, list(domains), people, draws)], data.timelines.domains, people, span
    )
    talk = talk.where(kept)
    sessions = [session_rows(part, domains, people, span, draws) for part in parts]
    disposition_ids = tables["dispositions"]["disposition_id"].combine_chunks()
    events, truth = [], []
    for part, rows in zip(parts, sessions, strict=True):
        index = (
            catalogue_index(domains[part.name], tables["items"], tables["item_attributes"])
            if part.name in domains
            else None
        )
        if index is None:
            content = _talk_content(part, talk, disposition_ids)
        else:
            content = _content(
                part,
                domains[part.name],
                index,
                tables["popularity"],
                tastes[part.name],
                disposition_ids,
                people,
                context,
            )
        currency = domains[part.name].currency if part.name in domains else None
        events.append(event_rows(part, rows, content, index, currency, people, span, draws))
        truth.append(truth_rows(events[-1], actor_ids.take(pa.array(part.person[part.lines.session])), content.drivers))
    clean_sessions, clean_events = presented(
        pa.concat_tables(sessions), pa.concat_tables(events), CLEAN_SESSIONS, CLEAN_EVENTS
    )
    unique_ids(clean_events, "event_id")
    return {
        "clean_sessions": clean_sessions,
        "clean_events": clean_events,
        "clean_truth": sort_rows(pa.concat_tables(truth), CLEAN_TRUTH),
        "clean_statements": sort_rows(statement_rows(parts[-1], talk, events[-1], domains), CLEAN_STATEMENTS),
    }


def _people(users: pa.Table) -> People:
    zone, zones = zones_of(users)
    return People(user_numbers(users["user_id"]), zone, zones, users["signed_up_at"].cast(pa.int64()).to_numpy())


def _domain_part(domain: Domain, own: DomainTimeline, people: People, span: Span, draws: Draws) -> Part:
    """Sessions of one domain with the skeleton of their lines: search, choices, close, review."""
    name, shape = domain.name, domain.session
    some = sittings(domain, own, people, span, draws)
    who = people.numbers[some.person]
    counts = np.array([int(n) for n in shape.lines])
    choices = counts[categorical(draws.uniform(f"{name} lines", who, some.key), list(shape.lines.values()))]
    has_search = draws.uniform(f"{name} search", who, some.key) < shape.search
    has_review = draws.uniform(f"{name} review", who, some.key) < shape.review
    everything = np.arange(who.size)
    nth = np.arange(choices.sum()) - np.repeat(np.cumsum(choices) - choices, choices)
    pieces = [(everything[has_search], SEARCH, 0), (np.repeat(everything, choices), nth, 1)]
    if shape.close != "none":
        pieces.append((everything, CLOSE, 2))
    pieces.append((everything[has_review], REVIEW, 3))
    session = np.concatenate([p[0] for p in pieces])
    place = np.concatenate([np.broadcast_to(p[1], p[0].shape) for p in pieces])
    stage = np.concatenate([np.full(p[0].size, p[2]) for p in pieces])
    order = np.lexsort((place, stage, session))
    session, place = session[order], place[order].astype(np.int64)
    step = _steps(f"{name} step", who[session], some.key[session], place, shape.seconds_per_step, draws)
    after, length = _after_start(session, step, who.size)
    labels = np.full(who.size, name, dtype=object)
    return Part(name, labels, some.person, some.key, some.start_us, length, Lines(session, place, after))


def _talk_part(talk: Talk, domains: list[str], people: People, draws: Draws) -> Part:
    """Talks with the assistant: what is said (place 0), and the reply."""
    count = talk.person.size
    session = np.repeat(np.arange(count), 2)
    place = np.tile(np.array([0, 1], np.int64), count)
    step = _steps("talk step", people.numbers[talk.person][session], talk.key[session], place, TALK_SECONDS, draws)
    after, length = _after_start(session, step, count)
    labels = np.array(domains, dtype=object)[talk.domain]
    return Part("assistant", labels, talk.person, talk.key, talk.start_us, length, Lines(session, place, after))


def _steps(aspect: str, who: U64, key: U64, place: I64, median_s: float, draws: Draws) -> I64:
    """(n,) microseconds before each line, by the session's key and the place in it."""
    with np.errstate(over="ignore"):
        return steps_us(draws.uniform(aspect, who, key * PLACES + place.astype(np.uint64)), median_s)


def _after_start(session: I64, step: I64, sessions: int) -> tuple[I64, I64]:
    """Running sums of the steps within each session (rows in order of sessions), and each session's length."""
    running = np.concatenate([[0], np.cumsum(step)])
    begin = np.searchsorted(session, np.arange(sessions + 1), side="left")
    return running[1:] - running[begin][session], running[begin[1:]] - running[begin[:-1]]


def _one_at_a_time(
    parts: list[Part], own: Mapping[str, DomainTimeline], people: People, span: Span
) -> tuple[list[Part], npt.NDArray[np.bool_]]:
    """The parts with starts moved so that no two sessions of a person overlap.

    Sessions are cut that would outlast the window or reach into a day on which their domain has none. The second value
    says which sessions of the last part are kept.
    """
    starts = without_overlap(
        np.concatenate([p.person for p in parts]),
        np.concatenate([p.start_us for p in parts]),
        np.concatenate([p.length_us for p in parts]),
        PAUSE,
    )
    borders = np.cumsum([0] + [p.person.size for p in parts])
    result = []
    keep = np.ones(0, bool)
    for part, first, last in zip(parts, borders[:-1], borders[1:], strict=True):
        start = starts[first:last]
        keep = start + part.length_us < span.end
        weekdays = own[part.name].weekdays if part.name in own else None
        if weekdays is not None:
            for moment in (start, start + part.length_us):
                keep &= is_on(weekdays, moment, part.person, people, span)
        line = keep[part.lines.session]
        lines = Lines(
            (np.cumsum(keep) - 1)[part.lines.session[line]], part.lines.place[line], part.lines.after_us[line]
        )
        result.append(
            Part(
                part.name,
                part.domain[keep],
                part.person[keep],
                part.key[keep],
                start[keep],
                part.length_us[keep],
                lines,
            )
        )
    return result, keep


def _content(
    part: Part,
    domain: Domain,
    index: CatalogueIndex,
    popularity: pa.Table,
    tastes: EffectiveValues,
    disposition_ids: pa.Array,
    people: People,
    context: Context,
) -> Content:
    """What each line holds: the action, what was shown and taken, prices, stars, and the dispositions behind it."""
    name, draws, config, lines = domain.name, context.draws, context.data.timelines, part.lines
    is_choice = lines.place < SEARCH
    rows = np.flatnonzero(is_choice)
    session = lines.session[rows]
    person = part.person[session]
    who = people.numbers[person]
    key = part.key[session] * PLACES + lines.place[rows].astype(np.uint64)
    category = np.floor(draws.uniform(f"{name} category", who, key) * len(domain.catalogue.categories)).astype(np.int64)
    options = options_on_show(
        shelf(index, popularity), category, config.options_shown, who, key, draws, f"{name} options"
    )
    taken, drivers = chosen_positions(
        domain, config, index, tastes, person, part.at_us[rows], options, draws.uniform(f"{name} choice", who, key)
    )
    item = options[np.arange(rows.size), taken]
    item_row = np.full(lines.place.size, -1, np.int64)
    price = np.full(lines.place.size, -1, np.int64)
    stars = np.full(lines.place.size, -1, np.int64)
    item_row[rows], price[rows] = item, index.price_cents[item]
    close, review = np.flatnonzero(lines.place == CLOSE), np.flatnonzero(lines.place == REVIEW)
    total = np.bincount(session, weights=index.price_cents[item], minlength=part.person.size).astype(np.int64)
    price[close] = total[lines.session[close]]
    last = np.full(part.person.size, -1, np.int64)
    last[session] = item
    item_row[review] = last[lines.session[review]]
    stars[review] = _stars(domain, index, tastes, part, review, item_row[review], people, draws)
    action = np.full(lines.place.size, domain.session.choose, dtype=object)
    for place, word in ((SEARCH, "search"), (CLOSE, domain.session.close), (REVIEW, "review")):
        action[lines.place == place] = word
    return Content(
        action,
        item_row,
        price,
        is_choice,
        options,
        stars,
        driver_lists(lines.place.size, rows, drivers, disposition_ids),
    )


def _stars(
    domain: Domain,
    index: CatalogueIndex,
    tastes: EffectiveValues,
    part: Part,
    review: I64,
    item: I64,
    people: People,
    draws: Draws,
) -> I64:
    """(reviews,) one to five stars: the share of dimensions that match the person's lasting taste, and some noise. Assumed."""
    session = part.lines.session[review]
    person = part.person[session]
    value, _ = tastes.lasting_at(person, part.start_us[session])
    matched = (index.values[item] == value).sum(axis=1) / value.shape[1]
    spread = 0.8 * normal(draws.uniform(f"{domain.name} stars", people.numbers[person], part.key[session]))
    return np.clip(np.round(2.4 + 3.2 * matched + spread), 1, 5).astype(np.int64)


def _talk_content(part: Part, talk: Talk, disposition_ids: pa.Array) -> Content:
    """Words and replies; a true statement is driven by the disposition that it tells."""
    place, session = part.lines.place, part.lines.session
    none = np.full(place.size, -1, np.int64)
    tells = np.flatnonzero((place == 0) & (talk.disposition_row[session] >= 0))
    drivers = driver_lists(place.size, tells, talk.disposition_row[session[tells]][:, None], disposition_ids)
    action = np.where(place == 0, "say", "reply").astype(object)
    return Content(action, none, none, np.zeros(place.size, bool), np.empty((0, 0), np.int64), none, drivers)
