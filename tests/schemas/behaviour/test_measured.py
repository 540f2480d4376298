"""Claims about numeric attributes: values of uniforms, cut off and rounded."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scipy import stats

from flows.common.draws import Draws
from schemas.behaviour.measured import ends_of, inverse, share_at_most
from schemas.config.numeric import AnyNumeric, NumericSpec, step_of

READ: TypeAdapter[AnyNumeric] = TypeAdapter(NumericSpec)
calm = settings(deadline=None, max_examples=60, derandomize=True)
UNIFORM = Draws(3, "test").uniform("numeric", np.arange(50_000))
FAMILIES: dict[str, dict[str, Any]] = {
    "normal": {"mean": 170, "sd": 9},
    "lognormal": {"median": 42_000, "spread": 0.6},
    "beta": {"a": 2, "b": 5, "low": -3, "high": 7},
    "gamma": {"shape": 2.5, "scale": 4},
    "poisson": {"mean": 3.5},
    "empirical": {"quantiles": {"q0": 0, "q0.3": 0, "q0.9": 100, "q1": 1000}},
}
REFERENCE = {
    "normal": stats.norm(170, 9),
    "lognormal": stats.lognorm(0.6, scale=42_000),
    "beta": stats.beta(2, 5, loc=-3, scale=10),
    "gamma": stats.gamma(2.5, scale=4),
}


def spec(family: str, **given: Any) -> AnyNumeric:
    return READ.validate_python({"family": family, **given})


@pytest.mark.parametrize("family", list(REFERENCE))
def test_values_are_distributed_as_the_family_says(family: str) -> None:
    values = inverse(spec(family, **FAMILIES[family]), UNIFORM)
    assert stats.kstest(values, REFERENCE[family].cdf).pvalue > 1e-4


def test_counts_are_distributed_as_poisson_says() -> None:
    for mean in (0.2, 3.5, 400.0):
        values = inverse(spec("poisson", mean=mean), UNIFORM)
        for count in {0, int(mean), int(mean) + 2}:
            share = stats.poisson(mean).cdf(count)
            assert abs(np.mean(values <= count) - share) < 5 * np.sqrt(0.25 / UNIFORM.size)


def test_a_count_ends_where_its_share_is_reached() -> None:
    """With a mean of ln 2, half of the people have none."""
    assert inverse(spec("poisson", mean=float(np.log(2))), [0.5 - 1e-9, 0.5]).tolist() == [0, 1]


def test_quantiles_are_met_with_straight_lines_between() -> None:
    given = spec("empirical", quantiles={"q0": 0, "q0.3": 0, "q0.9": 100, "q1": 1000})
    assert inverse(given, [0.0, 0.2, 0.3, 0.6, 0.9, 0.95]).tolist() == [0, 0, 0, 50, 100, 550]
    bounded = spec("empirical", quantiles={"q0.25": 10, "q0.5": 20}, low=0, high=40, step=1)
    assert inverse(bounded, [0.0, 0.125, 0.25, 0.5, 0.75]).tolist() == [0, 5, 10, 20, 30]


@pytest.mark.parametrize("step", [None, 0.5, 1, 3])
@pytest.mark.parametrize("family", list(FAMILIES))
def test_what_is_realised_is_what_the_share_says(family: str, step: float | None) -> None:
    middle = inverse(spec(family, **FAMILIES[family]), [0.3, 0.8])
    bounds = {} if family == "beta" else {"low": float(middle[0]), "high": float(middle[1]) + 6}
    given = spec(family, **FAMILIES[family], **bounds, **({"step": step} if step else {}))
    values = np.sort(inverse(given, UNIFORM))
    distinct = np.unique(values)
    realised = np.searchsorted(values, distinct, side="right") / values.size
    assert np.abs(realised - share_at_most(given, distinct)).max() < 1.95 / np.sqrt(values.size)
    assert share_at_most(given, [distinct[-1] + 1e6]) == 1.0
    assert share_at_most(given, [distinct[0] - 1e6]) == 0.0
    if bounds:
        assert values[0] >= bounds["low"] - 1e-9 and values[-1] <= bounds["high"] + 1e-9


def test_the_first_and_last_step_within_bounds_are_no_rarer_than_their_neighbours() -> None:
    values = inverse(spec("empirical", quantiles={"q0": 0, "q1": 100}, low=10, high=19, step=1), UNIFORM)
    distinct, count = np.unique(values, return_counts=True)
    assert distinct.tolist() == list(range(10, 20))
    assert stats.chisquare(count).pvalue > 1e-4


def test_bounds_that_are_no_multiples_of_the_step_are_kept() -> None:
    values = inverse(spec("normal", mean=50, sd=40, low=11, high=109, step=30), UNIFORM)
    assert np.unique(values).tolist() == [30, 60, 90]


def test_each_row_has_its_own_parameters_and_no_neighbour_matters() -> None:
    given = spec("normal", sd=7, step=0.1, by={"f": {"mean": 163}, "m": {"mean": 177, "sd": 8, "low": 170}})
    level = np.arange(UNIFORM.size) % 2
    values = inverse(given, UNIFORM, level)
    for place, mean, sd, low in ((0, 163, 7, None), (1, 177, 8, 170)):
        alone = spec("normal", mean=mean, sd=sd, step=0.1, **({"low": low} if low else {}))
        assert np.array_equal(values[level == place], inverse(alone, UNIFORM[level == place]))
    for family in ("poisson", "empirical", "gamma"):
        by = {"a": {}, "b": {"high": 9}}
        spread = spec(family, **FAMILIES[family], by=by)
        assert inverse(spread, UNIFORM, level)[level == 1].max() <= 9 < inverse(spread, UNIFORM, level).max()
    with pytest.raises(ValueError, match="levels are missing"):
        inverse(given, UNIFORM)
    with pytest.raises(ValueError, match="from 0 to 1"):
        inverse(given, UNIFORM[:2], [0, 2])


def test_a_last_bit_decides_nothing_where_values_lie_on_half_steps() -> None:
    given = spec("normal", mean=2.5, sd=1, step=1)
    half = np.array([0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 0.5 - 1e-12, 0.5 + 1e-12])
    assert inverse(given, half).tolist() == [3.0] * 5


def test_values_are_the_doubles_nearest_to_their_decimals() -> None:
    values = inverse(spec("normal", mean=0, sd=3, step=0.1), UNIFORM)
    assert set(values.tolist()) <= {round(cell / 10, 1) for cell in range(-200, 200)}
    assert not np.signbit(values[values == 0]).any()


def test_the_ends_are_those_of_the_uniforms() -> None:
    given = spec("poisson", mean=2, by={"a": {}, "b": {"low": 1, "high": 6}})
    [(low, high), (second_low, second_high)] = ends_of(given)
    assert (low, second_low, second_high) == (0, 1, 6)
    assert 15 < high < 30


@calm
@given(
    st.sampled_from(sorted(set(FAMILIES) - {"beta"})),
    st.floats(0.01, 0.6),
    st.floats(0.2, 0.39),
    st.sampled_from([None, 0.01, 0.25, 1, 7]),
    st.lists(st.floats(0, 1, exclude_max=True), min_size=2, max_size=20),
)
def test_values_rise_with_the_uniform_within_bounds_on_the_grid(
    family: str, start: float, more: float, step: float | None, uniform: list[float]
) -> None:
    low, high = inverse(spec(family, **FAMILIES[family]), [start, start + more]).tolist()
    given = spec(family, **FAMILIES[family], low=low, high=high + 14, **({"step": step} if step else {}))
    values = inverse(given, sorted(uniform))
    assert (np.diff(values) >= 0).all()
    assert values.min() >= low - 1e-9 and values.max() <= high + 14
    cells = values / float(step_of(given))
    assert np.abs(cells - np.rint(cells)).max() < 1e-6
    assert np.array_equal(values, np.concatenate([inverse(given, [one]) for one in sorted(uniform)]))


GOLDEN = {
    "normal": [142.1879, 163.9296, 170.0, 181.5340],
    "lognormal": [6577, 28022, 42000, 90613],
    "beta": [-2.917, -1.388, -0.356, 2.103],
    "gamma": [0.4204, 5.3492, 8.7029, 18.4727],
    "poisson": [0, 2, 3, 6],
    "empirical": [0, 0, 33.3, 100],
}
"""The values of the textbook's inverse distribution functions, rounded to each family's grid."""


@pytest.mark.parametrize("family", list(GOLDEN))
def test_golden_values(family: str) -> None:
    found = inverse(spec(family, **FAMILIES[family]), [0.001, 0.25, 0.5, 0.9])
    assert found.tolist() == GOLDEN[family]


@pytest.mark.parametrize("family", ["normal", "lognormal"])
def test_two_million_values_take_less_than_a_second(family: str) -> None:
    given = spec(family, **FAMILIES[family], low=10, step=1)
    uniform = Draws(1, "test").uniform("speed", np.arange(1_000_000))
    start = time.process_time()
    inverse(given, uniform)
    assert time.process_time() - start < 0.5
