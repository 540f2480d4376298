"""What tables of several parents, rules, margins and segments must agree on. Single parents: `test_agreement.py`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.config import Config
from schemas.config.learnt import learnt_disagreements
from schemas.config.people import people_disagreements
from schemas.config.personas import PersonasConfig

WINDOW = {"start": "2025-01-06T00:00:00Z", "end": "2025-03-03T00:00:00Z"}


def broken_by(**personas: Any) -> dict[str, str]:
    """Dotted place below `personas` to the rule broken there."""
    data = {"users": 10, "personas": personas}
    found = [*people_disagreements(data), *learnt_disagreements(data)]
    return {".".join(str(step) for step in place[1:]): f"{rule} | {fix}" for place, rule, fix in found}


def own(**attributes: Any) -> dict[str, str]:
    return broken_by(attributes=attributes)


def table(given: str | list[str], *rows: str) -> dict[str, Any]:
    return {"given": given, "table": {row: {"x": 1.0} for row in rows}}


AB, CD = {"weights": {"a": 0.5, "b": 0.5}}, {"weights": {"c": 0.5, "d": 0.5}}
FULL = ("a | c", "a | d", "b|c", "b|d")


def test_a_table_of_two_parents_needs_every_pair_once() -> None:
    assert own(p=AB, q=CD, work=table(["p", "q"], *FULL)) == {}
    told = own(p=AB, q=CD, work=table(["p", "q"], *FULL[:3]))
    assert told == {"attributes.work.table": "has no row for `b | d`, which `p` and `q` can be | add a row for `b | d`"}
    told = own(p=AB, q=CD, work=table(["p", "q"], *FULL, "b | e"))
    assert "`q` is never `e`" in told["attributes.work.table.b | e"]


def test_an_unknown_parent_is_told_at_one_place_whether_a_name_or_a_list_of_one() -> None:
    for given in ("sexx", ["sexx"]):
        assert own(work=table(given, "a")) == {
            "attributes.work.given": "there is no attribute `sexx` to depend on | did you mean `sex`?"
        }


def test_a_key_has_as_many_parts_as_there_are_parents() -> None:
    told = own(p=AB, q=CD, work=table(["p", "q"], *FULL[:3], "b"))
    assert told == {"attributes.work.table.b": "has 1 value where `p` and `q` want 2 | write it like `a | c`"}


def test_a_band_that_ends_before_it_begins_is_told_as_that() -> None:
    told = own(work=table("age_years", "..40", "60..40", "40.."))
    empty = "`60..40` is an empty band: its high end is not in it | write the low end first"
    assert told == {"attributes.work.table.60..40": empty}
    group = [{"where": {"age_years": "40..40"}, "times": 2}]
    assert "`40..40` is an empty band" in broken_by(oversample=group)["oversample.0.where.age_years"]


def test_bands_of_a_number_leave_no_gap_and_do_not_overlap() -> None:
    assert own(work=table("age_years", "18..40", "40..")) == {}
    gap = own(work=table("age_years", "18..40", "42..91"))["attributes.work.table"]
    assert "has no row for `40`, `41`, which `age_years` can be" in gap
    over = own(work=table("age_years", "18..40", "39..91"))
    assert "overlaps the row `18..40`" in over["attributes.work.table.39..91"]
    assert list(own(work=table("age_years", "18..40", "40..", "3..18"))) == ["attributes.work.table.3..18"]
    many = own(work=table("age_years", "18..40"))["attributes.work.table"]
    assert "`45` and 45 more" in many


def test_bands_and_values_of_two_parents_go_together() -> None:
    rows = ("18..50 | female", "50.. | female", "..91 | male")
    assert own(work=table(["age_years", "sex"], *rows)) == {}
    assert "`18 | male`" in own(work=table(["age_years", "sex"], *rows[:2]))["attributes.work.table"]


def test_a_circle_through_several_parents_is_told_once() -> None:
    told = own(p=table(["sex", "q"], "female | x", "male | x"), q=table("p", "x"))
    assert list(told) == ["attributes.p.given"] and "`p` on `q` on `p`" in told["attributes.p.given"]


def test_rules_and_groups_speak_of_attributes_and_values_that_there_are() -> None:
    rule = {"name": "phd", "when": {"education": "doctoral degree"}, "need": {"age_years": "24.."}}
    assert broken_by(rules=[rule], oversample=[{"where": {"household_size": ["1", "5.."]}, "times": 2}]) == {}
    wrong = {"name": "x", "when": {"eduction": "PhD"}, "need": {"sex": ["male", "femle"], "age_years": 12}}
    told = broken_by(rules=[rule, wrong], oversample=[{"where": {"region": "wast"}, "times": 2}])
    assert {place: text.split(" | ")[1] for place, text in told.items()} == {
        "rules.1.when.eduction": "did you mean `education`?",
        "rules.1.need.sex": "did you mean `female`?",
        "rules.1.need.age_years": "`age_years` can be 18 to 90",
        "oversample.0.where.region": "did you mean `west`?",
    }


def test_known_shares_cover_their_attributes_once() -> None:
    good = [
        {"attribute": "sex", "weights": {"female": 0.5, "male": 0.5}},
        {"given": ["sex", "age_years"], "table": {"female | ..91": 0.5, "male | ..40": 0.3, "male | 40..": 0.2}},
    ]
    assert broken_by(rake=good) == {}
    told = broken_by(
        rake=[
            {"attribute": "sex", "weights": {"female": 1.0}},
            {"attribute": "seex", "weights": {"female": 1.0}},
            {"given": ["sex", "age_years"], "table": {"female | ..91": 0.5, "male | ..40": 0.3, "male | 39..": 0.2}},
        ]
    )
    assert "has no share for `male`" in told["rake.0.weights"]
    assert told["rake.1.attribute"].endswith("did you mean `sex`?")
    assert "overlaps the share `male | ..40`" in told["rake.2.table.male | 39.."]


def test_segments_are_judged_with_what_they_inherit() -> None:
    segments = {
        "a": {"share": 0.5, "attributes": {"p": {"weights": {"a": 0.5, "z": 0.5}}}},
        "b": {"share": 0.5, "attributes": {"q": AB, "region": {"weights": {"Mars": 1.0}}}},
    }
    told = broken_by(attributes={"p": AB, "work": table("p", "a", "b")}, segments=segments)
    assert "`z`" in told["attributes.work.table"] and "`p` is never `b`" in told["attributes.work.table.b"]
    assert "is no attribute of the population" in told["segments.b.attributes.q"]
    assert "knows no value `Mars`" in told["segments.b.attributes.region"]
    named = broken_by(attributes={"segment": AB}, segments={"a": {"share": 1.0}})
    assert "fills itself" in named["attributes.segment"] and broken_by(attributes={"segment": AB}) == {}
    assert broken_by(attributes={"w": table("segment", "a")}, segments={"a": {"share": 1.0}}) == {}


def test_a_unique_attribute_is_everybodys() -> None:
    nick = {"values": [f"v{n}" for n in range(10)], "unique": True}
    told = broken_by(attributes={"nick": nick}, segments={"a": {"share": 1.0, "attributes": {"nick": nick}}})
    assert list(told) == ["segments.a.attributes.nick.unique"]


@pytest.mark.parametrize("nonsense", [None, 3, "x", [1, None], {"a": 3}, [{"when": 3, "given": 4, "table": {"a": 1}}]])
def test_parts_of_the_wrong_shape_are_passed_over(nonsense: Any) -> None:
    assert broken_by(rules=nonsense, rake=nonsense, segments=nonsense, oversample=nonsense) == {}


@pytest.mark.parametrize(
    ("personas", "rule"),
    [
        ({"segments": {"a": {"share": 0.5}, "b": {"share": 0.4}}}, "sum to 0.9"),
        ({"rake": [{"attribute": "sex"}]}, "`attribute` and `weights`"),
        ({"rake": [{"attribute": "sex", "weights": {"a": 1}, "given": ["sex"]}]}, "`attribute` and `weights`"),
        ({"rake": [{}]}, "`attribute` and `weights`"),
        ({"rules": [{"name": "x", "when": {"a": "b"}, "need": {"a": "b"}}] * 2}, "two rules are called `x`"),
        ({"rules": [{"name": "x", "when": {}, "need": {"a": "b"}}]}, "at least 1 item"),
        ({"oversample": [{"where": {"a": "b"}, "times": 0}]}, "greater than 0"),
    ],
)
def test_shapes_are_checked(personas: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        PersonasConfig.model_validate(personas)


def test_one_parent_can_be_written_without_a_list_and_numbers_without_quotes() -> None:
    spec = {
        "attributes": {"w": table("sex", "female", "male")},
        "oversample": [{"where": {"age_years": 20}, "times": 2}],
    }
    made = PersonasConfig.model_validate(spec)
    assert made.attributes["w"].given == ["sex"] and made.oversample[0].where == {"age_years": ["20"]}
    data = {"users": 2, "window": WINDOW, "domains": ["food"], "personas": made.model_dump(mode="json")}
    config = Config.model_validate({"schema_version": 1, "name": "x", "data": data})
    assert config.data.personas == made


NORMAL = {"family": "normal", "mean": 170, "sd": 9, "low": 140, "high": 210, "step": 1}
LEARNT = {
    "file": "people.csv",
    "columns": {"age_years": "AGE", "degree": "EDU"},
    "learnt": {
        "age_years": {"levels": ["18", "40"], "numbers": {"step": 1_000_000}, "cut_at": ["40.."]},
        "degree": {"levels": ["none", "some"], "numbers": None},
    },
}


def test_a_number_is_spoken_of_in_bands_that_cover_its_range() -> None:
    height = {"number": NORMAL}
    assert own(height=height, work=table("height", "..170", "170")) != {}
    assert own(height=height, work=table("height", "..170", "170", "171..")) == {}
    assert "has no row for `140`" in own(height=height, work=table("height", "150.."))["attributes.work.table"]
    assert (
        "`height` is never `300..`"
        in own(height=height, work=table("height", "..300", "300.."))["attributes.work.table.300.."]
    )
    by = {"given": "sex", "number": {**NORMAL, "by": {"female": {"mean": 163}}}}
    assert "has no row for `male`" in own(height=by)["attributes.height.number.by"]


def test_a_number_fits_the_column_that_it_fills() -> None:
    ages = {"family": "normal", "mean": 45, "sd": 15}
    assert set(own(age_years={"number": ages})) == {"attributes.age_years.number.step", "attributes.age_years.number"}
    assert own(age_years={"number": {**ages, "step": 1, "low": 18, "high": 90}}) == {}
    told = own(openness={"number": {**ages, "step": 1, "low": 0, "high": 60}})
    assert told == {"attributes.openness.number": "`openness` is from 20 to 80 | add `low: 20`"}
    assert "is not from 20 to 80" in own(openness={"weights": {"15": 0.5, "50": 0.5}})["attributes.openness"]


def test_an_attribute_is_a_number_for_all_or_for_none() -> None:
    for spec, kind in (
        ({"weights": {"1": 1.0}}, "text"),
        ({"number": {**NORMAL, "step": 0.5}}, "a number with decimals"),
    ):
        told = broken_by(attributes={"height": {"number": NORMAL}}, segments={"a": {"attributes": {"height": spec}}})
        assert f"`height` is a whole number for the others and {kind} here" in told["segments.a.attributes.height"]


def test_correlated_attributes_exist_are_drawn_and_stand_once() -> None:
    pairs = [["age", "income_usd"], ["segment", "nick"], ["age_group", "age_years"], ["openness", "sex"]]
    told = broken_by(
        attributes={"nick": {"values": [f"n{number}" for number in range(10)], "unique": True}},
        segments={"a": {}},
        correlations=[{"between": between, "spearman": 0.1} for between in pairs],
    )
    assert {place: rule.partition(" | ")[0] for place, rule in told.items()} == {
        "correlations.0.between.0": "there is no attribute `age`",
        "correlations.1.between.0": "`segment` is not drawn by itself",
        "correlations.1.between.1": "`nick` is not drawn by itself",
        "correlations.2.between.0": "`age_group` goes with its number `age_years`, which is correlated already",
    }


def test_what_is_learnt_from_a_file_is_said_nowhere_else_and_can_be_spoken_of() -> None:
    assert (
        broken_by(
            people_from=LEARNT,
            attributes={"work": table(["age_years", "degree"], "..40|none", "..40|some", "40..|none", "40..|some")},
        )
        != {}
    )
    fine = {**LEARNT["learnt"]["age_years"], "cut_at": ["..40", "40.."]}  # type: ignore[index]
    people_from = {**LEARNT, "learnt": {**LEARNT["learnt"], "age_years": fine}}  # type: ignore[dict-item]
    rows = ("..40|none", "..40|some", "40..|none", "40..|some")
    assert broken_by(people_from=people_from, attributes={"work": table(["age_years", "degree"], *rows)}) == {}
    told = broken_by(people_from=people_from, attributes={"work": table("age_years", "..50", "50.."), "degree": AB})
    assert "`age_years` was learnt without a cut at `..50`, `50..`" in told["people_from.learnt.age_years"]
    assert "`degree` is learnt from the file already" in told["attributes.degree"]
    told = broken_by(people_from={"file": "a.csv", "columns": {"age_group": "G", "user_id": "U"}})
    assert "name the column `age_years`" in told["people_from.columns.age_group"]
    assert "cannot be learnt" in told["people_from.columns.user_id"]


def test_columns_of_words_are_no_numbers() -> None:
    assert "is words" in own(region={"number": NORMAL})["attributes.region.number"]
    assert "is words" in own(occupation={"number": NORMAL})["attributes.occupation.number"]
    codes = {"levels": ["1", "2"], "numbers": {"step": 1_000_000}}
    told = broken_by(people_from={"file": "a.csv", "columns": {"occupation": "O"}, "learnt": {"occupation": codes}})
    assert told == {
        "people_from.columns.occupation": "`occupation` is words, and its column holds numbers | write words into the file"
    }


def test_what_is_wrong_with_a_learnt_value_is_told_at_its_column() -> None:
    ages = {"levels": ["18", "130"], "numbers": None}
    told = broken_by(people_from={"file": "a.csv", "columns": {"age_years": "A"}, "learnt": {"age_years": ages}})
    assert "`130` is not from 0 to 120" in told["people_from.columns.age_years"]


def test_nothing_speaks_of_values_that_are_given_once() -> None:
    seat = {"values": [f"s{place}" for place in range(10)], "unique": True}
    assert own(seat=seat) == {}
    rows = table("seat", *seat["values"])  # type: ignore[misc]
    assert "gives each value to one person" in own(seat=seat, row=rows)["attributes.seat.unique"]
    rule = {"name": "r", "when": {"seat": "s1"}, "need": {"sex": "male"}}
    assert (
        "gives each value to one person" in broken_by(attributes={"seat": seat}, rules=[rule])["attributes.seat.unique"]
    )
