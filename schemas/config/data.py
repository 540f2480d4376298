"""The `data` part of the config: every key changes the data, and is digested."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from schemas.config.agreement import disagreements
from schemas.config.core import Positive, Rate, Section, Weights, broken
from schemas.config.dispositions import DispositionsConfig
from schemas.config.personas import PersonasConfig
from schemas.locales import DAYS

WEEKDAYS = DAYS
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


USERS_AT_MOST = 999_999
"""Numbers of users have six digits."""
BUILT_IN = "built_in"
"""Said of a domain whose file is a part of Habitus."""
NINE_DOMAINS = ("food", "groceries", "fashion", "home", "mobility", "travel", "media", "wellness", "planning")


def _by_name(domains: Any) -> Any:
    """A list of names stands for a map of built-in domains."""
    if isinstance(domains, dict):
        return domains
    if not isinstance(domains, list) or not all(isinstance(name, str) for name in domains):
        raise broken("must be a list of names, or a map of names to files", "write [food]")
    twice = [place for place, name in enumerate(domains) if name in domains[:place]]
    if twice:
        error = broken("a domain stands once in the list", "remove one of the two")
        raise ValidationError.from_exception_data(
            "domains", [InitErrorDetails(type=error, loc=(place,), input=domains[place]) for place in twice]
        )
    return dict.fromkeys(domains, BUILT_IN)


def _built_in_or_read(given: Any) -> Any:
    if given != BUILT_IN and not isinstance(given, dict):
        raise broken("is neither `built_in` nor a domain file", "write built_in, or the path of a .yaml file")
    return given


Domains = Annotated[
    dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], Annotated[Any, AfterValidator(_built_in_or_read)]],
    BeforeValidator(_by_name),
    Field(min_length=1),
]


def _check_offset(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise broken("a time needs its offset from UTC", f"write {moment.isoformat()}+00:00")
    return moment


Moment = Annotated[datetime, AfterValidator(_check_offset)]


class Window(Section):
    """The stretch of time that is lived. Its start is the date from which ages count; no clock is read."""

    start: Moment
    """First instant, with offset, such as 2025-01-06T00:00:00+00:00."""
    end: Moment
    """Last instant, exclusive, with offset. A whole number of weeks after the start."""

    @model_validator(mode="after")
    def _whole_weeks(self) -> Window:
        length = self.end - self.start
        if length < timedelta(weeks=2):
            raise broken(f"the window is {length} long; must be two weeks or more", "move `end`")
        if length % timedelta(weeks=1):
            nearest = self.start + timedelta(weeks=round(length / timedelta(weeks=1)))
            raise broken("the window must be a whole number of weeks", f"end it at {nearest.isoformat()}")
        return self

    @property
    def weeks(self) -> int:
        return round((self.end - self.start) / timedelta(weeks=1))


class DomainTimeline(Section):
    """Rhythm of one domain, where it differs from the domain file."""

    weekdays: Annotated[list[Weekday], Field(min_length=1)] | None = None
    """Days of the week, by the user's local date, on which anything is done here at all."""
    rate_factor: Positive = 1.0
    """Multiplies how often every person does anything here. A daily summary stays one a day at the most."""


class TimelinesConfig(Section):
    """How people act."""

    options_shown: Annotated[int, Field(ge=2, le=12)] = 6
    """How many options a screen shows."""
    exploration: Rate = 0.05
    """Share of choices made without regard to taste."""
    position_effect: Annotated[float, Field(ge=0, le=1)] = 0.08
    """What each place further down the screen takes from the log-odds of an option."""
    price_effect: Annotated[float, Field(ge=0, le=5)] = 0.5
    """What a price e times the typical one of its category takes from the log-odds of an option, for somebody of usual
    income who has spent nothing yet in the month. It counts for less the more there is to live on, and only where things
    are paid for. At 0 prices and budgets count for nothing."""
    budget_effect: Annotated[float, Field(ge=0, le=5)] = 0.5
    """Share by which the effect of prices grows for each month's budget that has been spent in earlier weeks of the same
    month; the budget is what is usual in the domain, by income."""
    exposure_bias: Rate = 0.0
    """Share of the places on a screen that go to what fits the person's lasting taste best: a feed that has learned them.
    At 0 what is on show does not depend on anybody's taste."""
    statement_rate: Annotated[float, Field(ge=0)] = 0.02
    """True statements about a taste to the assistant, per person, dimension and week; none about sensitive tastes, or
    about domains in which the person does nothing."""
    small_talk_rate: Annotated[float, Field(ge=0)] = 0.3
    """Talks with the assistant that assert no taste, per person and week."""
    app_changes_per_year: Annotated[float, Field(ge=0, le=52)] = 0.15
    """How often a person goes over to another app of a domain, per person and domain."""
    outages_per_year: Annotated[float, Field(ge=0, le=52)] = 0.5
    """How often an app loses what a person does with it, for hours to days, as when a phone no longer syncs; per person
    and app. The assistant loses nothing, and no booked stay is lost."""
    stays_elsewhere: Rate = 0.3
    """Share of booked stays in another time zone than the person's own."""
    domains: dict[str, DomainTimeline] = Field(default_factory=dict)
    """Rhythm per domain."""


