"""Rules over several tables, each a query for the ids that break it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from schemas.interests import Interests, load_interests
from schemas.tables import Table
from schemas.tables.fields import DEVICES
from validation.structure.folder import EXAMPLES, Violation, literal, quoted, told

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Rule:
    """One rule. ``breaks`` selects one column `id`, as text: what breaks it."""

    group: str
    table: str
    column: str
    text: str
    breaks: str


UNDECLARED_REFERENCES = (
    ("users", "time_zone", "days.time_zone"),
    ("events", "options", "items.item_id"),
    ("events", "image_id", "images.image_id"),
    ("event_truth", "user_id", "users.user_id"),
    ("event_truth", "injection_ids", "injections.injection_id"),
    ("event_truth", "driver_disposition_ids", "dispositions.disposition_id"),
    ("constraints", "window_event_ids", "events.event_id"),
    ("constraints", "necessary_event_ids", "events.event_id"),
    ("answers", "user_id", "users.user_id"),
    ("posteriors", "user_id", "users.user_id"),
    ("tasks", "tool_ids", "tools.tool_id"),
)
"""References between released tables besides those that the tables declare."""
STRUCT_REFERENCES = (
    ("tasks", "options", "item_id", "items.item_id"),
    ("answers", "options", "violated_constraint_ids", "constraints.constraint_id"),
)
"""References inside a list of structs: table, column, field, target."""

EVENT_RULES = (
    Rule(
        "events",
        "events",
        "event_id",
        "has a row in `event_truth`",
        "SELECT event_id AS id FROM events ANTI JOIN event_truth USING (event_id)",
    ),
    Rule(
        "events",
        "event_truth",
        "user_id",
        "is the user of the event",
        "SELECT t.event_id AS id FROM event_truth t JOIN events e USING (event_id) WHERE t.user_id <> e.user_id",
    ),
    Rule(
        "events",
        "events",
        "logged_at",
        "is not before `at`",
        'SELECT event_id AS id FROM events WHERE logged_at < "at"',
    ),
    Rule(
        "events",
        "events",
        "at",
        "is not before the user's `signed_up_at`",
        f"SELECT event_id || {told('at')} || {told('signed_up_at')} AS id FROM events JOIN users USING (user_id) "
        'WHERE "at" < signed_up_at',
    ),
    Rule(
        "events",
        "events",
        "item_id",
        "is nobody else's thing",
        "SELECT event_id AS id FROM events e JOIN items i USING (item_id) WHERE i.owner_user_id <> e.user_id",
    ),
    Rule(
        "events",
        "events",
        "options",
        "are nobody else's things",
        "SELECT event_id AS id FROM (SELECT event_id, user_id, unnest(options) AS item_id FROM events) e "
        "JOIN items i USING (item_id) WHERE i.owner_user_id <> e.user_id",
    ),
)
_MINUTES = '(epoch_us(e."at") // 60000000 + e.utc_offset_min)'
"""Of the wall clock, since 1970."""
_LIMITED = "SELECT item_id FROM items WHERE opens_hour IS NOT NULL OR min_age IS NOT NULL"
_TAKEN = (
    "SELECT event_id AS id FROM (SELECT *, row_number() OVER (PARTITION BY session_id, item_id ORDER BY seq) = 1 "
    f"AND action <> 'review' AS is_habit FROM events WHERE (action <> 'view' OR options IS NOT NULL) "
    f"AND item_id IN ({_LIMITED})) e "
    "JOIN items i USING (item_id)"
)
"""What is taken shows options, or is taken out of habit: then the session names it there first, looks at it aside."""
ACT_RULES = (
    Rule(
        "events",
        "events",
        "origin_item_id",
        "is another place than the one of an `arrive`",
        "SELECT event_id AS id FROM events WHERE action = 'arrive' AND origin_item_id = item_id",
    ),
    Rule(
        "events",
        "events",
        "ends_at",
        "is after `starts_at`, and neither is without the other",
        "SELECT event_id AS id FROM events WHERE ends_at <= starts_at OR (starts_at IS NULL) <> (ends_at IS NULL)",
    ),
    Rule(
        "events",
        "events",
        "starts_at",
        "is before `at` for an `arrive`, which has one, and after it for what is booked",
        "SELECT event_id AS id FROM events WHERE action = 'arrive' AND (starts_at IS NULL OR starts_at >= \"at\" "
        'OR ends_at > "at") OR action <> \'arrive\' AND starts_at <= "at"',
    ),
    Rule(
        "events",
        "events",
        "item_id",
        "is open at that hour of the user's day, if taken then",
        f"{_TAKEN} WHERE (e.options IS NOT NULL OR e.is_habit) AND ({_MINUTES} // 60 % 24 < i.opens_hour "
        f"AND {_MINUTES} // 60 % 24 >= i.closes_hour - 24 OR {_MINUTES} // 60 % 24 >= i.closes_hour)",
    ),
    Rule(
        "events",
        "events",
        "item_id",
        "is for people of the user's age on that day, if taken then",
        f"{_TAKEN} JOIN personas p ON p.user_id = e.user_id WHERE (e.options IS NOT NULL OR e.is_habit) "
        f"AND p.birth_date + to_years(i.min_age) > DATE '1970-01-01' + CAST({_MINUTES} // 1440 AS INTEGER)",
    ),
    Rule(
        "events",
        "events",
        "series",
        "has 24 values, none of them negative",
        "SELECT event_id AS id FROM events WHERE len(series) <> 24 OR list_min(series) < 0",
    ),
)
_OWNED = f"({', '.join(literal(name) for name in DEVICES)})"
SESSION_RULES = (
    Rule(
        "sessions",
        "sessions",
        "ended_at",
        "is not before `started_at`",
        f"SELECT session_id || {told('ended_at')} || {told('started_at')} AS id FROM sessions WHERE ended_at < started_at",
    ),
    Rule(
        "sessions",
        "events",
        "at",
        "lies within the session, from `started_at` to `ended_at`",
        'SELECT event_id AS id FROM events JOIN sessions USING (session_id) WHERE "at" < started_at OR "at" > ended_at',
    ),
    Rule(
        "sessions",
        "events",
        "user_id",
        "is the user of the session",
        "SELECT event_id AS id FROM events e JOIN sessions s USING (session_id) WHERE e.user_id <> s.user_id",
    ),
    Rule(
        "sessions",
        "sessions",
        "event_count",
        "counts the events of the session",
        "SELECT session_id AS id FROM sessions LEFT JOIN (SELECT session_id, count(*) AS n FROM events GROUP BY ALL) "
        "USING (session_id) WHERE event_count <> coalesce(n, 0)",
    ),
    Rule(
        "sessions",
        "events",
        "seq",
        "counts the lines of a session from 0 without gap",
        "SELECT session_id AS id FROM events GROUP BY session_id "
        "HAVING min(seq) <> 0 OR max(seq) <> count(*) - 1 OR count(DISTINCT seq) <> count(*)",
    ),
    Rule(
        "sessions",
        "events",
        "seq",
        "follows `at` within a session",
        'SELECT event_id AS id FROM (SELECT event_id, "at", '
        'lag("at") OVER (PARTITION BY session_id ORDER BY seq) AS before FROM events) WHERE "at" < before',
    ),
    Rule(
        "sessions",
        "sessions",
        "device",
        "is one that the user owns, if it is of the kinds that people own",
        f"SELECT session_id AS id FROM sessions s JOIN personas p USING (user_id) WHERE s.device IN {_OWNED} "
        "AND NOT list_contains(p.devices, s.device)",
    ),
    Rule(
        "sessions",
        "personas",
        "devices",
        "have a phone or a laptop among them",
        "SELECT user_id AS id FROM personas WHERE NOT list_has_any(devices, ['phone', 'laptop'])",
    ),
)
TASK_RULES = (
    Rule(
        "tasks",
        "tasks",
        "task_id",
        "has a row in `answers`",
        "SELECT task_id AS id FROM tasks ANTI JOIN answers USING (task_id)",
    ),
    Rule(
        "tasks",
        "tasks",
        "task_id",
        "has a constraint",
        "SELECT task_id AS id FROM tasks ANTI JOIN constraints USING (task_id)",
    ),
    Rule(
        "tasks",
        "tasks",
        "task_id",
        "has a row in `tool_state` if it is an `act` task",
        "SELECT task_id AS id FROM tasks ANTI JOIN tool_state USING (task_id) WHERE family = 'act'",
    ),
    Rule(
        "tasks",
        "tool_state",
        "task_id",
        "is an `act` task",
        "SELECT task_id AS id FROM tool_state JOIN tasks USING (task_id) WHERE family <> 'act'",
    ),
    Rule(
        "tasks",
        "answers",
        "user_id",
        "is the user of the task",
        "SELECT task_id AS id FROM answers a JOIN tasks t USING (task_id) WHERE a.user_id <> t.user_id",
    ),
    Rule(
        "tasks",
        "constraints",
        "user_id",
        "is the user of the task",
        "SELECT constraint_id AS id FROM constraints c JOIN tasks t USING (task_id) WHERE c.user_id <> t.user_id",
    ),
    Rule(
        "tasks",
        "constraints",
        "evidence_event_ids",
        "are events of the user from before the task",
        "SELECT constraint_id AS id "
        "FROM (SELECT constraint_id, task_id, unnest(evidence_event_ids) AS event_id FROM constraints) "
        "JOIN events e USING (event_id) JOIN tasks t USING (task_id) "
        'WHERE e.user_id <> t.user_id OR e."at" >= t.asked_at',
    ),
    Rule(
        "tasks",
        "tasks",
        "options",
        "are nobody else's things",
        "SELECT task_id AS id FROM (SELECT task_id, user_id, unnest(options).item_id AS item_id FROM tasks) t "
        "JOIN items i USING (item_id) WHERE i.owner_user_id <> t.user_id",
    ),
)
_SHOWN = "SELECT task_id, unnest(options).option_id AS option_id FROM tasks"
_JUDGED = "SELECT task_id, unnest(options, recursive := true) FROM answers"
_READABLE = "SELECT task_id, gold::JSON AS gold FROM answers WHERE json_valid(gold)"
_GOLD = f"SELECT task_id, unnest(json_extract_string(gold, '$.option_ids[*]')) AS option_id FROM ({_READABLE})"
GOLD_RULES = (
    Rule(
        "gold",
        "tasks",
        "options",
        "have distinct ids within a task",
        f"SELECT task_id AS id FROM ({_SHOWN}) GROUP BY task_id, option_id HAVING count(*) > 1",
    ),
    Rule(
        "gold",
        "answers",
        "options",
        "are the options of the task, each once",
        f"SELECT coalesce(s.task_id, j.task_id) AS id FROM ({_SHOWN}) s FULL JOIN ({_JUDGED}) j "
        "ON s.task_id = j.task_id AND s.option_id = j.option_id WHERE s.task_id IS NULL OR j.task_id IS NULL "
        f"UNION ALL SELECT task_id FROM ({_JUDGED}) GROUP BY task_id, option_id HAVING count(*) > 1",
    ),
    Rule(
        "gold",
        "answers",
        "gold",
        "is JSON with `option_ids` or `ask`",
        f"SELECT task_id AS id FROM answers ANTI JOIN ({_READABLE} AND (json_array_length(gold, '$.option_ids') > 0 "
        "OR json_extract_string(gold, '$.ask') = 'true')) USING (task_id)",
    ),
    Rule(
        "gold",
        "answers",
        "gold",
        "names options of the task",
        f"SELECT task_id AS id FROM ({_GOLD}) ANTI JOIN ({_SHOWN}) USING (task_id, option_id)",
    ),
    Rule(
        "gold",
        "answers",
        "gold",
        "names the options marked `is_gold`",
        f"SELECT coalesce(g.task_id, j.task_id) AS id FROM ({_GOLD}) g "
        f"FULL JOIN (SELECT * FROM ({_JUDGED}) WHERE is_gold) j "
        "ON g.task_id = j.task_id AND g.option_id = j.option_id WHERE g.task_id IS NULL OR j.task_id IS NULL",
    ),
)


def check_rules(database: DuckDBPyConnection, rules: Iterable[Rule]) -> dict[str, list[Violation]]:
    """Group of rules → what breaks them; a group that holds has an empty list.

    ``database`` has a view a table, with the column `_split`.
    """
    found: dict[str, list[Violation]] = {}
    for rule in rules:
        broken = found.setdefault(rule.group, [])
        count = database.execute(f"SELECT count(DISTINCT id) FROM ({rule.breaks})").fetchall()[0][0]
        if count:
            query = f"SELECT DISTINCT id::VARCHAR AS id FROM ({rule.breaks}) ORDER BY id LIMIT {EXAMPLES}"
            ids = tuple(row[0] for row in database.execute(query).fetchall())
            broken.append(Violation(rule.table, rule.column, rule.text, int(count), ids))
    return found


def rules_of(tables: Mapping[str, Table], window: tuple[datetime, datetime], dimensions: Sequence[str]) -> list[Rule]:
    """Every rule over the tables.

    ``window`` is the stretch that is lived, ``dimensions`` the full names of what every user must be inclined to.
    """
    return [
        *reference_rules(tables),
        *split_rules(tables),
        *user_rules(),
        *EVENT_RULES,
        *ACT_RULES,
        *SESSION_RULES,
        *TASK_RULES,
        *GOLD_RULES,
        *disposition_rules(window, dimensions),
        *interest_rules(load_interests()),
    ]


def reference_rules(tables: Mapping[str, Table]) -> list[Rule]:
    """What a column names exists; elements of lists and fields of structs included."""
    declared = [(name, column, target) for name, t in tables.items() for column, target in t.references.items()]
    rules = []
    for name, column, target in [*declared, *UNDECLARED_REFERENCES]:
        is_list = pa.types.is_list(tables[name].columns[column].type)
        value = f"unnest({quoted(column)})" if is_list else quoted(column)
        rules.append(_reference(name, column, f"SELECT {value} AS id FROM {quoted(name)}", target))
    for name, column, field, target in STRUCT_REFERENCES:
        kind = tables[name].columns[column].type.value_type
        is_list = pa.types.is_list(kind.field(field).type)
        inner = f"SELECT unnest({quoted(column)}).{quoted(field)} AS v FROM {quoted(name)}"
        value = "unnest(v)" if is_list else "v"
        rules.append(_reference(name, f"{column}.{field}", f"SELECT {value} AS id FROM ({inner})", target))
    return rules


def _reference(name: str, column: str, named: str, target: str) -> Rule:
    table, key = target.split(".")
    breaks = (
        f"SELECT id FROM (SELECT DISTINCT id FROM ({named}) WHERE id IS NOT NULL) "
        f"ANTI JOIN (SELECT {quoted(key)} AS id FROM {quoted(table)}) USING (id)"
    )
    return Rule("references", name, column, f"is in `{target}`", breaks)


def user_rules() -> list[Rule]:
    """What follows from where somebody's account is."""
    one_day = "SELECT locale FROM users GROUP BY locale HAVING count(DISTINCT week_start) = 1"
    breaks = f"SELECT user_id AS id FROM users ANTI JOIN ({one_day}) USING (locale)"
    return [Rule("users", "users", "week_start", "is the same day for all users of a locale", breaks)]


