"""The population that people are drawn from: the built-in one, changed by the config, in an order that can be drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from flows.common.learn_people import Learnt, restored, stacked
from flows.personas.copula import CLOSE, CorrelationError
from flows.personas.correlated import by_tables, correlated, driven, realised
from flows.personas.groups import SEGMENT, Shift, settled
from flows.personas.plan import Plan
from flows.personas.tables import Distribution, PopulationError, Problem, Step, step_of
from flows.personas.tilting import Tilt
from flows.personas.traits import trait_correlations
from flows.personas.us import ADULT_GROUPS, built_in
from flows.personas.written import written
from schemas.behaviour.measured import inverse, share_at_most
from schemas.config.numeric import AnyNumeric, rows_of
from schemas.config.numeric import step_of as step_size
from schemas.config.personas import (
    FOLLOWS,
    GROUP_YEARS,
    INCOME_BANDS,
    POPULATION,
    UNDER_AGE,
    AttributeSpec,
    PersonasConfig,
)
from schemas.config.pieces import pieces_of, selectors_of
from schemas.config.selectors import OTHERS, is_number, parts_of

__all__ = ["ADULT_GROUPS", "GROUP_YEARS", "INCOME_BANDS", "Distribution", "Plan", "PopulationError", "built_in"]
__all__ += ["population"]
BOUNDS = {"age_years": GROUP_YEARS, "income_usd": INCOME_BANDS}
"""Numbers to the bands that they lie in."""
TILTS_AT_MOST = 6
"""Rounds in which what the levels of a table are given is brought to what the final values shall have."""
TENTHS = tuple(tenth / 10 for tenth in range(1, 10))


@dataclass(frozen=True)
class Population:
    """Everything that people are drawn from."""

    plans: tuple[Plan, ...]
    """One for each segment; a nameless one without segments."""
    shifts: tuple[Shift, ...]
    """What each rule did to the shares of the attributes it names."""


def population(config: PersonasConfig) -> Population:
    """The population of the config, with rules, margins and oversampled groups worked into its tables.

    Raises PopulationError, with every problem of the kind, if a parent is unknown, has values that a table does not
    cover, or attributes depend on each other in a circle; and by name if a rule leaves nobody or makes a value
    impossible, if no population has the wanted shares, or if a joint table is too large. Raises CorrelationError for
    correlations that these people cannot have.
    """
    names = list(config.segments) or [""]
    steps = [_steps(_distributions(config, name)) for name in names]
    asked = [driven(config.correlations, own) for own in steps]
    pairs = by_tables(config, [one for own in asked for one in own], steps)
    targets = [{pair: one.spearman for one in own for pair in pairs if set(pair) == set(one.between)} for own in asked]
    tilts = [[Tilt(pair, value) for pair, value in own.items()] for own in targets]
    for _ in range(TILTS_AT_MOST):
        plans, shifts = _plans(config, names, steps, tilts)
        off = [
            {tilt.names: targets[at][tilt.names] - realised(plan, tilt.names) for tilt in tilts[at] if plan.share > 0}
            for at, plan in enumerate(plans)
        ]
        if all(abs(gap) <= CLOSE for own in off for gap in own.values()):
            break
        tilts = [[Tilt(t.names, t.spearman + off[at].get(t.names, 0.0)) for t in own] for at, own in enumerate(tilts)]
    else:
        wrong = [pair for own in off for pair, gap in own.items() if abs(gap) > CLOSE]
        rule = "it does not settle beside the tables and rules"
        raise CorrelationError([(pair, rule, "bring it nearer to 0") for pair in wrong])
    built_in_ones = trait_correlations()
    joined = (replace(p, copula=correlated(p, config.correlations, built_in_ones, pairs)) for p in plans)
    return Population(tuple(joined), shifts)


def _plans(
    config: PersonasConfig, names: Sequence[str], steps: Sequence[list[Step]], tilts: Sequence[Sequence[Tilt]]
) -> tuple[list[Plan], tuple[Shift, ...]]:
    """The plan of each segment, as yet without correlated uniforms, and what each rule did."""
    shares = [config.segments[name].share if name else 1.0 for name in names]
    result = settled(config, names, shares, steps, tilts)
    plans = [
        Plan(name, share, drawn, tuple(own), joints)
        for name, share, drawn, own, joints in zip(names, shares, result.drawn, steps, result.joints, strict=True)
    ]
    return plans, result.shifts


def _distributions(config: PersonasConfig, segment: str) -> dict[str, Distribution]:
    """The built-in attributes, replaced by those of a file, by the config's, and those by the segment's."""
    specs = {**_with_locales(config), **(config.segments[segment].attributes if segment else {})}
    learnt = {one.name: one for one in restored(config.people_from.learnt or {})} if config.people_from else {}
    by_name = dict(built_in() if config.population == "us" else written(config.population))
    by_name |= {name: _learnt(one) for name, one in learnt.items()}
    by_name |= {name: _own(name, spec) for name, spec in specs.items() if spec.number is None}
    if segment:
        weights = np.array([[float(name == segment) for name in config.segments]])
        by_name[SEGMENT] = Distribution(SEGMENT, tuple(config.segments), weights)
    selectors = selectors_of(
        config.model_dump(mode="json", include={"attributes", "segments", "rules", "rake", "oversample"})
    )
    spoken_of = set(selectors)
    for item in by_name.values():
        for parent, selector in (pair for row in item.rows for pair in zip(item.given, row, strict=False)):
            if selector != OTHERS:
                selectors.setdefault(parent, set()).add(selector)
    for name, spec in specs.items():
        if spec.number is not None:
            by_name[name] = _numbers(name, spec.number, tuple(spec.given or ()), selectors.get(name, ()))
    _follow_numbers(by_name, {*specs, *learnt}, spoken_of)
    return by_name


def _with_locales(config: PersonasConfig) -> dict[str, AttributeSpec]:
    """The attributes of the config; `locales` is short for one of them."""
    short = {} if config.locales is None else {"locale": AttributeSpec(weights=config.locales)}
    return {**short, **config.attributes}


def _learnt(one: Learnt) -> Distribution:
    parents = tuple(dict.fromkeys(parent for table in one.tables for parent in table.parents))
    return Distribution(one.name, one.levels, stacked(one), parents, learnt=one)


def _numbers(name: str, number: AnyNumeric, given: tuple[str, ...], selectors: Iterable[str]) -> Distribution:
    """A family as the shares of pieces of its range: cut where anything speaks of it, and near its tenths for reports."""
    own_rows = tuple(range(len(rows_of(number))))
    tenths = [inverse(number, TENTHS, None if number.by is None else [row] * len(TENTHS)) for row in own_rows]
    middle = (np.sum(tenths, axis=0) / len(own_rows)).tolist()
    known = [float(low) for low, _ in BOUNDS.get(name, {}).values()]
    levels = pieces_of(number, selectors, [*(round(value, 6) for value in middle), *known])
    upto = np.array([float(Fraction(low) - step_size(number)) for low in levels[1:]])
    shares = [share_at_most(number, upto, None if number.by is None else np.full(upto.size, row)) for row in own_rows]
    weights = np.array([np.diff(share, prepend=0.0, append=1.0) for share in shares])
    rows = tuple(parts_of(key, len(given)) for key in number.by or {}) or ((),)
    return Distribution(name, levels, np.maximum(weights, 0.0), given, rows, is_own=True, number=number)


def _steps(by_name: Mapping[str, Distribution]) -> list[Step]:
    problems: list[Problem] = []
    for item in by_name.values():
        for parent in item.given:
            if parent not in by_name:
                rule, fix = "depends on an attribute that does not exist", f"attributes are {sorted(by_name)}"
                problems.append((item.name, parent, rule, fix))
    if problems:
        raise PopulationError(problems)
    steps = {}
    for item in by_name.values():
        steps[item.name], wrong = step_of(item, [by_name[parent].levels for parent in item.given])
        problems += wrong
    if problems:
        raise PopulationError(problems)
    ordered: list[Step] = []
    waiting = list(steps.values())
    while waiting:
        known = {step.name for step in ordered}
        ready = [step for step in waiting if known.issuperset(step.of.given)]
        if not ready:
            names = sorted(step.name for step in waiting)
            raise PopulationError([(names[0], "", f"{names} depend on each other in a circle", "break the circle")])
        ordered += ready
        waiting = [step for step in waiting if step not in ready]
    return ordered


def _follow_numbers(by_name: dict[str, Distribution], stated: Iterable[str], spoken_of: Collection[str]) -> None:
    """Where the config gives ages or incomes, their bands are drawn no more. Bands that others depend on, or that are
    ``spoken_of`` by rules, margins and groups, follow from the numbers."""
    for band, number in FOLLOWS.items():
        if number in stated and band not in stated and band not in _ancestors(by_name, number):
            if band in spoken_of or any(band in d.given for d in by_name.values()):
                by_name[band] = _band_of(by_name[number], by_name[band], BOUNDS[number])
            else:
                del by_name[band]


def _ancestors(by_name: Mapping[str, Distribution], name: str) -> set[str]:
    """What the attribute depends on, directly or by others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for parent in by_name[waiting.pop()].given:
            if parent in by_name and parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def _band_of(number: Distribution, band: Distribution, bounds: Mapping[str, tuple[int, int]]) -> Distribution:
    """The band as a function of the number; the last one is open, and numbers below all have one of their own."""
    names, lows = [UNDER_AGE, *bounds], [low for low, _ in bounds.values()]
    found = [names[bisect_right(lows, float(level))] for level in number.levels]
    levels = (*band.levels, UNDER_AGE) if UNDER_AGE in found else band.levels
    weights = np.array([[float(level == name) for level in levels] for name in found])
    return Distribution(band.name, levels, weights, (number.name,), tuple((level,) for level in number.levels))


def _in_order(name: str, levels: Iterable[str]) -> tuple[str, ...]:
    """Values in an order by which the attribute rises with its uniform: numbers, then that of the built-in values."""
    listed = list(levels)
    if all(is_number(level) for level in listed):
        return tuple(sorted(listed, key=float))
    known = POPULATION[name].levels if name in POPULATION else ()
    return tuple(sorted(listed, key=known.index)) if set(listed) <= set(known) else tuple(listed)


def _own(name: str, spec: AttributeSpec) -> Distribution:
    levels = _in_order(name, dict.fromkeys(spec.levels()))
    if spec.table is not None and spec.given is not None:
        weights = np.array([[row.get(level, 0.0) for level in levels] for row in spec.table.values()])
        given = tuple(spec.given)
        rows = tuple(parts_of(key, len(given)) for key in spec.table)
        return Distribution(name, levels, weights, given, rows, is_own=True)
    shares = [spec.weights[level] for level in levels] if spec.weights is not None else [1.0] * len(levels)
    return Distribution(name, levels, np.array([shares]), is_unique=spec.unique, is_own=True)
