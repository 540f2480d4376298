"""Distributions of the attributes of people: the built-in population, changed by the config."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from ruamel.yaml import YAML

from schemas.config.personas import AttributeSpec, PersonasConfig
from schemas.source import InputError
from validation.references.reader import Reference, load_reference

F64 = npt.NDArray[np.float64]
STRATUM = "2012-2016"
ADULT_GROUPS = ("18-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+")
GROUP_YEARS = {
    "18-24": (18, 25),
    "25-34": (25, 35),
    "35-44": (35, 45),
    "45-54": (45, 55),
    "55-64": (55, 65),
    "65-74": (65, 75),
    "75+": (75, 91),
}
"""First and last age, the last excluded. Within a group ages are taken as equally likely, the oldest as 75 to 90: assumed."""
INCOME_BANDS = {
    "< 5000": (0, 5000),
    "5000-7499": (5000, 7500),
    "7500-9999": (7500, 10000),
    "10000-12499": (10000, 12500),
    "12500-14999": (12500, 15000),
    "15000-19999": (15000, 20000),
    "20000-24999": (20000, 25000),
    "25000-29999": (25000, 30000),
    "30000-34999": (30000, 35000),
    "35000-39999": (35000, 40000),
    "40000-49999": (40000, 50000),
    "50000-59999": (50000, 60000),
    "60000-74999": (60000, 75000),
    "75000-99999": (75000, 100000),
    "100000-149999": (100000, 150000),
    "150000+": (150000, 300000),
}
"""Bounds in USD. The top band is open in the reference; 300,000 is assumed."""


class PopulationError(InputError):
    """The config's attributes do not fit together. ``problems`` holds (attribute, value, rule, fix)."""

    def __init__(self, problems: list[tuple[str, str, str, str]]) -> None:
        self.problems = problems
        super().__init__("\n".join(f"personas.attributes.{a} {v}: {rule}. {fix}" for a, v, rule, fix in problems))


@dataclass(frozen=True)
class Distribution:
    """Shares of ``levels`` for each of ``parent_levels`` (one nameless row without a parent)."""

    name: str
    levels: tuple[str, ...]
    weights: F64
    """(parent levels, levels)"""
    parent: str | None = None
    parent_levels: tuple[str, ...] = ("",)
    is_unique: bool = False
    is_own: bool = False


def population(config: PersonasConfig) -> list[Distribution]:
    """The distributions in an order in which every parent comes before its children.

    Raises PopulationError, with every problem, if a parent is unknown or has values that a table does not cover.
    """
    by_name = dict(built_in())
    for name, spec in config.attributes.items():
        by_name[name] = _own(name, spec)
    _follow_numbers(by_name, config)
    problems: list[tuple[str, str, str, str]] = []
    for item in by_name.values():
        if item.parent is None:
            continue
        if item.parent not in by_name:
            problems.append(
                (
                    item.name,
                    item.parent,
                    "depends on an attribute that does not exist",
                    f"attributes are {sorted(by_name)}",
                )
            )
            continue
        for value in by_name[item.parent].levels:
            if value not in item.parent_levels:
                fix = f"add a row for `{value}`" if item.is_own else f"give `{item.name}` a table of its own"
                problems.append((item.name, value, f"has no row for the value `{value}` of `{item.parent}`", fix))
    if problems:
        raise PopulationError(problems)
    ordered: list[Distribution] = []
    waiting = list(by_name.values())
    while waiting:
        ready = [d for d in waiting if d.parent is None or d.parent in {o.name for o in ordered}]
        if not ready:
            names = sorted(d.name for d in waiting)
            raise PopulationError([(names[0], "", f"{names} depend on each other in a circle", "break the circle")])
        ordered += ready
        waiting = [d for d in waiting if d not in ready]
    return ordered


def _follow_numbers(by_name: dict[str, Distribution], config: PersonasConfig) -> None:
    """Where the config gives ages or incomes, the bands that others depend on follow from them, and are drawn no more."""
    for band, number, bounds in (("age_group", "age_years", GROUP_YEARS), ("income_band", "income_usd", INCOME_BANDS)):
        if number in config.attributes and band not in config.attributes and band not in _ancestors(by_name, number):
            if any(d.parent == band for d in by_name.values()):
                by_name[band] = _band_of(by_name[number], by_name[band], bounds)
            else:
                del by_name[band]


