"""The mechanisms by which people do things in a domain: sessions, trips, routines, replies, daily summaries.

Every mechanism gives sittings, and lines of the log in them. `flows/timelines/` turns them into events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from schemas.config.core import Positive, Rate, Section, broken
from schemas.tables.fields import ACTIONS
from schemas.tooling import Name


def _known_action(action: str) -> str:
    if action not in ACTIONS:
        raise broken(f"`{action}` is no action", f"actions are {', '.join(ACTIONS)}")
    return action


Action = Annotated[str, AfterValidator(_known_action)]


def _rising(quantiles: Mapping[str, float]) -> dict[str, float]:
    """Quantiles by name, `q0.05` style, both rising."""
    places: list[float] = []
    for name in quantiles:
        try:
            places.append(float(name.removeprefix("q")))
        except ValueError:
            raise broken(f"`{name}` is no quantile", "write one like q0.05") from None
        if not name.startswith("q") or not 0 <= places[-1] <= 1:
            raise broken(f"`{name}` is no quantile", "write one like q0.05")
    values = list(quantiles.values())
    if len(values) < 2 or places != sorted(set(places)) or values != sorted(values):
        raise broken("quantiles must be two or more, and rise", "list them from the lowest up")
    return dict(quantiles)


Quantiles = Annotated[dict[str, Positive], AfterValidator(_rising)]
"""Quantiles over people or things, such as `{q0.05: 0.6, q0.50: 2.3, q0.95: 6.0}`."""
Basis = Annotated[str, Field(min_length=4)]
"""Where a figure comes from: a file of validation/references/ and its metric, a publication, or `assumed`."""


def _shares_by_count(shares: dict[str, float]) -> dict[str, float]:
    for name in shares:
        if not name.isdigit():
            raise broken(f"`{name}` is no count", 'write one like "2"')
    total = sum(shares.values())
    if abs(total - 1) > 1e-3:
        raise broken(f"shares sum to {total:.6g}; must sum to 1", "scale them")
    return shares


Counts = Annotated[dict[str, Annotated[float, Field(ge=0)]], AfterValidator(_shares_by_count), Field(min_length=1)]
"""Shares by a whole number, in quotes."""


class Stay(Section):
    """When what is booked takes place, and for how many."""

    lead_days: Quantiles
    """Days from the booking to its beginning, over bookings."""
    nights: Quantiles
    """Nights it lasts; rounded, one at the least."""
    party: Counts
    """Share of bookings by number of people."""
    basis: Basis


class SessionActivity(Section):
    """Someone opens an app, looks, chooses among options once or several times, and is done."""

    mechanism: Literal["session"]
    reference: str
    """File in validation/references/ whose hours (by day type) and weekdays hold."""
    hours_of: str | None = None
    """Another file for the hours, or `file/stratum`, where that one has none."""
    per_week: Quantiles
    """Quantiles over people of sessions in an active week."""
    per_week_basis: Basis
    again_soon: Rate = 0.0
    """Share of sessions followed by another within minutes."""
    again_minutes: Positive = 6.0
    """Median of those minutes."""
    search: Rate = 0.0
    """Share of sessions that begin with a search."""
    choose: Action
    """The action by which an option is chosen."""
    lines: Counts
    """Share of sessions by number of choices."""
    lines_basis: Basis
    close: Action | None = None
    """The action with which the session ends, if it ends with one of its own."""
    close_with: str = "nothing"
    """What the closing line names: `nothing` (it bears the total), `choice` (the last thing chosen), or a personal kind."""
    review: Rate = 0.0
    """Share of sessions followed by stars."""
    seconds_per_step: Positive = 30.0
    """Median of the seconds between lines."""
    stay: Stay | None = None
    """For what is booked ahead."""
    is_paid: bool = True
    """Whether what is chosen is paid for, in a domain in which things have prices. A subscription pays for what is played."""


class TripActivity(Section):
    """Someone leaves for a place chosen among options, arrives, stays, and comes back."""

    mechanism: Literal["trip"]
    reference: str
    hours_of: str | None = None
    per_week: Quantiles
    per_week_basis: Basis
    search: Rate = 0.0
    choose: Action
    """The action of arriving at the place chosen."""
    travel_minutes: Positive
    """Median of the minutes under way, each way."""
    stay_minutes: Positive
    """Median of the minutes there."""
    back_to: Name
    """The personal kind of place to which one comes back."""
    basis: Basis
    review: Rate = 0.0
    seconds_per_step: Positive = 30.0


class RoutineActivity(Section):
    """Something done at the same times of the day, nearly every day, to a thing of one's own."""

    mechanism: Literal["routine"]
    reference: str
    """File whose hours of the day say when habitual times lie."""
    hours_of: str | None = None
    per_day: Quantiles
    """Quantiles over people of how many times a day they have for it; rounded."""
    per_day_basis: Basis
    kept: Rate = 0.8
    """Share of days on which a habitual time is kept."""
    jitter_minutes: Positive = 15.0
    """Standard deviation about the habitual time."""
    action: Action
    on: Name
    """The personal kind of thing it is done to."""


class ReplyActivity(Section):
    """Messages that answer each other: a thread with one contact, in bursts."""

    mechanism: Literal["reply"]
    reference: str
    hours_of: str | None = None
    per_week: Quantiles
    """Threads in an active week."""
    per_week_basis: Basis
    more: Annotated[float, Field(ge=0, lt=0.95)]
    """Probability that one more message follows: the length of a thread is geometric."""
    wait_minutes: Positive
    """Median of the minutes between messages of a thread."""
    wait_spread: Positive = 1.5
    """Standard deviation of the log of those minutes."""
    basis: Basis
    action: Action
    on: Name
    """The personal kind it goes to."""


class SummaryActivity(Section):
    """One line a day, written by a device, with a value for every hour."""

    mechanism: Literal["summary"]
    reference: str
    """File whose hours of the day say how the day's total spreads."""
    hours_of: str | None = None
    per_day: Quantiles
    """Quantiles over people of the mean total of a day."""
    per_day_basis: Basis
    day_spread: Positive = 0.4
    """Standard deviation of the log of one person's daily totals."""
    unit: str
    """What is counted, such as `steps`."""
    worn: Rate = 0.95
    """Share of days with a line."""
    action: Action


Activity = Annotated[
    SessionActivity | TripActivity | RoutineActivity | ReplyActivity | SummaryActivity, Field(discriminator="mechanism")
]
Choosing = SessionActivity | TripActivity
"""Mechanisms in which options are shown and one is chosen."""
