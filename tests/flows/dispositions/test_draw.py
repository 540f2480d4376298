"""Tastes: lasting values without gap or overlap, life events that move them, states that pass."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.dispositions.flow import DISPOSITIONS_STAGE
from flows.personas.flow import PERSONAS_STAGE
from schemas.config import DataConfig
from schemas.load import load_domains, load_life_events

WINDOW = {"start": "2025-01-06T00:00:00+00:00", "end": "2025-07-07T00:00:00+00:00"}


def drawn(users: int = 200, **data: object) -> dict[str, pa.Table]:
    section = {"users": users, "window": WINDOW, "domains": ["food", "groceries"], **data}
    config = DataConfig.model_validate(section)
    tables: dict[str, pa.Table] = {}
    for stage in (PERSONAS_STAGE, DISPOSITIONS_STAGE):
        tables |= stage.run(Context(config, Draws(config.seed, stage.name), Shard(0, users)), tables)
    return tables


def own(tables: dict[str, pa.Table]) -> pa.Table:
    """The users' own dispositions."""
    selves = tables["actors"].filter(pc.equal(tables["actors"]["relation"], "self"))["actor_id"].combine_chunks()
    return tables["dispositions"].filter(pc.is_in(tables["dispositions"]["actor_id"], value_set=selves))


def test_lasting_values_run_from_sign_up_without_gap_or_overlap() -> None:
    tables = drawn(disturb={"drift": {"abrupt_per_year": 4}})
    signed_up = dict(
        zip(tables["users"]["user_id"].to_pylist(), tables["users"]["signed_up_at"].to_pylist(), strict=True)
    )
    chains: dict[tuple[str, str], list[dict[str, object]]] = {}
    for row in own(tables).to_pylist():
        if row["clock"] != "state":
            chains.setdefault((row["user_id"], row["dimension"]), []).append(row)
    assert len(chains) == 200 * 12
    assert any(len(chain) > 1 for chain in chains.values())
    for (user, _), chain in chains.items():
        chain.sort(key=lambda row: row["valid_from"])  # type: ignore[arg-type, return-value]
        assert chain[0]["valid_from"] == signed_up[user]
        assert chain[-1]["valid_to"] is None
        for earlier, later in zip(chain, chain[1:], strict=False):
            assert earlier["valid_to"] == later["valid_from"]
            assert (earlier["value"], earlier["strength"]) != (later["value"], later["strength"])


def test_every_change_is_a_ledger_row_and_every_ledger_row_that_changes_something_a_change() -> None:
    tables = drawn(disturb={"drift": {"abrupt_per_year": 4, "gradual_share": 0, "seasonal_share": 0}})
    changes = {
        (row["user_id"], row["dimension"], row["valid_from"], row["value"], row["cause"])
        for row in own(tables).to_pylist()
        if row["cause"] is not None and row["clock"] != "state"
    }
    ledger = {
        (row["user_id"], row["dimension"], row["onset_at"], row["after"], row["cause"])
        for row in tables["drift"].to_pylist()
        if row["before"] != row["after"]
    }
    assert changes == ledger and len(ledger) > 200


def test_life_events_move_several_dimensions_together_as_declared() -> None:
    drift = [
        row for row in drawn(disturb={"drift": {"abrupt_per_year": 4}})["drift"].to_pylist() if row["kind"] == "abrupt"
    ]
    events = load_life_events().events
    together: dict[tuple[str, object, str], set[str]] = {}
    for row in drift:
        assert events[row["cause"]].moves[row["dimension"]] == row["after"]
        together.setdefault((row["user_id"], row["onset_at"], row["cause"]), set()).add(row["dimension"])
    for (_, _, cause), moved in together.items():
        assert moved == {name for name in events[cause].moves if name.split(".")[0] in ("food", "groceries")}
    assert {cause for _, _, cause in together} >= {"new_job", "lost_job", "health_scare"}


def test_a_higher_rate_of_life_events_only_adds() -> None:
    few, many = (
        set(
            drawn(disturb={"drift": {"abrupt_per_year": rate, "gradual_share": 0}})["drift"]["injection_id"].to_pylist()
        )
        for rate in (0.8, 3)
    )
    assert 0 < len(few) < len(many)
    assert few < many


def test_no_rate_no_life_event_and_no_state() -> None:
    quiet = drawn(
        disturb={
            "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0},
            "contradictions": {"temporary_state": 0},
        }
    )
    assert quiet["drift"].num_rows == 0
    assert "state" not in quiet["dispositions"]["clock"].to_pylist()
    assert own(quiet).num_rows == 200 * 12


def test_states_pass_within_the_window_and_differ_from_what_lasts() -> None:
    states = {"temporary_state": 0.2, "state_days": 9}
    stay = {"late_start_share": 0, "early_end_share": 0}
    tables = drawn(users=600, disturb={"contradictions": states}, dispositions=stay)
    rows = own(tables).to_pylist()
    lasting = [row for row in rows if row["clock"] != "state"]
    by_cell: dict[tuple[str, str], list[dict[str, object]]] = {}
    for row in lasting:
        by_cell.setdefault((row["user_id"], row["dimension"]), []).append(row)
    states = [row for row in rows if row["clock"] == "state"]
    # 600 people times 9 dimensions that are not sensitive at 0.2: 1,080 expected, 99.9 % within 97.
    assert 983 < len(states) < 1_177 and not any(state["is_sensitive"] for state in states)
    for state in states:
        days = (state["valid_to"] - state["valid_from"]).total_seconds() / 86_400
        assert 2.9 < days <= 9.05
        [then] = [
            row
            for row in by_cell[state["user_id"], state["dimension"]]
            if row["valid_from"] <= state["valid_from"]
            and (row["valid_to"] is None or state["valid_from"] < row["valid_to"])
        ]
        assert then["value"] != state["value"]


def test_weights_sum_to_one_and_the_liked_value_leads() -> None:
    table = drawn()["dispositions"]
    for row in table.to_pylist():
        weights = {entry["value"]: entry["weight"] for entry in row["weights"]}
        assert abs(sum(weights.values()) - 1) < 5e-6
        assert weights[row["value"]] == max(weights.values())


def test_shares_of_liked_values_follow_the_domain_file_and_tilts_move_them() -> None:
    tables = drawn(users=4_000)
    rows = own(tables)
    first = rows.filter(pc.and_(pc.is_null(rows["cause"]), pc.equal(rows["dimension"], "food.cuisine")))
    shares = load_domains(["food"])["food"].dimensions["cuisine"].values
    counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(first["value"]).to_pylist()}
    for value, spec in shares.items():
        assert abs(counts[value] / 4_000 - spec.share) < 3.3 * (spec.share * (1 - spec.share) / 4_000) ** 0.5
    ages = dict(
        zip(tables["personas"]["user_id"].to_pylist(), tables["personas"]["age_years"].to_pylist(), strict=True)
    )
    heat = rows.filter(pc.and_(pc.is_null(rows["cause"]), pc.equal(rows["dimension"], "food.heat"))).to_pylist()
    mild_old = np.mean([row["value"] == "mild" for row in heat if ages[row["user_id"]] >= 60])
    mild_young = np.mean([row["value"] == "mild" for row in heat if ages[row["user_id"]] < 35])
    assert mild_old > mild_young + 0.08


def test_the_first_people_keep_their_tastes_when_there_are_more() -> None:
    few, more = drawn(users=20), drawn(users=26)
    for name in ("dispositions", "drift", "interests", "participation"):
        kept = more[name].filter(pc.is_in(more[name]["user_id"], value_set=few["users"]["user_id"].combine_chunks()))
        assert kept.equals(few[name])
