"""Utility of options by taste: strength times match, summed over the dimensions of a domain."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schemas.behaviour.choice import match_table
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


def taste_utility(domain: Domain, item_values: npt.NDArray[np.int8], liked: I64, strength: F64, options: I64) -> F64:
    """(n, options) utilities, summed in the order of the domain file.

    ``item_values`` (items, dimensions) codes of the catalogue; ``liked`` and ``strength`` (n, dimensions); ``options``
    (n, options) rows of the catalogue.
    """
    utility = np.zeros(options.shape)
    for column, spec in enumerate(domain.dimensions.values()):
        match, count = match_table(spec.kind, len(spec.values)), len(spec.values)
        codes = np.ascontiguousarray(item_values[:, column]).take(options)
        matches = match.ravel().take((liked[:, column] * count)[:, None] + codes)
        matches *= strength[:, column, None]
        utility += matches
    return utility
