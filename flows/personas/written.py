"""Populations that are written in a file: their attributes as distributions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from flows.personas.tables import Distribution
from flows.personas.traits import traits
from flows.personas.us import spread
from schemas.config.personas import GROUP_YEARS, INCOME_BANDS, INCOME_STEP, AttributeSpec
from schemas.config.written import load_population, rows_of


@lru_cache(maxsize=4)
def written(name: str) -> Mapping[str, Distribution]:
    """Every attribute of the population of that file by name. Raises ``SourceError`` if the file is wrong."""
    stated = [_distribution(attribute, spec) for attribute, spec in load_population(name).attributes.items()]
    numbers = [
        spread("age_years", "age_group", GROUP_YEARS, 1),
        spread("income_usd", "income_band", INCOME_BANDS, INCOME_STEP),
    ]
    return {d.name: d for d in [*stated, *numbers, *traits().values()]}


def _distribution(name: str, spec: AttributeSpec) -> Distribution:
    levels = tuple(spec.levels())
    rows = spec.table if spec.table is not None else {"": spec.weights or dict.fromkeys(levels, 1.0)}
    weights = np.array([[row.get(level, 0.0) for level in levels] for row in rows.values()])
    return Distribution(name, levels, weights, tuple(spec.given or ()), tuple(rows_of(spec).values()) or ((),))
