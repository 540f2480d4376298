"""Before any history nobody can tell tastes: locale, time zone and sign-up date say no more than the config allows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domains
from tests.flows.dispositions.likelihood import expected, liked_by, specs_of, tastes
from tests.flows.dispositions.stereotype import Guess, cells, guess
from tests.flows.lives import Lives

USERS = 4_000
SPECS = specs_of(load_domains(list(NINE_DOMAINS)))


@pytest.fixture(scope="module")
def crowd() -> Lives:
    quiet = {
        "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0},
        "contradictions": {"temporary_state": 0},
    }
    locales = {"locales": {"en_US": 0.8, "es_MX": 0.2}}
    return tastes(USERS, domains=list(NINE_DOMAINS), disturb=quiet, personas=locales)


@pytest.fixture(scope="module")
def guesses(crowd: Lives) -> dict[str, Guess]:
    people, cell = liked_by(crowd), cells(crowd["users"])
    assert people["user_id"].equals(crowd["users"]["user_id"]) and 30 < cell.n_unique() < USERS / 10
    return {
        name: guess(cell, people[name], list(spec.values), expected(people, name, spec, crowd))
        for name, spec in SPECS.items()
    }


def test_no_taste_is_told_better_than_the_configured_conditionals_allow(
    guesses: dict[str, Guess], capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        print(f"\n{'dimension':<26}{'majority':>9}{'reader':>8}{'bound':>8}{'error':>8}")
        for name, one in guesses.items():
            print(f"{name:<26}{one.majority:9.3f}{one.reader:8.3f}{one.bound:8.3f}{one.error:8.3f}")
    assert len(guesses) >= 54 and [name for name, one in guesses.items() if not one.is_within] == []


def test_the_bound_is_little_above_the_majority(guesses: dict[str, Guess]) -> None:
    assert max(one.bound - one.majority for one in guesses.values()) < 0.06


def test_a_taste_that_hangs_on_the_time_zone_is_found(crowd: Lives) -> None:
    people, cell = liked_by(crowd), cells(crowd["users"])
    name, spec = next(iter(SPECS.items()))
    values = list(spec.values)
    zones = people["time_zone"].unique().sort().to_list()
    told = pl.Series([values[zones.index(zone) % len(values)] for zone in people["time_zone"]])
    draws = np.arange(USERS) % 3 == 0
    leaky = pl.Series(np.where(draws, told.to_numpy(), people[name].to_numpy()))
    assert not guess(cell, leaky, values, expected(people, name, spec, crowd)).is_within
