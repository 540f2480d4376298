from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from flows.common.draws import Draws
from flows.personas.copula import correlated_uniforms
from flows.personas.tables import picker
from flows.personas.traits import CHRONOTYPE, trait_correlations, traits
from flows.personas.us import built_in
from schemas.config.personas import POPULATION
from schemas.tables.fields import TRAITS

F64 = npt.NDArray[np.float64]
NUMBERS = np.arange(20_000, dtype=np.uint64)
DRAWS = Draws(7, "personas")
NAMES, MATRIX = trait_correlations()


@pytest.fixture(scope="module")
def uniforms() -> dict[str, F64]:
    return correlated_uniforms(DRAWS, NUMBERS, NAMES, MATRIX)


@pytest.fixture(scope="module")
def scores(uniforms: dict[str, F64]) -> F64:
    """(traits, people)"""
    drawn = []
    for name, distribution in traits().items():
        levels, nobody = np.array([float(level) for level in distribution.levels]), np.zeros(NUMBERS.size, np.int64)
        from_shares = picker(np.zeros(levels.size, np.int64), distribution.weights[0], 1)
        drawn.append(levels[from_shares.pick(nobody, uniforms[name])])
    return np.stack(drawn)


def test_scores_are_t_scores(scores: F64) -> None:
    assert scores.mean(axis=1) == pytest.approx(np.full(5, 50), abs=0.3)
    assert scores.std(axis=1) == pytest.approx(np.full(5, 10), abs=0.2)
    assert (scores.min(), scores.max()) == (20, 80)
    above = [(scores >= bound).mean() for bound in (60, 70)]
    assert above == pytest.approx([0.171, 0.0256], abs=0.004)  # of the normal from 59.5 and from 69.5 on


def test_shares_are_those_of_the_normal_with_what_lies_beyond_in_the_ends() -> None:
    own = traits()["openness"].weights[0]
    levels = np.arange(20, 81)
    assert own.sum() == pytest.approx(1, abs=1e-8) and (own * levels).sum() == pytest.approx(50, abs=1e-6)
    assert own[30] == pytest.approx(0.039878, abs=1e-6) and own[0] == own[-1] == pytest.approx(0.001589, abs=1e-6)


def test_correlations_are_the_published_ones(scores: F64) -> None:
    places = [NAMES.index(name) for name in TRAITS]
    assert np.abs(np.corrcoef(scores) - MATRIX[np.ix_(places, places)]).max() < 0.02
    published = {"openness extraversion": 0.43, "conscientiousness neuroticism": -0.43, "openness neuroticism": -0.17}
    for pair, correlation in published.items():
        one, other = (NAMES.index(name) for name in pair.split())
        assert MATRIX[one, other] == MATRIX[other, one] == correlation


def test_morning_people_are_the_more_conscientious(uniforms: dict[str, F64], scores: F64) -> None:
    """The deviate behind the chronotype rises towards the evening, and keeps its own uniform."""
    assert (uniforms[CHRONOTYPE] == DRAWS.uniform(CHRONOTYPE, NUMBERS)).all()
    conscientious = scores[TRAITS.index("conscientiousness")]
    morning, evening = (
        conscientious[where].mean() for where in (uniforms[CHRONOTYPE] < 0.3, uniforms[CHRONOTYPE] > 0.7)
    )
    # Of deviates below or above their 30 % quantile the mean is 1.159, of which the other deviate has 0.29.
    assert (morning - 50, evening - 50) == pytest.approx((3.36, -3.36), abs=0.4)
    assert built_in()[CHRONOTYPE].levels == POPULATION[CHRONOTYPE].levels == ("morning", "intermediate", "evening")


def test_the_population_has_the_five() -> None:
    for name in TRAITS:
        assert built_in()[name].levels == POPULATION[name].levels and built_in()[name].given == ()
