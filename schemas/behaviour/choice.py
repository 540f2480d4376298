"""How a person chooses among what is shown: pure equations, used by the generator and by the observer alike.

The form is the multinomial logit (McFadden 1974): the utility of an option is the sum over dimensions of the person's
strength times the match of the option's value with the value they like best, less what its position costs; a share
``exploration`` of choices is made without regard to utility.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
GRID = 2.0**20


def match_table(kind: Literal["categorical", "ordinal", "numeric"], size: int) -> F64:
    """(liked value, option's value) → match in [0, 1].

    Categorical: 1 if equal, else 0. Ordinal and numeric: falls by rank, ``max(0, 1 - rank distance / 2)``.
    """
    rank = np.arange(size)
    distance = np.abs(rank[:, None] - rank[None, :])
    if kind == "categorical":
        return (distance == 0).astype(np.float64)
    return np.maximum(0.0, 1.0 - distance / 2.0)


def position_cost(options: int, effect: float) -> F64:
    """(options,) what each place on the screen takes from the utility, in log-odds; the first takes nothing."""
    return effect * np.arange(options, dtype=np.float64)


def choice_shares(utility: F64, exploration: float) -> F64:
    """(..., options) → probabilities of choosing each. Rounded to 2**-20 so that no last bit of ``exp`` matters."""
    top = utility.max(axis=-1, keepdims=True)
    weight = np.rint(np.exp(utility - top) * GRID) / GRID
    shares = weight / weight.sum(axis=-1, keepdims=True)
    return (1.0 - exploration) * shares + exploration / utility.shape[-1]


def value_weights(liked: I64, strength: F64, match: F64) -> F64:
    """(n,), (n,), (values, values) → (n, values): share each value would get if all else were equal."""
    weight = np.exp(strength[:, None] * (match[liked] - 1.0))
    return np.asarray(np.round(weight / weight.sum(axis=1, keepdims=True), 6))
