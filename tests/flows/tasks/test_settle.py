"""What ships is what the words of the release determine; what falls, falls whole and is accounted for."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tests.flows.lives import Lives, run
from tests.flows.tasks.asked import asked, groups, reasons, with_certainty

RELEASED = ("tasks", "tool_state", "constraints", "answers", "posteriors")


def settled(town: Lives, lowered: dict[str, float]) -> Lives:
    tables = town.tables | {"certified": with_certainty(town, lowered).to_arrow().cast(town.tables["certified"].schema)}
    return Lives(town.data, run("settle", town.data, tables))


def test_every_decision_that_ships_is_sure_enough_after_the_words(town: Lives) -> None:
    least = town.data.tasks.act_at_least
    decided = town["posteriors"].filter(pl.col("constraint_id").is_null())
    assert decided.height == town["tasks"].height and (decided["p_decision"] >= least).all()
    assert (
        town["draft_posteriors"]
        .filter(pl.col("constraint_id").is_null())
        .filter(pl.col("p_decision") < least)
        .filter(pl.col("task_id").is_in(set(town["draft_answers"].filter(family_true="act")["task_id"])))
        .height
        == 0
    )


def test_each_constraint_has_its_belief_and_its_evidence_from_the_released_log(town: Lives) -> None:
    beliefs = (
        town["posteriors"]
        .drop_nulls("constraint_id")
        .join(town["constraints"], on=["task_id", "constraint_id"], how="full")
    )
    assert (
        beliefs.height == town["constraints"].height
        and beliefs["dimension"].null_count() == beliefs["p_true"].null_count() == 0
    )
    assert (beliefs["p_top"] >= beliefs["p_true"]).all()
    assert ((beliefs["top_value"] == beliefs["value"]) == (beliefs["p_true"] == beliefs["p_top"])).all()
    evidence = (
        town["constraints"]
        .join(town["tasks"].select("task_id", "asked_at"), on="task_id")
        .explode("evidence_event_ids")
    )
    lines = evidence.join(
        town["events"].select("event_id", "at", "action", "domain", owner="user_id"),
        left_on="evidence_event_ids",
        right_on="event_id",
        how="left",
    )
    assert lines["owner"].null_count() == 0
    assert (lines["owner"] == lines["user_id"]).all() and (lines["at"] < lines["asked_at"]).all()
    assert (lines["dimension"].str.split(".").list.first() == lines["domain"]).all()
    assert set(lines["action"]) == {"order", "add", "say"}
    assert not lines.select("constraint_id", "evidence_event_ids").is_duplicated().any()


def test_what_is_said_of_a_dimension_is_evidence_for_that_dimension_alone(town: Lives) -> None:
    said = dict(town["statements"].drop_nulls("dimension").select("event_id", "dimension").iter_rows())
    talks = set(town["events"].filter(action="say")["event_id"])
    found = 0
    for dimension, events in town["constraints"].select("dimension", "evidence_event_ids").iter_rows():
        heard = [event for event in events if event in talks]
        found += len(heard)
        assert {said[event] for event in heard} <= {dimension}
    assert found > 200


@pytest.mark.parametrize("family", ["act", "know"])
def test_a_task_left_open_by_the_words_takes_its_group_along(family: str, town: Lives) -> None:
    shipped = asked(town)
    weak = next(name for name, one in shipped.items() if one.task["family"] == family)
    act = shipped[shipped[weak].answer["parent_task_id"] or weak]
    members = {name for name, one in shipped.items() if one.answer["group_id"] == act.answer["group_id"]}
    gone = members | {name for name, one in shipped.items() if one.answer["parent_task_id"] in members}
    assert len(members) == 4 and len(gone) == 4 * (1 + len(act.constraints))
    after = settled(town, {weak: 0.5})
    for table in RELEASED:
        kept = town[table].filter(~pl.col("task_id").is_in(gone))
        assert kept.equals(after[table]) and kept.height < town[table].height, table
    told = {reason: {c for c in found if c in gone} for reason, found in reasons(after).items()}
    assert told["words_leave_it_open"] == {weak} and told["falls_with_its_group"] == gone - {weak}
    assert reasons(after)["words_leave_it_open"][weak] == {"p_decision": 0.5}
    assert after["rejects"].height == town["rejects"].height + len(gone)


def test_certainty_just_at_the_limit_ships(town: Lives) -> None:
    name = next(iter(asked(town)))
    assert settled(town, {name: town.data.tasks.act_at_least})["tasks"].equals(town["tasks"])
    assert name not in set(settled(town, {name: town.data.tasks.act_at_least - 1e-6})["tasks"]["task_id"])


def test_a_task_that_was_not_certified_does_not_ship(town: Lives) -> None:
    name = next(iter(asked(town)))
    certified = town["certified"].filter(~(pl.col("constraint_id").is_null() & (pl.col("task_id") == name)))
    after = run(
        "settle", town.data, town.tables | {"certified": certified.to_arrow().cast(town.tables["certified"].schema)}
    )
    assert name not in after["tasks"]["task_id"].to_pylist()


def test_groups_of_two_constraints_go_where_those_of_three_have_become_few(town: Lives) -> None:
    """As if half of the groups had two constraints: no more of them stay than their share allows."""
    draft = town["draft_answers"]
    named = draft.filter(family_true="act")["group_id"].unique().sort().to_list()
    two = set(named[::2])
    count = [
        2 if group in two else row["constraint_count"] for group, row in draft.select("group_id", "strata").iter_rows()
    ]
    changed = draft.with_columns(
        strata=pl.col("strata").struct.with_fields(constraint_count=pl.Series(count, dtype=pl.Int16))
    )
    after = Lives(
        town.data,
        run(
            "settle",
            town.data,
            town.tables | {"draft_answers": changed.to_arrow().cast(town.tables["draft_answers"].schema)},
        ),
    )
    stay = (
        after["answers"]
        .filter(family_true="act")
        .select("group_id", pl.col("strata").struct.field("constraint_count"))
        .unique()
    )
    twos = stay.filter(constraint_count=2)["group_id"].sort().to_list()
    threes = stay.filter(constraint_count=3).height
    assert threes > 20 and len(twos) == int(threes * 0.25)
    whole = set(named) & two & set(town["answers"]["group_id"])
    assert twos == sorted(whole)[: len(twos)]
    assert set(reasons(after)) >= {"too_many_of_two_constraints"}


def test_every_candidate_and_every_draft_is_accounted_for(town: Lives) -> None:
    """Each candidate stands in a drafted task or among the rejects, and each draft ships or stands there."""
    found = reasons(town)
    drafted = set(town["draft_tasks"]["task_id"])
    shipped = set(town["tasks"]["task_id"])
    assert drafted - shipped == set(found["words_leave_it_open"]) | set(found["falls_with_its_group"])
    used = set(town["draft_tasks"].filter(family="act").select("user_id", "asked_at").iter_rows())
    asks = (
        town["candidates"]
        .group_by("candidate_id")
        .agg(pl.col("user_id").first(), pl.col("asked_at").first(), pl.col("domain").first())
    )
    unused = set().union(*(found[reason] for reason in ("undetermined", "no_group", "decision_undetermined")))
    assert all((candidate in unused) != ((user, at) in used) for candidate, user, at, _ in asks.iter_rows())
    assert all(json.loads(figures) for figures in town["rejects"]["figures"])
    assert len(groups(asked(town), "act")) > 50
