"""What the config says of its people, as a table: the share of every value, overall and given what it depends on."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from flows.common.stage import Context, Tables
from flows.personas.joint import Cells, way_to
from flows.personas.plan import Plan
from flows.personas.population import Population, population
from flows.personas.tables import PopulationError
from schemas.config.personas import GROUP_YEARS, INCOME_BANDS, UNDER_AGE, PersonasConfig
from schemas.config.selectors import is_number
from schemas.tables.core import sort_rows
from schemas.tables.sealed import PERSONAS, POPULATION

VALUES_AT_MOST = 40
"""Numbers of more values than this are told by bands."""
BANDS_AT_MOST = 10
DECIMALS = 9
LEAST = 10.0**-DECIMALS
"""The share that is written of what is rarer still, but can be."""
BANDS = {"age_group": ("age_years", GROUP_YEARS), "income_band": ("income_usd", INCOME_BANDS)}
"""Attributes that are bands of the numbers of a column."""
BELOW = {"age_group": UNDER_AGE, "income_band": "below 0"}
"""What numbers below all bands are told by."""
NO_CORRELATION = 1e-9
SEPARATOR = " | "
Pair = tuple[float, float]
"""A share of the population, and of the people who are drawn."""


class Label(NamedTuple):
    """What a value is called, and the ends of the band of numbers that it is; an open end is None, as are a value's."""

    text: str
    low: float | None = None
    high: float | None = None


class Attribute(NamedTuple):
    """An attribute that can be seen in `personas`."""

    name: str
    column: str
    labels: Mapping[str, Label]
    """Of every value, in their order."""


def population_shares(context: Context, tables: Tables) -> Tables:
    """`population`: what the config says of the people, rules, known shares and groups worked in."""
    return {"population": configured_shares(context.data.personas)}


def configured_shares(config: PersonasConfig) -> pa.Table:
    """The table `population` of a config. Raises PopulationError if the config's population does not fit together.

    An attribute of which no two people share a value is left out, and so is a share that is a sum over too many cells.
    """
    found = population(config)
    seen = {a.name: a for a in _visible(found)}
    rows: list[tuple[object, ...]] = []
    for attribute in seen.values():
        for given in _givens(found, attribute.name, seen):
            rows += _rows(found, attribute, [seen[name] for name in given])
    names = list(POPULATION.columns)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    table = pa.table({name: pa.array(columns[name], POPULATION.columns[name].type) for name in names})
    return POPULATION.conform(sort_rows(table, POPULATION))


def joint(found: Population, names: Sequence[str]) -> dict[tuple[str, ...], Pair] | None:
    """Shares of the combinations of some attributes' values; of a built-in occupation among those who work.

    None where a value is one person's, where no segment has all of them, and where the sum is over too many cells.
    """
    out: dict[tuple[str, ...], Pair] = {}
    for plan in found.plans:
        steps = {step.name: step for step in plan.steps if step.name in names}
        if len(steps) < len(names):
            continue
        if any(step.of.is_unique for step in steps.values()):
            return None
        by_work = "occupation" in steps and not steps["occupation"].of.is_own
        try:
            cells = _at_work(plan, names) if by_work else plan.cells(*names)
        except PopulationError:
            return None
        levels = [np.array(steps[name].levels, object)[cells.codes[name]].tolist() for name in names]
        for key, share, drawn in zip(zip(*levels, strict=True), cells.shares, cells.drawn, strict=True):
            before = out.get(key, (0.0, 0.0))
            out[key] = before[0] + plan.share * float(share), before[1] + plan.drawn * float(drawn)
    return out or None


def _at_work(plan: Plan, names: Sequence[str]) -> Cells:
    cells = plan.cells(*names, "labour_status")
    works = np.array([level.startswith("employed") for level in plan.levels("labour_status")])
    return cells.where(works[cells.codes["labour_status"]])


def _visible(found: Population) -> Iterator[Attribute]:
    """The attributes that are columns, or bands or counts of one, with what their values are called."""
    levels: dict[str, dict[str, None]] = {}
    for plan in found.plans:
        for step in plan.steps:
            levels.setdefault(step.name, {}).update(dict.fromkeys(step.levels))
    parents = {parent for plan in found.plans for step in plan.steps for parent in step.of.given}
    own = {step.name for plan in found.plans for step in plan.steps if step.of.is_own}
    for name, values in levels.items():
        if name in BANDS and name in parents:
            bands = {label.text: label for label in _known_bands(name, [v for v in values if v not in BANDS[name][1]])}
            yield Attribute(name, BANDS[name][0], {value: bands[value] for value in bands if value in values})
        elif name == "children":
            yield Attribute(name, "children_ages", {value: Label(value) for value in values})
        elif _is_column(name) or name == "segment" or name in own - set(BANDS):
            shares = joint(found, [name])
            if shares is not None:
                known = {value: shares.get((value,), (0.0, 0.0))[0] for value in values}
                yield Attribute(name, name, _labels(name, known, _cuts(found, name)))


def _is_column(name: str) -> bool:
    """Whether the attribute is a built-in column with one value for each person."""
    return name in PERSONAS.columns and not pa.types.is_list(PERSONAS.columns[name].type)


def _cuts(found: Population, name: str) -> list[float] | None:
    """Where pieces of the attribute's range begin in every segment; None where its values are single ones."""
    steps = [plan.by_name[name] for plan in found.plans if name in plan.by_name]
    pieces = [set(step.lows.tolist()) for step in steps if step.has_numbers]
    return sorted({min(map(min, pieces))} | set.intersection(*pieces)) if pieces else None


