"""What holds of every clean timeline, and which kinds of the ledger may break it in the disturbed log."""

from __future__ import annotations

from collections.abc import Mapping

ONE_SESSION = "one session at a time"
"""No two sessions of a person overlap on one device."""
ONE_LINE = "one line for one act"
"""Nothing that was done once stands in the log twice."""
SPELLING = "spelling"
MAY_BREAK: Mapping[str, tuple[str, ...]] = {
    "other_person": (),
    "accidental": (),
    "duplicate": (ONE_LINE,),
    "stated_vs_done": (ONE_SESSION,),
    "temporary_state": (ONE_SESSION,),
    "corrupt": (SPELLING,),
}
"""Invariants of the clean timeline that rows of a kind may break; every other invariant still holds."""


def breakers(invariant: str) -> tuple[str, ...]:
    """The kinds that may break an invariant."""
    return tuple(kind for kind, broken in MAY_BREAK.items() if invariant in broken)
