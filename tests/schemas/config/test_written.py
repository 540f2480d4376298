"""Claims about the files of populations."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.config.personas import BUILT_IN, GROUP_YEARS, INCOME_BANDS, POPULATION
from schemas.config.written import FOLDER, WRITTEN, PopulationFile, attributes_of, load_population
from schemas.market import load_markets
from schemas.source import SourceError, read_yaml

EUROZONE = FOLDER / "eurozone.yaml"


def test_every_built_in_attribute_is_in_every_population() -> None:
    for name in WRITTEN:
        found = attributes_of(name)
        assert {*BUILT_IN, *POPULATION} <= set(found)
        assert found["age_group"].levels == tuple(GROUP_YEARS)
        assert found["income_band"].levels == tuple(INCOME_BANDS)
        assert load_population(name).market in load_markets()


def test_parents_of_whom_any_value_is_taken_follow_from_the_rows() -> None:
    found = attributes_of("eurozone")
    assert found["household_size"].takes_any == {"marital_status"}
    assert found["children"].takes_any == {"age_group", "marital_status", "household_size"}
    assert found["time_zone"].takes_any == frozenset()
    assert found["time_zone"].given == ("region",)


def test_nothing_of_the_united_states_is_in_another_population() -> None:
    for name in ("region", "time_zone", "locale", "education", "occupation"):
        assert not set(attributes_of("eurozone")[name].levels) & set(attributes_of("us")[name].levels), name


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """The file as plain maps."""
    return dict(read_yaml(EUROZONE).value)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("attributes", "sex", "table", "75+"), {"female": 0.6, "male": 0.5}, "weights sum to 1.1"),
        (("basis", "sex"), None, "`basis` lacks ['sex']"),
        (("attributes", "sex"), None, "`attributes` lacks ['sex']"),
        (("attributes", "age_years"), {"weights": {"30": 1}}, "names ['age_years'], which"),
        (("flag",), "blue", "flag"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(
    place: tuple[str, ...], value: Any, told: str, plain: dict[str, Any]
) -> None:
    spoilt = copy.deepcopy(plain)
    here = spoilt
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = value
    if value is None:
        del here[place[-1]]
    PopulationFile.model_validate(plain)
    with pytest.raises(ValidationError) as caught:
        PopulationFile.model_validate(spoilt)
    assert told in str(caught.value)


def test_a_population_that_is_no_file_is_named() -> None:
    with pytest.raises(SourceError, match="eurozne.*[Dd]id you mean `eurozone`"):
        load_population("eurozne")
