"""What everybody in a place shares, day by day: the weather of each zone, and the public holidays of each locale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import DAY, microseconds, offset_us
from flows.common.holidays import holiday_names
from flows.common.stage import Context, Tables
from flows.common.weather import weather_of
from schemas.tables.fields import WEATHERS
from schemas.tables.visible import DAYS, HOLIDAYS

I64 = npt.NDArray[np.int64]


def make_days(context: Context, tables: Tables) -> Tables:
    """`days` and `holidays` of the zones and the locales in `users`."""
    zones, locales = (sorted(pc.unique(tables["users"][name]).to_pylist()) for name in ("time_zone", "locale"))
    window = context.data.window
    first, last = local_days(zones, microseconds(window.start), microseconds(window.end))
    days = np.arange(first.min(), last.max() + 1)
    return {
        "days": _weather_rows(zones, days, first, last, context.draws.seed),
        "holidays": _holiday_rows(locales, days),
    }


def local_days(zones: Sequence[str], start_us: int, end_us: int) -> tuple[I64, I64]:
    """(zones,) the first and the last local day of each zone that has a moment of the window, whose end is excluded."""
    zone, span = np.arange(len(zones)), (start_us - 2 * DAY, end_us + 2 * DAY)
    first, last = (
        (at + offset_us(np.full(zone.size, at), zone, list(zones), span)) // DAY for at in (start_us, end_us - 1)
    )
    return first, last


def _weather_rows(zones: Sequence[str], days: I64, first: I64, last: I64, seed: int) -> pa.Table:
    weather = weather_of(zones, days, seed)
    zone, day = np.nonzero((days >= first[:, None]) & (days <= last[:, None]))
    rows = {
        "time_zone": pa.array(zones, pa.string()).take(pa.array(zone)),
        "date": pa.array(days[day].astype(np.int32)).cast(pa.date32()),
        "weather": pa.array(WEATHERS, pa.string()).take(pa.array(weather.codes[zone, day])),
        "temperature_c": pa.array(weather.highest_c[zone, day].astype(np.int16)),
    }
    return DAYS.conform(pa.table(rows))


def _holiday_rows(locales: Sequence[str], days: I64) -> pa.Table:
    found = [(locale, day, name) for locale in locales for day, name in holiday_names(locale, days).items()]
    rows = {
        "locale": pa.array([locale for locale, _, _ in found], pa.string()),
        "date": pa.array([day for _, day, _ in found], pa.int32()).cast(pa.date32()),
        "holiday": pa.array([name for _, _, name in found], pa.string()),
    }
    return HOLIDAYS.conform(pa.table(rows))
