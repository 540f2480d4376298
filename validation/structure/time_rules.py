"""Rules about time: one thing at a time on one device, no way that cannot be, and wall clocks of the right zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from schemas.invariants import ONE_LINE, ONE_SESSION, breakers
from schemas.zones import zone_changes
from validation.structure.cross import Rule
from validation.structure.folder import literal, told

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

GROUP = "time"
OFFSETS = "zone_offsets"
"""A table that `add_offsets` makes: zone, since_us, until_us, utc_offset_min."""
MINUTE_US = 60_000_000


def time_rules(window: tuple[datetime, datetime]) -> list[Rule]:
    """Every rule about time over a release with the table of `add_offsets`. ``window`` is the stretch that is lived."""
    return [*_life_rules(window), *_session_rules(), _way_rule(), *_offset_rules()]


def add_offsets(database: DuckDBPyConnection, window: tuple[datetime, datetime]) -> None:
    """Makes the table of the offsets of every zone that the release names, over the window and a year on either side.

    A zone that nobody knows has no rows, and so breaks the rule about offsets.
    """
    named = "SELECT time_zone AS zone FROM users UNION SELECT place_time_zone FROM events"
    zones = [row[0] for row in database.execute(f"SELECT zone FROM ({named}) WHERE zone IS NOT NULL").fetchall()]
    year = timedelta(days=366)
    first, last = (_us(moment) for moment in (window[0] - year, window[1] + year))
    parts = []
    for zone in sorted(zones):
        try:
            changes = zone_changes(zone, first, last)
        except (OSError, ValueError):
            continue
        until = np.append(changes.since_us[1:], 2**62)
        minutes = changes.offset_us // MINUTE_US
        names = np.full(until.size, zone, dtype=object)
        parts.append(pa.table([names, changes.since_us, until, minutes], names=_COLUMNS))
    empty = pa.table([pa.array([], kind) for kind in (pa.string(), *(pa.int64(),) * 3)], names=_COLUMNS)
    database.register("_zone_offsets", pa.concat_tables([empty, *parts]))
    database.execute(f"CREATE OR REPLACE TABLE {OFFSETS} AS SELECT * FROM _zone_offsets")


_COLUMNS = ("zone", "since_us", "until_us", "utc_offset_min")


def _us(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _life_rules(window: tuple[datetime, datetime]) -> list[Rule]:
    start, end = (f"TIMESTAMPTZ {literal(moment.astimezone(UTC).isoformat(sep=' '))}" for moment in window)
    return [
        Rule(
            GROUP,
            "sessions",
            "started_at",
            "is not before the user's `signed_up_at`",
            f"SELECT session_id || {told('started_at')} || {told('signed_up_at')} AS id "
            "FROM sessions JOIN users USING (user_id) WHERE started_at < signed_up_at",
        ),
        Rule(
            GROUP,
            "events",
            "at",
            "lies within the window of the release",
            f'SELECT event_id || {told("at")} AS id FROM events WHERE "at" < {start} OR "at" >= {end}',
        ),
        Rule(
            GROUP,
            "users",
            "signed_up_at",
            "is before the end of the window",
            f"SELECT user_id || {told('signed_up_at')} AS id FROM users WHERE signed_up_at >= {end}",
        ),
        Rule(
            GROUP,
            "personas",
            "birth_date",
            "is before the user's `signed_up_at`",
            f"SELECT user_id || ' birth_date ' || birth_date || {told('signed_up_at')} AS id "
            "FROM personas JOIN users USING (user_id) WHERE birth_date >= make_timestamp(epoch_us(signed_up_at))::DATE",
        ),
    ]


def _listed_by(invariant: str) -> str:
    """SQL for the events that a ledger row lists whose kind may break the invariant."""
    kinds = ", ".join(literal(kind) for kind in breakers(invariant))
    return f"SELECT DISTINCT unnest(event_ids) AS event_id FROM injections WHERE kind IN ({kinds})"


def _session_rules() -> list[Rule]:
    excused = f"SELECT DISTINCT session_id FROM events JOIN ({_listed_by(ONE_SESSION)}) USING (event_id)"
    before = (
        "max(ended_at) OVER (PARTITION BY user_id, device ORDER BY started_at, session_id "
        "ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)"
    )
    return [
        Rule(
            GROUP,
            "sessions",
            "started_at",
            "is not before the end of another session of the user on the same device, unless a declared kind added it",
            f"SELECT session_id || {told('started_at')} || {told('before')} AS id FROM (SELECT session_id, started_at, "
            f"{before} AS before FROM sessions ANTI JOIN ({excused}) USING (session_id)) WHERE started_at < before",
        ),
        Rule(
            GROUP,
            "sessions",
            "ended_at",
            "is the `at` of the last line of the session",
            f"SELECT session_id || {told('ended_at')} || {told('last')} AS id FROM sessions JOIN "
            '(SELECT session_id, max("at") AS last FROM events GROUP BY ALL) USING (session_id) WHERE ended_at <> last',
        ),
    ]


def _way_rule() -> Rule:
    before = 'lag("at") OVER (PARTITION BY user_id ORDER BY "at", event_id)'
    return Rule(
        GROUP,
        "events",
        "starts_at",
        "is not before the user's arrival before, for an `arrive`",
        f"SELECT event_id || {told('starts_at')} || {told('before')} AS id FROM (SELECT event_id, starts_at, "
        f"{before} AS before FROM events ANTI JOIN ({_listed_by(ONE_LINE)}) USING (event_id) "
        "WHERE action = 'arrive') WHERE starts_at < before",
    )


def _offset_rules() -> list[Rule]:
    return [
        _offset_rule(table, key, instant)
        for table, key, instant in (
            ("events", "event_id", "at"),
            ("sessions", "session_id", "started_at"),
            ("tasks", "task_id", "asked_at"),
        )
    ]


_BOOKED = (
    'SELECT row_number() OVER () AS stay, user_id, "at" AS booked_at, starts_at, ends_at, place_time_zone AS zone '
    "FROM events WHERE place_time_zone IS NOT NULL AND starts_at < ends_at"
)
_STAYS = (
    f"WITH booked AS MATERIALIZED ({_BOOKED}), rivalled AS (SELECT DISTINCT b.stay FROM booked b JOIN booked o "
    "USING (user_id) WHERE o.starts_at < b.ends_at AND b.starts_at < o.ends_at AND "
    "(o.booked_at, o.starts_at, o.ends_at) < (b.booked_at, b.starts_at, b.ends_at)), "
    "stays AS MATERIALIZED (SELECT b.*, r.stay IS NULL AS holds FROM booked b LEFT JOIN rivalled r USING (stay))"
)
"""SQL for the booked stays, and which of them certainly hold: those that overlap none of the user's booked earlier."""


