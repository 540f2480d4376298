"""The mechanisms by which people do things in a domain: sessions, trips, routines, replies, daily summaries.

Every mechanism gives sittings, and lines of the log in them. `flows/timelines/` turns them into events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from schemas.config.core import Basis, Positive, Rate, Section, broken
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
Weather = Literal["dry", "rain", "snow", "heat", "cold"]


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


def _one_to_five(shares: dict[str, float]) -> dict[str, float]:
    if list(shares) != list("12345"):
        raise broken(f"stars are {', '.join(shares)}", 'must be "1" to "5", in that order')
    return shares


Stars = Annotated[Counts, AfterValidator(_one_to_five)]
"""Share of ratings by number of stars, from 1 to 5. The better a thing fits, the more of them."""
USUAL_STARS = {"1": 0.04, "2": 0.1, "3": 0.25, "4": 0.36, "5": 0.25}
"""Assumed, where a domain file says nothing."""


class Rhythm(Section):
    """How sittings follow each other, as :mod:`schemas.behaviour.rhythm` says. `habitus calibrate` fits it."""

    gap_spread: Annotated[float, Field(ge=0, le=2)] = 0.8
    """Median over people of the standard deviation of the log of the gaps: 0 is clockwork, 0.83 as uneven as chance."""
    gap_spread_between: Annotated[float, Field(ge=0, le=1)] = 0.2
    """How much that differs between people: the standard deviation of its log."""
    sway: Annotated[float, Field(ge=0, le=2)] = 0.4
    """Standard deviation of the log of a person's activity over weeks."""
    sway_memory: Annotated[float, Field(ge=0, lt=1)] = 0.7
    """Correlation of that from one week to the next."""
    dormant_share: Annotated[float, Field(ge=0, le=0.8)] = 0.05
    """Share of weeks in which a person does nothing of this at all."""
    dormant_weeks: Annotated[float, Field(ge=1)] = 3.0
    """Weeks that such a spell lasts on average."""
    again: Annotated[float, Field(ge=0, lt=0.95)] = 0.05
    """Median over people of the probability that one time is followed by another of itself."""
    again_between: Annotated[float, Field(ge=0, le=2)] = 0.5
    """How much that differs between people: the standard deviation of its log-odds."""
    soon_minutes: Positive = 10.0
    """Median of the minutes until what follows soon."""
    soon_spread: Annotated[float, Field(ge=0, le=4)] = 1.0
    """Standard deviation of the log of those minutes."""
    later_share: Rate = 0.0
    """Share of what follows that follows later."""
    later_hours: Positive = 12.0
    """Median of the hours until then."""
    later_spread: Annotated[float, Field(ge=0, le=4)] = 1.0
    """Standard deviation of the log of those hours."""
    basis: Basis = "assumed"


class Returns(Section):
    """How people come back to what they took before, and how their appetite for something new fades."""

    new: Annotated[float, Field(gt=0, le=1)]
    """Probability that the second choice is a new one, before that fades: the median over people. The first always is."""
    new_between: Annotated[float, Field(ge=0, le=2)] = 0.0
    """How much that differs between people: the standard deviation of its log."""
    decay: Annotated[float, Field(ge=0, le=2)]
    """Exponent by which that probability falls with the number of the choice."""
    recent: Rate
    """Share of the returns that go to what was taken about so long ago as `lag_days` say; the others go to any earlier
    choice, each as likely as the next, and so to what was taken often."""
    lag_days: Positive
    """Median of those days."""
    lag_spread: Positive
    """Standard deviation of the log of those days."""
    rest_hours: Annotated[float, Field(ge=0)] = 0.0
    """Hours within which people rather take something else than the same again."""


class Habit(Returns):
    """Returns to the same things; and, for what is new, to the same categories."""

    twice: bool = False
    """Whether a session can return to the same thing more than once, as with songs; a basket holds a product once."""
    categories: Returns | None = None
    """How people come back to categories, where they take something new; if left out, categories come by popularity."""
    basis: Basis


def _hours(shares: list[float]) -> list[float]:
    return _shares_of(shares, 24, "hours of the day, from 0 to 23")


def _weekdays(shares: list[float]) -> list[float]:
    return _shares_of(shares, 7, "days of the week, Monday first")


def _shares_of(shares: list[float], count: int, what: str) -> list[float]:
    if len(shares) != count:
        raise broken(f"there are {len(shares)} shares; must be {count}, one for each of the {what}", f"list {count}")
    if abs(sum(shares) - 1) > 1e-3:
        raise broken(f"shares sum to {sum(shares):.6g}; must sum to 1", "scale them")
    return shares


Share = Annotated[float, Field(ge=0, le=1)]
HourShares = Annotated[list[Share], AfterValidator(_hours)]
WeekdayShares = Annotated[list[Share], AfterValidator(_weekdays)]


class OwnProfile(Section):
    """When something is done, said in the domain file itself, in place of a file of validation/references/."""

    weekday_hours: HourShares
    """Shares of the 24 hours of a day from Monday to Friday, by local hour."""
    weekend_hours: HourShares
    """Those of a Saturday or Sunday."""
    week: WeekdayShares
    """Shares of the seven days of the week, Monday first."""
    basis: Basis


