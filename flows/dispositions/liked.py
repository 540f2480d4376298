"""Which value of each dimension people like best, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.draws import Draws, categorical, normal
from flows.dispositions.interests import Lean
from flows.dispositions.levels import has_level
from schemas.domain import DimensionSpec, Domain
from schemas.links import drawing_order

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]


def draw_liked(
    domains: Mapping[str, Domain],
    people: pa.Table,
    keys: U64,
    draws: Draws,
    aspect: str,
    lean: Lean | None = None,
) -> I64:
    """(people, dimensions) code of the value each person likes best, from shares, tilts and interests.

    ``people`` has the columns of `personas`; ``keys`` (people,) whom the draws belong to.
    """
    specs = {
        full: spec
        for domain in domains.values()
        for full, spec in zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)
    }
    liked: dict[str, I64] = {}
    for full in drawing_order(domains):
        weights = np.tile(np.array([v.share for v in specs[full].values.values()]), (keys.size, 1))
        for tilt in specs[full].tilts:
            if tilt.dimension is not None and tilt.dimension not in specs:
                continue
            for level, factors in tilt.multiply.items():
                if tilt.attribute is not None:
                    here = has_level(people, tilt.attribute, level)
                else:
                    assert tilt.dimension is not None
                    here = liked[tilt.dimension] == list(specs[tilt.dimension].values).index(level)
                row = np.array([factors.get(value, 1.0) for value in specs[full].values])
                weights = np.where(here[:, None], weights * row, weights)
        leaning = lean.on(full) if lean is not None else None
        liked[full] = categorical(
            draws.uniform(f"{aspect} {full}", keys), weights if leaning is None else weights * leaning
        )
    return np.stack([liked[full] for full in specs], axis=1)


def draw_strengths(
    dimensions: Mapping[str, DimensionSpec], mean: float, spread: float, keys: U64, draws: Draws, aspect: str
) -> F64:
    """(people, dimensions) log-normal about the configured median, in steps of 0.001."""
    columns = []
    for name, spec in dimensions.items():
        factor = np.exp(spread * normal(draws.uniform(f"{aspect} {name}", keys)))
        columns.append(np.round(mean * spec.strength * factor, 3))
    return np.stack(columns, axis=1)
