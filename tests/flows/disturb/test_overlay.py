"""The disturbed log and the truth behind it: one row a line, and the ledger and the lines tell the same."""

from __future__ import annotations

import polars as pl
import pytest

from schemas.invariants import MAY_BREAK, ONE_SESSION
from schemas.tables.fields import NOISE_KINDS
from tests.flows.lives import Lives, live, small_config

WRITTEN = [("symbolic_events", "symbolic_truth", "symbolic_ledger"), ("events", "event_truth", "injections")]


@pytest.fixture(scope="module")
def heavy() -> Lives:
    """Thirty people so disturbed that kinds meet on the same line."""
    noise = {"accidental": 0.4, "other_person": 0.5, "duplicate": 0.3, "corrupt": 0.05}
    data = small_config(30, 4, disturb={"noise": noise, "drift": {"abrupt_per_year": 6.0}})
    tables = live(data, last="disturb")
    return Lives(data, live(data, "corrupt", "corrupt", live(data, "language", "language", tables)))


@pytest.mark.parametrize(("log", "truth", "ledger"), WRITTEN)
def test_every_line_has_one_row_of_truth(log: str, truth: str, ledger: str, heavy: Lives) -> None:
    ids = heavy[log]["event_id"]
    assert ids.n_unique() == len(ids) == heavy[truth].height and set(ids) == set(heavy[truth]["event_id"])


@pytest.mark.parametrize(("log", "truth", "ledger"), WRITTEN)
def test_a_line_lists_exactly_the_ledger_rows_that_list_it(log: str, truth: str, ledger: str, heavy: Lives) -> None:
    rows = heavy[ledger].explode("event_ids").drop_nulls("event_ids")
    by_line = heavy[truth].explode("injection_ids").drop_nulls("injection_ids")
    listed = set(rows.select("event_ids", "injection_id").iter_rows())
    assert listed == set(by_line.select("event_id", "injection_ids").iter_rows())
    assert len(listed) == rows.height == by_line.height
    assert set(heavy[ledger].filter(pl.col("event_ids").list.len() == 0)["kind"]) == {"abrupt", "gradual", "seasonal"}


@pytest.mark.parametrize(("log", "truth", "ledger"), WRITTEN)
def test_the_noise_of_a_line_is_the_first_kind_in_the_written_order(
    log: str, truth: str, ledger: str, heavy: Lives
) -> None:
    kind = dict(heavy[ledger].select("injection_id", "kind").iter_rows())
    met = set()
    for ids, noise, is_noise in heavy[truth].select("injection_ids", "noise_kind", "is_noise").iter_rows():
        kinds = [name for name in NOISE_KINDS if name in {kind[i] for i in ids}]
        met.add(tuple(kinds))
        assert noise == (kinds[0] if kinds else None)
        assert is_noise == bool(set(kinds) - {"corrupt"})  # a typo makes a line no less true
    assert {("accidental", "other_person"), ("accidental",), ("other_person",), ("duplicate",), ()} <= met
    assert log == "symbolic_events" or {("corrupt",), ("duplicate", "corrupt")} <= met


def test_a_copy_has_the_actor_and_the_dispositions_of_its_original_and_a_ledger_row_of_its_own(heavy: Lives) -> None:
    pairs = heavy["symbolic_ledger"].filter(kind="duplicate").select("injection_id", "before", "after")
    truth = heavy["symbolic_truth"]
    both = pairs.join(truth, left_on="before", right_on="event_id").join(
        truth, left_on="after", right_on="event_id", suffix="_copy"
    )
    assert both.height == pairs.height > 500 and both["noise_kind"].null_count() < both.height
    assert (both["actor_id"] == both["actor_id_copy"]).all()
    assert (both["driver_disposition_ids"] == both["driver_disposition_ids_copy"]).all()
    assert both["injection_ids_copy"].to_list() == [[name] for name in both["injection_id"]]


def test_sessions_are_counted_and_end_with_their_last_line(heavy: Lives) -> None:
    lines = (
        heavy["symbolic_events"]
        .group_by("session_id")
        .agg(
            pl.len(),
            pl.col("at").max(),
            pl.col("at").min().alias("first"),
            pl.col("seq").sort(),
            pl.col("domain").n_unique().alias("domains"),
            pl.col("user_id").first().alias("owner"),
        )
    )
    both = heavy["symbolic_sessions"].join(lines, on="session_id", how="full")
    assert both.null_count().sum_horizontal().item() == 0
    assert (
        (both["event_count"] == both["len"]).all()
        and (both["ended_at"] == both["at"]).all()
        and (both["owner"] == both["user_id"]).all()
    )
    assert both.select((pl.col("first") >= pl.col("started_at")).all()).item() and (both["domains"] == 1).all()
    assert both["seq"].to_list() == [list(range(count)) for count in both["len"]]


def test_only_declared_kinds_break_what_holds_in_the_clean_timeline(heavy: Lives) -> None:
    """Talks that are added may lie within another session; what other kinds do leaves one session at a time."""
    allowed = {kind for kind, rules in MAY_BREAK.items() if ONE_SESSION in rules}
    kind_of = heavy["symbolic_ledger"].filter(pl.col("kind").is_in(allowed)).explode("event_ids")["event_ids"]
    free = set(heavy["symbolic_events"].filter(pl.col("event_id").is_in(set(kind_of)))["session_id"])
    sessions = heavy["symbolic_sessions"].filter(~pl.col("session_id").is_in(free)).sort("user_id", "started_at")
    pairs = sessions.with_columns(before=pl.col("ended_at").shift().over("user_id")).drop_nulls("before")
    assert pairs.height > 200 and pairs.select((pl.col("started_at") > pl.col("before")).all()).item()
    assert set(MAY_BREAK) >= set(heavy["injections"].filter(pl.col("family") != "drift")["kind"])


def test_what_no_ledger_row_lists_stands_as_in_the_clean_timeline(heavy: Lives) -> None:
    """Sums, stars and looks at things aside, which follow the items."""
    untouched = heavy["symbolic_truth"].filter(pl.col("injection_ids").list.len() == 0)["event_id"]
    columns = [c for c in heavy["clean_events"].columns if c != "seq"]
    clean = heavy["clean_events"].filter(
        pl.col("event_id").is_in(set(untouched)), ~pl.col("action").is_in(["checkout", "review", "view"])
    )
    log = heavy["symbolic_events"].filter(pl.col("event_id").is_in(set(clean["event_id"])))
    assert clean.height > 500
    assert clean.select(columns).sort("event_id").equals(log.select(columns).sort("event_id"))
    truth = heavy["clean_truth"].filter(pl.col("event_id").is_in(set(untouched)))
    assert truth.sort("event_id").equals(
        heavy["symbolic_truth"].filter(pl.col("event_id").is_in(set(truth["event_id"]))).sort("event_id")
    )