def split_rules(tables: Mapping[str, Table]) -> list[Rule]:
    """No user, with whatever rows and things, is in two splits, and what is nobody's is in a split of its own."""
    names = [name for name, declared in tables.items() if declared.has_users]
    owned = [f"SELECT DISTINCT user_id AS id, _split FROM {quoted(name)}" for name in names]
    owned.append("SELECT DISTINCT owner_user_id AS id, _split FROM items WHERE owner_user_id IS NOT NULL")
    breaks = f"SELECT id FROM ({' UNION '.join(owned)}) GROUP BY id HAVING count(DISTINCT _split) > 1"
    return [
        Rule("splits", "users", "user_id", "is in one split in all tables", breaks),
        Rule(
            "splits",
            "items",
            "item_id",
            "is in the split `catalogue` if nobody owns it, and only then",
            "SELECT item_id AS id FROM items WHERE (owner_user_id IS NULL) <> (_split = 'catalogue')",
        ),
        Rule(
            "splits",
            "item_attributes",
            "item_id",
            "is in the split of the item",
            "SELECT item_id AS id FROM item_attributes a JOIN items i USING (item_id) WHERE a._split <> i._split",
        ),
    ]


def interest_rules(interests: Interests) -> list[Rule]:
    """What people are keen on is a declared tag of the area it is said to be of, in an attitude that one can have."""
    declared = ", ".join(
        f"({literal(tag)}, {literal(area)}, {literal(polarity)})"
        for area, spec in interests.areas.items()
        for tag, interest in spec.tags.items()
        for polarity in interest.polarity
    )
    breaks = (
        f"SELECT i.user_id || ' ' || i.tag AS id FROM interests i ANTI JOIN (VALUES {declared}) d(tag, area, polarity) "
        "ON i.tag = d.tag AND i.area = d.area AND i.polarity = d.polarity"
    )
    text = "is a declared tag of its `area`, with a `polarity` that it can have"
    return [Rule("interests", "interests", "tag", text, breaks)]


