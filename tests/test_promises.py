"""What the design promises of randomness, tried on the stages themselves: who is there, in which company, and how disturbed."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from schemas.config import DataConfig
from tests.flows.lives import (
    QUIET,
    STAGES,
    WHOLE_STAGES,
    Lives,
    Tables,
    changeable,
    live,
    run,
    same_rows,
    small_config,
)

FEW, MANY = 24, 30
DISTURB: dict[str, Any] = {
    "noise": {"accidental": 0.05, "other_person": 0.1, "duplicate": 0.03, "corrupt": 0.02},
    "drift": {"abrupt_per_year": 3.0},
    "contradictions": {"stated_vs_done": 0.1, "temporary_state": 0.1},
}
PREFIX = {
    "personas": ("users", "personas", "actors"),
    "belongings": ("personal_items", "personal_attributes"),
    "dispositions": ("dispositions", "drift", "interests", "participation"),
    "timelines": ("clean_sessions", "clean_events", "clean_truth", "clean_statements"),
    "disturb": ("symbolic_sessions", "symbolic_events", "symbolic_truth", "symbolic_ledger", "statements"),
    "candidates": ("candidates",),
    "language": ("spoken_events", "spoken_truth"),
    "corrupt": ("events", "event_truth", "injections"),
}
"""Tables whose rows hang on their user alone."""


def config_with(users: int = MANY, **changes: Any) -> DataConfig:
    """The config of all lives here; ``changes`` replace rates in the sections of `disturb`."""
    disturb = {section: rates | changes.get(section, {}) for section, rates in DISTURB.items()}
    return small_config(users, 6, disturb=disturb, timelines={"statement_rate": 0.2}, release={"splits": {"test": 1.0}})


def reversed_shards(table: pa.Table, size: int) -> pa.Table:
    """The table's rows with the users' shards in the other order."""
    shard = [int(user[1:]) // size for user in table["user_id"].to_pylist()]
    return pa.concat_tables(
        table.filter(pa.array([s == number for s in shard])) for number in sorted(set(shard), reverse=True)
    )


@pytest.fixture(scope="module")
def many() -> Lives:
    data = config_with()
    return Lives(data, live(data))


def disturbed(many: Lives, **changes: Any) -> Lives:
    """The same people and clean lives, disturbed at other rates: up to the typos."""
    data = config_with(**changes)
    return Lives(data, spoken(data, live(data, "disturb", "disturb", many.tables)))


def spoken(data: DataConfig, tables: Tables) -> Tables:
    """The tables with those of words and typos."""
    return live(data, "corrupt", "corrupt", live(data, "language", "language", tables))


@pytest.fixture(scope="module")
def few() -> Tables:
    data = config_with(FEW)
    return spoken(data, live(data, last="candidates"))


@pytest.mark.parametrize("table", [name for names in PREFIX.values() for name in names])
def test_fewer_people_are_the_first_of_more(table: str, many: Lives, few: Tables) -> None:
    whole = many.tables[table]
    owner = next(name for name in ("user_id", "owner_user_id", "item_id") if name in whole.column_names)
    first = whole.filter(pc.less(whole[owner], f"u{FEW:06d}"))  # the id of a thing begins with its owner's
    assert 0 < first.num_rows < whole.num_rows
    assert same_rows(first, few[table])


@pytest.mark.parametrize(("size", "last"), [(7, "candidates"), (15, "settle")])
def test_the_size_of_a_shard_changes_no_row_of_any_table(size: int, last: str, many: Lives) -> None:
    parts = live(many.data, last=last, size=size)
    assert last != "settle" or parts.keys() == many.tables.keys()
    assert many.tables["tasks"].num_rows > 0
    assert [name for name in parts if not same_rows(many.tables[name], parts[name])] == []


def test_every_table_by_users_is_compared() -> None:
    by_user = {t.name for name, stage in STAGES.items() if name not in WHOLE_STAGES for t in stage.writes}
    assert by_user - {name for names in PREFIX.values() for name in names} == {
        "certified",
        "evidence",
    }  # of the selection


def rows_of(ledger: pl.DataFrame, *kinds: str) -> dict[str, dict[str, Any]]:
    return {row["injection_id"]: row for row in ledger.filter(pl.col("kind").is_in(kinds)).iter_rows(named=True)}


ACTED = ("accidental", "other_person", "duplicate", "stated_vs_done", "temporary_state")
DRIFTS = ("abrupt", "gradual", "seasonal")
KINDS = (*ACTED, "corrupt", *DRIFTS)
RATES = {
    "accidental": ("noise", 0.2),
    "other_person": ("noise", 0.4),
    "duplicate": ("noise", 0.2),
    "stated_vs_done": ("contradictions", 0.4),
}
BEHIND_WORDS = {"duplicate", "stated_vs_done"}
"""Kinds that add lines in words, and so lines in which there can be typos."""


@pytest.mark.parametrize("kind", RATES)
def test_a_rate_raised_adds_rows_of_its_kind_and_touches_no_other_row(kind: str, many: Lives) -> None:
    section, rate = RATES[kind]
    raised = disturbed(many, **{section: {kind: rate}})
    before, after = rows_of(many["injections"], kind), rows_of(raised["injections"], kind)
    assert len(before) > 10 and len(after) > 1.5 * len(before)
    assert {name: after.get(name) for name in before} == before
    others = set(KINDS) - {kind, "corrupt" if kind in BEHIND_WORDS else ""}
    assert rows_of(many["injections"], *others) == rows_of(raised["injections"], *others)
    typos = rows_of(many["injections"], "corrupt")
    assert {name: rows_of(raised["injections"], "corrupt").get(name) for name in typos} == typos


def test_more_typos_spare_no_line_and_touch_no_other_row(many: Lives) -> None:
    raised = disturbed(many, noise={"corrupt": 0.08})
    before, after = rows_of(many["injections"], "corrupt"), rows_of(raised["injections"], "corrupt")
    assert len(after) > 1.3 * len(before) > 100 and before.keys() <= after.keys()
    assert all(
        after[name]["before"] == row["before"] and after[name]["event_ids"] == row["event_ids"]
        for name, row in before.items()
    )
    assert rows_of(many["injections"], *set(KINDS) - {"corrupt"}) == rows_of(
        raised["injections"], *set(KINDS) - {"corrupt"}
    )
    columns = [name for name in many["events"].columns if name != "text"]
    assert many["events"].select(columns).equals(raised["events"].select(columns))


def assert_same_targets(kind: str, one: Lives, other: Lives) -> None:
    """Rows of a kind are about the same sessions in both, but for noise that needs a choice that can be changed: a habit
    given up for another taste makes such a choice of a line that showed none, and of the one that the habit rested on.
    Only of sessions with such a line may they differ."""
    rows, others = (rows_of(lives["symbolic_ledger"], kind) for lives in (one, other))
    if kind not in ("accidental", "other_person"):
        assert rows.keys() == others.keys(), kind
        return
    open_to_it = [set(changeable(lives)["event_id"]) for lives in (one, other)]
    unlike = open_to_it[0] ^ open_to_it[1]
    session = dict(one["clean_events"].select("event_id", "session_id").iter_rows())
    changed = {session[event] for event in unlike if event in session}
    differ = [some[name] for name in rows.keys() ^ others.keys() for some in (rows, others) if name in some]
    assert len(unlike) < 0.2 * len(open_to_it[0]) and len(differ) < 0.2 * len(rows) > 4
    for row in differ:
        assert all(session[event] in changed for event in row["event_ids"]), kind
        assert kind == "other_person" or set(row["event_ids"]) <= unlike


def lived_again(**changes: Any) -> Lives:
    data = config_with(**changes)
    return Lives(data, live(data, last="disturb"))


def test_more_passing_states_take_none_away_and_move_no_other_target(many: Lives) -> None:
    """States act inside the simulation: what is chosen while one holds changes, what noise hits does not."""
    raised = lived_again(contradictions={"temporary_state": 0.4})
    before, after = (rows_of(lives["symbolic_ledger"], "temporary_state") for lives in (many, raised))
    assert len(after) > 2 * len(before) > 20 and {name: after.get(name) for name in before} == before
    for kind in {*ACTED, *DRIFTS} - {"temporary_state"}:
        assert_same_targets(kind, many, raised)
    assert rows_of(many["symbolic_ledger"], "stated_vs_done", *DRIFTS) == rows_of(
        raised["symbolic_ledger"], "stated_vs_done", *DRIFTS
    )


def test_more_life_events_take_none_away_and_move_no_other_target(many: Lives) -> None:
    raised = lived_again(drift={"abrupt_per_year": 12.0})
    before, after = (rows_of(lives["symbolic_ledger"], "abrupt") for lives in (many, raised))
    assert len(before) > 20 and len(after) > 1.5 * len(before)
    for name, row in before.items():
        assert after[name] | {"before": row["before"]} == row  # another event may have come first
    for kind in (*ACTED, "gradual", "seasonal"):
        assert_same_targets(kind, many, raised)


def test_without_rates_the_clean_timeline_stands_as_it_is() -> None:
    data = small_config(MANY, 6, disturb=QUIET)
    tables = live(data, last="disturb")
    for name in ("sessions", "events", "truth"):
        assert same_rows(tables[f"clean_{name}"], tables[f"symbolic_{name}"]), name
    assert same_rows(tables["clean_statements"], tables["statements"])
    assert tables["symbolic_ledger"].num_rows == tables["drift"].num_rows == 0
    tables = spoken(data, tables)
    assert same_rows(tables["spoken_events"], tables["events"]) and same_rows(
        tables["spoken_truth"], tables["event_truth"]
    )
    assert tables["injections"].num_rows == 0


def test_the_clean_timeline_knows_of_no_noise(many: Lives) -> None:
    again = lived_again(
        noise={"accidental": 0.5, "other_person": 0.9, "duplicate": 0.5}, contradictions={"stated_vs_done": 0.9}
    )
    for name in ("clean_sessions", "clean_events", "clean_truth", "clean_statements", "dispositions"):
        assert same_rows(many.tables[name], again.tables[name]), name


def test_before_is_the_clean_row_even_where_kinds_overlap(many: Lives) -> None:
    heavy = disturbed(many, noise={"accidental": 0.5, "other_person": 0.6, "duplicate": 0.5, "corrupt": 0.3})
    clean = {
        event: (item, options)
        for event, item, options in many["clean_events"].select("event_id", "item_id", "options").iter_rows()
    }
    spoken = dict(heavy["spoken_events"].select("event_id", "text").iter_rows())
    typed = dict(heavy["events"].select("event_id", "text").iter_rows())
    by_event: dict[str, set[str]] = {}
    for row in heavy["injections"].iter_rows(named=True):
        for event in row["event_ids"]:
            by_event.setdefault(event, set()).add(row["kind"])
        if row["kind"] == "accidental":
            item, options = clean[row["event_ids"][0]]
            assert row["before"] == item != row["after"] and row["after"] in options
        elif row["kind"] == "duplicate":
            assert row["before"] in clean and row["after"] == row["event_ids"][0] not in clean
        elif row["kind"] == "corrupt":
            assert row["before"] == spoken[row["event_ids"][0]] != typed[row["event_ids"][0]] == row["after"]
    assert {"accidental", "other_person"} in by_event.values() and {"duplicate", "corrupt"} in by_event.values()


def test_the_order_in_which_shards_arrive_selects_the_same_tasks(many: Lives) -> None:
    turned = run("selection", many.data, many.tables | {"candidates": reversed_shards(many.tables["candidates"], 7)})
    assert not same_rows(reversed_shards(many.tables["candidates"], 7), many.tables["candidates"])
    assert [name for name in turned if not same_rows(turned[name], many.tables[name])] == []
    assert turned["draft_tasks"].num_rows > 50
