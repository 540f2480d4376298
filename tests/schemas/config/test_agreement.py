"""What the keys of a config must agree on with each other."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.config import Config
from schemas.config.agreement import disagreements

WINDOW = {"start": "2025-01-06T00:00:00Z", "end": "2025-03-03T00:00:00Z"}


def broken_by(**attributes: Any) -> dict[str, str]:
    """Dotted place below `personas.attributes` to the rule broken there."""
    found = disagreements({"users": 10, "personas": {"attributes": attributes}})
    return {".".join(str(step) for step in place[2:]): f"{rule} | {fix}" for place, rule, fix in found}


def table(given: str, *rows: str) -> dict[str, Any]:
    return {"given": given, "table": {row: {"x": 1.0} for row in rows}}


def test_a_table_needs_a_row_for_every_value_of_its_parent_and_no_other() -> None:
    places = {"weights": {"North": 0.5, "South": 0.3, "Ceuta": 0.2}}
    assert broken_by(place=places, work=table("place", "North", "South", "Ceuta")) == {}
    found = broken_by(place=places, work=table("place", "North", "South", "Cuta"))
    assert found["work.table"] == "has no row for `Ceuta`, which `place` can be | add a row for `Ceuta`"
    assert found["work.table.Cuta"] == "`place` is never `Cuta` | did you mean `Ceuta`?"


def test_built_in_parents_have_known_values() -> None:
    assert broken_by(work=table("sex", "female", "male")) == {}
    assert list(broken_by(work=table("sex", "female"))) == ["work.table"]


def test_a_built_in_child_of_a_replaced_parent_needs_its_own_shares() -> None:
    region = {"weights": {"North": 1.0}}
    found = disagreements({"personas": {"attributes": {"region": region}}})
    assert [(place[-1], fix) for place, _, fix in found] == [
        ("region", "give `home_type` a table of its own, or weights"),
        ("region", "give `time_zone` a table of its own, or weights"),
    ]
    own = {"weights": {"own": 1.0}}
    zone = {"weights": {"Europe/Madrid": 1.0}}
    assert disagreements({"personas": {"attributes": {"region": region, "home_type": own, "time_zone": zone}}}) == []


def test_a_parent_that_does_not_exist_is_told_with_the_nearest() -> None:
    assert broken_by(work=table("regoin", "a"))["work.given"].endswith("did you mean `region`?")
    listed = broken_by(work=table(["sex", "age_gruop"], "a | b"))  # type: ignore[arg-type]
    assert listed["work.given.1"].endswith("did you mean `age_group`?")


def test_a_circle_is_told_once_wherever_it_is_entered() -> None:
    circle = broken_by(p=table("q", "x"), q=table("r", "x"), r=table("p", "x"), outside=table("p", "x"))
    assert list(circle) == ["p.given"]
    assert "`p` on `q` on `r` on `p`" in circle["p.given"]
    assert list(broken_by(p=table("p", "x"))) == ["p.given"]


def test_a_circle_can_run_through_the_built_in_attributes() -> None:
    found = broken_by(education=table("income_band", *disagreeing_bands()))
    assert "`education` on `income_band` on `education`" in found["education.given"]


def disagreeing_bands() -> tuple[str, ...]:
    from schemas.config.personas import POPULATION

    return POPULATION["income_band"].levels


def test_a_unique_attribute_needs_a_value_for_every_user() -> None:
    values = [f"v{n}" for n in range(9)]
    assert broken_by(nick={"values": values, "unique": True}) == {
        "nick.values": "`nick` is unique: 10 wanted, 9 available | list more values, or ask for fewer users"
    }
    assert broken_by(nick={"values": [*values, "v9"], "unique": True}) == {}
    assert list(broken_by(nick={"values": ["a", "b", "a"]})) == ["nick.values"]


def test_numbers_must_be_numbers_and_bands_must_be_known() -> None:
    assert broken_by(age_years={"weights": {"18": 0.5, "40": 0.5}}) == {}
    assert "`forty`" in broken_by(age_years={"weights": {"forty": 1.0}})["age_years"]
    assert "did you mean `18-24`" in broken_by(age_group={"weights": {"18-25": 1.0}})["age_group"]


def test_children_need_attributes_of_their_own() -> None:
    ages = {"weights": {"6": 0.5, "40": 0.5}}
    found = broken_by(age_years=ages)["age_years"]
    assert "`6` is below 18" in found and "`education`" in found and "given `age_years`" in found
    assert "`chronotype`" not in found and "`children`" not in found  # which know what to do with the young
    grown: dict[str, Any] = {
        name: {"weights": {value: 1.0}}
        for name, value in (
            ("sex", "female"),
            ("education", "none"),
            ("marital_status", "single"),
            ("labour_status", "none"),
        )
    }
    assert "`household_size`" in broken_by(age_years=ages, **grown)["age_years"]
    grown["household_size"] = table("age_years", "6", "40")
    grown["household_size"]["table"] = {"6": {"3": 1.0}, "40": {"1": 1.0}}
    assert list(broken_by(age_years=ages, **grown)) == ["age_years", "education"]  # on which built-in incomes depend
    assert broken_by(age_years=ages, **grown, income_usd={"weights": {"0": 1.0}}) == {}


def test_columns_that_the_build_fills_cannot_be_attributes() -> None:
    assert list(broken_by(user_id={"values": ["a"]})) == ["user_id"]


def test_domains_stand_once_and_rhythms_belong_to_listed_ones() -> None:
    found = disagreements({"domains": ["food", "food"], "timelines": {"domains": {"fod": {}, "travel": {}}}})
    assert [(place, fix) for place, _, fix in found] == [
        (("domains", 1), "remove one of the two"),
        (("timelines", "domains", "fod"), "did you mean `food`?"),
        (("timelines", "domains", "travel"), "add `travel` to `data.domains`"),
    ]


@pytest.mark.parametrize(
    "nonsense", [None, 3, "text", [1], {"attributes": 3}, {"attributes": {"a": 3, "b": {"table": 5, "given": 7}}}]
)
def test_parts_of_the_wrong_shape_are_passed_over(nonsense: Any) -> None:
    assert disagreements({"domains": nonsense, "timelines": nonsense, "personas": nonsense, "users": nonsense}) == []


def test_a_config_made_in_python_is_judged_as_well() -> None:
    wrong = {("domains", 1): {"domains": ["food", "food"]}, ("timelines", "domains", "home"): {"domains": ["food"]}}
    for place, change in wrong.items():
        data = {"users": 2, "window": WINDOW, "timelines": {"domains": {"home": {}}}, **change}
        with pytest.raises(ValidationError) as caught:
            Config.model_validate({"schema_version": 1, "name": "x", "data": data})
        assert [error["loc"] for error in caught.value.errors()] == [("data", *place)]