class During(Section):
    """Where people are when they do something: how likely it is there, compared with being free at home."""

    asleep: Annotated[float, Field(ge=0, le=1)] = 0.015
    at_work: Annotated[float, Field(ge=0, le=20)] = 0.5
    """At work or at school."""
    at_home: Annotated[float, Field(ge=0, le=20)] = 1.0
    out: Annotated[float, Field(ge=0, le=20)] = 1.0

    @model_validator(mode="after")
    def _some_place_is_left(self) -> During:
        if not any(factor for _, factor in self.factors()):
            raise broken("every factor of `during` is 0, so that it is done nowhere", "put one above 0")
        return self

    def factors(self) -> tuple[tuple[str, float], ...]:
        """Place to factor."""
        return (("asleep", self.asleep), ("at_work", self.at_work), ("at_home", self.at_home), ("out", self.out))


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
    profile: OwnProfile | None = None
    """Hours and weekdays of its own; then `reference` only says where the figures come from, and need be no file there."""
    per_week: Quantiles
    """Quantiles over people of sessions in an active week, those that follow others counted."""
    per_week_basis: Basis
    rhythm: Rhythm = Field(default_factory=Rhythm)
    during: During = Field(default_factory=During)
    weather: dict[Weather, Positive] = Field(default_factory=dict)
    """What multiplies how often it is done on days of such weather, beside other days; 1 where left out. On average over
    what the weather of a place and season can be, it multiplies by 1, so that `per_week` holds. Assumed."""
    search: Rate = 0.0
    """Share of sessions that begin with a search."""
    choose: Action
    """The action by which an option is chosen."""
    compare: Rate = 0.0
    """Share of choices before which things are put side by side."""
    view: Rate = 0.0
    """Share of choices before which the thing taken is looked at by itself."""
    lines: Counts
    """Share of sessions by number of choices."""
    lines_basis: Basis
    close: Action | None = None
    """The action with which the session ends, if it ends with one of its own."""
    close_with: str = "nothing"
    """What the closing line names: `nothing` (it bears the total), `choice` (the last thing chosen), or a personal kind."""
    review: Rate = 0.0
    """Share of sessions followed by stars."""
    stars: Stars = Field(default_factory=lambda: dict(USUAL_STARS))
    seconds_per_step: Positive = 30.0
    """Median of the seconds between lines."""
    stay: Stay | None = None
    """For what is booked ahead."""
    is_paid: bool = True
    """Whether what is chosen is paid for, in a domain in which things have prices. A subscription pays for what is played."""
    habit: Habit | None = None
    """How people return to what they chose before; if left out, every choice is among options."""


class TripActivity(Section):
    """Someone leaves for a place chosen among options, arrives, stays, and comes back."""

    mechanism: Literal["trip"]
    reference: str
    hours_of: str | None = None
    profile: OwnProfile | None = None
    per_week: Quantiles
    """Quantiles over people of arrivals in an active week."""
    per_week_basis: Basis
    rhythm: Rhythm = Field(default_factory=Rhythm)
    during: During = Field(default_factory=During)
    weather: dict[Weather, Positive] = Field(default_factory=dict)
    """What multiplies how often it is done on days of such weather, beside other days; 1 where left out. On average over
    what the weather of a place and season can be, it multiplies by 1, so that `per_week` holds. Assumed."""
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
    stars: Stars = Field(default_factory=lambda: dict(USUAL_STARS))
    seconds_per_step: Positive = 30.0
    habit: Habit | None = None
    """How people return to what they chose before; if left out, every choice is among options."""


class RoutineActivity(Section):
    """Something done at the same times of the day, nearly every day, to a thing of one's own."""

    mechanism: Literal["routine"]
    reference: str
    """File whose hours of the day say when habitual times lie."""
    hours_of: str | None = None
    profile: OwnProfile | None = None
    per_day: Quantiles
    """Quantiles over people of how many times a day they have for it; rounded."""
    per_day_basis: Basis
    at: Literal["habit", "work"] = "habit"
    """At times of its own, or when work begins, on days on which somebody works."""
    by: Literal["self", "device"] = "self"
    """Who does it: the person, or a device of theirs by itself, also while they sleep."""
    kept: Rate = 0.8
    """Share of days on which a habitual time is kept."""
    jitter_minutes: Positive = 15.0
    """Standard deviation about the habitual time."""
    during: During = Field(default_factory=During)
    action: Action
    on: Name
    """The personal kind of thing it is done to."""


class ReplyActivity(Section):
    """Messages that answer each other: a thread with one contact, in bursts."""

    mechanism: Literal["reply"]
    reference: str
    hours_of: str | None = None
    profile: OwnProfile | None = None
    per_week: Quantiles
    """Quantiles over people of messages in an active week."""
    per_week_basis: Basis
    rhythm: Rhythm
    """Messages of a thread follow one another, soon or later."""
    during: During = Field(default_factory=During)
    action: Action
    on: Name
    """The personal kind it goes to."""
    habit: Habit | None = None
    """How people come back to a contact, thread by thread; if left out, every thread goes to any of them."""


class SummaryActivity(Section):
    """One line a day, written by a device, with a value for every hour."""

    mechanism: Literal["summary"]
    reference: str
    """File whose hours of the day say how the day's total spreads."""
    hours_of: str | None = None
    profile: OwnProfile | None = None
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
