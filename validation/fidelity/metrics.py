"""The fidelity metrics: a domain's key actions beside real people and beside a naive model, with a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from schemas.domain import Domain
from validation.fidelity.distances import (
    F64,
    Verdict,
    floor,
    ks_at_quantiles,
    limit,
    share_at_or_below,
    total_variation,
    verdict,
    wasserstein_log10,
)
from validation.fidelity.occurrences import Occurrences, gaps_h, hour_counts, is_weekend, weekday_counts
from validation.references.reader import Reference, UnknownReference, load_reference

DAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOUR_NAMES = tuple(str(hour) for hour in range(24))
WORST_FIRST: tuple[Verdict, ...] = ("not computable", "distinguishable", "close", "indistinguishable")


@dataclass(frozen=True)
class Minimum:
    """The sample below which a metric says nothing."""

    users: int = 0
    users_with_two: int = 0
    events: int = 0

    def shortfall(self, occurrences: Occurrences) -> str:
        """What is missing, in words; empty if nothing is."""
        have = (
            (occurrences.users, self.users, "users with a key action"),
            (occurrences.users_with_two, self.users_with_two, "users with two or more key actions"),
            (occurrences.at_us.size, self.events, "key actions"),
        )
        return "; ".join(f"{found} {what}, {wanted} needed" for found, wanted, what in have if found < wanted)


@dataclass(frozen=True)
class Part:
    """One distance: of one day type, or of one kind. ``naive`` is that of the naive model from the same reference.

    ``real``, ``synthetic`` and ``naive_shape`` hold the distributions over ``bins`` that were compared.
    """

    stratum: str
    distance: str
    value: float
    naive: float
    floor: float
    limit: float
    ratio: float
    verdict: Verdict
    reason: str
    bins: tuple[str, ...]
    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    naive_shape: tuple[float, ...]

    @property
    def counts(self) -> bool:
        """Whether the part can decide anything."""
        return self.verdict != "insufficient"


@dataclass(frozen=True)
class Measurement:
    """One metric of one domain. ``passed`` is None where the sample, or the reference, cannot tell."""

    domain: str
    metric: str
    reference: str
    passed: bool | None
    verdict: Verdict
    reason: str
    users: int
    events: int
    parts: tuple[Part, ...]

    @property
    def worst(self) -> Part | None:
        """The part that lies furthest out, measured by its limit, of those that decide; else of all."""
        deciding = [part for part in self.parts if part.counts] or list(self.parts)
        return max(deciding, key=lambda part: _or_infinity(part.value / part.limit), default=None)


@dataclass(frozen=True)
class _Compared:
    """What a metric hands over to be judged: two distributions, two distances, and the size of the sample."""

    stratum: str
    distance: str
    absolute: float
    value: float
    naive: float
    users: int
    events: int
    bins: tuple[str, ...]
    real: F64
    synthetic: F64
    naive_shape: F64


@dataclass(frozen=True)
class Metric:
    """A metric: the reference table it reads, its minimum sample, and how it compares."""

    table: str
    minimum: Minimum
    compare: Callable[[Occurrences, Reference], Iterator[_Compared]]


def _hours(occurrences: Occurrences, reference: Reference) -> Iterator[_Compared]:
    """Local hours of each day type; the naive model acts at all hours alike."""
    strata = {table.stratum for table in reference.tables if table.metric == "hour_of_day_share"}
    weekend = is_weekend(occurrences.at_us, occurrences.offset_min)
    by_day_type = {"weekday": occurrences.where(~weekend), "weekend": occurrences.where(weekend)}
    for stratum, chosen in by_day_type.items() if strata >= set(by_day_type) else [("all", occurrences)]:
        yield _shares(chosen, reference, "hour_of_day_share", stratum, HOUR_NAMES, hour_counts(chosen), 0.08)


def _weekdays(occurrences: Occurrences, reference: Reference) -> Iterator[_Compared]:
    """Weekdays of the local date; the naive model acts on all of them alike."""
    counts = weekday_counts(occurrences)
    yield _shares(occurrences, reference, "day_of_week_share", "all", DAY_NAMES, counts, 0.04)


def _shares(
    chosen: Occurrences,
    reference: Reference,
    table: str,
    stratum: str,
    bins: tuple[str, ...],
    counts: object,
    absolute: float,
) -> _Compared:
    known = reference.shares(table, stratum)
    real = np.array([known.get(name, math.nan) for name in bins])
    observed = np.asarray(counts, dtype=np.float64)
    even = np.full(len(bins), 1 / len(bins))
    return _Compared(
        stratum=stratum,
        distance="total_variation",
        absolute=absolute,
        value=total_variation(observed, real),
        naive=total_variation(even, real),
        users=chosen.users,
        events=chosen.at_us.size,
        bins=bins,
        real=real / real.sum(),
        synthetic=observed / observed.sum() if observed.sum() else np.full(len(bins), math.nan),
        naive_shape=even,
    )


def _gaps(occurrences: Occurrences, reference: Reference) -> Iterator[_Compared]:
    """Hours between a user's occurrences, at the listed quantiles; the naive model is a Poisson process of equal mean."""
    known = reference.shares("inter_event_gap_hours_quantile")
    mean = known.get("mean", math.nan)
    # Where several quantiles fall on one value, the distribution function reaches the highest of them there.
    by_value = {hours: float(name[1:]) for name, hours in known.items() if name.startswith("q")}
    p, q = np.array(list(by_value.values())), np.array(list(by_value))
    gaps = gaps_h(occurrences.user, occurrences.at_us)
    quantiles = np.quantile(gaps, p) if gaps.size else np.full(p.shape, math.nan)
    naive_quantiles = -mean * np.log1p(-p)

    def compared(distance: str, absolute: float, value: float, naive: float) -> _Compared:
        return _Compared(
            stratum="all",
            distance=distance,
            absolute=absolute,
            value=value,
            naive=naive,
            users=occurrences.users_with_two,
            events=int(gaps.size),
            bins=tuple(f"q{probability:.2f}" for probability in p),
            real=q,
            synthetic=quantiles,
            naive_shape=naive_quantiles,
        )

    ks, naive_ks = ks_at_quantiles(share_at_or_below(gaps, q), p), ks_at_quantiles(-np.expm1(-q / mean), p)
    yield compared("ks", 0.08, ks, naive_ks)
    yield compared(
        "wasserstein_log10", 0.15, wasserstein_log10(quantiles, q, p), wasserstein_log10(naive_quantiles, q, p)
    )


