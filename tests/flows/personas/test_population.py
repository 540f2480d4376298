"""Claims about the distributions that people are drawn from, and about what is refused before any draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.personas.population import (
    ADULT_GROUPS,
    GROUP_YEARS,
    INCOME_BANDS,
    Distribution,
    PopulationError,
    built_in,
    population,
)
from flows.personas.sample import sample_people
from schemas.config.personas import POPULATION, PersonasConfig
from schemas.source import InputError
from tests.flows.lives import small_config
from validation.references.reader import load_reference


def config(**attributes: Any) -> PersonasConfig:
    """A part of a config that was not judged together with the rest."""
    return PersonasConfig.model_validate({"attributes": attributes})


def refused(**attributes: Any) -> list[tuple[str, str, str, str]]:
    with pytest.raises(PopulationError) as caught:
        population(config(**attributes))
    return caught.value.problems


def test_what_the_config_may_depend_on_is_what_the_reference_has() -> None:
    made = {name: (d.given, d.levels) for name, d in built_in().items()}
    assert made == {name: (part.given, part.levels) for name, part in POPULATION.items()}


@pytest.mark.parametrize("name", POPULATION)
def test_every_row_of_every_table_can_be_drawn_from(name: str) -> None:
    distribution = built_in()[name]
    assert distribution.weights.shape == (len(distribution.rows), len(distribution.levels))
    assert np.isfinite(distribution.weights).all() and (distribution.weights >= 0).all()
    assert (distribution.weights.sum(axis=1) > 0).all() and (distribution.weights.sum(axis=0) > 0).all()


def test_tables_are_those_of_the_reference() -> None:
    reference = load_reference("demographics_us_atus_cps")
    marital = built_in()["marital_status"]
    joint = reference.shares("joint_ageg_x_marital_share", "2012-2016")
    for row, (group,) in zip(marital.weights, marital.rows, strict=True):
        assert row.tolist() == [joint.get(f"{group}|{level}", 0.0) for level in marital.levels]
    sex = built_in()["sex"]
    joint = reference.shares("joint_sex_x_ageg_share", "2012-2016")  # the child comes first here
    assert sex.weights[0].tolist() == [joint[f"{level}|18-24"] for level in sex.levels]


def test_time_zones_are_weighted_by_the_people_of_their_states() -> None:
    zones = built_in()["time_zone"]
    assert len(zones.rows) == 4
    rows = zip(zones.rows, zones.weights, strict=True)
    by_region = {region: dict(zip(zones.levels, row.tolist(), strict=True)) for (region,), row in rows}
    assert by_region["northeast"]["America/New_York"] > 0 == by_region["northeast"]["America/Los_Angeles"]
    assert by_region["west"]["America/Los_Angeles"] == max(by_region["west"].values())
    assert sum(map(sum, zones.weights.tolist())) == pytest.approx(1, abs=0.02)


def test_bands_of_ages_and_incomes_are_the_levels_and_leave_no_gap() -> None:
    for name, bounds in (("age_group", GROUP_YEARS), ("income_band", INCOME_BANDS)):
        assert set(bounds) == set(POPULATION[name].levels)
        edges = list(bounds.values())
        assert all(low < high for low, high in edges)
        assert [high for _, high in edges[:-1]] == [low for low, _ in edges[1:]]
    assert tuple(GROUP_YEARS) == ADULT_GROUPS


def distributions(config: PersonasConfig) -> list[Distribution]:
    """The attributes as declared, in the order of drawing."""
    return [step.of for step in population(config).plans[0].steps]


def order_of(distributions: list[Distribution]) -> Mapping[str, int]:
    return {distribution.name: place for place, distribution in enumerate(distributions)}


def test_every_parent_comes_before_its_children() -> None:
    table = {"p": {"1": 1.0}, "q": {"2": 1.0}}
    made = distributions(
        config(
            c={"given": "b", "table": table},
            b={"given": "a", "table": {"x": {"p": 0.5, "q": 0.5}}},
            a={"weights": {"x": 1.0}},
            education={"given": "c", "table": {level: {"hs diploma": 1.0} for level in ("1", "2")}},
        )
    )
    order = order_of(made)
    assert all(order[parent] < order[d.name] for d in made for parent in d.given)
    assert order["a"] < order["b"] < order["c"] < order["education"] < order["income_band"]


def test_ages_of_the_config_decide_the_age_group_and_not_the_other_way_round() -> None:
    ages = {"weights": {"18": 0.5, "24": 0.2, "25": 0.2, "104": 0.1}}
    made = {d.name: d for d in distributions(config(age_years=ages))}
    assert made["age_group"].given == ("age_years",)
    rows = [made["age_group"].levels[int(row.argmax())] for row in made["age_group"].weights]
    assert rows == ["18-24", "18-24", "25-34", "75+"]
    assert "income_band" in made and "income_band" not in {
        d.name for d in distributions(config(income_usd={"values": ["1"]}))
    }


UNFIT = [
    ({"region": {"weights": {"North": 1.0}}}, [("home_type", "North"), ("time_zone", "North")]),
    ({"work": {"given": "place", "table": {"x": {"y": 1.0}}}}, [("work", "place")]),
    (
        {"place": {"weights": {"a": 0.5, "b": 0.5}}, "work": {"given": "place", "table": {"a": {"y": 1.0}}}},
        [("work", "b")],
    ),
    (
        {"sex": {"weights": {"other": 1.0}}, "education": {"weights": {"none": 1.0}}},
        [
            *[("labour_status", f"{group} | other") for group in ADULT_GROUPS],
            ("occupation", "other"),
            *[("income_band", f"{group} | none") for group in ADULT_GROUPS],
        ],
    ),
    (
        {
            "age_years": {"weights": {"6": 0.5, "40": 0.5}},
            **{name: {"weights": {value: 1.0}} for name, value in (("education", "hs diploma"), ("sex", "male"))},
            "labour_status": {"weights": {"not_in_labor_force": 1.0}},
            "marital_status": {"weights": {"married": 1.0}},
            "income_usd": {"values": ["0"]},
        },
        [("household_size", "under 18 | married")],
    ),
]


@pytest.mark.parametrize(("attributes", "told"), UNFIT)
def test_parents_whose_values_do_not_fit_are_told_together(
    attributes: dict[str, Any], told: list[tuple[str, str]]
) -> None:
    problems = refused(**attributes)
    assert [(name, value) for name, value, _, _ in problems] == told
    assert all(rule and fix for _, _, rule, fix in problems)


def test_a_circle_is_told() -> None:
    table = {"x": {"x": 1.0}}
    [(name, _, rule, fix)] = refused(p={"given": "q", "table": table}, q={"given": "p", "table": table})
    assert name == "p" and "['p', 'q'] depend on each other in a circle" in rule and fix


def test_the_error_names_place_value_rule_and_fix_and_is_one_of_the_input() -> None:
    with pytest.raises(InputError) as caught:
        population(config(work={"given": "sex", "table": {"male": {"y": 1.0}}}))
    rule = "has no row for the value `female` of `sex`. Add a row for `female`."
    assert str(caught.value) == f"personas: work female: {rule}"


def test_nobody_is_drawn_from_a_population_that_does_not_fit() -> None:
    data = small_config(5, 4)
    broken = data.model_copy(update={"personas": config(region={"weights": {"North": 1.0}})})

    class NoDraws(Draws):
        def bits(self, *args: Any) -> Any:
            raise AssertionError("drawn all the same")

    with pytest.raises(PopulationError, match="home_type"):
        sample_people(Context(broken, NoDraws(7, "personas"), Shard(0, 5)), {})
    with pytest.raises(AssertionError, match="drawn all the same"):
        sample_people(Context(data, NoDraws(7, "personas"), Shard(0, 5)), {})