class NoiseConfig(Section):
    """Noise, each kind with its rate."""

    accidental: Rate = 0.02
    """Share of choices where another option than the intended one was hit: of those that can be changed. The choice with
    which a person first takes what they later take again out of habit, on a line without options, never is."""
    other_person: Rate = 0.03
    """Share of sessions in which somebody else of the household used the account in that sitting too: of the sessions of
    households where somebody else can, with a choice that can be changed as under `accidental`. Those choices are theirs;
    every other line of the session stays the owner's."""
    duplicate: Rate = 0.01
    """Share of lines that were logged twice."""
    corrupt: Rate = 0.01
    """Share of letters typed wrongly, by a neighbouring key."""


class DriftConfig(Section):
    """Change of the people themselves."""

    abrupt_per_year: Annotated[float, Field(ge=0, le=52)] = 0.8
    """Life events per person and year, on average over the built-in people; by age, household and work some have more."""
    gradual_share: Rate = 0.05
    """Share of (person, dimension that is a habit) whose liked value slowly gives way to a neighbour within the window."""
    seasonal_share: Rate = 0.05
    """Share of (person, dimension that has seasons) in which another value is liked in one season of each year."""


class ContradictionConfig(Section):
    """Records that disagree."""

    stated_vs_done: Rate = 0.06
    """Share of (person, dimension) with a claim that behaviour does not bear out; none of sensitive tastes, or of domains
    in which the person does nothing."""
    temporary_state: Rate = 0.05
    """Share of (person, dimension) that is set aside for some days; none of sensitive tastes."""
    state_days: Annotated[int, Field(ge=2, le=28)] = 9
    """How long a temporary state lasts at the most; a third of it at the least."""


class DisturbConfig(Section):
    """What makes the record hard to read. All rates 0 give the clean timeline."""

    noise: NoiseConfig = Field(default_factory=NoiseConfig)
    drift: DriftConfig = Field(default_factory=DriftConfig)
    contradictions: ContradictionConfig = Field(default_factory=ContradictionConfig)


class TasksConfig(Section):
    """What is asked of agents."""

    asks_per_domain: Annotated[int, Field(ge=1, le=20)] = 2
    """Points in time at which a person can be asked about a domain."""
    groups_per_domain: Annotated[int, Field(ge=0)] = 200
    """Swap groups wanted for each domain, at the most."""
    tasks_per_candidate: Annotated[int, Field(ge=1, le=10)] = 2
    """In how many groups one person at one time may stand."""
    two_constraint_share: Annotated[float, Field(ge=0, le=0.2)] = 0.2
    """Share of groups with two constraints instead of three, at the most."""
    act_at_least: Annotated[float, Field(gt=0.5, lt=1)] = 0.9
    """Probability that the right option is best, from which on a task ships."""
    reader_reliability: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """How often the reader of statements gets one right, typos included."""


class LanguageConfig(Section):
    """Who puts events in words."""

    speaker: Literal["embedded"] = "embedded"


class ReleaseConfig(Section):
    """How the tables are split and filed."""

    splits: Weights = Field(default_factory=lambda: {"train": 0.5, "test": 0.5})
    """Share of users in each split, by a keyed hash of the user."""
    rows_per_file: Annotated[int, Field(ge=1000)] = 1_000_000
    """A table's split is cut into files of this many rows."""

    @model_validator(mode="after")
    def _named(self) -> ReleaseConfig:
        for name in self.splits:
            if not name.isidentifier() or name == "catalogue":
                rule = f"split `{name}` must be letters, digits and underscores, and not `catalogue`"
                raise broken(rule, "rename it")
        return self


class GatesConfig(Section):
    """Which checks may keep a release from appearing."""

    fidelity: bool = True
    """Whether the fidelity gates of the domains gate. They are measured and shown in any case."""


class DataConfig(Section):
    """Everything that determines the data."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 7
    """Same config and seed, same bytes."""
    users: Annotated[int, Field(ge=1, le=USERS_AT_MOST)]
    """How many people."""
    window: Window
    domains: Domains = Field(default_factory=lambda: dict.fromkeys(NINE_DOMAINS, "built_in"))
    """The areas of life: a list of built-in ones, or a map of names to `built_in` or to a domain file of your own."""
    market: str = "us"
    """Where things are bought: sets currency and price level. A market of schemas/markets.yaml."""
    personas: PersonasConfig = Field(default_factory=PersonasConfig)
    dispositions: DispositionsConfig = Field(default_factory=DispositionsConfig)
    timelines: TimelinesConfig = Field(default_factory=TimelinesConfig)
    disturb: DisturbConfig = Field(default_factory=DisturbConfig)
    tasks: TasksConfig = Field(default_factory=TasksConfig)
    language: LanguageConfig = Field(default_factory=LanguageConfig)
    release: ReleaseConfig = Field(default_factory=ReleaseConfig)
    gates: GatesConfig = Field(default_factory=GatesConfig)

    @model_validator(mode="after")
    def _agrees(self) -> DataConfig:
        found = disagreements(self.model_dump(mode="json"))
        if found:
            raise ValidationError.from_exception_data(
                "data", [InitErrorDetails(type=broken(rule, fix), loc=place, input=None) for place, rule, fix in found]
            )
        return self