METRICS: dict[str, Metric] = {
    "hour_of_day": Metric("hour_of_day_share", Minimum(users_with_two=200, events=5_000), _hours),
    "day_of_week": Metric("day_of_week_share", Minimum(users=1_000), _weekdays),
    "inter_event_gap": Metric("inter_event_gap_hours_quantile", Minimum(users_with_two=200), _gaps),
}


def references_of(domain: Domain) -> dict[str, tuple[str, bool]]:
    """Metric → (reference, whether it gates): the gates of the domain file, and for the rest what its key action rests on."""
    metrics = dict.fromkeys([*domain.gates, *METRICS])
    return {name: (str(domain.gates.get(name, domain.reference())), name in domain.gates) for name in metrics}


def measure(domain: str, metric: str, reference_id: str, occurrences: Occurrences) -> Measurement:
    """The metric's distances to real people, judged.

    A part is `insufficient` where the sample is below the metric's minimum or where the naive model would pass as well;
    it is `not computable`, and does not pass, where a number is missing.
    """

    def result(passed: bool | None, says: Verdict, reason: str, parts: tuple[Part, ...] = ()) -> Measurement:
        events = int(occurrences.at_us.size)
        return Measurement(domain, metric, reference_id, passed, says, reason, occurrences.users, events, parts)

    if metric not in METRICS:
        return result(False, "not computable", f"there is no metric `{metric}`; there is: {', '.join(METRICS)}")
    spec = METRICS[metric]
    if occurrences.holes:
        return result(False, "not computable", "; ".join(f"{name} has {n} nulls" for name, n in occurrences.holes))
    try:
        reference = load_reference(reference_id)
        shortfall = spec.minimum.shortfall(occurrences)
        parts = tuple(_judge(part, reference, spec.table, shortfall) for part in spec.compare(occurrences, reference))
    except UnknownReference as error:
        return result(False, "not computable", str(error))
    deciding = [part for part in parts if part.counts]
    reasons = "; ".join(dict.fromkeys(part.reason for part in parts if part.reason))
    if not deciding:
        return result(None, "insufficient", reasons, parts)
    within = all(part.value <= part.limit for part in deciding)  # false for NaN
    return result(within, min((part.verdict for part in deciding), key=WORST_FIRST.index), reasons, parts)


def _judge(compared: _Compared, reference: Reference, table: str, shortfall: str) -> Part:
    """The comparison with its floor, limit and verdict."""
    record = reference.self_distance(table, compared.stratum, compared.distance)
    real_units = 2.0 * record.users_per_half
    units: float = compared.users
    if not reference.n_users:
        # The source counts days or weeks. A sample is worth as many of them as it has events for, but not more than
        # it has people, whose events hang together.
        units = min(units, compared.events * real_units / record.events)
    lowest = floor(max(units, 1.0), real_units, record.mean)
    most = limit(compared.absolute, max(units, 1.0), real_units, record.p95)
    ratio = compared.value / lowest if lowest > 0 else math.nan
    says, reason = _verdict(compared, most, ratio, f"{reference.reference_id}.{table}", shortfall)
    return Part(
        stratum=compared.stratum,
        distance=compared.distance,
        value=_rounded(compared.value),
        naive=_rounded(compared.naive),
        floor=_rounded(lowest),
        limit=_rounded(most),
        ratio=_rounded(ratio),
        verdict=says,
        reason=reason,
        bins=compared.bins,
        real=_all_rounded(compared.real),
        synthetic=_all_rounded(compared.synthetic),
        naive_shape=_all_rounded(compared.naive_shape),
    )


def _verdict(compared: _Compared, most: float, ratio: float, table: str, shortfall: str) -> tuple[Verdict, str]:
    if shortfall:
        return "insufficient", shortfall
    if not math.isfinite(compared.naive):
        return "not computable", f"{table} of stratum {compared.stratum} has no number in some bin"
    if compared.naive <= most:
        return "insufficient", (
            f"the naive model is {compared.naive:.4g} from {table} ({compared.distance}, {compared.stratum}), within the "
            f"limit of {most:.4g}, and would pass as well"
        )
    if not math.isfinite(compared.value):
        return "not computable", f"events.at gives no finite {compared.distance} ({compared.stratum})"
    return verdict(ratio), ""


def _rounded(number: float) -> float:
    """To six decimals. Whatever is not finite is the one object NaN, so that equal measurements compare equal."""
    return round(float(number), 6) if math.isfinite(number) else math.nan


def _all_rounded(numbers: F64) -> tuple[float, ...]:
    return tuple(_rounded(number) for number in numbers)


def _or_infinity(number: float) -> float:
    return number if math.isfinite(number) else math.inf
