"""The stage `days`."""

from __future__ import annotations

from flows.common.stage import Stage
from flows.days.calendar import make_days
from schemas.tables.visible import DAYS, HOLIDAYS

DAYS_STAGE = Stage("days", make_days, reads={"users": "personas*"}, writes=(DAYS, HOLIDAYS))