def _offset_rule(table: str, key: str, instant: str) -> Rule:
    """The clock is that of the stay that certainly holds; where only others cover the instant, any of theirs or home's."""
    shown = f'SELECT {key}, user_id, "{instant}", epoch_us("{instant}") AS us, utc_offset_min FROM {table}'
    clock_of = f"LEFT JOIN {OFFSETS} z ON t.us >= z.since_us AND t.us < z.until_us AND z.zone"
    right_at_home = (
        f"SELECT t.{key} FROM ({shown}) t JOIN users u USING (user_id) {clock_of} = u.time_zone "
        "WHERE z.utc_offset_min = t.utc_offset_min"
    )
    abroad = (
        f"SELECT t.{key}, bool_or(s.holds) AS is_sure, "
        "coalesce(bool_or(z.utc_offset_min = t.utc_offset_min AND s.holds), false) AS is_sure_clock, "
        "coalesce(bool_or(z.utc_offset_min = t.utc_offset_min), false) AS is_some_clock "
        f"FROM ({shown}) t JOIN stays s ON s.user_id = t.user_id "
        f'AND t."{instant}" >= s.starts_at AND t."{instant}" < s.ends_at {clock_of} = s.zone GROUP BY t.{key}'
    )
    return Rule(
        GROUP,
        table,
        "utc_offset_min",
        "is that of the `place_time_zone` of the user's stay that covers the instant, else of their `time_zone`",
        f"{_STAYS} SELECT t.{key} || {told(instant)} || ' ' || t.utc_offset_min AS id FROM ({shown}) t JOIN users USING (user_id) "
        f"LEFT JOIN ({right_at_home}) h USING ({key}) LEFT JOIN ({abroad}) a USING ({key}) "
        f"WHERE CASE WHEN a.is_sure THEN NOT a.is_sure_clock ELSE h.{key} IS NULL AND a.is_some_clock IS NOT TRUE END",
    )
