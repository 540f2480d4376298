"""Numbers between 0 and 1 that are a function of a label: what permutes and thins here, the same on every machine."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


def uniforms(label: str, n: int) -> F64:
    """(n,) numbers in [0, 1) from the digest SHAKE-128 of the label; a longer row of one label begins with a shorter one.

    Whole numbers of 53 bits over 2**53, so that no rounding of a machine can tell.
    """
    words = np.frombuffer(hashlib.shake_128(label.encode()).digest(8 * n), dtype="<u8")
    return (words >> np.uint64(11)).astype(np.float64) / 2.0**53


def permutation(label: str, n: int) -> I64:
    """(n,) the numbers 0 to n - 1 in an order that hangs on the label alone."""
    return np.argsort(uniforms(label, n), kind="stable")
