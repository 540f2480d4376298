"""Rules, known shares, segments and oversampled groups: what they do to tables and to the people drawn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.personas import joint
from flows.personas.draw import drawn
from flows.personas.population import Plan, Population, PopulationError, population
from flows.personas.sample import people_of
from flows.personas.shares import joint as shares_among
from schemas.config.personas import PersonasConfig
from tests.flows.lives import frame, small_config

PEOPLE = 20_000


def config(**personas: Any) -> PersonasConfig:
    return PersonasConfig.model_validate(personas)


def people(users: int = PEOPLE, seed: int = 7, **personas: Any) -> pl.DataFrame:
    data = small_config(users, 4, seed=seed, personas=personas)
    return frame(people_of(Context(data, Draws(seed, "personas"), Shard(0, users)))["personas"])


def shares_of(found: Population, name: str, personas: PersonasConfig) -> dict[str, float]:
    shares = shares_among(found, [name])
    assert shares is not None
    return {value: share for (value,), (share, _) in shares.items()}


def weighted(personas: pl.DataFrame, where: pl.Expr) -> float:
    return float(personas.select((pl.col("sample_weight") * where).sum() / pl.col("sample_weight").sum()).item())


def refused(**personas: Any) -> str:
    with pytest.raises(PopulationError) as caught:
        population(config(**personas))
    return str(caught.value)


# Rules.

LEARNED = {"primary": {"weights": {"primary": 0.5, "PhD": 0.5}}}
PHD = {"name": "PhD", "when": {"education": "PhD"}, "need": {"age_years": "24.."}}
SMALL = {
    "age_years": {"weights": {"6": 0.5, "40": 0.5}},
    "education": {"weights": {"primary": 0.5, "PhD": 0.5}},
    "sex": {"weights": {"female": 0.5, "male": 0.5}},
    "marital_status": {"weights": {"never married": 1.0}},
    "household_size": {"weights": {"2": 1.0}},
    "labour_status": {"weights": {"not_in_labor_force": 1.0}},
    "income_usd": {"weights": {"30000": 1.0}},
}


def test_g3_s04_a_rule_is_never_broken_and_its_shift_is_kept() -> None:
    """1,000 people, half of them six years old; a PhD needs 24 years."""
    made = people(1_000, attributes=SMALL, rules=[PHD])
    assert made.filter((pl.col("age_years") == 6) & (pl.col("education") == "PhD")).is_empty()
    found = population(config(attributes=SMALL, rules=[PHD]))
    told = {(s.attribute, s.value): (s.before, round(s.after, 9)) for s in found.shifts}
    third = round(1 / 3, 9)
    assert told == {
        ("education", "primary"): (0.5, round(2 / 3, 9)),
        ("education", "PhD"): (0.5, third),
        ("age_years", "6"): (0.5, third),
        ("age_years", "40"): (0.5, round(2 / 3, 9)),
    }
    for (attribute, value), (_, after) in told.items():
        seen = (made[attribute].cast(pl.String) == value).mean()
        assert seen == pytest.approx(after, abs=4 * (0.25 / 1_000) ** 0.5)
    free = people(1_000, attributes=SMALL)
    assert not free.filter((pl.col("age_years") == 6) & (pl.col("education") == "PhD")).is_empty()


def test_a_rule_keeps_proportions_among_those_who_are_left() -> None:
    rule = {"name": "old", "when": {"education": "doctoral degree"}, "need": {"age_years": "30.."}}
    [before], [after] = population(config()).plans, population(config(rules=[rule])).plans
    one, other = (_table(plan, "age_years", "education") for plan in (before, after))
    doctor = before.levels("education").index("doctoral degree")
    broken = {key for key in one if key[1] == doctor and int(before.levels("age_years")[key[0]]) < 30}
    assert broken and not broken & set(other)
    left = sum(share for key, share in one.items() if key not in broken)
    assert all(other[key] == pytest.approx(share / left) for key, share in one.items() if key not in broken)


def _table(plan: Plan, *names: str) -> dict[tuple[int, ...], float]:
    cells = plan.cells(*names)
    keys = zip(*(cells.codes[name].tolist() for name in names), strict=True)
    return {key: share for key, share in zip(keys, cells.shares.tolist(), strict=True) if share > 0}


def test_rules_that_leave_nobody_or_take_a_value_away_are_named() -> None:
    alone = {"name": "alone", "when": {"sex": ["female", "male"]}, "need": {"home_type": "own", "region": "west"}}
    never = {"name": "never", "when": {"region": "west"}, "need": {"region": "south"}}
    nobody = {"name": "nobody", "when": {"sex": ["female", "male"]}, "need": {"sex": []}}
    assert "rule `never` region `west`: makes the value impossible" in refused(rules=[never])
    assert "rule `alone` region `south`: makes the value impossible" in refused(rules=[alone])
    with pytest.raises(ValueError, match="at least 1"):
        config(rules=[nobody])
    only = {"name": "only", "when": {"p": "a"}, "need": {"q": "x"}}
    attributes = {"p": {"weights": {"a": 1.0}}, "q": {"weights": {"x": 0.0, "y": 1.0}}}
    assert "rule `only`: leaves nobody" in refused(attributes=attributes, rules=[only])


def test_rules_apply_one_after_the_other() -> None:
    ab = {"p": {"weights": {"a": 0.5, "b": 0.5}}, "q": {"weights": {"x": 0.5, "y": 0.5}}}
    first = {"name": "first", "when": {"p": "a"}, "need": {"q": "x"}}
    second = {"name": "second", "when": {"p": "b"}, "need": {"q": "y"}}
    found = population(config(attributes=ab, rules=[first, second]))
    told = {(s.rule, s.attribute, s.value): (round(s.before, 6), round(s.after, 6)) for s in found.shifts}
    assert told["first", "p", "a"] == (0.5, 0.333333) and told["second", "p", "a"] == (0.333333, 0.5)


def test_a_joint_table_that_is_too_large_is_named() -> None:
    many = {"values": [f"v{n}" for n in range(1_100)]}
    rule = {"name": "both", "when": {"p": "v1"}, "need": {"q": "v1"}}
    told = refused(attributes={"p": many, "q": many}, rules=[rule])
    assert "the joint table of `p`, `q` has 1,210,000 cells; at most 1,000,000 are possible" in told


# Known shares.


def test_people_are_fitted_to_known_shares() -> None:
    rake = [
        {"attribute": "region", "weights": {"midwest": 0.1, "northeast": 0.2, "south": 0.3, "west": 0.4}},
        {
            "given": ["sex", "age_years"],
            "table": {"female | ..40": 0.3, "male | ..40": 0.2, "female | 40..": 0.15, "male | 40..": 0.35},
        },
    ]
    made = people(rake=rake)
    bound = 4 * (0.25 / PEOPLE) ** 0.5
    for region, share in rake[0]["weights"].items():  # type: ignore[attr-defined]
        assert (made["region"] == region).mean() == pytest.approx(share, abs=bound)
    young = (pl.col("age_years") < 40) & (pl.col("sex") == "female")
    assert made.select(young.mean()).item() == pytest.approx(0.3, abs=bound)
    assert (made["sample_weight"] == 1).all()
    # What the shares say nothing about keeps its dependence.
    before, after = (population(config(rake=r)).plans[0] for r in ([], rake))
    for name in ("home_type", "time_zone"):
        one, other = _table(before, "region", name), _table(after, "region", name)
        for region in range(4):
            total, new = (sum(s for k, s in t.items() if k[0] == region) for t in (one, other))
            assert all(other[k] / new == pytest.approx(s / total) for k, s in one.items() if k[0] == region)


def test_shares_that_cannot_be_are_named() -> None:
    sex = {"attribute": "sex", "weights": {"female": 0.5, "male": 0.5}}
    other = {"attribute": "sex", "weights": {"female": 0.6, "male": 0.4}}
    assert "rake of `sex`" in refused(rake=[sex, other]) and "after 200 rounds" in refused(rake=[sex, other])
    never = {"p": {"weights": {"a": 1.0, "b": 0.0}}}
    told = refused(attributes=never, rake=[{"attribute": "p", "weights": {"a": 0.5, "b": 0.5}}])
    assert "rake of `p` `b`: nobody can be there" in told
    assert "has no share" in refused(rake=[{"attribute": "sex", "weights": {"female": 1.0}}])
    assert "no such attribute" in refused(rake=[{"attribute": "seks", "weights": {"female": 1.0}}])


# Segments.

STUDENTS = {
    "students": {"share": 0.3, "attributes": {"age_years": {"values": [str(age) for age in range(18, 25)]}}},
    "others": {"share": 0.7},
}


def test_each_person_belongs_to_one_segment_and_has_its_attributes() -> None:
    made = people(
        segments=STUDENTS, attributes={"w": {"given": "segment", "table": {"students": {"s": 1}, "others": {"o": 1}}}}
    )
    students = made.filter(pl.col("segment") == "students")
    assert students.height / PEOPLE == pytest.approx(0.3, abs=4 * (0.21 / PEOPLE) ** 0.5)
    assert students["age_years"].is_between(18, 24).all() and set(students["w"]) == {"s"}
    others = made.filter(pl.col("segment") == "others")
    assert others["age_years"].max() > 80 and set(others["w"]) == {"o"}  # type: ignore[operator]
    assert set(made["segment"]) == {"students", "others"}
    # Who has no segment's attribute is who they were without segments, but for the one table that was replaced.
    plain = people(attributes={"w": {"values": ["o"]}})
    same = made.with_columns(plain["education"].alias("was")).filter(pl.col("segment") == "others")
    assert (same["education"] == same["was"]).all() and "segment" not in plain.columns


def test_segments_keep_their_shares_under_rules_and_known_shares() -> None:
    rules = [{"name": "x", "when": {"region": "west"}, "need": {"age_years": "30.."}}]
    rake = [{"attribute": "sex", "weights": {"female": 0.7, "male": 0.3}}]
    found = population(config(segments=STUDENTS, rules=rules, rake=rake))
    assert [plan.drawn for plan in found.plans] == pytest.approx([0.3, 0.7])
    shares = shares_of(found, "sex", config(segments=STUDENTS))
    assert shares["female"] == pytest.approx(0.7)
    made = people(segments=STUDENTS, rules=rules, rake=rake)
    assert made.filter((pl.col("region") == "west") & (pl.col("age_years") < 30)).is_empty()


def test_a_band_that_a_rule_speaks_of_follows_from_its_number_in_every_segment() -> None:
    income = {"number": {"family": "lognormal", "median": 90_000, "spread": 0.8, "step": 100}}
    segments = {"a": {"share": 0.5, "attributes": {"income_usd": income}}, "b": {"share": 0.5}}
    rule = {"name": "rich", "when": {"income_band": "150000+"}, "need": {"sex": "female"}}
    made = people(4000, segments=segments, rules=[rule])
    rich = made.filter(pl.col("income_usd") >= 150_000)
    assert rich["segment"].n_unique() == 2 and set(rich["sex"]) == {"female"}


# Oversampled groups.


def test_an_oversampled_group_is_so_many_times_as_frequent_and_weighs_so_much_less() -> None:
    doctor = pl.col("education") == "doctoral degree"
    plain, more = people(), people(oversample=[{"where": {"education": "doctoral degree"}, "times": 10}])
    share = shares_of(population(config()), "education", config())["doctoral degree"]
    assert more.select(doctor.mean()).item() == pytest.approx(10 * share / (1 + 9 * share), abs=0.01)
    assert weighted(more, doctor) == pytest.approx(share, abs=0.002)
    weights = more.select("sample_weight", doctor.alias("is")).unique().sort("is")
    assert weights.height == 2
    assert weights["sample_weight"][0] / weights["sample_weight"][1] == pytest.approx(10, rel=1e-4)
    assert more["sample_weight"].mean() == pytest.approx(1, abs=0.01)
    assert more["region"].equals(plain["region"])


def test_a_whole_segment_can_be_oversampled() -> None:
    made = people(segments=STUDENTS, oversample=[{"where": {"segment": "students"}, "times": 3}])
    student = pl.col("segment") == "students"
    assert made.select(student.mean()).item() == pytest.approx(0.9 / 1.6, abs=0.015)
    assert weighted(made, student) == pytest.approx(0.3, abs=0.01)
    assert sorted(made["sample_weight"].unique()) == pytest.approx([1.6 / 3, 1.6], abs=1e-5)


def test_weights_undo_it_for_what_is_correlated_with_the_group_too() -> None:
    score = {"number": {"family": "normal", "mean": 50, "sd": 10, "step": 1}}
    ask = {"attributes": {"score": score}, "correlations": [{"between": ["age_years", "score"], "spearman": 0.6}]}
    groups = [{"where": {"openness": "60.."}, "times": 10}, {"where": {"age_group": "75+"}, "times": 8}]
    plain, more = people(**ask), people(**ask, oversample=groups)
    for name in ("openness", "extraversion", "neuroticism", "score"):
        assert weighted(more, pl.col(name)) == pytest.approx(plain[name].mean(), abs=0.4), name
    assert more["extraversion"].mean() > plain["extraversion"].mean() + 2, "those of the group are as they are"
    both = more.filter(pl.col("openness") >= 60), plain.filter(pl.col("openness") >= 60)
    assert weighted(both[0], pl.col("extraversion")) == pytest.approx(both[1]["extraversion"].mean(), abs=0.6)


oversampled = st.lists(
    st.sampled_from(
        [
            {"education": ["doctoral degree"]},
            {"sex": ["female"], "age_years": ["..40"]},
            {"region": ["west"]},
            {"home_type": ["rent"]},
            {"segment": ["students"]},
            {"segment": ["others"], "region": ["south"]},
            {"household_size": ["4.."]},
        ]
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(oversampled, st.sampled_from([0.2, 3.0, 15.0]))
def test_weights_undo_oversampling_exactly_in_expectation(where: list[dict[str, list[str]]], times: float) -> None:
    """The share of the population is the drawn share times the weight, cell by cell and segment by segment."""
    groups = [{"where": one, "times": times} for one in where]
    personas = config(segments=STUDENTS, oversample=groups)
    plain, more = population(config(segments=STUDENTS)), population(personas)
    for name in ("education", "sex", "region", "home_type", "household_size", "segment"):
        assert shares_of(more, name, personas) == pytest.approx(shares_of(plain, name, personas))
    assert sum(plan.drawn for plan in more.plans) == pytest.approx(1)
    mean = 0.0
    for plan in more.plans:
        weight = plan.share / plan.drawn
        for table in plan.joints:
            assert table.cells.drawn.sum() == pytest.approx(1) and table.cells.shares.sum() == pytest.approx(1)
            weight *= (table.cells.drawn * (table.cells.shares / table.cells.drawn)).sum()
        mean += plan.drawn * weight
    assert mean == pytest.approx(1)
    found = drawn(more, np.arange(4_000, dtype=np.uint64), Draws(3, "personas"))
    assert found.weight.mean() == pytest.approx(1, abs=6 * found.weight.std() / 4_000**0.5 + 1e-9)


# The tables that people are drawn from.


def test_drawing_down_a_joint_table_gives_its_shares() -> None:
    rule = {"name": "x", "when": {"p": "a"}, "need": {"q": ["x", "y"]}}
    attributes = {
        "p": {"weights": {"a": 0.3, "b": 0.7}},
        "q": {"given": "p", "table": {"a": {"x": 0.2, "y": 0.3, "z": 0.5}, "b": {"z": 0.9, "x": 0.1}}},
    }
    made = people(attributes=attributes, rules=[rule])
    wanted = {("a", "x"): 0.06, ("a", "y"): 0.09, ("b", "z"): 0.63, ("b", "x"): 0.07}
    total = sum(wanted.values())
    for (p, q), share in wanted.items():
        seen = ((made["p"] == p) & (made["q"] == q)).mean()
        assert seen == pytest.approx(share / total, abs=4 * (0.25 / PEOPLE) ** 0.5)
    assert made.select("p", "q").n_unique() == 4


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=40))
def test_numbers_of_combinations_follow_their_order(rows: list[tuple[int, int]]) -> None:
    codes = [np.array(part) for part in zip(*rows, strict=True)]
    number, first = joint.groups_of(codes)
    ordered = sorted(set(rows))
    assert [ordered[n] for n in number] == rows and [rows[row] for row in first] == ordered


# Rare values.


@pytest.mark.parametrize("seed", [7, 8])
def test_g3_s05_a_rare_value_is_as_frequent_as_it_should_be(seed: int) -> None:
    """0.1 % of 50,000: between 22 and 78 rows."""
    kind = {"weights": {"rare": 0.001, "common": 0.999}}
    assert 22 <= (people(50_000, seed, attributes={"kind": kind})["kind"] == "rare").sum() <= 78


def test_a_very_rare_value_is_drawn_too() -> None:
    found = population(config(attributes={"kind": {"weights": {"rare": 1e-6, "common": 1 - 1e-6}}}))
    step = next(step for step in found.plans[0].steps if step.name == "kind")
    assert step.draw({}, np.array([0.0, 0.9e-6, 1.1e-6])).code.tolist() == [0, 0, 1]
