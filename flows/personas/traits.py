"""The Big Five: a T-score of each as an attribute, and the correlations of the normal deviates behind the scores.

The uniforms of the attributes come from `correlated_uniforms(draws, numbers, *trait_correlations())`. Each then goes
through the attribute's own distribution, so that correlations change nobody's shares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from ruamel.yaml import YAML

from flows.personas.copula import lower_root
from flows.personas.tables import Distribution
from schemas.tables.fields import TRAIT_SCORES, TRAITS

F64 = npt.NDArray[np.float64]
CHRONOTYPE = "chronotype"
"""Its values go from morning to evening, so that its deviate falls with being a morning person."""
PLACES = 9
"""Decimals of a score's share: the last bit of an error function decides nothing."""


def traits() -> Mapping[str, Distribution]:
    """The attribute of each trait by name. None depends on another attribute."""
    spec = _read()["scores"]
    mean, deviation = spec["mean"], spec["standard_deviation"]
    scores = range(spec["lowest"], spec["highest"] + 1)
    assert (scores[0], scores[-1]) == TRAIT_SCORES
    inner = [_share_below((score + 0.5 - mean) / deviation) for score in scores[:-1]]
    upto = [0.0, *inner, 1.0]  # the ends hold what lies beyond them
    weights = np.array([[round(high - low, PLACES) for low, high in zip(upto[:-1], upto[1:], strict=True)]])
    levels = tuple(str(score) for score in scores)
    return {name: Distribution(name, levels, weights) for name in TRAITS}


@lru_cache(maxsize=1)
def trait_correlations() -> tuple[tuple[str, ...], F64]:
    """Names, and the matrix (names, names) of the normal deviates behind them: the chronotype, then the five traits.

    The chronotype is first, so that it keeps its own uniform. Raises ValueError if the figures are no correlations.
    """
    content = _read()
    names = (CHRONOTYPE, *TRAITS)
    matrix = np.eye(len(names))
    pairs = {(one, other): r for one, row in content["correlations"]["pairs"].items() for other, r in row.items()}
    pairs |= {(CHRONOTYPE, name): -r for name, r in content["morningness"]["pairs"].items()}
    for (one, other), correlation in pairs.items():
        row, column = names.index(one), names.index(other)
        matrix[row, column] = matrix[column, row] = correlation
    lower_root(matrix)
    matrix.flags.writeable = False
    return names, matrix


def _share_below(deviate: float) -> float:
    """The distribution function of the standard normal."""
    return (1.0 + math.erf(deviate / math.sqrt(2.0))) / 2.0


def _read() -> Any:
    place = Path(__file__).parents[2] / "schemas" / "populations" / "us_traits.yaml"
    return YAML(typ="safe", pure=True).load(place)
