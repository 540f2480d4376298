"""People as configured: right ones pass the gates at any number, and each fault that is planted fails the gate for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from duckdb import DuckDBPyConnection

from flows.common.draws import Draws, permutation
from flows.common.stage import Context, Shard
from flows.personas.sample import people_of
from flows.personas.shares import configured_shares
from schemas.config import DataConfig
from schemas.config.personas import PersonasConfig
from schemas.tables.configured import configured
from schemas.tables.sealed import PERSONAS
from tests.flows.lives import small_config
from validation.fidelity.people_facts import NAMED_ALIKE, people_facts
from validation.fidelity.realised import deviations
from validation.report.judge import Gate, _judge_people
from validation.report.people_page import conditional_tables, margin_plots, people_rows
from validation.structure.cross import check_rules
from validation.structure.folder import Violation, connect
from validation.structure.people_rules import people_rules

MANY = 2_000
CHANGED: dict[str, Any] = {
    "locales": {"en_US": 0.6, "de_DE": 0.4},
    "attributes": {
        "mood": {"weights": {"good": 0.7, "bad": 0.2999, "odd": 0.0001}},
        "calls": {"weights": {"1": 0.25, "2": 0.25, "3": 0.25, "4": 0.25}},
        "steps": {"weights": {"1": 0.25, "2": 0.25, "3": 0.25, "4": 0.25}},
        "even": {
            "given": ["calls", "steps"],
            "table": {f"{a} | {b}": {"yes" if a == b else "no": 1.0} for a in range(1, 5) for b in range(1, 5)},
        },
    },
    "rules": [{"name": "age of a doctor", "when": {"education": "doctoral degree"}, "need": {"age_group": "75+"}}],
    "oversample": [{"where": {"sex": "female", "age_years": "..30"}, "times": 4}],
    "correlations": [{"between": ["calls", "steps"], "spearman": 0.6}],
}


def config(users: int, seed: int = 7, **personas: Any) -> DataConfig:
    return small_config(users, 4, seed=seed, personas=personas)


@cache
def shares(personas: str) -> pa.Table:
    return configured_shares(PersonasConfig.model_validate_json(personas))


def people(data: DataConfig) -> pa.Table:
    return people_of(Context(data, Draws(data.seed, "personas"), Shard(0, data.users)))["personas"]


@cache
def plain() -> pa.Table:
    """People of the built-in population."""
    return people(config(MANY))


@pytest.fixture(scope="module")
def changed() -> tuple[DataConfig, pa.Table]:
    data = config(MANY, **CHANGED)
    return data, people(data)


@contextmanager
def opened(data: DataConfig, table: pa.Table) -> Iterator[DuckDBPyConnection]:
    """A database with the people and what is configured, as the release's would be."""
    with connect() as database:
        for name, rows in (("personas", table), ("population", shares(data.personas.model_dump_json()))):
            database.register(name, rows.append_column("_split", pa.repeat("train", rows.num_rows)))
        yield database


def judged(data: DataConfig, table: pa.Table) -> tuple[dict[str, Gate], dict[str, list[Violation]]]:
    """The gates of the people, and what breaks them."""
    gates: dict[str, Gate] = {}
    found: dict[str, list[Violation]] = {}
    with opened(data, table) as database:
        _judge_people(database, data, gates, found)
    return gates, found


def failed(data: DataConfig, table: pa.Table) -> set[str]:
    return {name for name, gate in judged(data, table)[0].items() if gate.passed is False}


def who_breaks(data: DataConfig, table: pa.Table) -> list[tuple[str, int, tuple[str, ...]]]:
    """What of the gate `cross.people` is broken: column, people, examples."""
    with opened(data, table) as database:
        lines = check_rules(database, people_rules(data, configured(PERSONAS, data)))["people"]
    return [(line.column, line.count, line.examples) for line in lines]


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, table.schema.field(name).type))


def shuffled(table: pa.Table, name: str) -> pa.Table:
    """The same values, each with somebody else."""
    order = permutation(Draws(1, "shuffle").bits("order", 0, np.arange(table.num_rows, dtype=np.uint64)))
    return with_column(table, name, table[name].combine_chunks().take(pa.array(order)))


