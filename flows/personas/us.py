"""The population `us`: adults of the ATUS-CPS reference 2012–2016, jointly as far as the reference has joint tables.

Where it has pairs of attributes only, the pairs are joined by iterative proportional fitting. The fit includes people
of 15 to 17, as the tables do, and leaves them out afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from ruamel.yaml import YAML

from flows.personas.fitting import Margin, fitted
from flows.personas.tables import Distribution
from flows.personas.traits import traits
from schemas.config.personas import CHILDREN_AT_MOST, GROUP_YEARS, INCOME_BANDS, INCOME_STEP, POPULATION
from schemas.config.selectors import OTHERS
from validation.references.reader import Reference, load_reference

F64 = npt.NDArray[np.float64]
STRATUM = "2012-2016"
ADULT_GROUPS = tuple(GROUP_YEARS)
GROUPS = ("15-17", *ADULT_GROUPS)
SEXES = ("female", "male")
EMPLOYED = ("employed-absent", "employed-at work")
ROUNDED = 2e-5
"""How far two tables of the reference, rounded to six decimals, may disagree on the same share."""


@lru_cache(maxsize=1)
def built_in() -> Mapping[str, Distribution]:
    """Every attribute of the population by name."""
    reference = load_reference("demographics_us_atus_cps")
    assumed = _read("us_assumed.yaml")
    age = reference.shares("ageg_share", STRATUM)
    marital = _table(reference, "joint_ageg_x_marital_share", "age_group", "marital_status", ADULT_GROUPS)
    households = _households(reference)
    found = [
        Distribution("age_group", ADULT_GROUPS, np.array([[age[group] for group in ADULT_GROUPS]])),
        _given_second(reference, "joint_sex_x_ageg_share", "sex", "age_group", ADULT_GROUPS),
        _education(reference),
        marital,
        households,
        _children(reference, marital, households, assumed["child_at_home"]),
        _labour(reference),
        _table(reference, "joint_sex_x_occup_code_share", "sex", "occupation", SEXES),
        _incomes(reference),
        _plain(reference, "region_share", "region"),
        _table(reference, "joint_region_x_home_type_share", "region", "home_type", None),
        _time_zones(reference),
        _chronotypes(assumed["chronotype"]),
        spread("age_years", "age_group", GROUP_YEARS, 1),
        spread("income_usd", "income_band", INCOME_BANDS, INCOME_STEP),
        *traits().values(),
        Distribution("locale", ("en_US",), np.ones((1, 1))),
    ]
    return {d.name: d for d in found}


def _read(name: str) -> Any:
    return YAML(typ="safe", pure=True).load(Path(__file__).parents[2] / "schemas" / "populations" / name)


def _joint(reference: Reference, metric: str, *axes: Sequence[str]) -> F64:
    """The joint table with these values along its axes; cells that nobody of the sample was in are 0."""
    cells = reference.shares(metric, STRATUM)
    labels: list[str] = [""]
    for axis in axes:
        labels = [f"{label}|{value}" if label else value for label in labels for value in axis]
    return np.array([cells.get(label, 0.0) for label in labels]).reshape([len(axis) for axis in axes])


def _values(reference: Reference, metric: str, place: int) -> tuple[str, ...]:
    return tuple(sorted({label.split("|")[place] for label in reference.shares(metric, STRATUM)}))


def _plain(reference: Reference, metric: str, name: str) -> Distribution:
    shares = reference.shares(metric, STRATUM)
    return Distribution(name, tuple(sorted(shares)), np.array([[shares[value] for value in sorted(shares)]]))


def _table(reference: Reference, metric: str, parent: str, name: str, parents: tuple[str, ...] | None) -> Distribution:
    """The conditional table of a joint table whose bins read `parent|child`. Values that no such parent has are left out."""
    rows = parents or _values(reference, metric, 0)
    levels = _values(reference, metric, 1)
    weights = _joint(reference, metric, rows, levels)
    taken = np.flatnonzero(weights.sum(axis=0) > 0)
    return Distribution(
        name, tuple(levels[i] for i in taken), weights[:, taken], (parent,), tuple((row,) for row in rows)
    )


def _given_second(reference: Reference, metric: str, name: str, parent: str, parents: tuple[str, ...]) -> Distribution:
    """The same of a joint table whose bins read `child|parent`."""
    levels = _values(reference, metric, 0)
    weights = _joint(reference, metric, levels, parents).T.copy()
    return Distribution(name, levels, weights, (parent,), tuple((row,) for row in parents))


def _two(
    name: str, levels: tuple[str, ...], weights: F64, given: tuple[str, str], *axes: Sequence[str]
) -> Distribution:
    """A distribution given two parents, from (first, second, levels) weights."""
    rows = tuple((one, other) for one in axes[0] for other in axes[1])
    return Distribution(name, levels, weights.reshape(len(rows), len(levels)), given, rows)


def _education(reference: Reference) -> Distribution:
    """Given age and sex, as the reference has it."""
    levels = POPULATION["education"].levels
    cells = _joint(reference, "joint_sex_x_ageg_x_edu_share", SEXES, ADULT_GROUPS, levels)
    return _two("education", levels, cells.transpose(1, 0, 2), ("age_group", "sex"), ADULT_GROUPS, SEXES)


def _fit(seed: F64, **tables: tuple[tuple[int, ...], F64]) -> F64:
    """The seed fitted to tables over some of its axes, each made to sum to 1."""
    cells = np.indices(seed.shape).reshape(seed.ndim, -1)
    margins = []
    for name, (axes, target) in tables.items():
        group = np.zeros(seed.size, np.int64)
        for axis in axes:
            group = group * seed.shape[axis] + cells[axis]
        share = (target / target.sum()).reshape(-1)
        margins.append(Margin(name, group, share, tuple(map(str, range(share.size)))))
    return fitted(seed.reshape(-1), margins, ROUNDED).reshape(seed.shape)


def _incomes(reference: Reference) -> Distribution:
    """Given age and education, from the three pairs of age, education and income."""
    levels = tuple(INCOME_BANDS)
    degrees = POPULATION["education"].levels
    by_age = _joint(reference, "joint_ageg_x_inc_share", GROUPS, levels)
    by_degree = _joint(reference, "joint_edu_x_inc_share", degrees, levels)
    both = _joint(reference, "joint_ageg_x_edu_share", GROUPS, degrees)
    possible = (both > 0)[:, :, None] & (by_age > 0)[:, None, :] & (by_degree > 0)[None, :, :]
    seed = possible.astype(np.float64)
    cells = _fit(seed, by_degree=((1, 2), by_degree), by_age=((0, 2), by_age), both=((0, 1), both))[1:]
    # Degrees that nobody of an age has: a config can make them possible, and then incomes go by the degree.
    nobody = cells.sum(axis=2) <= 0
    cells[nobody] = np.broadcast_to(by_degree, cells.shape)[nobody]
    return _two("income_band", levels, cells, ("age_group", "education"), ADULT_GROUPS, degrees)


def _labour(reference: Reference) -> Distribution:
    """Given age and sex, from age by sex, age by status, and how many of those at work are women."""
    levels = _values(reference, "joint_ageg_x_labor_status_share", 1)
    sex = _joint(reference, "joint_sex_x_ageg_share", SEXES, GROUPS).T
    status = _joint(reference, "joint_ageg_x_labor_status_share", GROUPS, levels)
    works = np.array([level in EMPLOYED for level in levels])
    at_work = _joint(
        reference, "joint_sex_x_occup_code_share", SEXES, _values(reference, "joint_sex_x_occup_code_share", 1)
    )
    employed = at_work.sum(axis=1) / at_work.sum() * status[:, works].sum() / status.sum()
    by_work = np.stack([employed, sex.sum(axis=0) / sex.sum() - employed], axis=1)
    # The axes are age, sex, whether at work, and status; a status belongs to one side of being at work.
    side = np.stack([works, ~works])
    seed = np.ones((len(GROUPS), 2, 1, 1)) * (status > 0)[:, None, None, :] * side[None, None]
    cells = _fit(seed, by_work=((1, 2), by_work), status=((0, 3), status), sex=((0, 1), sex))
    weights = cells.sum(axis=2)[1:]
    return _two("labour_status", levels, weights, ("age_group", "sex"), ADULT_GROUPS, SEXES)


def _households(reference: Reference) -> Distribution:
    """Size given age and whether married: nobody who is married lives alone. Other than that the two are independent."""
    sizes = tuple(sorted(_values(reference, "joint_ageg_x_hh_size_share", 1), key=int))
    by_size = _joint(reference, "joint_ageg_x_hh_size_share", ADULT_GROUPS, sizes)
    sizes = tuple(size for size, share in zip(sizes, by_size.sum(axis=0), strict=True) if share > 0)
    by_size = _joint(reference, "joint_ageg_x_hh_size_share", ADULT_GROUPS, sizes)
    status = _values(reference, "joint_ageg_x_marital_share", 1)
    marital = _joint(reference, "joint_ageg_x_marital_share", ADULT_GROUPS, status)
    is_married = marital[:, status.index("married")]
    pair = np.stack([is_married, marital.sum(axis=1) - is_married], axis=1)
    seed = np.ones((len(ADULT_GROUPS), 2, 1)) * (by_size > 0)[:, None, :]
    seed[:, 0, sizes.index("1")] = 0.0
    cells = _fit(seed, size=((0, 2), by_size), marital=((0, 1), pair))
    return _two("household_size", sizes, cells, ("age_group", "marital_status"), ADULT_GROUPS, ("married", OTHERS))


def _children(
    reference: Reference, marital: Distribution, households: Distribution, at_home: Mapping[str, Mapping[str, float]]
) -> Distribution:
    """Children under 18 at home, given age, whether married, and size: no more than there is room for.

    Each place beside the person and the spouse is a child's with a chance that is assumed; having any is fitted to the
    share of the reference, which counts people from 15 on and is taken for adults: assumed.
    """
    age = reference.shares("ageg_share", STRATUM)
    married = marital.levels.index("married")
    sizes = [f"{size}..{size + 1}" for size in range(1, CHILDREN_AT_MOST + 2)] + [f"{CHILDREN_AT_MOST + 2}.."]
    counts = np.arange(CHILDREN_AT_MOST + 1)
    seed = np.zeros((len(ADULT_GROUPS), 2, len(sizes), counts.size))
    people = np.zeros((len(ADULT_GROUPS), 2, len(sizes)))
    for place, group in enumerate(ADULT_GROUPS):
        row = marital.weights[place] / marital.weights[place].sum()
        for single, share in ((0, row[married]), (1, row.sum() - row[married])):
            size_row = households.weights[households.rows.index((group, OTHERS if single else "married"))]
            for members, size_share in zip(households.levels, size_row / size_row.sum(), strict=True):
                people[place, single, min(int(members), len(sizes)) - 1] += age[group] * share * size_share
            for size in range(len(sizes)):
                seed[place, single, size] = _chances(
                    at_home["single" if single else "married"][group], max(0, size - (1 - single)), counts.size
                )
    has_any = reference.shares("hh_child_share", STRATUM)
    any_of = np.stack([counts == 0, counts > 0]) * 1.0
    wide = seed[:, :, :, None, :] * any_of  # the axes are age, single, size, whether any, and how many
    wide = wide * (people > 0)[:, :, :, None, None]
    cells = _fit(wide, any=((3,), np.array([has_any["no"], has_any["yes"]])), people=((0, 1, 2), people)).sum(axis=3)
    cells = np.where(people[..., None] > 0, cells, seed)
    rows = [(group, status, size) for group in ADULT_GROUPS for status in ("married", OTHERS) for size in sizes]
    weights = cells.reshape(len(rows), counts.size)
    none = (counts == 0) * 1.0
    # People under 18, whom only a config makes, have no children; a band below 1 closes the table.
    more = [(OTHERS, status, size) for status in ("married", OTHERS) for size in sizes]
    more += [(group, status, "..1") for group in (*ADULT_GROUPS, OTHERS) for status in ("married", OTHERS)]
    weights = np.concatenate([weights, np.tile(none, (len(more), 1))])
    levels = tuple(str(count) for count in counts)
    return Distribution(
        "children", levels, weights, ("age_group", "marital_status", "household_size"), tuple(rows + more)
    )


def _chances(share: float, places: int, counts: int) -> F64:
    """Binomial chances of 0, 1, … children in so many places, cut off at the last count."""
    return np.array(
        [
            math.comb(places, count) * share**count * (1 - share) ** (places - count) if count <= places else 0.0
            for count in range(counts)
        ]
    )


def _chronotypes(shares: Mapping[str, Mapping[str, float]]) -> Distribution:
    levels = ("morning", "intermediate", "evening")
    rows = [[shares[group][level] for level in levels] for group in (*ADULT_GROUPS, ADULT_GROUPS[0])]
    given = tuple((group,) for group in (*ADULT_GROUPS, OTHERS))  # the youngest are taken for those who are younger
    return Distribution("chronotype", levels, np.array(rows), ("age_group",), given)


def spread(name: str, parent: str, bounds: Mapping[str, tuple[int, int]], step: int) -> Distribution:
    """Numbers that are equally likely within their band, in even steps."""
    numbers = np.arange(0, max(high for _, high in bounds.values()), step)
    numbers = numbers[numbers >= min(low for low, _ in bounds.values())]
    inside = [(numbers >= low) & (numbers + step <= high) for low, high in bounds.values()]
    levels = tuple(str(number) for number in numbers.tolist())
    return Distribution(name, levels, np.array(inside, dtype=np.float64), (parent,), tuple((band,) for band in bounds))


def _time_zones(reference: Reference) -> Distribution:
    """Zones given the region, from the shares of the states."""
    regions: dict[str, dict[str, list[str]]] = _read("us_time_zones.yaml")
    states = reference.shares("state_share", STRATUM)
    zones = tuple(sorted({zone for places in regions.values() for zone in places}))
    weights = np.array(
        [[sum(states[state] for state in places.get(zone, [])) for zone in zones] for places in regions.values()]
    )
    return Distribution("time_zone", zones, weights, ("region",), tuple((region,) for region in regions))
