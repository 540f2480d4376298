"""Hours of the day in which something can be had: from ``opens`` to ``closes``, which lies beyond 24 after midnight."""

from __future__ import annotations

HOURS = 24


def is_open_at(opens: int | None, closes: int | None, hour: int) -> bool:
    """Whether it can be had in that hour of the local day; always, if no hours are given."""
    if opens is None or closes is None:
        return True
    return opens <= hour < closes or hour < closes - HOURS


def hours_problem(what: str, opens: int | None, closes: int | None) -> tuple[str, str] | None:
    """Rule and fix where the two do not make hours; ``what`` has them."""
    if (opens is None) != (closes is None):
        return f"{what} has both `opens` and `closes`, or neither", "give the other one"
    if opens is not None and closes is not None and not 0 < closes - opens < HOURS:
        return f"open from {opens} to {closes} is no stretch of a day", "close after opening"
    return None