def disposition_rules(window: tuple[datetime, datetime], dimensions: Sequence[str]) -> list[Rule]:
    """Intervals do not overlap within a clock, and lasting ones cover the window for every dimension."""
    start, end = (f"TIMESTAMPTZ {literal(moment.astimezone(UTC).isoformat(sep=' '))}" for moment in window)
    names = ", ".join(f"({literal(name)})" for name in dimensions)
    holder = "user_id, actor_id, dimension"
    earlier = "ORDER BY valid_from, disposition_id ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW"
    lasting = (
        f"SELECT * FROM dispositions WHERE clock IN ('trait', 'habit') AND condition IS NULL AND valid_from < {end}"
    )
    overlaid = (
        "SELECT disposition_id, valid_from, max(coalesce(valid_to, 'infinity')) "
        f"OVER (PARTITION BY {holder}, clock, condition {earlier}) AS upto FROM dispositions"
    )
    covered = (
        f"SELECT disposition_id, valid_from, max(coalesce(valid_to, {end})) "
        f"OVER (PARTITION BY {holder} {earlier}) AS upto FROM ({lasting})"
    )
    rules = [
        Rule(
            "dispositions",
            "dispositions",
            "valid_to",
            "is after `valid_from`",
            "SELECT disposition_id AS id FROM dispositions WHERE valid_to <= valid_from",
        ),
        Rule(
            "dispositions",
            "dispositions",
            "valid_from",
            "does not overlap another of the same actor, dimension, clock, condition",
            f"SELECT disposition_id AS id FROM ({overlaid}) WHERE valid_from < upto",
        ),
        Rule(
            "dispositions",
            "dispositions",
            "valid_from",
            "leaves no gap in traits and habits since the start of the window",
            f"SELECT disposition_id AS id FROM ({covered}) "
            f"WHERE valid_from > greatest(coalesce(upto, {start}), {start})",
        ),
        Rule(
            "dispositions",
            "dispositions",
            "valid_to",
            "leaves no gap in traits and habits before the end of the window",
            f"SELECT arg_max(disposition_id, coalesce(valid_to, {end})) AS id FROM ({lasting}) GROUP BY {holder} "
            f"HAVING max(coalesce(valid_to, {end})) < {end}",
        ),
    ]
    if dimensions:
        rules.append(
            Rule(
                "dispositions",
                "users",
                "user_id",
                "has a trait or habit in every dimension",
                f"SELECT user_id AS id FROM (SELECT user_id, dimension FROM users, (VALUES {names}) d(dimension)) "
                "ANTI JOIN (SELECT d.user_id, d.dimension FROM dispositions d JOIN actors a USING (actor_id) "
                "WHERE a.relation = 'self' AND clock IN ('trait', 'habit')) USING (user_id, dimension)",
            )
        )
    return rules
