"""The ledger: each disturbance in one row that says what, where, when and what to conclude."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pyarrow as pa

from flows.common.draws import Draws
from flows.disturb.ledger import injection_ids, ledger_rows, single_lists
from schemas.tables.internal import SYMBOLIC_LEDGER
from tests.flows.lives import Lives, changeable

DRAWS = Draws(7, "disturb")
POLICY = {
    "accidental": "ignore_event",
    "other_person": "attribute_to_other",
    "duplicate": "ignore_duplicate",
    "corrupt": "read_through",
    "stated_vs_done": "trust_behaviour",
    "temporary_state": "follow_state_until_end",
    "abrupt": "follow_new_value",
    "gradual": "follow_new_value",
    "seasonal": "follow_context",
}


def test_what_is_not_given_is_null_and_the_row_is_as_declared() -> None:
    users = np.array([3, 12], np.uint64)
    ids = injection_ids(DRAWS, users, np.array([1, 1], np.uint64))
    rows = ledger_rows(
        ids, users, "noise", "accidental", "ignore_event", single_lists(pa.array(["a", "b"])), np.array([0, 1_500_000])
    )
    declared = SYMBOLIC_LEDGER.conform(rows)
    first = declared.slice(0, 1).to_pylist()[0]
    assert first["injection_id"].startswith("u000003-i") and first["event_ids"] == ["a"] and first["parameters"] == "{}"
    assert {name for name, value in first.items() if value is None} == set(SYMBOLIC_LEDGER.optional)


def test_ids_hang_on_user_and_key_and_nothing_else() -> None:
    users, keys = np.array([1, 1, 2], np.uint64), np.array([5, 6, 5], np.uint64)
    ids = injection_ids(DRAWS, users, keys).to_pylist()
    assert len(set(ids)) == 3
    assert injection_ids(DRAWS, users[::-1], keys[::-1]).to_pylist() == ids[::-1]
    assert {name.split("-")[1] for name in ids[:1]}.isdisjoint({name.split("-")[1] for name in ids[2:]})


def test_each_kind_has_its_policy_and_names_a_time_in_the_window(town: Lives) -> None:
    ledger = town["injections"]
    assert dict(ledger.select("kind", "policy").unique().iter_rows()) == POLICY
    assert ledger["injection_id"].n_unique() == ledger.height and not ledger["is_contested"].any()
    window = town.data.window
    assert ledger.select(pl.col("onset_at").is_between(window.start, window.end).all()).item()
    assert ledger.select((pl.col("injection_id").str.split("-").list.first() == pl.col("user_id")).all()).item()


def test_the_onset_of_noise_is_the_time_of_its_first_line(town: Lives) -> None:
    lines = (
        town["injections"]
        .filter(family="noise")
        .explode("event_ids")
        .join(
            town["events"].select("event_id", "at", "user_id"), left_on="event_ids", right_on="event_id", suffix="_of"
        )
    )
    assert (lines["user_id"] == lines["user_id_of"]).all()
    first = lines.group_by("injection_id").agg(pl.col("at").min(), pl.col("onset_at").first())
    assert (first["at"] == first["onset_at"]).all()


def test_what_somebody_else_chose_in_a_session_is_one_row(town: Lives) -> None:
    truth = town["symbolic_truth"].select("event_id", "actor_id")
    sessions = {
        row["session_id"]: row
        for row in changeable(town)
        .join(truth, on="event_id")
        .group_by("session_id")
        .agg("event_id", pl.col("actor_id").unique())
        .iter_rows(named=True)
    }
    rows = town["symbolic_ledger"].filter(kind="other_person")
    assert rows.height > 200
    for parameters, events in rows.select("parameters", "event_ids").iter_rows():
        told = json.loads(parameters)
        session = sessions[told["session_id"]]
        assert set(events) == set(session["event_id"]) and session["actor_id"] == [told["actor_id"]]


def test_a_move_of_taste_names_its_life_event_and_the_dispositions_it_parts(town: Lives) -> None:
    drift = town["symbolic_ledger"].filter(pl.col("kind") == "abrupt", pl.col("before") != pl.col("after"))
    own = (
        town["dispositions"]
        .join(town["actors"].filter(relation="self").select("actor_id"), on="actor_id")
        .filter(pl.col("clock") != "state")
    )
    key = ["user_id", "dimension", "onset_at"]
    ended = drift.join(own, left_on=key, right_on=["user_id", "dimension", "valid_to"], suffix="_of")
    begun = drift.join(own, left_on=key, right_on=["user_id", "dimension", "valid_from"], suffix="_of")
    assert ended.height == begun.height == drift.height > 100
    assert (ended["value"] == ended["before"]).all() and (begun["value"] == begun["after"]).all()
    assert (begun["cause"] == begun["cause_of"]).all()
