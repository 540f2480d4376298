"""How likely each option of a menu is to be the right one, given beliefs about the dimensions in which they differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MARGIN = 10
"""The best option must lead the next by a tenth of the menu's range of utility."""
GRID = 1_000_000
"""Utilities are compared as whole millionths."""
NOBODY = -1


def best_options(menu: I64, match_tables: Sequence[F64], mean_strengths: Sequence[float]) -> I64:
    """(V_1, ..., V_C) for every combination of liked values the option that is clearly best, or -1 for none.

    ``menu`` (options, C) holds value codes in the C dimensions in which the options differ, ``match_tables`` one
    (V_c, V_c) table for each. Clearly best: by a tenth or more of the distance between the best and the worst.
    """
    menu = np.asarray(menu, dtype=np.int64)
    count, contested = menu.shape
    if count < 2 or not len(match_tables) == len(mean_strengths) == contested:
        raise ValueError(
            f"a menu needs two options, and a match table and a strength for each dimension: {count} options, "
            f"{contested} dimensions, {len(match_tables)} match tables, {len(mean_strengths)} strengths"
        )
    sizes = tuple(table.shape[0] for table in match_tables)
    utility = np.zeros((*sizes, count))
    for place, (table, strength) in enumerate(zip(match_tables, mean_strengths, strict=True)):
        along = [1] * contested
        along[place] = sizes[place]
        utility += strength * table[:, menu[:, place]].reshape(*along, count)
    whole = np.rint(utility * GRID).astype(np.int64)
    ranked = np.sort(whole, axis=-1)
    spread = ranked[..., -1] - ranked[..., 0]
    lead = ranked[..., -1] - ranked[..., -2]
    return np.where((lead > 0) & (lead * MARGIN >= spread), whole.argmax(axis=-1), NOBODY)


def decision_probability(
    menu: I64, beliefs: Sequence[F64], match_tables: Sequence[F64], mean_strengths: Sequence[float]
) -> F64:
    """(n, options) probability that each option is clearly best, for n users by what is believed of each.

    ``beliefs`` holds one (n, V_c) table for each contested dimension; the dimensions are independent given the record,
    and every combination of their values is counted. The rows sum to less than 1 by the chance of a tie.
    """
    best = best_options(menu, match_tables, mean_strengths)
    if tuple(belief.shape[1] for belief in beliefs) != best.shape:
        held = [belief.shape[1] for belief in beliefs]
        raise ValueError(f"beliefs are over {held} values; match tables over {list(best.shape)}")
    by_value = [np.ascontiguousarray(belief.T) for belief in beliefs]
    probability = np.zeros((np.asarray(menu).shape[0], beliefs[0].shape[0]))
    for combination in np.argwhere(best != NOBODY):
        weight = by_value[0][combination[0]]
        for belief, value in zip(by_value[1:], combination[1:], strict=True):
            weight = weight * belief[value]
        probability[best[tuple(combination)]] += weight
    # Beliefs are rounded, so that a sum can pass 1 by a millionth.
    return np.asarray(np.minimum(1.0, np.round(probability.T, 6)))


def gold_options(menu: I64, true_values: I64) -> Flags:
    """(n, options) whether an option has, in every contested dimension, the value that truly holds.

    ``menu`` (options, C), ``true_values`` (n, C).
    """
    return np.asarray((np.asarray(menu)[None, :, :] == np.asarray(true_values)[:, None, :]).all(axis=2))
