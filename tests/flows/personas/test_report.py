"""Configured against realised margins: right people pass at any number, wrong ones fail, and rare values are told."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.personas.report import notices, realised
from flows.personas.sample import people_of
from schemas.config.personas import PersonasConfig
from tests.flows.lives import small_config
from validation.fidelity.realised import PEOPLE_AT_LEAST, deviations

CONFIGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "changed": {
        "attributes": {
            "mood": {
                "given": ["sex", "age_years"],
                "table": {"female | ..91": {"calm": 0.9, "tense": 0.1}, "male | ..91": {"tense": 1}},
            },
            "nick": {"values": [f"n{n}" for n in range(10_000)], "unique": True},
            "pets": {"values": [str(n) for n in range(60)]},
        },
        "rules": [{"name": "x", "when": {"education": "doctoral degree"}, "need": {"age_years": "27.."}}],
        "rake": [{"attribute": "sex", "weights": {"female": 0.6, "male": 0.4}}],
        "oversample": [
            {"where": {"education": "doctoral degree"}, "times": 12},
            {"where": {"region": "west"}, "times": 3},
        ],
        "segments": {
            "a": {"share": 0.2, "attributes": {"occupation": {"weights": {"sales": 1.0}}}},
            "b": {"share": 0.8},
        },
    },
}


def people(users: int, seed: int, personas: dict[str, Any]) -> pa.Table:
    data = small_config(users, 4, seed=seed, personas=personas)
    return people_of(Context(data, Draws(seed, "personas"), Shard(0, users)))["personas"]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("users", [5, 200, 10_000])
@pytest.mark.parametrize("name", CONFIGS)
def test_people_of_the_config_are_within_the_bounds_at_any_number(name: str, users: int, seed: int) -> None:
    config = PersonasConfig.model_validate(CONFIGS[name])
    rows = realised(config, people(users, seed, CONFIGS[name]))
    assert [row for row in rows if row.ok is False] == []
    assert all((row.ok is None) is (row.people < PEOPLE_AT_LEAST) for row in rows)
    assert all(row.bound > 0 or row.configured == 0 or row.people == 0 for row in rows)
    given = [row for row in rows if row.given]
    assert {("education", "age_group | sex"), ("home_type", "region")} <= {(row.attribute, row.given) for row in given}
    rows = [row for row in rows if not row.given]
    for attribute in {row.attribute for row in rows}:
        own = [row for row in rows if row.attribute == attribute]
        assert sum(row.configured for row in own) == pytest.approx(1, abs=1e-4)
        assert sum(row.realised for row in own) == pytest.approx(1, abs=1e-4)
    expected = sum(row.expected_count for row in rows if row.attribute == "sex")
    assert expected == pytest.approx(users, abs=0.01)
    wanted = {"sex", "education", "children", "age_years", "income_usd", "occupation", "time_zone"}
    wanted |= {"mood", "pets", "segment"} if name == "changed" else set()
    assert wanted <= {row.attribute for row in rows} and "nick" not in {row.attribute for row in rows}


def test_bounds_narrow_with_the_number_of_people() -> None:
    few, many = (
        {
            (row.attribute, row.value): row.bound
            for row in realised(PersonasConfig(), people(users, 7, {}))
            if not row.given
        }
        for users in (400, 10_000)
    )
    assert few["sex", "female"] / many["sex", "female"] == pytest.approx(5, rel=0.1)
    assert many["sex", "female"] == pytest.approx(deviations(len(many)) * 0.5 / 100, rel=0.05)


def test_people_of_another_config_are_told() -> None:
    table = people(10_000, 7, {"attributes": {"region": {"weights": {"west": 0.3, "south": 0.7}}}})
    told = {(row.attribute, row.value) for row in realised(PersonasConfig(), table) if row.ok is False}
    assert {("region", "west"), ("region", "midwest"), ("region", "south")} <= told
    assert "sex" not in {attribute for attribute, _ in told}


def test_a_value_that_the_config_does_not_know_is_not_ok() -> None:
    table = people(50, 7, {})
    strange = table.set_column(table.column_names.index("sex"), "sex", pa.array(["x"] + ["male"] * 49))
    [row] = [row for row in realised(PersonasConfig(), strange) if row.value == "x"]
    assert (row.configured, row.realised, row.bound, row.ok) == (0, 0.02, 0, False)


def test_weights_are_part_of_the_comparison() -> None:
    personas = {"oversample": [{"where": {"sex": "female"}, "times": 5}]}
    config = PersonasConfig.model_validate(personas)
    table = people(10_000, 7, personas)
    assert all(row.ok is not False for row in realised(config, table))
    flat = table.set_column(1, "sample_weight", pa.array([1.0] * 10_000))
    assert ("sex", "female") in {(row.attribute, row.value) for row in realised(config, flat) if row.ok is False}


def test_g3_s05_a_value_that_is_expected_less_than_five_times_is_told() -> None:
    rare = {"attributes": {"kind": {"weights": {"rare": 0.001, "common": 0.999}}}}
    config = PersonasConfig.model_validate(rare)
    assert notices(config, 200) == ["`kind`: at 200 people the expected count is below 5 for `rare` 0.2"]
    assert notices(config, 5_000) == [] and notices(PersonasConfig(), 5) == []
    more = PersonasConfig.model_validate({**rare, "oversample": [{"where": {"kind": "rare"}, "times": 1000}]})
    assert notices(more, 200) == []


@pytest.mark.parametrize(("rare", "ok"), [(0, True), (3, True), (7, False)])
def test_a_rare_value_may_be_there_a_few_times_more_than_its_share(rare: int, ok: bool) -> None:
    """Of 200 people 0.02 are expected: five standard errors alone would forbid even one of them."""
    personas = {"attributes": {"kind": {"weights": {"rare": 0.0001, "common": 0.9999}}}}
    table = people(200, 7, personas)
    kinds = pa.array(["rare"] * rare + ["common"] * (200 - rare))
    changed = table.set_column(table.column_names.index("kind"), "kind", kinds)
    rows = realised(PersonasConfig.model_validate(personas), changed)
    assert {row.ok for row in rows if row.value == "rare"} == {ok}