def _ancestors(by_name: Mapping[str, Distribution], name: str) -> list[str]:
    """What the attribute depends on, its parent first."""
    found: list[str] = []
    parent = by_name[name].parent
    while parent is not None and parent in by_name and parent not in found:
        found.append(parent)
        parent = by_name[parent].parent
    return found


def _band_of(number: Distribution, band: Distribution, bounds: Mapping[str, tuple[int, int]]) -> Distribution:
    """The band as a function of the number; the last one is open. A number below all bands gets no row."""
    names, lows = list(bounds), [low for low, _ in bounds.values()]
    known = tuple(level for level in number.levels if int(level) >= lows[0])
    found = [names[bisect_right(lows, int(level)) - 1] for level in known]
    rows = np.array([[float(level == name) for level in band.levels] for name in found])
    return Distribution(band.name, band.levels, rows, number.name, known)


def _own(name: str, spec: AttributeSpec) -> Distribution:
    levels = tuple(dict.fromkeys(spec.levels()))
    if spec.table is not None:
        rows = np.array([[row.get(level, 0.0) for level in levels] for row in spec.table.values()])
        return Distribution(name, levels, rows, spec.given, tuple(spec.table), is_own=True)
    shares = [spec.weights[level] for level in levels] if spec.weights is not None else [1.0] * len(levels)
    return Distribution(name, levels, np.array([shares]), is_unique=spec.unique, is_own=True)


@lru_cache(maxsize=1)
def built_in() -> Mapping[str, Distribution]:
    """The population `us`: adults of the ATUS-CPS reference 2012–2016, renormalised to 18 and over."""
    reference = load_reference("demographics_us_atus_cps")
    age_share = reference.shares("ageg_share", STRATUM)
    groups = Distribution("age_group", ADULT_GROUPS, np.array([[age_share[g] for g in ADULT_GROUPS]]))
    found = [
        groups,
        _given(reference, "joint_sex_x_ageg_share", "sex", "age_group", ADULT_GROUPS, parent_first=False),
        _given(reference, "joint_ageg_x_edu_share", "education", "age_group", ADULT_GROUPS),
        _given(reference, "joint_ageg_x_marital_share", "marital_status", "age_group", ADULT_GROUPS),
        _given(reference, "joint_ageg_x_hh_size_share", "household_size", "age_group", ADULT_GROUPS),
        _given(reference, "joint_ageg_x_labor_status_share", "labour_status", "age_group", ADULT_GROUPS),
        _given(reference, "joint_sex_x_occup_code_share", "occupation", "sex", ("female", "male")),
        _given(reference, "joint_edu_x_inc_share", "income_band", "education", None),
        _plain(reference, "region_share", "region"),
        _given(reference, "joint_region_x_home_type_share", "home_type", "region", None),
        _time_zones(reference),
    ]
    return {d.name: d for d in found}


def _plain(reference: Reference, metric: str, name: str) -> Distribution:
    shares = reference.shares(metric, STRATUM)
    return Distribution(name, tuple(sorted(shares)), np.array([[shares[k] for k in sorted(shares)]]))


def _given(
    reference: Reference,
    metric: str,
    name: str,
    parent: str,
    parent_levels: tuple[str, ...] | None,
    *,
    parent_first: bool = True,
) -> Distribution:
    """The conditional table of a joint table whose bins read `parent|child` (or the other way round)."""
    cells: dict[tuple[str, str], float] = {}
    for label, share in reference.shares(metric, STRATUM).items():
        left, _, right = label.partition("|")
        cells[(left, right) if parent_first else (right, left)] = share
    rows = parent_levels or tuple(sorted({p for p, _ in cells}))
    levels = tuple(sorted({c for p, c in cells if p in rows}))
    weights = np.array([[cells.get((p, c), 0.0) for c in levels] for p in rows])
    return Distribution(name, levels, weights, parent, rows)


def _time_zones(reference: Reference) -> Distribution:
    """Zones given the region, from the shares of the states."""
    path = Path(__file__).parents[2] / "schemas" / "populations" / "us_time_zones.yaml"
    regions: dict[str, dict[str, list[str]]] = YAML(typ="safe", pure=True).load(path)
    states = reference.shares("state_share", STRATUM)
    zones = tuple(sorted({zone for places in regions.values() for zone in places}))
    weights = np.array(
        [[sum(states[s] for s in places.get(zone, [])) for zone in zones] for places in regions.values()]
    )
    return Distribution("time_zone", zones, weights, "region", tuple(regions))
