"""What a metric hands over to be judged, and the usual ways to get there: shares, quantiles, single numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from validation.fidelity.distances import ks_of_sample, total_variation, wasserstein, wasserstein_log10
from validation.fidelity.exposure import Exposure
from validation.fidelity.naive import chosen_by_the_crowd, constant_rate
from validation.fidelity.occurrences import Counting, Occurrences
from validation.references.reader import Reference

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Minimum:
    """The sample below which a metric says nothing."""

    users: int = 0
    users_with_two: int = 0
    events: int = 0
    units: int = 0
    """People, or whatever a part is told from, such as those with enough gaps."""

    def shortfall(self, occurrences: Occurrences) -> str:
        """What is missing, in words; empty if nothing is."""
        have = (
            (occurrences.users, self.users, "users with a key action"),
            (occurrences.users_with_two, self.users_with_two, "users with two or more key actions"),
            (occurrences.at_us.size, self.events, "key actions"),
        )
        return "; ".join(f"{found} {what}, {wanted} needed" for found, wanted, what in have if found < wanted)


@dataclass(frozen=True)
class Compared:
    """Two distributions, their distance, that of the naive model, and the size of the sample.

    ``absolute`` is the largest distance that passes whatever the floor; None for what is shown and never decides.
    ``halves`` names the distance between halves of the real people, as (metric, stratum, distance) of the reference.
    ``fails`` says what is wrong whatever the distance.
    """

    stratum: str
    distance: str
    absolute: float | None
    value: float
    naive: float
    users: int
    events: int
    bins: tuple[str, ...]
    real: F64
    synthetic: F64
    naive_shape: F64
    halves: tuple[str, str, str]
    fails: str = ""


@dataclass(frozen=True)
class Sample:
    """Ours, cut to the reference: the occurrences, what their units are, our weeks, and the reference's exposure."""

    occurrences: Occurrences
    of: str
    weeks: float
    exposure: Exposure

    @cached_property
    def naive(self) -> Occurrences:
        """People of one constant rate who choose as the crowd does."""
        return constant_rate(self.occurrences)

    @cached_property
    def crowd(self) -> Occurrences:
        """The same people at the same times, who choose as the crowd does."""
        return chosen_by_the_crowd(self.occurrences)


class Quick(Sample):
    """A sample whose naive model is nobody, for when only the distance counts."""

    @cached_property
    def naive(self) -> Occurrences:
        """Nobody."""
        none = np.empty(0, np.int64)
        unit = None if self.occurrences.unit is None else none
        return Occurrences(none, none, none, unit=unit, session=unit)

    @cached_property
    def crowd(self) -> Occurrences:
        """Nobody."""
        return self.naive


Compare = Callable[[Sample, Reference], Iterator[Compared]]


@dataclass(frozen=True)
class Metric:
    """A metric: the tables of a reference, one of which it needs; its least sample; and how it compares.

    ``choices`` says that it counts what was chosen, not only when. ``window``: `free` of how long was watched, hanging
    on it (`bound`), or free where `gaps` are short beside it. ``per`` is how lines are counted, and ``action`` which, if in
    one way only.
    """

    tables: tuple[str, ...]
    minimum: Minimum
    compare: Compare
    choices: bool = False
    window: Literal["free", "gaps", "bound"] = "free"
    per: Counting | None = None
    action: str | None = None


def known_strata(reference: Reference, table: str) -> list[str]:
    """The strata for which a reference has such a table."""
    return [one.stratum for one in reference.tables if one.metric == table]


def has_table(reference: Reference, tables: tuple[str, ...]) -> bool:
    """Whether a reference has one of these tables."""
    return any(one.metric in tables for one in reference.tables)


def only_stratum(reference: Reference, table: str) -> str:
    """`all` where the table has it, else its first stratum."""
    strata = known_strata(reference, table)
    return "all" if "all" in strata or not strata else strata[0]


def of_shares(
    reference: Reference,
    table: str,
    stratum: str,
    counts: npt.ArrayLike,
    absolute: float | None,
    users: int,
    real: Mapping[str, float] | None = None,
    naive: npt.ArrayLike | None = None,
) -> Compared:
    """Shares over the bins of ``real``, by default the reference's; the naive model spreads evenly unless it is given."""
    known = real if real is not None else reference.shares(table, stratum)
    bins, there = tuple(known), np.array(list(known.values()))
    observed = np.asarray(counts, dtype=np.float64)
    dull = np.full(len(bins), 1.0) if naive is None else np.asarray(naive, dtype=np.float64)
    return Compared(
        stratum=stratum,
        distance="total_variation",
        absolute=absolute,
        value=total_variation(observed, there),
        naive=total_variation(dull, there),
        users=users,
        events=int(observed.sum()) if np.isfinite(observed).all() else 0,
        bins=bins,
        real=there / there.sum(),
        synthetic=observed / observed.sum() if observed.sum() else np.full(len(bins), math.nan),
        naive_shape=dull / dull.sum(),
        halves=(table, stratum, "total_variation"),
    )


def of_quantiles(
    reference: Reference,
    table: str,
    stratum: str,
    values: F64,
    naive: F64,
    limits: Mapping[str, float | None],
    users: int,
) -> Iterator[Compared]:
    """Distances of a sample from listed quantiles: `ks`, `wasserstein` or `wasserstein_log10`, each with its limit."""
    p, q = listed_quantiles(reference, table, stratum)
    synthetic, dull = (np.quantile(x, p) if x.size else np.full(p.shape, math.nan) for x in (values, naive))
    for distance, absolute in limits.items():
        if distance == "ks":
            value, other = ks_of_sample(values, q, p), ks_of_sample(naive, q, p)
        else:
            measure = wasserstein if distance == "wasserstein" else wasserstein_log10
            value, other = measure(synthetic, q, p), measure(dull, q, p)
        yield Compared(
            stratum=stratum,
            distance=distance,
            absolute=absolute,
            value=value,
            naive=other,
            users=users,
            events=int(values.size),
            bins=tuple(f"q{probability:.2f}" for probability in p),
            real=q,
            synthetic=synthetic,
            naive_shape=dull,
            halves=(table, stratum, distance),
        )


def listed_quantiles(reference: Reference, table: str, stratum: str) -> tuple[F64, F64]:
    """(k,) probabilities and quantiles of a table, means and the like left out."""
    known = {name: value for name, value in reference.shares(table, stratum).items() if name[:1] == "q"}
    return np.array([float(name[1:]) for name in known]), np.array(list(known.values()))


def of_number(
    name: str,
    stratum: str,
    real: float,
    value: float,
    naive: float,
    absolute: float | None,
    users: int,
    events: int,
    halves: tuple[str, str, str],
    fails: str = "",
) -> Compared:
    """The difference of two single numbers."""
    return Compared(
        stratum=stratum,
        distance="abs_diff",
        absolute=absolute,
        value=abs(value - real),
        naive=abs(naive - real),
        users=users,
        events=events,
        bins=(name,),
        real=np.array([real]),
        synthetic=np.array([value]),
        naive_shape=np.array([naive]),
        halves=halves,
        fails=fails,
    )
