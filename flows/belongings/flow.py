"""The stage `belongings`."""

from __future__ import annotations

from flows.belongings.draw import own_things
from flows.common.stage import Stage
from schemas.tables.internal import PERSONAL_ATTRIBUTES, PERSONAL_ITEMS

BELONGINGS_STAGE = Stage(
    "belongings",
    own_things,
    reads={"users": "personas", "personas": "personas"},
    writes=(PERSONAL_ITEMS, PERSONAL_ATTRIBUTES),
)
