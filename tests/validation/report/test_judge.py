from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from schemas.load import load_domain
from schemas.tables import RELEASED
from validation.fidelity.metrics import METRICS, Measurement, Part
from validation.report import judge as module
from validation.report.judge import Judgement
from validation.structure.suite import TableReport

Judged = tuple[Path, Judgement]


def test_a_sound_release_passes_and_small_samples_are_shown_without_failing(sound: Judged) -> None:
    _, judgement = sound
    assert judgement.passed
    assert judgement.violations == {}
    undecided = [name for name, gate in judgement.gates.items() if gate.passed is None]
    assert undecided == [
        *(f"fidelity.food.{metric}" for metric in sorted(load_domain("food").gates)),
        *("people.birthdays", "people.conditionals", "people.margins", "people.names"),
    ]
    without = [name for name in undecided if judgement.gates[name].verdict != "insufficient"]
    assert without == ["people.conditionals"] and judgement.gates[without[0]].verdict == "not applicable"
    assert all(gate.passed for name, gate in judgement.gates.items() if name not in undecided)


def test_every_table_group_of_rules_and_gated_metric_has_its_gate(sound: Judged) -> None:
    gates = set(sound[1].gates)
    assert gates >= {"integrity", *(f"structure.{name}" for name in RELEASED)}
    assert {name.split(".")[1] for name in gates if name.startswith("cross.")} == {
        "references",
        "splits",
        "events",
        "people",
        "sessions",
        "tasks",
        "time",
        "gold",
        "dispositions",
        "interests",
        "users",
    }
    assert list(sound[1].gates) == sorted(gates)


def test_what_is_not_gated_is_measured_all_the_same(sound: Judged) -> None:
    measured = {(one.domain, one.metric): one.verdict for one in sound[1].measurements}
    assert set(measured) == {("food", metric) for metric in METRICS}
    assert (measured["food", "popularity"], measured["food", "memory"]) == ("insufficient", "assumed")
    assert "fidelity.food.inter_event_gap" not in sound[1].gates


def test_faults_fail_the_gates_they_belong_to_and_no_other(spoilt: Judged) -> None:
    judgement = spoilt[1]
    failed = {name: gate for name, gate in judgement.gates.items() if gate.passed is False}
    assert set(failed) == {"structure.events", "cross.references"}
    assert not judgement.passed
    assert failed["cross.references"].detail == "events.item_id: is in `items.item_id` (1): <i9>"
    assert "events.price_cents: is at least 0 (1): -5" in failed["structure.events"].detail
    assert failed["cross.references"].value == 1 and failed["cross.references"].limit == 0


def test_a_broken_schema_is_a_failure_and_what_rests_on_it_an_error(unreadable: Judged, sound: Judged) -> None:
    gates = unreadable[1].gates
    assert gates["structure.sessions"].verdict == "failed"
    assert "lacks device" in gates["structure.sessions"].detail
    assert gates["integrity"].passed is False
    groups = ("cross.", "fidelity.", "people.")
    later = [gate for name, gate in gates.items() if name.startswith(groups)]
    assert len(later) == sum(name.startswith(groups) for name in sound[1].gates) > 15
    assert all((gate.passed, gate.verdict) == (False, "error") for gate in later)
    assert later[0].detail == "not evaluated: files of sessions differ from the declaration"
    assert gates["structure.events"].passed is True


@pytest.mark.parametrize("errors", [("pets.kind: could not be evaluated",), ()])
def test_expectations_that_break_or_get_lost_are_no_pass(errors: tuple[str, ...]) -> None:
    gate = module._table_gate(TableReport("pets", 3, "rows", 9, 8, (), errors))
    assert gate.passed is False
    assert gate.verdict == "error"


def test_counting_instead_of_reading_is_said() -> None:
    gate = module._table_gate(TableReport("pets", 3, "counts", 9, 9, (), ()))
    assert (gate.passed, gate.detail) == (True, "counts of one query judged, not rows")


def measured(passed: bool | None) -> Measurement:
    part = Part("all", "ks", 0.2, 0.5, 0.01, 0.08, 20.0, "distinguishable", "", (), (), (), ())
    return Measurement("food", "hour_of_day", "food_takeaway_london", passed, "distinguishable", "", 900, 9000, (part,))


def test_fidelity_gates_only_if_the_config_says_so() -> None:
    on, off = (module._fidelity_gate(measured(False), does_gate) for does_gate in (True, False))
    assert (on.passed, off.passed) == (False, None)
    assert on.value == off.value == 0.2 and on.limit == 0.08
    assert off.detail.startswith("shown only")
    assert on.sample == {"users": 900, "key_actions": 9000}


def test_no_number_stands_in_a_gate_as_none() -> None:
    part = dataclasses.replace(measured(False).parts[0], value=float("nan"))
    assert module._fidelity_gate(dataclasses.replace(measured(False), parts=(part,)), True).value is None
