"""What is wrong with a domain file, and what in it can never matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from schemas.activities import SessionActivity, TripActivity
from schemas.behaviour.volume import records_per_day
from schemas.config.dispositions import overlaps
from schemas.config.personas import POPULATION
from schemas.config.selectors import band_of, picked
from schemas.domain import Domain
from schemas.explain import Place, did_you_mean
from schemas.hours import HOURS
from schemas.links import link_problems
from schemas.load import load_life_events
from schemas.source import Source, Violation, judge
from schemas.tables.sealed import PERSONAS
from validation.fidelity.metrics import METRICS
from validation.references.profile import profile_of
from validation.references.reader import UnknownReference, reference_ids
from validation.world.tools import tool_problems

ADULT_AGES = (18, 120)
VOLUME_TOLERANCE = 0.25
"""How far the stated records a day may lie from what the activities give, relative to the latter."""
DISTRACTORS_PER_DIMENSION = 2
QUIET_SHARE = 0.002
"""Share of an hour below which nothing is said to happen in it."""


class Finding(NamedTuple):
    """Something at a place of the file, with what to do about it."""

    place: Place
    rule: str
    fix: str


class DomainCheck(NamedTuple):
    """``domain`` is there if nothing is wrong. Warnings keep nobody from building."""

    domain: Domain | None
    violations: list[Violation]
    warnings: list[Violation]


def check_domain(source: Source, others: Mapping[str, Domain]) -> DomainCheck:
    """Everything that can be said of a domain file beside the other domains, with file and line."""
    domain, violations = judge(Domain, source)
    if domain is None:
        return DomainCheck(None, violations, [])
    beside = {**{name: other for name, other in others.items() if name != domain.name}, domain.name: domain}
    wrong = [source.violation(*found) for found in _wrong(domain, beside)]
    if wrong:
        return DomainCheck(None, wrong, [])
    return DomainCheck(domain, [], [source.violation(*found) for found in _warned(domain)])


def _wrong(domain: Domain, beside: Mapping[str, Domain]) -> Iterator[Finding]:
    """What a build would break on: references, tools, links."""
    for name, activity in domain.activities.items():
        if activity.profile is not None:
            continue
        named = {"reference": activity.reference, "hours_of": (activity.hours_of or activity.reference).split("/")[0]}
        lost = {key: file for key, file in named.items() if file not in reference_ids()}
        for key, file in lost.items() if activity.hours_of is not None else list(lost.items())[:1]:
            yield Finding(("activities", name, key), "there is no such reference", did_you_mean(file, reference_ids()))
        if not lost:
            try:
                profile_of(activity)
            except UnknownReference as error:
                key = "reference" if activity.hours_of is None else "hours_of"
                yield Finding(
                    ("activities", name, key),
                    f"it does not say when things happen: {error}",
                    "name other hours by `hours_of`",
                )
    for metric, gates in domain.gates.items():
        if metric not in METRICS:
            yield Finding(("gates", metric), "there is no such metric", did_you_mean(metric, METRICS))
        for gate in gates:
            if gate.reference not in reference_ids():
                fix = did_you_mean(gate.reference, reference_ids())
                yield Finding(("gates", metric), "there is no such reference", fix)
    for problem in tool_problems(domain.tools):
        rule, _, fix = problem.rpartition("; ")
        name = problem.partition("`")[2].partition("`")[0]
        at = [index for index, tool in enumerate(domain.tools) if tool.name == name]
        yield Finding(("tools", *at[-1:]), rule or problem, fix if rule else "")
    for event, spec in load_life_events().events.items():
        for full, value in spec.moves.items():
            name = full.partition(".")[2]
            if full in domain.value_names() and value not in domain.dimensions[name].values:
                rule = f"the life event `{event}` moves it to `{value}`, which is no value of it"
                yield Finding(
                    ("dimensions", name, "values"), rule, f"keep the value `{value}`, or rename the dimension"
                )
    for full, seasons in load_life_events().seasons.items():
        name = full.partition(".")[2]
        for season, value in seasons.items():
            if full in domain.value_names() and value not in domain.dimensions[name].values:
                rule = f"in {season} some people like `{value}` best, which is no value of it"
                yield Finding(
                    ("dimensions", name, "values"), rule, f"keep the value `{value}`, or rename the dimension"
                )
    for place, _, rows in _rows_by_attribute(domain):
        for one, other in overlaps(rows):
            rule = f"overlaps the row `{one}`: some values are in both"
            yield Finding((*place, other), rule, "let each value be in one; the high end of a band is not in it")
    for rule, fix in link_problems(beside).get(domain.name, []):
        yield Finding(("dimensions", rule.partition(".")[2].partition(" ")[0]), rule, fix)


def _warned(domain: Domain) -> Iterator[Finding]:
    """What is of no effect, or less than it seems."""
    yield from _unreachable(domain)
    yield from _unused(domain)
    yield from _uncontrasted(domain)
    yield from _confusable(domain)
    expected = records_per_day(domain)
    if abs(domain.records_per_day - expected) > VOLUME_TOLERANCE * expected:
        rule = f"the activities give {expected:.2f} lines a person and day"
        yield Finding(("records_per_day",), rule, f"write {expected:.2f}, or change `per_week`")


def _unreachable(domain: Domain) -> Iterator[Finding]:
    for name, spec in domain.dimensions.items():
        for value, value_spec in spec.values.items():
            if value_spec.share == 0:
                place: Place = ("dimensions", name, "values", value, "share")
                yield Finding(place, "is 0: nobody ever likes it best", "give it a share, or take the value away")
    for place, attribute, rows in _rows_by_attribute(domain):
        for level in rows:
            if not _is_reachable(attribute, level):
                yield Finding((*place, level), f"nobody has this {attribute}", "mend the band or the value")
    busy = busy_hours(domain)
    for name, band in domain.contexts.time_of_day.items():
        first, last = (int(part) for part in band.split(".."))
        if not any(hour % HOURS in busy for hour in range(first, last)):
            yield Finding(("contexts", "time_of_day", name), "nothing happens in these hours", "move the band")
    for name, category in domain.catalogue.categories.items():
        if not any(category.is_open(hour) for hour in busy):
            place = ("catalogue", "categories", name, "opens")
            yield Finding(place, "it is never open when something happens", "move its hours")


def _rows_by_attribute(domain: Domain) -> Iterator[tuple[Place, str, list[str]]]:
    """Of every tilt by an attribute of the person: the place of its rows, the attribute, and what the rows are for."""
    for name, spec in domain.dimensions.items():
        for index, tilt in enumerate(spec.tilts):
            if tilt.attribute is not None:
                yield ("dimensions", name, "tilts", index, "multiply"), tilt.attribute, list(tilt.multiply)
    for index, rate in enumerate(domain.participation.tilts):
        yield ("participation", "tilts", index, "rate"), rate.attribute, list(rate.rate)


def busy_hours(domain: Domain) -> list[int]:
    """Hours of the day in which people choose."""
    busy = set()
    for activity in domain.choosing().values():
        hours = profile_of(activity)
        share = (hours.working_hours + hours.resting_hours) / 2
        busy |= {hour for hour in range(HOURS) if share[hour] >= QUIET_SHARE}
    return sorted(busy)


def _is_reachable(attribute: str, level: str) -> bool:
    """Whether some person can have the value, or lie in the band; true of attributes that are not built in."""
    field, band = PERSONAS.columns.get(attribute), band_of(level)
    if field is None:
        return attribute not in POPULATION or bool(picked(level, POPULATION[attribute].levels))
    if band is not None:
        low, high = band
        floor, roof = ADULT_AGES if attribute == "age_years" else (field.low, field.high)
        return low < high and (roof is None or low <= roof) and (floor is None or high > floor)
    return not field.values or level in field.values


def _unused(domain: Domain) -> Iterator[Finding]:
    enough = DISTRACTORS_PER_DIMENSION * len(domain.dimensions)
    if len(domain.distractors) < enough:
        rule = f"{len(domain.distractors)} attributes that do not matter beside {len(domain.dimensions)} that do"
        yield Finding(("distractors",), rule, f"declare {enough}, so that texts must be read")
    about = {getattr(one, "on", None) for one in domain.activities.values()}
    about |= {one.back_to for one in domain.activities.values() if isinstance(one, TripActivity)}
    about |= {one.close_with for one in domain.activities.values() if isinstance(one, SessionActivity)}
    shown = {tool.target for tool in domain.tools}
    for kind, spec in domain.personal.items():
        if kind not in about and spec.holds not in shown:
            fix = f"let an activity be about it, or add a tool on {spec.holds}"
            yield Finding(("personal", kind), "no activity is about it and no tool shows it", fix)
    for name, factors in domain.catalogue.price_factors.items():
        if len(set(factors.values())) == 1 and len(factors) == len(domain.dimensions[name].values):
            place = ("catalogue", "price_factors", name)
            yield Finding(place, "all values have the same factor", "take it away, or let values differ")


def _uncontrasted(domain: Domain) -> Iterator[Finding]:
    """Items that can stand in no menu of a task, whose options are there for everybody at all times."""
    each = domain.item_count() // len(domain.catalogue.categories)
    for name, category in domain.catalogue.categories.items():
        if not category.is_free_to_all:
            rule = f"no option menu can contrast its {each:,} things: they have hours or an age limit"
            yield Finding(
                ("catalogue", "categories", name), rule, "nothing, if that is meant; they are lived with only"
            )


def _confusable(domain: Domain) -> Iterator[Finding]:
    """Words that are part of another value's words: a reader who looks for one finds the other as well."""
    words = [
        (f" {word.casefold()} ", name, value)
        for name, spec in domain.dimensions.items()
        for value, value_spec in spec.values.items()
        for word in value_spec.words
    ]
    for short, name, value in words:
        longer = [(long, n, v) for long, n, v in words if short in long and (n, v) != (name, value)]
        for long, other, its in longer:
            rule = f"`{short.strip()}` is part of `{long.strip()}`, which says {other}.{its}"
            yield Finding(("dimensions", name, "values", value, "words"), rule, "use another word for one")
