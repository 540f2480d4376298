"""Raw logs behind the references, where those lie beside the project."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from validation.fidelity.occurrences import Occurrences

ROOT = Path(__file__).parents[3]
DATA = next(
    (folder for folder in (ROOT.parent / "shared" / "data", ROOT.parent.parent / "shared" / "data") if folder.is_dir()),
    None,
)
DAY_US = 86_400_000_000
ABSENT = "raw data of the references are not part of the project"


@cache
def orders() -> tuple[Occurrences, npt.NDArray[np.int64]]:
    """CDNOW's orders at noon of their dates, and their CDs."""
    assert DATA is not None
    rows = np.loadtxt(DATA / "cdnow" / "CDNOW_master.txt", skiprows=1)
    user, stamp = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    dates, which = np.unique(stamp, return_inverse=True)
    epoch = date(1970, 1, 1).toordinal()
    known = np.array([date(d // 10_000, d // 100 % 100, d % 100).toordinal() - epoch for d in dates.tolist()])
    day = known[which]
    order = np.lexsort((day, user))
    at = day[order] * DAY_US + DAY_US // 2
    return Occurrences(user[order], at, np.zeros(user.size, np.int64)), rows[order, 2].astype(np.int64)
