"""Equations of change: hazards by attribute, what gives way to what, when seasons begin, and the mean of it all."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from schemas.behaviour.hazards import (
    DriftRates,
    gives_way_to,
    mean_change,
    season_starts,
    weekly_chance,
    yearly_hazards,
)
from schemas.life_events import Chance, LifeEvent
from schemas.load import load_domain, load_life_events

FOOD = load_domain("food")
LIFE = load_life_events()


def test_a_hazard_is_that_of_everybody_times_what_each_attribute_makes_of_it() -> None:
    chances = [
        Chance(attribute="home", multiply={"rent": 5.0}),
        Chance(attribute="age", multiply={"18..25": 2.0, "65..": 0.0}),
    ]
    event = LifeEvent(per_year=0.02, chances=chances, share=1, moves={"food.base": "fish"}, basis="assumed")
    people = {
        ("home", "rent"): np.array([True, False, True, True]),
        ("age", "18..25"): np.array([True, True, False, False]),
        ("age", "65.."): np.array([False, False, False, True]),
    }
    asked: list[tuple[str, str]] = []

    def has(attribute: str, level: str) -> np.ndarray:
        asked.append((attribute, level))
        return people[attribute, level]

    hazards = yearly_hazards({"moved": event, "again": event}, has, 4)
    assert hazards.tolist() == [[0.2, 0.2], [0.04, 0.04], [0.1, 0.1], [0, 0]]
    assert len(asked) == len(set(asked)) == 3


def test_the_chance_of_a_week_is_in_proportion_and_rises_with_the_rate_up_to_certainty() -> None:
    hazards = np.array([[0.5, 0.5], [1.0, 2.0], [0.0, 0.0]])
    one, two, ever = (weekly_chance(hazards, 1.0, rate) for rate in (1.0, 2.0, 52.0))
    assert one == pytest.approx([7 / 365.25, 3 * 7 / 365.25, 0], abs=1e-9)
    assert two == pytest.approx(2 * one, abs=1e-9)
    assert ever[1] == 1.0 and ever[0] < 1


@pytest.mark.parametrize("spec", FOOD.dimensions.values(), ids=FOOD.dimensions)
def test_a_value_gives_way_to_a_neighbour_or_where_there_is_no_order_to_any_other(spec: object) -> None:
    assert hasattr(spec, "kind") and hasattr(spec, "values")
    towards = gives_way_to(spec)  # type: ignore[arg-type]
    count = len(spec.values)
    assert towards.sum(axis=1) == pytest.approx(np.ones(count)) and not np.diag(towards).any()
    apart = np.abs(np.arange(count)[:, None] - np.arange(count))
    assert ((towards > 0) == ((apart == 1) if spec.kind != "categorical" else (apart > 0))).all()


def test_seasons_follow_each_other_and_come_half_a_year_later_in_the_south() -> None:
    def first(season: str, is_southern: bool) -> tuple[datetime, datetime]:
        [edges] = season_starts(season, is_southern, [2024])  # type: ignore[arg-type]
        return edges

    assert first("winter", False) == (datetime(2024, 12, 1, tzinfo=UTC), datetime(2025, 3, 1, tzinfo=UTC))
    assert first("winter", True) == (datetime(2024, 6, 1, tzinfo=UTC), datetime(2024, 9, 1, tzinfo=UTC))
    for one, other in (("summer", "winter"), ("spring", "autumn"), ("autumn", "spring")):
        assert [edge.month for edge in first(one, True)] == [edge.month for edge in first(other, False)]
    for earlier, later in (("spring", "summer"), ("summer", "autumn"), ("autumn", "winter")):
        assert first(earlier, False)[1] == first(later, False)[0]


def test_the_mean_change_of_a_dimension_is_the_sum_of_its_causes() -> None:
    portion = FOOD.dimensions["portion"]
    shares = np.array([value.share for value in portion.values.values()])
    calm = DriftRates(0.0, 0.0, 0.0, 182.0)
    still = mean_change("food.portion", portion, LIFE, calm)
    assert still.per_day == 0 and not still.targets.any()
    season = mean_change("food.portion", portion, LIFE, calm._replace(seasonal_share=0.1))
    assert season.per_day == pytest.approx(2 * 0.1 / 365.25)  # there and back
    light, large = shares[2] + shares[1] / 2, shares[0] + shares[1] / 2  # to what each does not like anyway
    assert season.targets == pytest.approx(0.5 * (np.array([light, 0, large]) + shares))
    lively = LIFE.model_copy(update={"seasons": {"food.portion": {"summer": "light"}}})
    some = mean_change("food.portion", portion, lively, calm._replace(seasonal_share=0.1))
    assert some.per_day == pytest.approx(2 * 0.1 / 365.25 * (1 - shares[0]))
    slow = mean_change("food.portion", portion, LIFE, calm._replace(gradual_share=0.1))
    assert slow.per_day == pytest.approx(0.1 / 182)
    assert slow.targets == pytest.approx(shares @ gives_way_to(portion))
    events = mean_change("food.portion", portion, LIFE, calm._replace(abrupt_per_year=2.0))
    part = sum(e.share for e in LIFE.events.values() if "food.portion" in e.moves)
    assert events.per_day == pytest.approx(2 / 365.25 * part / sum(e.share for e in LIFE.events.values()))
    whole = mean_change("food.portion", portion, LIFE, DriftRates(2.0, 0.1, 0.1, 182.0))
    assert whole.per_day == pytest.approx(season.per_day + slow.per_day + events.per_day)
    assert whole.targets.sum() == pytest.approx(1)


def test_a_trait_has_neither_slow_change_nor_season() -> None:
    heat = FOOD.dimensions["heat"]
    assert heat.clock == "trait" and mean_change("food.heat", heat, LIFE, DriftRates(0.0, 1.0, 1.0, 182.0)).per_day == 0
