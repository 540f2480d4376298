"""Instants of the tool world: read from text that bears its offset, kept in UTC, within the years that anybody plans."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

FIRST_YEAR, LAST_YEAR = 1900, 2199
EXAMPLE = "2025-01-06T09:00:00-06:00"
_RFC_3339 = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")


def to_utc(instant: datetime) -> datetime:
    """The same instant in UTC. Raises ``ValueError`` outside the years 1900 to 2199, where sums could overflow."""
    if not FIRST_YEAR <= instant.year <= LAST_YEAR:
        raise ValueError(f"the year {instant.year} is not between {FIRST_YEAR} and {LAST_YEAR}")
    return instant.astimezone(UTC)


def read_instant(text: str) -> datetime | None:
    """The instant in UTC that an RFC 3339 date-time names; None if the text is none, or none of these centuries."""
    if not _RFC_3339.fullmatch(text.upper()):
        return None
    try:
        return to_utc(datetime.fromisoformat(text.upper()))
    except ValueError:
        return None


Instant = Annotated[AwareDatetime, AfterValidator(to_utc)]
"""A time with its offset, kept in UTC, so that equal instants have equal texts."""


def overlap(first: tuple[datetime, datetime], second: tuple[datetime, datetime]) -> bool:
    """Whether two periods share a moment. One may begin when the other ends."""
    return first[0] < second[1] and second[0] < first[1]
