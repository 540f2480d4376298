"""A Gaussian copula: correlated uniforms that leave every attribute's own distribution as it is.

Behind the uniforms of correlated attributes stand normal deviates with a correlation matrix. `solve` finds it so that
the Spearman correlation of the values as they are at last (rounded, with ties, from conditional tables) is the one
asked for. `correlated_uniforms` then gives every person's uniforms, each a function of that person only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from flows.common.draws import Draws, normal
from schemas.config.correlations import LEAST, Correlation, completed, groups_of, pairs_among
from schemas.explain import did_you_mean
from schemas.source import InputError

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Values = Callable[[Mapping[str, F64]], Mapping[str, npt.NDArray[np.generic]]]
"""(n,) uniforms by attribute to (n,) values of the attributes asked for, which have an order."""
SAMPLE = 20_000
GRID = 2.0**40
"""Uniforms are rounded to the middle of a cell of 2**-40."""
PLACES = 2**16
"""A correlation behind the values is a whole number of 2**-16."""
WIDEST = 0.999
"""The strongest correlation behind the values."""
CLOSE = 0.003
"""So near to what was asked comes what is solved."""
SETTLED = 2.0**-9
"""Rounds end when no correlation behind the values moves by more."""
ROUNDS = 12
_PLASTIC = (0xC13FA9A902A6328F, 0x91E10DA5C79E7B1D)
"""2**64 / p and 2**64 / p**2 with p**3 = p + 1: steps that fill a square evenly."""
_PRIMES = tuple(n for n in range(5, 10_000) if all(n % factor for factor in range(2, math.isqrt(n) + 1)))
"""One for every attribute that may decide two others: more than a thousand."""


class CorrelationError(InputError):
    """Correlations that these people cannot have. ``problems`` holds (names of the attributes, rule, fix)."""

    def __init__(self, problems: list[tuple[tuple[str, ...], str, str]]) -> None:
        self.problems = problems
        lines = [
            f"correlation of {' and '.join(names)}: {rule}. {fix[:1].upper()}{fix[1:]}."
            for names, rule, fix in problems
        ]
        super().__init__("\n".join(lines))


@dataclass(frozen=True)
class Solved:
    """The correlation matrix of the normal deviates behind ``names``, and what the pairs come to on the sample."""

    names: tuple[str, ...]
    matrix: F64
    """(names, names)"""
    spearman: Mapping[tuple[str, str], float]


def solve(
    correlations: Sequence[Correlation],
    needs: Mapping[str, Collection[str]],
    people: Callable[[Collection[str]], Values],
    known: Mapping[tuple[str, str], float] | None = None,
) -> Solved:
    """The matrix with which the values have the rank correlations that are asked for.

    ``needs`` gives, for every correlated attribute in the order of drawing, all attributes that decide it together with
    itself. ``people`` gives, for two attributes, the function from uniforms to their values. The sample is the same for
    every seed: an even filling of the cube. Each pair is solved by bisection; where a pair depends on others that are
    correlated too, all are gone through again until they hold. ``known`` are correlations of deviates, taken as they are.

    Raises CorrelationError, with every problem, for a pair that is out of reach, giving the reachable interval, for
    pairs that cannot hold together, and for pairs that do not settle.
    """
    names = _names([one.between for one in correlations] + [list(pair) for pair in known or {}], needs)
    asked = {_in_order(names, one.between): one.spearman for one in correlations}
    behind = {_in_order(names, pair): value for pair, value in (known or {}).items()}
    behind |= {pair: _first_guess(pair, target, needs) for pair, target in asked.items()}
    values = {pair: people(pair) for pair in asked}
    for _ in range(ROUNDS):
        matrix = _joined(names, behind, is_last=False)
        problems: list[tuple[tuple[str, ...], str, str]] = []
        moved = 0.0
        for pair, target in asked.items():
            trial = _Trial(pair, names, matrix, needs, values[pair])
            solved, out_of_reach = trial.bisected(target)
            problems += [(pair, *out_of_reach)] if out_of_reach else []
            moved = max(moved, abs(solved - behind[pair])) if trial.hangs_on_others else moved
            behind[pair] = solved
            if trial.hangs_on_others:
                matrix = _joined(names, behind, is_last=False)
        if moved < SETTLED:
            break
    if problems:  # in earlier rounds a pair may have been out of reach for what others were then
        raise CorrelationError(problems)
    matrix = _joined(names, behind, is_last=True)
    realised = {pair: _Trial(pair, names, matrix, needs, values[pair]).as_it_is() for pair in asked}
    for pair, target in asked.items():
        if abs(realised[pair] - target) > CLOSE:
            rule = f"it does not settle: {target:g} is asked, {realised[pair]:.3f} is reached beside the other pairs"
            problems.append((pair, rule, "bring the correlations of these attributes nearer to 0"))
    if problems:
        raise CorrelationError(problems)
    return Solved(names, matrix, realised)


def correlated_uniforms(
    draws: Draws, numbers: U64, names: Sequence[str], matrix: F64, stated: Mapping[str, F64] | None = None
) -> dict[str, F64]:
    """(n,) uniforms for each attribute, for the people of these numbers; ``matrix`` as `solve` gives it.

    An attribute's own draw has its name as aspect. The first of ``names`` keeps its own uniforms, and so does every
    attribute that is correlated with none before it; the others follow from their own and those before them. ``stated``
    are (n,) uniforms of attributes that are not correlated with each other: they are kept, and the others follow.
    """
    known = stated or {}
    order = sorted(range(len(names)), key=lambda place: names[place] not in known)
    names, matrix = [names[place] for place in order], matrix[np.ix_(order, order)]
    own = {name: known[name] if name in known else draws.uniform(name, numbers) for name in names}
    return _mixed(own, names, lower_root(matrix))


def spearman(left: npt.NDArray[np.generic], right: npt.NDArray[np.generic]) -> float:
    """Spearman's rank correlation with mean ranks for ties; exact sums. NaN where one of the two never varies."""
    a, b = _ranks(left), _ranks(right)
    spread = float((a * a).sum()) * float((b * b).sum())
    return float((a * b).sum()) / math.sqrt(spread) if spread else math.nan


