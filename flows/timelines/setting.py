"""What every activity of a shard meets: the people, the window, their things and their tastes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.away import Away, offsets_at
from flows.common.clock import DAY
from flows.common.devices import EVERY_DEVICE, owned_devices
from flows.common.draws import Draws
from flows.common.household import zones_of
from flows.common.ids import user_numbers
from flows.common.participation import Participation
from flows.common.weather import Weather
from flows.timelines.booked import Stays
from flows.timelines.day_plan import DayPlans
from flows.timelines.things import Things
from schemas.activities import Activity
from schemas.behaviour.effective import EffectiveValues
from schemas.behaviour.price import price_sensitivity
from schemas.config.data import DomainTimeline, TimelinesConfig
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class People(NamedTuple):
    """The users of a shard: their numbers, their zones, and what the zones are; when they signed up and were born."""

    numbers: U64
    zone: I64
    zones: list[str]
    signed_up_us: I64
    birth_day: I64
    """(people,) days since 1970-01-01."""
    participation: Participation | None = None
    """None where everybody does everything, and as much as everybody else."""
    owned: I64 | None = None
    """(people,) the devices of each, as `owned_devices` gives them; None where everybody owns every one."""
    sensitivity: F64 | None = None
    """(people,) how much prices count for each, as `price_sensitivity` gives it; None where for everybody alike."""
    away: Away | None = None
    """Where they stay for some nights; None where everybody is at home."""
    plans: DayPlans | None = None
    """What they do on each day; None where all days leave room alike."""
    weather: Weather | None = None
    """What it is like where they live; None where it does not matter."""

    def rate_factor(self, domain: int) -> F64:
        """(people,) what multiplies how often each does what is done some times a week in the domain of that place."""
        own = self.participation
        return np.ones(self.numbers.size) if own is None else own.rate_factor[:, domain]

    def habit_factor(self, domain: int) -> F64:
        """(people,) what multiplies the share of days on which each keeps a habit or wears a device: habits differ
        between people as it is, so that only attributes count, and those who do nothing are made up for."""
        own = self.participation
        if own is None:
            return np.ones(self.numbers.size)
        return np.asarray((own.rate_factor[:, domain] > 0) * own.attribute_factor[:, domain] / own.usual)

    def devices_of(self, person: I64) -> I64:
        """(n,) the devices that each of these people owns."""
        return np.full(person.size, EVERY_DEVICE) if self.owned is None else self.owned[person]

    def sensitivity_of(self, person: I64) -> F64:
        """(n,) how much prices count for each of these people; 1 on average."""
        return np.ones(person.size) if self.sensitivity is None else self.sensitivity[person]

    def take_part(self, person: I64, domain: I64, at_us: I64) -> Mask:
        """(n,) whether each of these people does anything in these domains at these instants."""
        own = self.participation
        return np.ones(person.size, bool) if own is None else own.takes_part(person, domain, at_us)

    def of_age(self, years: int) -> I64:
        """(people,) the day, since 1970-01-01, on which each is that old; of those born on 29 February maybe 1 March."""
        born = self.birth_day.astype("datetime64[D]")
        month = born.astype("datetime64[M]")
        day = (month + 12 * years).astype("datetime64[D]") + (born - month.astype("datetime64[D]"))
        return np.asarray(day.astype(np.int64))


class Span(NamedTuple):
    """The window in microseconds UTC, the end excluded."""

    start: int
    end: int

    @property
    def around(self) -> tuple[int, int]:
        """The window with two days on either side, for wall clocks that differ from UTC."""
        return self.start - 2 * DAY, self.end + 2 * DAY

    @property
    def days(self) -> I64:
        """Local days, since 1970-01-01, that can have a moment of the window somewhere on earth."""
        return np.arange(self.start // DAY - 1, self.end // DAY + 2, dtype=np.int64)


class Setting(NamedTuple):
    """One shard, for all of its activities. ``tastes`` by domain, in the order of the people."""

    people: People
    span: Span
    config: TimelinesConfig
    things: Things
    tastes: Mapping[str, EffectiveValues]
    draws: Draws
    stays: Stays | None = None
    """What people have booked; None before it is known."""


class Doing(NamedTuple):
    """One activity of one domain; ``place`` counts the domains of the build."""

    domain: Domain
    place: int
    name: str
    activity: Activity
    own: DomainTimeline

    @property
    def has_price(self) -> bool:
        """Whether its lines bear prices."""
        return self.domain.catalogue.price_for != "nothing" and getattr(self.activity, "is_paid", True)

    @property
    def aspect(self) -> str:
        """What the names of its draws begin with, so that two activities are independent."""
        return f"{self.domain.name} {self.name}"


def people_of(users: pa.Table, personas: pa.Table) -> People:
    """The people of the shard, in the order of `users`."""
    zone, zones = zones_of(users)
    place = pc.index_in(users["user_id"].combine_chunks(), value_set=personas["user_id"].combine_chunks())
    born = personas["birth_date"].combine_chunks().take(place).cast(pa.int32()).to_numpy().astype(np.int64)
    signed_up = users["signed_up_at"].cast(pa.int64()).to_numpy()
    owned = owned_devices(personas, users)
    income, size = (
        personas[name].combine_chunks().take(place).to_numpy().astype(np.int64)
        for name in ("income_usd", "household_size")
    )
    numbers, sensitivity = user_numbers(users["user_id"]), price_sensitivity(income, size)
    return People(numbers, zone, zones, signed_up, born, owned=owned, sensitivity=sensitivity)


def local_us(at_us: I64, person: I64, people: People, span: Span) -> I64:
    """(n,) readings of the wall clock around each person, at home or where they stay."""
    return at_us + offsets_at(people.away, at_us, person, people.zone[person], people.zones, span.around)