def first(table: pa.Table, name: str, count: int, value: Any) -> pa.Table:
    """The table in which the first people have another value."""
    return with_column(table, name, [value] * count + table[name].to_pylist()[count:])


def test_right_people_pass_every_gate_and_stand_in_the_evidence(changed: tuple[DataConfig, pa.Table]) -> None:
    data, table = changed
    gates, found = judged(data, table)
    assert {name: gate.passed for name, gate in gates.items()} == {
        f"people.{name}": True for name in ("margins", "conditionals", "names", "birthdays", "correlations")
    }
    assert not any(found.values())
    sample = gates["people.margins"].sample
    assert sample["people"] == MANY and sample["judged"] > 100 and sample["not_judged"] == 0
    assert gates["people.conditionals"].sample["not_judged"] > 0  # groups of a hundred people and more are judged


@pytest.mark.parametrize("users", [200, MANY])
def test_bounds_hold_for_right_people_of_other_seeds(users: int) -> None:
    for seed in (1, 2):
        data = config(users, seed)
        assert failed(data, people(data)) == set(), seed


def test_bounds_grow_with_what_is_judged_together_so_that_one_right_build_in_10_000_fails() -> None:
    assert deviations(1) == pytest.approx(3.8906, abs=1e-4)
    assert deviations(120) == pytest.approx(4.9274, abs=1e-4)


def test_shares_that_hang_on_a_correlation_are_left_out_and_those_given_its_pair_are_judged(
    changed: tuple[DataConfig, pa.Table],
) -> None:
    rows = shares(changed[0].personas.model_dump_json()).to_pylist()
    assert {row["given"] for row in rows if row["attribute"] == "even"} == {"calls | steps"}
    assert {row["given"] for row in rows if row["attribute"] == "calls"} == {""}


def test_too_few_people_decide_nothing_but_what_cannot_be_fails_at_any_number() -> None:
    data = config(60)
    table = people(data)
    gates, _ = judged(data, table)
    assert {(gate.passed, gate.verdict) for gate in gates.values()} == {(None, "insufficient")}
    gates, found = judged(data, first(table, "region", 1, "atlantis"))
    assert {name for name, gate in gates.items() if gate.passed is False} == {"people.margins"}
    [told] = found["people.margins"]
    assert str(told) == "personas.region: `atlantis` is configured 0.00% ± 0.00%, and is 1.67%"


def test_a_margin_that_is_not_the_configured_one_fails(changed: tuple[DataConfig, pa.Table]) -> None:
    data, table = changed
    assert "people.margins" in failed(data, with_column(table, "sample_weight", [1.0] * MANY))
    _, found = judged(data, first(table, "home_type", 300, "occupy without rent"))
    assert {line.column for line in found["people.margins"]} == {"home_type"}


def test_right_margins_of_wrong_pairs_fail_by_their_conditionals(changed: tuple[DataConfig, pa.Table]) -> None:
    data, table = changed
    told = failed(config(MANY), shuffled(plain(), "marital_status"))
    assert told == {"people.conditionals"}
    assert failed(data, shuffled(table, "calls")) >= {"people.correlations"}


def test_g3_s04_who_breaks_a_rule_is_counted_and_named(changed: tuple[DataConfig, pa.Table]) -> None:
    data, table = changed
    young = pc.index(pc.less(table["age_years"], 75), True).as_py()
    education = table["education"].to_pylist()
    education[young] = "doctoral degree"
    assert who_breaks(data, table) == []
    assert who_breaks(data, with_column(table, "education", education)) == [("age_group", 1, (f"u{young:06d}",))]


def test_a_rule_is_not_broken_by_who_has_no_occupation() -> None:
    rule = {"name": "r", "when": {"sex": "male", "children": "..9"}, "need": {"occupation": "sales"}}
    data = config(MANY, rules=[rule])
    table = people(data)
    assert table["occupation"].null_count > 0 and who_breaks(data, table) == []
    works = pc.and_(pc.equal(table["sex"], "male"), pc.is_valid(table["occupation"]))
    place = pc.index(works, True).as_py()
    jobs = table["occupation"].to_pylist()
    jobs[place] = "production"
    assert who_breaks(data, with_column(table, "occupation", jobs)) == [("occupation", 1, (f"u{place:06d}",))]


