"""The stage `dispositions`."""

from __future__ import annotations

from flows.common.stage import Stage
from flows.dispositions.draw import draw_dispositions
from schemas.tables.internal import DRIFT
from schemas.tables.sealed import DISPOSITIONS, INTERESTS, PARTICIPATION

DISPOSITIONS_STAGE = Stage(
    "dispositions",
    draw_dispositions,
    reads={"users": "personas", "personas": "personas", "actors": "personas"},
    writes=(DISPOSITIONS, DRIFT, INTERESTS, PARTICIPATION),
)