def lower_root(matrix: F64) -> list[list[float]]:
    """The Cholesky factor of a small matrix, in plain numbers and a fixed order. Raises ValueError if there is none."""
    size = len(matrix)
    root = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = float(matrix[i, j])
            for k in range(j):
                rest -= root[i][k] * root[j][k]
            if i == j and rest <= 0:
                raise ValueError("the matrix is not positive definite")
            root[i][j] = math.sqrt(rest) if i == j else rest / root[j][j]
    return root


def _mixed(own: Mapping[str, F64], names: Sequence[str], root: list[list[float]]) -> dict[str, F64]:
    """Uniforms of the deviates that the rows of ``root`` mix; one that mixes nothing stays as it is."""
    deviates = [normal(own[name]) for name in names]
    out: dict[str, F64] = {}
    for i, name in enumerate(names):
        used = [j for j in range(i + 1) if root[i][j] != 0.0]
        if used == [i]:
            out[name] = own[name]
            continue
        total = root[i][used[0]] * deviates[used[0]]
        for j in used[1:]:
            total = total + root[i][j] * deviates[j]
        out[name] = (np.minimum(np.floor(ndtr(total) * GRID), GRID - 1) + 0.5) / GRID
    return out


def _names(pairs: Sequence[Sequence[str]], needs: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """The correlated attributes, in the order in which they are drawn."""
    named = {name for pair in pairs for name in pair}
    names = tuple(name for name in needs if name in named)
    if missing := sorted(named - set(names)):
        rule = "there is no such attribute that a correlation can shape"
        raise CorrelationError([((name,), rule, did_you_mean(name, needs)) for name in missing])
    return names


def _first_guess(pair: tuple[str, str], target: float, needs: Mapping[str, Collection[str]]) -> float:
    """What is right for smooth values that depend on nothing else; none where one of the pair depends on the other."""
    return 0.0 if pair[0] in needs[pair[1]] else 2 * math.sin(math.pi * target / 6)


def _in_order(names: Sequence[str], pair: Sequence[str]) -> tuple[str, str]:
    first, second = sorted(pair, key=names.index)
    return first, second


def _joined(names: Sequence[str], behind: Mapping[tuple[str, str], float], *, is_last: bool) -> F64:
    """The whole matrix: pairs as they are, those between them completed, nothing between groups.

    Before the last round a matrix that does not hold together is drawn towards independence until it does.
    """
    matrix = np.eye(len(names))
    for group in groups_of(behind):
        group = sorted(group, key=names.index)
        part, smallest = completed(len(group), pairs_among(group, behind))
        if smallest < LEAST and is_last:
            rule = f"they cannot all hold for these values: smallest eigenvalue {smallest:.3g}, below 0"
            raise CorrelationError([(tuple(group), rule, "bring some of them nearer to 0")])
        if smallest < LEAST:
            part = np.eye(len(group)) + (part - np.eye(len(group))) * (0.99 / (1 - smallest))
        places = [names.index(name) for name in group]
        matrix[np.ix_(places, places)] = part
    return matrix


def _ranks(values: npt.NDArray[np.generic]) -> I64:
    """(n,) twice the mean rank, less the middle: whole numbers that sum to 0."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    upto = np.cumsum(count)
    return np.asarray((2 * upto - count + 1 - (values.size + 1))[place.ravel()], dtype=np.int64)


class _Trial:
    """One pair on the sample, with all that the two depend on; the correlation behind the pair is tried out."""

    def __init__(
        self,
        pair: tuple[str, str],
        names: Sequence[str],
        matrix: F64,
        needs: Mapping[str, Collection[str]],
        values: Values,
    ) -> None:
        needed = {*pair, *needs[pair[0]], *needs[pair[1]]}
        self.pair = pair
        self.values = values
        self.names = [name for name in names if name in needed]
        places = [names.index(name) for name in self.names]
        self.matrix = matrix[np.ix_(places, places)]
        order = [*pair, *sorted(needed - set(pair))]
        self.own = {name: filling(index) for index, name in enumerate(order)}
        self.hangs_on_others = len(self.names) > 2

    def spearman(self, behind: float) -> float:
        """The rank correlation of the pair's values with this correlation behind them."""
        i, j = (self.names.index(name) for name in self.pair)
        matrix = self.matrix.copy()
        matrix[i, j] = matrix[j, i] = behind
        uniforms = {**self.own, **_mixed(self.own, self.names, lower_root(matrix))}
        drawn = self.values(uniforms)
        return spearman(drawn[self.pair[0]], drawn[self.pair[1]])

    def as_it_is(self) -> float:
        """The rank correlation of the pair's values with the matrix as given."""
        i, j = (self.names.index(name) for name in self.pair)
        return self.spearman(float(self.matrix[i, j]))

    def bisected(self, target: float) -> tuple[float, tuple[str, str] | None]:
        """The correlation behind the pair; rule and fix where the target is out of reach, with the nearest end."""
        low, high = self._range()
        lowest, highest = self.spearman(low / PLACES), self.spearman(high / PLACES)
        if math.isnan(lowest) or math.isnan(highest):
            return 0.0, ("one of the two has the same value for everybody", "give it more values")
        if not lowest <= target <= highest:
            reach = f"{math.ceil(lowest * 1000) / 1000:g} to {math.floor(highest * 1000) / 1000:g}"
            rule = f"{target:g} cannot be reached; these two attributes reach {reach}"
            return (low if target < lowest else high) / PLACES, (rule, f"ask for something from {reach}")
        while high - low > 1:
            middle = (low + high) // 2
            if self.spearman(middle / PLACES) < target:
                low = middle
            else:
                high = middle
        return high / PLACES, None

    def _range(self) -> tuple[int, int]:
        """The lowest and highest whole number of 2**-16 that leave a matrix beside the correlations of the others."""
        i, j = (self.names.index(name) for name in self.pair)
        others = [place for place in range(len(self.names)) if place not in (i, j)]
        order = [*others, i, j]
        matrix = self.matrix[np.ix_(order, order)].copy()
        matrix[-1, -2] = matrix[-2, -1] = 0.0
        for row in (-2, -1):  # with 0 between the two themselves, each of them fits to the others
            matrix[row, row] = 1.0
        left = lower_root(matrix[np.ix_([*range(len(others)), -2], [*range(len(others)), -2])])[-1]
        right = lower_root(matrix[np.ix_([*range(len(others)), -1], [*range(len(others)), -1])])[-1]
        middle = sum(a * b for a, b in zip(left[:-1], right[:-1], strict=True))
        room = left[-1] * right[-1] * WIDEST
        return math.ceil((middle - room) * PLACES), math.floor((middle + room) * PLACES)


def filling(index: int) -> F64:
    """(SAMPLE,) one side of an even filling of the cube: multiples of an irrational step, modulo 1.

    The first two sides, those of the pair that is solved, fill a square best; the others step by roots of primes.
    """
    step = _PLASTIC[index] if index < 2 else math.isqrt(_PRIMES[index - 2] << 128) & (2**64 - 1)
    with np.errstate(over="ignore"):
        bits = np.arange(1, SAMPLE + 1, dtype=np.uint64) * np.uint64(step)
    return ((bits >> np.uint64(24)).astype(np.float64) + 0.5) / GRID