def _labels(name: str, shares: Mapping[str, float], cuts: Sequence[float] | None) -> dict[str, Label]:
    """What each value is called: itself, or the band that it lies in where there are many numbers or pieces of a range."""
    if not all(map(is_number, shares)):
        return {value: Label(value) for value in shares}
    ordered = sorted(shares, key=float)
    if cuts is None and len(shares) <= VALUES_AT_MOST:
        return {value: Label(value) for value in ordered}
    bands = next((_known_bands(band, [BELOW[band]]) for band, (column, _) in BANDS.items() if column == name), None)
    if bands is None and cuts is not None:
        bands = _pieces({value: shares[value] for value in ordered}, cuts)
    elif bands is None:
        groups = _tenths({float(value): shares[value] for value in ordered})
        bands = [Label(f"{group[0]:g} to {group[-1]:g}", group[0], group[-1]) for group in groups]
    lows = [-math.inf if band.low is None else band.low for band in bands]
    return {value: bands[bisect_right(lows, float(value)) - 1] for value in ordered}


def _known_bands(name: str, more: Sequence[str] = ()) -> list[Label]:
    """The bands of ages or incomes in their order, the last one open; ``more`` names the one below them."""
    bounds = {band: float(low) for band, (low, _) in BANDS[name][1].items()}
    lows = sorted(bounds.values())
    ends = dict(zip(lows, lows[1:], strict=False))
    known = [Label(band, bounds[band], ends.get(bounds[band])) for band in sorted(bounds, key=bounds.__getitem__)]
    return [*(Label(band, None, lows[0]) for band in more), *known]


def _pieces(shares: Mapping[str, float], cuts: Sequence[float]) -> list[Label]:
    """The pieces of a range, or where they are many some of them in one."""
    upto = dict.fromkeys(cuts, 0.0)
    for value, share in shares.items():
        upto[cuts[max(bisect_right(cuts, float(value)) - 1, 0)]] += share
    lows = cuts if len(cuts) <= VALUES_AT_MOST else [group[0] for group in _tenths(upto)]
    inner = [Label(f"{low:g} to below {end:g}", low, end) for low, end in zip(lows, lows[1:], strict=False)]
    return [*inner, Label(f"{lows[-1]:g} or more", lows[-1], None)]


def _tenths(shares: Mapping[float, float]) -> list[list[float]]:
    """The numbers in at most ten groups of about the same share."""
    total, upto = sum(shares.values()), 0.0
    groups: list[list[float]] = [[] for _ in range(BANDS_AT_MOST)]
    for number in sorted(shares):
        groups[min(BANDS_AT_MOST - 1, int(upto / total * BANDS_AT_MOST))].append(number)
        upto += shares[number]
    return [group for group in groups if group]


def _givens(found: Population, name: str, seen: Mapping[str, Attribute]) -> Iterator[tuple[str, ...]]:
    """Nothing, and every list of parents that a table of the attribute goes by, as far as they can be seen.

    A number does not go by the band that it lies in, nor a band by its number.
    """
    yield ()
    column = seen[name].column
    tables = dict.fromkeys(step.of.given for plan in found.plans for step in plan.steps if step.name == name)
    for given in tables:
        if given and all(parent in seen and seen[parent].column != column for parent in given):
            yield given


def _rows(found: Population, attribute: Attribute, given: Sequence[Attribute]) -> Iterator[tuple[object, ...]]:
    """Rows of `population`, in the order of its columns."""
    names = [parent.name for parent in given]
    if not all(_is_known(plan, attribute.name, names) for plan in found.plans):
        return
    shares = joint(found, [*names, attribute.name])
    if shares is None:
        return
    by_label: dict[tuple[str, Label], Pair] = {}
    for (*parents, value), (share, drawn) in shares.items():
        among = SEPARATOR.join(parent.labels[level].text for parent, level in zip(given, parents, strict=True))
        key = among, attribute.labels[value]
        before = by_label.get(key, (0.0, 0.0))
        by_label[key] = before[0] + share, before[1] + drawn
    places = {label: place for place, label in enumerate(dict.fromkeys(attribute.labels.values()))}
    for (among, label), pair in by_label.items():
        told = (attribute.name, SEPARATOR.join(parent.name for parent in given), among, places[label], label.text)
        yield (*told, attribute.column, label.low, label.high, *(_rounded(share) for share in pair))


def _is_known(plan: Plan, name: str, given: Sequence[str]) -> bool:
    """Whether shares follow from the tables alone. A correlation between what somebody has and what that is given moves
    the shares given it; one between two things that an attribute depends on moves its shares among everybody."""
    if plan.copula is None:
        return True
    own = {name, *(band for band, number in plan.followed.items() if number == name)}
    above = way_to(plan.steps, given or [name]) - own
    names = plan.copula.names
    pairs = [
        (names[i], names[j]) for i, j in zip(*np.nonzero(np.abs(plan.copula.matrix) > NO_CORRELATION), strict=True)
    ]
    return not any(one != other and one in (own if given else above) and other in above for one, other in pairs)


def _rounded(share: float) -> float:
    """To nine decimals; what can be, however rare, keeps a share."""
    return max(round(share, DECIMALS), LEAST) if share > 0 else 0.0
