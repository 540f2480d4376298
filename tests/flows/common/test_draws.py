"""Claims about the only source of randomness.

Every statistic is judged by a p-value that must lie above ``RARE``. The keys are fixed, so a test passes always or never;
a sound hash would have failed the whole file for 1 in 10,000 choices of the keys (about a hundred p-values of 1e-6).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from flows.common.draws import (
    BASE32,
    Draws,
    base32,
    categorical,
    exponential,
    key_of,
    keys_of,
    normal,
    permutation,
    poisson,
)

RARE = 1e-6
PAGE = Path(__file__).parents[3] / "docs" / "randomness.md"
CALLS: dict[str, Callable[..., Any]] = {
    "categorical": categorical,
    "normal": normal,
    "exponential": exponential,
    "poisson": poisson,
}
WORD = st.integers(0, 2**64 - 1)
MANY = np.arange(2**20)
calm = settings(deadline=None)
"""Machines can be busy."""


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def specified(page: str) -> Callable[..., int]:
    """`bits` as the page writes it, in plain Python."""
    [code] = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def bits" in block]
    names: dict[str, Any] = {}
    exec(code, names)
    bits: Callable[..., int] = names["bits"]
    return bits


# What the page says, and what the code does.


def test_the_golden_values_of_the_page_are_drawn(page: str, specified: Callable[..., int]) -> None:
    rows = re.findall(
        r"^\| (\d+) \| (.*?) ?\| (.*?) ?\| (\d+) \| (\d+) \| `([0-9a-f]{16})` \| ([0-9.]+) \|$", page, re.MULTILINE
    )
    assert len(rows) == 7
    for seed, stage, aspect, entity, index, bits, uniform in rows:
        draws = Draws(int(seed), stage)
        assert int(draws.bits(aspect, int(entity), int(index))) == int(bits, 16)
        assert float(draws.uniform(aspect, int(entity), int(index))) == float(uniform)
        assert specified(int(seed), stage, aspect, int(entity), int(index)) == int(bits, 16)


@calm
@given(st.integers(0, 2**63 - 1), st.text(max_size=20), st.text(max_size=20), WORD, WORD)
@example(2**63 - 1, "", "", 2**64 - 1, 2**64 - 1)
def test_the_code_of_the_page_gives_the_same_bits(
    specified: Callable[..., int], seed: int, stage: str, aspect: str, entity: int, index: int
) -> None:
    drawn = Draws(seed, stage).bits(aspect, np.uint64(entity), np.uint64(index))
    assert int(drawn) == specified(seed, stage, aspect, entity, index)


def test_ten_thousand_keys_agree_with_the_code_of_the_page(specified: Callable[..., int]) -> None:
    entity = Draws(1, "test").bits("entity", np.arange(100))
    index = np.arange(100)
    drawn = Draws(11, "timelines").bits("food position", entity[:, None], index[None, :])
    expected = [[specified(11, "timelines", "food position", e, i) for i in range(100)] for e in entity.tolist()]
    assert drawn.tolist() == expected


def test_the_functions_give_the_golden_values_of_the_page(page: str) -> None:
    u = np.array([0, 0.1, 0.25, 0.5, 0.75, 0.9])
    rows = re.findall(r"^\| `(\w+)\(u(?:, (.*?))?\)` \| (.*?) \|$", page, re.MULTILINE)
    assert {name for name, _, _ in rows} == set(CALLS)
    for name, argument, values in rows:
        more = [[float(part) for part in argument.strip("[]").split(", ")]] if argument else []
        made = CALLS[name](u, *(part if len(part) > 1 else part[0] for part in more))
        expected = np.array([float(value) for value in values.split(", ")])
        assert np.abs(made - expected).max() < 1e-9


def test_permutation_and_base32_have_golden_values() -> None:
    bits = Draws(7, "personas").bits("order", 3, np.arange(8))
    assert f"{int(bits[0]):016x}" == "d2fb0c72ee2a4a3e"
    assert permutation(bits).tolist() == [3, 4, 6, 2, 1, 0, 5, 7]
    assert base32(bits[:3]).tolist() == [b"tbxgrwqe59", b"jgacs7gb5n", b"hkzrh7sb78"]
    assert base32(bits[:1], 12).tolist() == [b"tbxgrwqe5953"]


def test_text_of_base32_reads_back_as_the_top_bits() -> None:
    bits = Draws(3, "test").bits("text", np.arange(500))
    alphabet = BASE32.tobytes()
    for word, text in zip(bits.tolist(), base32(bits).tolist(), strict=True):
        assert sum(alphabet.index(letter) << 45 - 5 * place for place, letter in enumerate(text)) == word >> 14


def test_keys_of_names_are_keys_of_parts() -> None:
    assert keys_of(["a", "é"]).tolist() == [key_of("a"), key_of("é")]
    assert key_of(7, "a") == key_of("7", "a") != key_of("7a")


# Shapes: whatever way a draw is asked for, it is the same draw.


@pytest.mark.parametrize("size", [0, 1, 2, 16_383, 16_384, 16_385, 32_768, 40_000])
def test_a_column_gives_what_single_draws_give_across_block_borders(size: int) -> None:
    draws = Draws(5, "test")
    column = draws.bits("column", np.arange(size))
    assert column.shape == (size,)
    for place in {0, 1, 16_382, 16_383, 16_384, 16_385, 32_767, size - 1} & set(range(size)):
        assert column[place] == draws.bits("column", place)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(1, 1), (1, 7), (7, 1), (3, 16_384), (3, 16_385), (2, 16_383), (16_385, 3), (4_097, 4), (0, 3), (3, 0)],
)
def test_a_grid_gives_what_broadcasting_gives(rows: int, columns: int) -> None:
    draws = Draws(5, "test")
    entity, index = np.arange(rows) * 3, np.arange(columns) + 2
    grid = draws.bits("grid", entity[:, None], index[None, :])
    flat = draws.bits("grid", np.repeat(entity, columns), np.tile(index, rows))
    assert grid.shape == (rows, columns)
    assert (grid.ravel() == flat).all()
    assert (draws.bits("grid", entity[:, None], index) == grid).all()
    assert (draws.bits("grid", entity[None, :, None], index) == grid).all()


def test_a_single_number_gives_a_single_draw_and_leaves_its_inputs_alone() -> None:
    draws = Draws(5, "test")
    assert draws.bits("one", 3).shape == draws.uniform("one", 3).shape == ()
    assert draws.bits("one", 3) == draws.bits("one", [3], [0])[0]
    assert draws.uniform("one", 3, [0, 1]).tolist() == draws.uniform("one", [3, 3], [0, 1]).tolist()
    entity, index = np.arange(5, dtype=np.uint64), np.arange(5, dtype=np.uint64)
    draws.uniform("one", entity, index)
    assert entity.tolist() == index.tolist() == [0, 1, 2, 3, 4]


def test_every_kind_of_whole_number_counts_the_same() -> None:
    draws = Draws(5, "test")
    kinds = (np.int8, np.uint8, np.int32, np.int64, np.uint64)
    assert len({tuple(draws.bits("kind", np.array([0, 1, 7], kind)).tolist()) for kind in kinds}) == 1


@pytest.mark.parametrize("wrong", [-1, [0, -1], np.int8(-1)])
def test_negative_entities_and_indices_are_refused(wrong: npt.ArrayLike) -> None:
    with pytest.raises(ValueError, match="not negative"):
        Draws(5, "test").bits("a", wrong)
    with pytest.raises(ValueError, match="not negative"):
        Draws(5, "test").uniform("a", 0, wrong)


@pytest.mark.parametrize("wrong", [0.0, [1.0, 2.0], "u000001", None, 2**64])
def test_what_is_no_whole_number_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        Draws(5, "test").bits("a", wrong)


# Quality. Each p-value must exceed RARE.


def chi_square(counts: npt.NDArray[Any]) -> float:
    """p-value of equal chances over all cells."""
    return float(stats.chisquare(counts.ravel()).pvalue)


def cells(*uniforms: npt.NDArray[np.float64], parts: int) -> npt.NDArray[np.int64]:
    """Counts in a grid of ``parts`` a side."""
    place = np.zeros(uniforms[0].size, np.int64)
    for u in uniforms:
        place = place * parts + np.floor(u.ravel() * parts).astype(np.int64)
    return np.bincount(place, minlength=parts ** len(uniforms))


def correlation(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> float:
    """p-value of no linear correlation between uniforms: r times the root of n is standard normal."""
    r = np.mean((left.ravel() - 0.5) * (right.ravel() - 0.5)) * 12
    return float(2 * stats.norm.sf(abs(r) * np.sqrt(left.size)))


def independent(left: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> bool:
    return correlation(left, right) > RARE and chi_square(cells(left, right, parts=32)) > RARE


@pytest.mark.parametrize("aspect", ["sex", "age_group", "liked food.cuisine", "a", "b", ""])
@pytest.mark.parametrize("by", ["entity", "index"])
def test_a_million_draws_are_uniform(aspect: str, by: str) -> None:
    draws = Draws(7, "test")
    u = draws.uniform(aspect, MANY) if by == "entity" else draws.uniform(aspect, 12, MANY)
    assert chi_square(cells(u, parts=4096)) > RARE
    assert stats.kstest(u[: 2**16], "uniform").pvalue > RARE
    assert u.min() >= 0 and u.max() < 1


@pytest.mark.parametrize("by", ["entity", "index", "aspect", "seed"])
def test_each_of_the_64_bits_is_on_half_the_time(by: str) -> None:
    if by in ("entity", "index"):
        bits = Draws(7, "test").bits("bits", *((MANY,) if by == "entity" else (3, MANY)))
    elif by == "aspect":
        bits = np.concatenate([Draws(7, "test").bits(f"aspect {n}", np.arange(64)) for n in range(2048)])
    else:
        bits = np.concatenate([Draws(n, "test").bits("bits", np.arange(64)) for n in range(2048)])
    share = np.array([np.count_nonzero(bits >> np.uint64(place) & np.uint64(1)) for place in range(64)]) / bits.size
    worst = np.abs(share - 0.5).max() * 2 * np.sqrt(bits.size)
    assert 64 * 2 * stats.norm.sf(worst) > RARE


@pytest.mark.parametrize("step", [1, 2, 3, 64, 1000])
def test_neighbouring_entities_are_independent(step: int) -> None:
    u = Draws(7, "test").uniform("neighbours", MANY)
    assert independent(u[:-step], u[step:])


@pytest.mark.parametrize("step", [1, 2, 7, 168])
def test_neighbouring_indices_of_one_entity_are_independent(step: int) -> None:
    u = Draws(7, "test").uniform("steps", np.arange(1024)[:, None], np.arange(1024)[None, :])
    assert independent(u[:, :-step], u[:, step:])
    assert independent(u[:-1, step:], u[1:, :-step])  # the next entity, some steps before


def test_three_neighbours_fill_the_cube() -> None:
    u = Draws(7, "test").uniform("cube", MANY)
    assert chi_square(cells(u[0:-2:3], u[1:-1:3], u[2::3], parts=16)) > RARE


@pytest.mark.parametrize("other", [Draws(8, "test"), Draws(7, "tests"), Draws(7 + 2**32, "test"), Draws(77, "test")])
def test_seeds_and_stages_are_independent(other: Draws) -> None:
    assert independent(Draws(7, "test").uniform("one", MANY), other.uniform("one", MANY))


@pytest.mark.parametrize("aspect", ["one ", "One", "two", "one2"])
def test_aspects_are_independent_however_like_their_names(aspect: str) -> None:
    draws = Draws(7, "test")
    assert independent(draws.uniform("one", MANY), draws.uniform(aspect, MANY))


def test_entity_and_index_are_not_exchangeable() -> None:
    u = Draws(7, "test").uniform("swap", np.arange(1024)[:, None], np.arange(1024)[None, :])
    above = np.triu_indices(1024, 1)
    assert independent(u[above], u.T[above])


def test_one_flipped_bit_of_the_key_flips_half_of_the_bits_of_the_draw() -> None:
    draws, entity = Draws(7, "test"), np.arange(2**13, dtype=np.uint64)
    flips = np.uint64(1) << np.arange(64, dtype=np.uint64)
    for changed in (draws.bits("flip", (entity[:, None] ^ flips)), draws.bits("flip", entity[:, None], flips)):
        apart = np.bitwise_count(changed ^ draws.bits("flip", entity)[:, None]).astype(np.float64)
        worst = np.abs(apart.mean(axis=0) - 32).max() / 4 * np.sqrt(entity.size)  # binomial(64, 1/2): deviation 4
        assert 64 * 2 * stats.norm.sf(worst) > RARE


def test_four_million_draws_of_several_streams_are_all_different() -> None:
    """By chance two of them agree in 1 of 2 million choices of the keys."""
    streams = [
        Draws(seed, "test").bits(aspect, np.arange(1024)[:, None], np.arange(1024)[None, :])
        for seed in (1, 2)
        for aspect in ("one", "two")
    ]
    flat = np.sort(np.concatenate([stream.ravel() for stream in streams]))
    assert (flat[1:] != flat[:-1]).all()


# Functions of uniforms.


@pytest.mark.parametrize("mean", [0.05, 1.0, 3.7, 42.0, 500.0])
def test_poisson_counts_have_mean_and_variance_of_their_law(mean: float) -> None:
    count = poisson(Draws(7, "test").uniform("poisson", np.arange(100_000)), mean)
    n = count.size
    assert 2 * stats.norm.sf(abs(count.mean() - mean) * np.sqrt(n / mean)) > RARE
    spread = np.sqrt((mean + 2 * mean**2) / n)  # of the sample variance: fourth central moment less squared variance
    assert 2 * stats.norm.sf(abs(count.var() - mean) / spread) > RARE


@calm
@given(st.floats(1e-6, 1 - 1e-6), st.floats(0, 500))
@example(0.5, 0.0)
@example(1 - 2.0**-20, 500.0)
def test_poisson_inverts_the_distribution_function(u: float, mean: float) -> None:
    count = int(poisson(u, mean))
    near = 1e-9  # the grid of 2**-40, up to a thousand roundings, and scipy's own error
    assert stats.poisson.cdf(count, mean) >= u - near
    assert count == 0 or stats.poisson.cdf(count - 1, mean) <= u + near


def test_poisson_takes_a_mean_for_each_draw() -> None:
    u = np.array([0.3, 0.3, 0.9])
    mean = np.array([0.0, 5.0, 300.0])
    assert poisson(u, mean).tolist() == [int(poisson(a, b)) for a, b in zip(u, mean, strict=True)]
    assert poisson(1 - 2.0**-53, 0.0) == 0
    assert poisson(np.empty(0), 3.0).shape == (0,)


@pytest.mark.parametrize("wrong", [-0.1, 500.5, np.nan, np.inf])
def test_poisson_refuses_means_beyond_its_reach(wrong: float) -> None:
    with pytest.raises(ValueError, match="means from 0 to 500"):
        poisson([0.5, 0.5], [1.0, wrong])


@pytest.mark.parametrize("weights", [[0.2, 0.5, 0.3], [1, 1, 1, 1, 1, 1, 1], [1000, 10, 1], [0.7, 0.0, 0.3]])
def test_categories_are_chosen_as_often_as_their_weights_say(weights: list[float]) -> None:
    chosen = categorical(Draws(7, "test").uniform("categories", np.arange(300_000)), weights)
    counts = np.bincount(chosen, minlength=len(weights))
    expected = np.array(weights) / sum(weights) * chosen.size
    assert (counts[expected == 0] == 0).all()
    assert stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > RARE


def test_weights_for_all_give_what_weights_row_by_row_give() -> None:
    u = Draws(7, "test").uniform("rows", np.arange(5_000))
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    assert (categorical(u, weights) == categorical(u, np.tile(weights, (u.size, 1)))).all()
    assert categorical(u.reshape(50, 100), weights).shape == (50, 100)


@pytest.mark.parametrize("weights", [[1, 1, 2], [[1, 1, 2]] * 4])
def test_a_border_belongs_to_the_category_after_it(weights: list[Any]) -> None:
    assert categorical([np.nextafter(0.25, 0), 0.25, np.nextafter(0.5, 0), 0.5], weights).tolist() == [0, 1, 1, 2]


@calm
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=8).filter(any), st.floats(0, 1, exclude_max=True))
@example([1.0], 1 - 2.0**-53)
@example([0.0, 1.0, 0.0], 0.0)
@example([0.0, 1.0, 0.0], 1 - 2.0**-53)
def test_a_category_of_no_weight_is_never_chosen(weights: list[float], u: float) -> None:
    assert weights[int(categorical(u, weights))] > 0


@calm
@given(
    st.lists(st.floats(0.001, 1), min_size=2, max_size=8),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from([3.0, 1e-9, 7e5]),
)
def test_only_the_ratios_of_weights_count(weights: list[float], u: float, factor: float) -> None:
    rows = np.array(weights)
    borders = np.cumsum(rows)[:-1] / rows.sum()
    if np.abs(borders - u).min() > 1e-4:  # at a border a rounding may decide
        assert categorical(u, rows) == categorical(u, rows * factor)


def test_the_last_bit_of_a_weight_decides_nothing() -> None:
    u = Draws(7, "test").uniform("last bit", np.arange(100_000))
    weights = np.exp(Draws(7, "test").uniform("weights", np.arange(6)))
    for nudged in (np.nextafter(weights, 0), np.nextafter(weights, 9), weights * (1 + 1e-12)):
        assert (categorical(u, weights) == categorical(u, nudged)).all()


@pytest.mark.parametrize("wrong", [[0.0, 0.0], [1.0, -0.1], [1.0, np.nan], [np.inf, 1.0], [[1.0, 1.0], [0.0, 0.0]]])
def test_weights_that_are_no_weights_are_refused(wrong: list[Any]) -> None:
    with pytest.raises(ValueError, match="finite and not negative"):
        categorical([0.5, 0.5], wrong)


def test_normal_and_exponential_deviates_follow_their_laws() -> None:
    u = Draws(7, "test").uniform("laws", np.arange(200_000))
    assert stats.kstest(normal(u), "norm").pvalue > RARE
    assert stats.kstest(exponential(u), "expon").pvalue > RARE
    assert np.isfinite(normal([0.0, 1 - 2.0**-53])).all()
    assert exponential(0.0) == 0 and np.isfinite(exponential(1 - 2.0**-53))


def test_every_order_of_four_is_equally_likely() -> None:
    order = permutation(Draws(7, "test").bits("orders", np.arange(48_000)[:, None], np.arange(4)))
    assert (np.sort(order, axis=1) == np.arange(4)).all()
    code = order @ np.array([64, 16, 4, 1])
    _, counts = np.unique(code, return_counts=True)
    assert counts.size == 24 and chi_square(counts) > RARE


def test_characters_of_ids_are_uniform_at_every_place() -> None:
    text = base32(Draws(7, "ids").bits("event", np.arange(64_000)))
    letters = text.view(np.uint8).reshape(-1, 10)
    for place in range(10):
        assert chi_square(np.unique(letters[:, place], return_counts=True)[1]) > RARE
    assert np.unique(letters).tolist() == BASE32.tolist()
