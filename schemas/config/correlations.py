"""Rank correlations between attributes of people: which are asked for, and whether they can hold together.

    - {between: [age_years, income_usd], spearman: 0.3}

A pair that is not named has no correlation of its own: it gets what follows from the named ones, if it is joined to
them by others (the completion of largest determinant), and none otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from schemas.config.core import Section, broken
from schemas.explain import NAME_PATTERN

F64 = npt.NDArray[np.float64]
Pairs = Mapping[tuple[int, int], float]
"""Correlations by the places of two attributes, the smaller place first."""
LEAST = 1e-6
"""The least that the smallest eigenvalue of a correlation matrix may be."""
ROUNDS = 2000


class Correlation(Section):
    """A rank correlation between two attributes."""

    between: Annotated[list[Annotated[str, Field(pattern=NAME_PATTERN)]], Field(min_length=2, max_length=2)]
    """The two attributes: numbers, or categories in the order in which they are listed."""
    spearman: Annotated[float, Field(gt=-1, lt=1)]
    """Spearman's rank correlation of the values as they are at last, rounded ones and ties included."""


def _possible(given: list[Correlation]) -> list[Correlation]:
    """Correlations of different attributes, each pair once, that can all hold."""
    wrong: list[InitErrorDetails] = []
    seen: dict[frozenset[str], int] = {}
    for index, one in enumerate(given):
        pair = frozenset(one.between)
        here = (index, "between")
        if len(pair) == 1:
            rule = broken("an attribute is not correlated with itself", "name two attributes")
            wrong.append(InitErrorDetails(type=rule, loc=here, input=one.between))
        elif pair in seen:
            rule = broken(f"this pair stands at [{seen[pair]}] already", "remove one of the two")
            wrong.append(InitErrorDetails(type=rule, loc=here, input=one.between))
        seen.setdefault(pair, index)
    if not wrong:
        wrong += [InitErrorDetails(type=rule, loc=(), input=given) for rule in _impossible(given)]
    if wrong:
        raise ValidationError.from_exception_data("correlations", wrong)
    return given


Correlations = Annotated[list[Correlation], AfterValidator(_possible)]
"""Pairs with their rank correlations, which can all hold together."""


def groups_of(pairs: Iterable[Sequence[str]]) -> list[list[str]]:
    """Attributes that are joined by pairs, directly or by others, in the order in which they are named."""
    groups: list[list[str]] = []
    for pair in pairs:
        joined = [group for group in groups if set(group) & set(pair)]
        groups = [group for group in groups if group not in joined]
        groups.append(list(dict.fromkeys([*(name for group in joined for name in group), *pair])))
    return groups


def _impossible(correlations: Sequence[Correlation]) -> list[PydanticCustomError]:
    """One error for each group that cannot hold."""
    found: list[PydanticCustomError] = []
    for names in groups_of(one.between for one in correlations):
        pairs = pairs_among(names, {(one.between[0], one.between[1]): one.spearman for one in correlations})
        _, smallest = completed(len(names), pairs)
        if smallest < LEAST:
            listed = ", ".join(f"`{name}`" for name in names)
            rule = f"the correlations of {listed} cannot hold together: smallest eigenvalue {smallest:.3g}, below 0"
            found.append(broken(rule, "bring some of them nearer to 0, or change a sign"))
    return found


def pairs_among(names: Sequence[str], by_name: Mapping[tuple[str, str], float]) -> Pairs:
    """The correlations among these attributes, by their places in ``names``."""
    place = {name: index for index, name in enumerate(names)}
    inside = {pair: value for pair, value in by_name.items() if pair[0] in place and pair[1] in place}
    return {tuple(sorted((place[a], place[b]))): value for (a, b), value in inside.items()}  # type: ignore[misc]


def completed(size: int, pairs: Pairs) -> tuple[F64, float]:
    """(size, size) the correlation matrix with the given pairs, and its smallest eigenvalue, to six decimals.

    Where pairs are missing: the matrix of largest determinant, by proportional fitting of each pair in turn (Speed and
    Kiiveri 1986). If no matrix has the given pairs, the eigenvalue is below 0.
    """
    matrix = np.eye(size)
    if len(pairs) < size * (size - 1) // 2:
        for _ in range(ROUNDS):
            if all(abs(matrix[i, j] - value) < 1e-10 for (i, j), value in pairs.items()):
                break
            for (i, j), value in pairs.items():
                matrix = _fitted(matrix, i, j, value)
    for (i, j), value in pairs.items():
        matrix[i, j] = matrix[j, i] = value
    np.fill_diagonal(matrix, 1.0)
    return np.round(matrix, 9), round(float(np.linalg.eigvalsh(matrix)[0]), 6)


def _fitted(matrix: F64, i: int, j: int, value: float) -> F64:
    """The matrix nearest to this one in which the two have variance 1 and that correlation; 2 x 2 blocks by hand."""
    a, b, c = matrix[i, i], matrix[j, j], matrix[i, j]
    scale = a * b - c * c
    inner = np.array([[b, -c], [-c, a]]) / scale
    gap = np.array([[1.0 - a, value - c], [value - c, 1.0 - b]])
    left = [[sum(inner[r, k] * gap[k, s] for k in (0, 1)) for s in (0, 1)] for r in (0, 1)]
    middle = [[sum(left[r][k] * inner[k, s] for k in (0, 1)) for s in (0, 1)] for r in (0, 1)]
    both = (matrix[:, i], matrix[:, j])
    out = matrix.copy()
    for r in (0, 1):
        for s in (0, 1):
            out = out + middle[r][s] * np.multiply.outer(both[r], both[s])
    return out
