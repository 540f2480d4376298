"""Contradictions: talks that assert what behaviour does not bear out, for a time or at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.away import Away, instants_of, offsets_at
from flows.common.clock import DAY, HOUR, MINUTE, SECOND
from flows.common.devices import used_devices
from flows.common.draws import Draws, categorical, key_of
from flows.common.ids import opaque_ids, user_ids_of
from flows.common.pace import TALK_DEVICES, TALK_SECONDS, WAKING, steps_us
from flows.common.participation import Participation
from flows.disturb.ledger import injection_ids, ledger_rows
from schemas.behaviour.effective import NEVER, EffectiveValues
from schemas.domain import Domain
from schemas.tables.internal import STATEMENTS, SYMBOLIC_EVENTS, SYMBOLIC_LEDGER, SYMBOLIC_SESSIONS, SYMBOLIC_TRUTH

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
CLASSES = ("image", "forecast")
"""A pose, or a plan that does not come true. Both are claims of a usual taste; behaviour is right."""
ENDS_SAID = 0.75
"""Share of passing states whose end is said aloud."""
ROOM = 15 * MINUTE
"""Before the end of the window, so that no talk outlasts it."""


class Household(NamedTuple):
    """The users of the shard: numbers, own actors, zones, devices, and where they stay for some nights."""

    number: U64
    actor_id: pa.Array
    zone: I64
    zones: list[str]
    start_us: int
    end_us: int
    owned: I64
    """(users,) the devices of each, as `owned_devices` gives them."""
    participation: Participation
    away: Away

    @property
    def around(self) -> tuple[int, int]:
        """The window with two days on either side, for wall clocks that differ from UTC."""
        return self.start_us - 2 * DAY, self.end_us + 2 * DAY

    def offset_min(self, who: I64, at_us: I64) -> pa.Array:
        """(n,) minutes by which the wall clock around these people, at home or where they stay, is ahead of UTC."""
        offset = offsets_at(self.away, at_us, who, self.zone[who], self.zones, self.around)
        return pa.array((offset // MINUTE).astype(np.int16))

    def takes_part(self, who: I64, place: int, at_us: I64) -> Mask:
        """(n,) whether these people do anything at these instants in the domain of that place in the build."""
        return self.participation.takes_part(who, np.full(who.size, place), at_us)


class Claims(NamedTuple):
    """Talks to add. ``ledger`` numbers the ledger row of each; ``stance`` is a word of the statements table."""

    person: I64
    key: U64
    at_us: I64
    domain: str
    dimension: I64
    value: I64
    stance: str
    injection: pa.Array


def stated_vs_done(
    domain: Domain, place: int, tastes: EffectiveValues, people: Household, rate: float, draws: Draws
) -> tuple[list[Claims], list[pa.Table]]:
    """One false claim of a usual taste for a share of (person, dimension), at some waking hour of the window.

    As with true statements, nobody speaks of a domain in which they do nothing at the time, nor of a sensitive taste.
    """
    claims, ledgers = [], []
    for column, (name, values) in enumerate(domain.value_names().items()):
        if list(domain.dimensions.values())[column].sensitive:
            continue
        who = np.flatnonzero(draws.uniform(f"claim {name}", people.number) < rate)
        at = _waking_moment(people, who, draws, name)
        speaks = people.takes_part(who, place, at)
        who, at = who[speaks], at[speaks]
        number = people.number[who]
        real = tastes.lasting_at(who, at)[0][:, column]
        share = np.tile(
            np.array([v.share for v in list(domain.dimensions.values())[column].values.values()]), (who.size, 1)
        )
        share[np.arange(who.size), real] = 0.0
        said = categorical(draws.uniform(f"claim value {name}", number), share) if who.size else np.empty(0, np.int64)
        kind = categorical(draws.uniform(f"claim class {name}", number), np.ones(len(CLASSES)))
        key = np.full(who.size, np.uint64(key_of("claim", name)))
        ids = injection_ids(draws, number, key)
        claims.append(Claims(who, key, at, domain.name, np.full(who.size, column), said, "usual", ids))
        text = pa.array(values, pa.string())
        ledgers.append(
            ledger_rows(
                ids,
                number,
                "contradiction",
                "stated_vs_done",
                "trust_behaviour",
                _said_ids(draws, number, [key]),
                at,
                dimension=pa.array([name] * who.size, pa.string()),
                before=text.take(pa.array(real)),
                after=text.take(pa.array(said)),
                parameters=pa.array([json.dumps({"class": CLASSES[k]}) for k in kind], pa.string()),
            )
        )
    return claims, ledgers


def temporary_state(
    domain: Domain, place: int, tastes: EffectiveValues, disposition_ids: pa.Array, people: Household, draws: Draws
) -> tuple[list[Claims], list[pa.Table]]:
    """What is said about the passing states of the simulation: that one begins, and mostly that it is over.

    Those of people who do nothing in the domain never show, and nobody speaks of them.
    """
    claims, ledgers = [], []
    for column, (name, values) in enumerate(domain.value_names().items()):
        has_state = (tastes.state_from[:, column] < NEVER) & (tastes.state_from[:, column] + HOUR < people.end_us)
        who = np.flatnonzero(has_state)
        who = who[people.takes_part(who, place, tastes.state_from[who, column])]
        number = people.number[who]
        begins, ends = tastes.state_from[who, column], tastes.state_to[who, column]
        wait = np.floor(draws.uniform(f"state said {name}", number) * 12 * 3600).astype(np.int64) * SECOND
        said_at = np.minimum(begins + wait, people.end_us - ROOM)
        over_at = (
            ends + np.floor(draws.uniform(f"state over said {name}", number) * 24 * 3600).astype(np.int64) * SECOND
        )
        tells_end = (draws.uniform(f"state over {name}", number) < ENDS_SAID) & (over_at + ROOM < people.end_us)
        tells_end &= people.takes_part(who, place, over_at)
        real = tastes.lasting_at(who, begins)[0][:, column]
        passing = tastes.state_value[who, column]
        begin_key = np.full(who.size, np.uint64(key_of("for now", name)))
        over_key = np.full(who.size, np.uint64(key_of("back to usual", name)))
        ids = injection_ids(draws, number, begin_key)
        full = np.full(who.size, column)
        claims.append(Claims(who, begin_key, said_at, domain.name, full, passing, "for_now", ids))
        claims.append(
            Claims(
                who[tells_end],
                over_key[tells_end],
                over_at[tells_end],
                domain.name,
                full[tells_end],
                real[tells_end],
                "back_to_usual",
                ids.filter(pa.array(tells_end)),
            )
        )
        text = pa.array(values, pa.string())
        ledgers.append(
            ledger_rows(
                ids,
                number,
                "contradiction",
                "temporary_state",
                "follow_state_until_end",
                _said_ids(draws, number, [begin_key, over_key], [np.ones(who.size, bool), tells_end]),
                begins,
                ended_us=ends,
                dimension=pa.array([name] * who.size, pa.string()),
                before=text.take(pa.array(real)),
                after=text.take(pa.array(passing)),
                cause=disposition_ids.take(pa.array(tastes.state_row[who, column])),
            )
        )
    return claims, ledgers


def _waking_moment(people: Household, who: I64, draws: Draws, name: str) -> I64:
    """(n,) instants: a local day of the window, not at its very beginning or end, at a waking hour where they are."""
    number = people.number[who]
    share = 0.05 + 0.9 * draws.uniform(f"claim moment {name}", number)
    day = (people.start_us + np.floor(share * (people.end_us - people.start_us)).astype(np.int64)) // DAY
    second = np.floor(draws.uniform(f"claim second {name}", number) * (WAKING[1] - WAKING[0]) * 3600).astype(np.int64)
    local = day * DAY + WAKING[0] * HOUR + second * SECOND
    at = instants_of(people.away, local, who, people.zone[who], people.zones, people.around)
    return np.clip(at, people.start_us, people.end_us - ROOM)


def _line_key(key: U64, place: int) -> U64:
    with np.errstate(over="ignore"):
        return key * np.uint64(64) + np.uint64(place) + np.uint64(key_of("claim line"))


def _said_ids(
    draws: Draws, number: U64, keys: list[U64], present: list[npt.NDArray[np.bool_]] | None = None
) -> pa.Array:
    """(n,) lists of the ids of what was said: one for each key that is present."""
    shown = present or [np.ones(number.size, bool)] * len(keys)
    ids = pa.concat_arrays([opaque_ids(draws, "event", number, _line_key(key, 0)) for key in keys])
    mask = np.stack(shown, axis=1)
    order = np.arange(number.size * len(keys)).reshape(len(keys), number.size).T
    offsets = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(
        offsets, ids.take(pa.array(order[mask])), type=SYMBOLIC_LEDGER.columns["event_ids"].type
    )


class Talks(NamedTuple):
    """Rows to append to the tables of the timeline."""

    sessions: pa.Table
    events: pa.Table
    truth: pa.Table
    statements: pa.Table


def talk_rows(claims: list[Claims], domains: Mapping[str, Domain], people: Household, draws: Draws) -> Talks:
    """Each claim as a session of two lines: what is said, and the reply."""
    kept = [c for c in claims if c.person.size]
    if not kept:
        return Talks(*(t.empty() for t in (SYMBOLIC_SESSIONS, SYMBOLIC_EVENTS, SYMBOLIC_TRUTH, STATEMENTS)))
    parts = [_claim_rows(claim, domains[claim.domain], people, draws) for claim in kept]
    return Talks(*(pa.concat_tables(column) for column in zip(*parts, strict=True)))


def _claim_rows(claim: Claims, domain: Domain, people: Household, draws: Draws) -> Talks:
    number = people.number[claim.person]
    size = number.size
    user_id, actor_id = user_ids_of(number), people.actor_id.take(pa.array(claim.person))
    session_id = opaque_ids(draws, "session", number, claim.key)
    said_id = opaque_ids(draws, "event", number, _line_key(claim.key, 0))
    reply_id = opaque_ids(draws, "event", number, _line_key(claim.key, 1))
    before_said, before_reply = (
        steps_us(draws.uniform("claim step", number, _line_key(claim.key, place)), TALK_SECONDS) for place in (0, 1)
    )
    device = used_devices(draws.uniform("claim device", number, claim.key), TALK_DEVICES, people.owned[claim.person])
    moments = [claim.at_us + shift for shift in (0, before_said, before_said + before_reply)]
    time = SYMBOLIC_EVENTS.columns["at"].type
    began, said, replied = (pa.array(at_us).cast(time) for at_us in moments)
    of_session, of_said, of_reply = (people.offset_min(claim.person, at_us) for at_us in moments)

    def same(text: str) -> pa.Array:
        return pa.array(np.full(size, text, dtype=object), pa.string())

    sessions = pa.table(
        {
            "session_id": session_id,
            "user_id": user_id,
            "domain": same(domain.name),
            "app": same("assistant"),
            "device": device,
            "started_at": began,
            "ended_at": replied,
            "utc_offset_min": of_session,
            "event_count": pa.array(np.full(size, 2, np.int32)),
        },
        schema=SYMBOLIC_SESSIONS.schema(),
    )
    lines = []
    for event_id, at, offset_min, action, source in (
        (said_id, said, of_said, "say", "self"),
        (reply_id, replied, of_reply, "reply", "notification"),
    ):
        filled = {
            "event_id": event_id,
            "user_id": user_id,
            "session_id": session_id,
            "seq": pa.array(np.zeros(size, np.int32)),
            "at": at,
            "logged_at": at,
            "utc_offset_min": offset_min,
            "domain": same(domain.name),
            "app": same("assistant"),
            "action": same(action),
            "source": same(source),
        }
        rest = {n: pa.nulls(size, f.type) for n, f in SYMBOLIC_EVENTS.columns.items() if n not in filled}
        lines.append(
            pa.table({n: {**filled, **rest}[n] for n in SYMBOLIC_EVENTS.columns}, schema=SYMBOLIC_EVENTS.schema())
        )
    names, values = list(domain.value_names()), [pa.array(v) for v in domain.value_names().values()]
    column = int(claim.dimension[0])
    statements = pa.table(
        {
            "event_id": said_id,
            "user_id": user_id,
            "at": said,
            "domain": same(domain.name),
            "dimension": same(names[column]),
            "value": values[column].take(pa.array(claim.value)),
            "stance": same(claim.stance),
        },
        schema=STATEMENTS.schema(),
    )
    texts = SYMBOLIC_TRUTH.columns["injection_ids"].type
    one = pa.ListArray.from_arrays(np.arange(size + 1, dtype=np.int32), claim.injection, type=texts)
    none = pa.ListArray.from_arrays(np.zeros(size + 1, np.int32), pa.array([], pa.string()), type=texts)
    truth = pa.concat_tables(
        pa.table(
            {
                "event_id": event_id,
                "user_id": user_id,
                "actor_id": actor_id,
                "is_noise": pa.array(np.zeros(size, bool)),
                "noise_kind": pa.nulls(size, pa.string()),
                "injection_ids": injections,
                "driver_disposition_ids": none,
                "speaker": pa.nulls(size, pa.string()),
                "alt_text": pa.nulls(size, pa.string()),
            },
            schema=SYMBOLIC_TRUTH.schema(),
        )
        for event_id, injections in ((said_id, one), (reply_id, none))
    )
    return Talks(sessions, pa.concat_tables(lines), truth, statements)