@pytest.mark.parametrize(("years", "wrong"), [(1, 1), (4, 300)])
def test_fault_51_an_age_that_does_not_follow_from_the_birth_date_is_named(years: int, wrong: int) -> None:
    """Also the ages of LifeBench: all those of another year than the window's."""
    data = config(300)
    table = people(data)
    ages = (np.asarray(table["age_years"]) - years * (np.arange(300) < wrong)).tolist()
    assert [line[:2] for line in who_breaks(data, with_column(table, "age_years", ages))] == [("age_years", wrong)]


@pytest.mark.parametrize("column", ["given_name", "family_name"])
def test_fault_62_one_name_for_everybody_of_a_locale_fails(column: str, changed: tuple[DataConfig, pa.Table]) -> None:
    data, table = changed
    is_german = pc.equal(table["locale"], "de_DE").to_pylist()
    names = ["Kim" if german else name for german, name in zip(is_german, table[column].to_pylist(), strict=True)]
    gates, found = judged(data, with_column(table, column, names))
    assert gates["people.names"].passed is False and gates["people.names"].sample["judged"] == 6
    assert all("de_DE" in line.rule and "100.00% of pairs" in line.rule for line in found["people.names"])


def test_fault_66_names_differ_within_a_build_and_from_seed_to_seed() -> None:
    data = config(MANY)
    one, other = plain(), people(config(MANY, seed=8))
    with opened(data, one) as database:
        facts = people_facts(database, [])
    assert len(facts.names) == 3
    for names in facts.names:
        assert names.pairs < NAMED_ALIKE / 10 and names.top_ten_share < 0.35 and names.entropy_bits > 6
        assert names.distinct > 120
    full = [list(zip(t["given_name"].to_pylist(), t["family_name"].to_pylist(), strict=True)) for t in (one, other)]
    assert sum(a == b for a, b in zip(*full, strict=True)) / MANY < 0.005
    again = sum((Counter(full[0]) & Counter(full[1])).values()) / MANY
    assert again < 0.15, again


def test_birthdays_that_repeat_fail(changed: tuple[DataConfig, pa.Table]) -> None:
    """In HaluMem 17 of 20 share day and month of birth with somebody; here one person in seven does with all others."""
    data, table = changed
    born = date(1990, 5, 5)
    assert "people.birthdays" in failed(data, first(table, "birth_date", MANY // 7, born))


def test_evidence_and_page_hold_every_judged_share(changed: tuple[DataConfig, pa.Table]) -> None:
    data, table = changed
    with opened(data, first(table, "region", 200, "west")) as database:
        facts = people_facts(database, data.personas.correlations)
    told = people_rows(facts)
    off = {(row["attribute"], row["value"]) for row in told["margins"] if row["ok"] is False}
    assert ("region", "west") in off and told["people"] == MANY
    assert all(row["ok"] is not None and row["people"] >= 100 for row in told["conditionals"])
    [women] = [row for row in told["margins"] if (row["attribute"], row["value"]) == ("sex", "female")]
    assert abs(women["having"] - women["expected_count"]) < 4 * (MANY / 4) ** 0.5  # more are drawn than there are
    assert women["expected_count"] > MANY * (women["configured"] + 0.1)
    [pair] = told["correlations"]
    assert pair["configured"] == 0.6 and abs(pair["realised"] - 0.6) < pair["bound"] < 0.1
    plots = margin_plots(facts)
    assert len(plots) == len({row["attribute"] for row in told["margins"]} - {"age_group", "income_band"})
    assert sum("region" in plot and "of 4 out of bounds" in plot for plot in plots) == 1
    by_region = next(one for one in conditional_tables(facts) if (one.attribute, one.given) == ("time_zone", "region"))
    assert by_region.off and by_region.nearest > 1 and by_region.groups == by_region.all_groups == 4
