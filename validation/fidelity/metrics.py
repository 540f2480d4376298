"""The fidelity metrics: a domain's key actions beside real people and beside a naive model, with a verdict."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from schemas.activities import Activity, SessionActivity, SummaryActivity
from schemas.domain import Domain, GateSpec
from validation.fidelity import compare_habits as habits
from validation.fidelity import compare_rhythm as rhythm
from validation.fidelity.compare import F64, Compared, Metric, Minimum, Sample, has_table, listed_quantiles
from validation.fidelity.compare_rhythm import DAY_NAMES, HOUR_NAMES, mean_gap_h
from validation.fidelity.distances import Verdict, floor_and_limit, verdict
from validation.fidelity.exposure import Exposure, cut, cut_to_counts, exposure_of, is_longer, is_seen_whole, weeks_of
from validation.fidelity.occurrences import ITEM, Counting, Occurrences
from validation.references.reader import Reference, UnknownReference, load_reference

__all__ = ["DAY_NAMES", "HOUR_NAMES", "METRICS", "Asked", "Measurement", "Minimum", "Part", "asked_of", "measure"]

WORST_FIRST: tuple[Verdict, ...] = (
    *("not computable", "distinguishable", "close", "indistinguishable", "insufficient", "assumed"),
)


@dataclass(frozen=True)
class Part:
    """One distance: of one day type, or of one kind. ``naive`` is that of the naive model from the same reference.

    ``real``, ``synthetic`` and ``naive_shape`` hold the distributions over ``bins`` that were compared. Where the
    reference does not say how far two halves of its people lie apart, ``floor`` and ``ratio`` are NaN. ``is_shown_only``
    parts decide nothing; their ``limit`` may be NaN.
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
    is_shown_only: bool = False
    is_broken: bool = False
    """Whether it fails whatever its distance; ``reason`` says why."""

    @property
    def counts(self) -> bool:
        """Whether the part can decide anything."""
        return self.verdict != "insufficient" and not self.is_shown_only

    @property
    def is_within(self) -> bool:
        """Whether it passes; false for NaN."""
        return self.value <= self.limit and not self.is_broken


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
        decisive = [part for part in self.parts if not part.is_shown_only]
        limited = [part for part in decisive or self.parts if math.isfinite(part.limit)]
        deciding = [part for part in limited if part.counts] or limited or list(self.parts)
        return max(deciding, key=lambda part: _or_infinity(part.value / part.limit), default=None)


FEW = Minimum(users_with_two=200)
TOLD_APART = Minimum(users=200, units=100)
# What hangs on the window was told by people made for it, with favourites that drift, watched for 52 and for 26 weeks.
# Against the limits, it moved events per user by 0.38, dormancy by 0.10, user ranks by 0.10, lags by 0.05 and repeats by
# 0.04; everything else by a fifth of its limit or less.
METRICS: dict[str, Metric] = {
    "hour_of_day": Metric((rhythm.HOURS,), Minimum(users_with_two=200, events=5_000), rhythm.hours),
    "day_of_week": Metric((rhythm.WEEK,), Minimum(users=1_000), rhythm.weekdays),
    "inter_event_gap": Metric((rhythm.GAPS_H, rhythm.GAPS_DAYS), FEW, rhythm.gaps, window="gaps"),
    "events_per_user": Metric(("events_per_user_quantile",), TOLD_APART, rhythm.events_per_user, window="bound"),
    "events_per_active_week": Metric(
        ("events_per_active_week_quantile",), TOLD_APART, rhythm.events_per_active_week, window="gaps"
    ),
    "top_share": Metric(("top10pct_user_event_share",), TOLD_APART, rhythm.top_users, window="gaps"),
    "burstiness": Metric(("burstiness_Bn", "burstiness_B"), TOLD_APART, rhythm.burstiness, window="gaps"),
    "memory": Metric(("memory_M",), TOLD_APART, rhythm.memory, window="gaps"),
    "daily_autocorrelation": Metric(
        ("daily_count_lag1_autocorr",), TOLD_APART, rhythm.daily_autocorrelation, window="gaps"
    ),
    "dormancy": Metric(("dormant_14d_share",), TOLD_APART, rhythm.dormancy, window="bound"),
    "daily_amount": Metric(("daily_steps_quantile",), FEW, rhythm.daily_amount),
    "amount_autocorrelation": Metric(("daily_steps_lag1_autocorr",), TOLD_APART, rhythm.amount_autocorrelation),
    "basket_size": Metric(("basket_size_share",), FEW, habits.basket_size, choices=True, per="session"),
    "rating": Metric(("rating_share",), FEW, habits.rating, choices=True, action="review"),
    "repeat_share": Metric(("repeat_event_share",), TOLD_APART, habits.repeat_share, choices=True, window="bound"),
    "repeat_lag": Metric(("repeat_lag_share",), FEW, habits.repeat_lags, choices=True, window="bound"),
    "user_ranks": Metric(habits.RANK_TABLES, TOLD_APART, habits.user_ranks, choices=True, window="bound"),
    "popularity": Metric(("zipf_exponent_item_popularity",), FEW, habits.popularity, choices=True),
    "drift": Metric(("monthly_js_divergence",), TOLD_APART, habits.drift, choices=True),
    "self_recognition": Metric(("self_recognition_rate",), TOLD_APART, habits.recognition, choices=True),
    "transitions": Metric(("second_order_excess_bits",), FEW, habits.transitions, choices=True),
    "predictability": Metric(("entropy_rate_bits_quantile",), TOLD_APART, habits.predictability, choices=True),
    "lead_time": Metric(("booking_lead_time_days_quantile",), FEW, habits.lead_time, choices=True),
    "nights": Metric(("stay_nights_share",), FEW, habits.nights, choices=True),
    "party_size": Metric(("party_size_share",), FEW, habits.party, choices=True),
}


@dataclass(frozen=True)
class Asked:
    """One metric to be measured: against what, of which lines, and whether it gates under which name."""

    metric: str
    reference: str
    action: str
    of: str | None
    per: Counting
    is_gate: bool
    gate: str


def asked_of(domain: Domain) -> tuple[Asked, ...]:
    """The gates of the domain file, and for all other metrics what its key action rests on."""
    gated = [(metric, gate) for metric, gates in domain.gates.items() for gate in gates]
    rest = [(metric, GateSpec(reference=domain.reference())) for metric in METRICS if metric not in domain.gates]
    return tuple(_asked(domain, metric, gate) for metric, gate in [*gated, *rest])


def _asked(domain: Domain, metric: str, gate: GateSpec) -> Asked:
    spec = METRICS.get(metric)
    choices = spec is not None and spec.choices
    own = spec.action if spec is not None else None
    action = gate.action or own or (domain.choosing_action() if choices else domain.key_action)
    # Days that a device sums up are told by their series, and bookings by when they begin: both are read with the items.
    whole = any(_is_told_by_more_than_time(one, action) for one in domain.activities.values())
    of = gate.of or (ITEM if choices or whole else None)
    per: Counting = (spec.per if spec is not None else None) or gate.per or "line"
    several = len(domain.gates.get(metric, ())) > 1
    name = f"fidelity.{domain.name}.{metric}" + (f".{gate.reference}" if several else "")
    return Asked(metric, gate.reference, action, of, per, metric in domain.gates, name)


def _is_told_by_more_than_time(activity: Activity, action: str) -> bool:
    if isinstance(activity, SummaryActivity):
        return activity.action == action
    return isinstance(activity, SessionActivity) and activity.stay is not None and activity.choose == action


def measure(
    domain: str,
    metric: str,
    reference: str | Reference,
    occurrences: Occurrences,
    *,
    of: str | None = None,
    exposure: Exposure | None = None,
    weeks: float | None = None,
    is_gate: bool = True,
) -> Measurement:
    """The metric of a domain's occurrences against the reference, a name or the reference itself.

    Ours is cut to ``exposure``, by default what is known of the reference; ``weeks`` is our window, by default from the
    first occurrence to the last. ``of`` says what units are. A part is `insufficient` where the sample is below the
    metric's minimum or where the naive model would pass as well; it is `not computable`, and does not pass, where a
    number is missing. Without ``is_gate``, what the reference says nothing about is `assumed`.
    """
    name = reference if isinstance(reference, str) else reference.reference_id
    sized = occurrences

    def result(passed: bool | None, says: Verdict, reason: str, parts: tuple[Part, ...] = ()) -> Measurement:
        return Measurement(domain, metric, name, passed, says, reason, sized.users, int(sized.at_us.size), parts)

    if metric not in METRICS:
        return result(False, "not computable", f"there is no metric `{metric}`; there is: {', '.join(METRICS)}")
    spec = METRICS[metric]
    if occurrences.holes:
        return result(False, "not computable", "; ".join(f"{name} has {n} nulls" for name, n in occurrences.holes))
    try:
        known = load_reference(reference) if isinstance(reference, str) else reference
        if not is_gate and not has_table(known, spec.tables):
            return result(None, "assumed", f"{name} says nothing about it")
        seen = exposure or exposure_of(name)
        ours_weeks = weeks_of(occurrences) if weeks is None else weeks
        sized = cut(occurrences, seen, ours_weeks)
        if spec.choices and seen.comes_and_goes:
            sized = cut_to_counts(sized, *listed_quantiles(known, "events_per_user_quantile", "all"))
        sample = Sample(sized, of or ITEM, min(ours_weeks, seen.weeks) if seen.weeks > 0 else ours_weeks, seen)
        shortfall = spec.minimum.shortfall(sized)
        parts = tuple(_judge(part, known, spec, shortfall) for part in spec.compare(sample, known))
    except UnknownReference as error:
        return result(False if is_gate else None, "not computable", str(error))
    if outside := _outside(spec, known, seen, ours_weeks):
        return result(None, _worst([part.verdict for part in parts]), outside, _only_shown(parts))
    deciding = [part for part in parts if part.counts]
    reasons = "; ".join(dict.fromkeys(part.reason for part in parts if part.reason and not part.is_shown_only))
    if not deciding:
        return result(None, "insufficient", reasons, parts)
    within = all(part.is_within for part in deciding)
    return result(within, _worst([part.verdict for part in deciding]), reasons, parts)


def _outside(spec: Metric, reference: Reference, exposure: Exposure, weeks: float) -> str:
    """Why the metric cannot gate where the reference watched longer than we did; empty if it can."""
    if spec.window == "free" or not is_longer(exposure, weeks):
        return ""
    told = "for years" if math.isinf(exposure.weeks) else f"{exposure.weeks:.3g} weeks"
    why = f"shown only: {reference.reference_id} watched {told}, ours are {weeks:.3g}, and the metric hangs on it"
    if spec.window == "bound":
        return why
    mean = mean_gap_h(reference)
    if is_seen_whole(mean, weeks):
        return ""
    return f"{why}, as its gaps of {mean / 24:.3g} days on average are long beside our window"


def _only_shown(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(dataclasses.replace(part, is_shown_only=True) for part in parts)


def _worst(verdicts: list[Verdict]) -> Verdict:
    return min(verdicts, key=WORST_FIRST.index, default="not computable")


def _judge(compared: Compared, reference: Reference, spec: Metric, shortfall: str) -> Part:
    """The comparison with its floor, limit and verdict."""
    lowest, most = _floor_and_limit(compared, reference)
    ratio = compared.value / lowest if lowest > 0 else math.nan
    says, reason = _verdict(compared, most, ratio, reference, spec, shortfall)
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
        is_shown_only=compared.absolute is None,
        is_broken=bool(compared.fails),
    )


def _floor_and_limit(compared: Compared, reference: Reference) -> tuple[float, float]:
    """The floor and the limit of a comparison; NaN where they are not known."""
    absolute = math.nan if compared.absolute is None else compared.absolute
    try:
        record = reference.self_distance(*compared.halves)
    except UnknownReference:
        return floor_and_limit(absolute, 1.0, 1.0, math.nan, math.nan)
    real_units = 2.0 * record.users_per_half
    units: float = compared.users
    if not reference.n_users:
        # The source counts days or weeks. A sample is worth as many of them as it has events for, but not more than
        # it has people, whose events hang together.
        units = min(units, compared.events * real_units / record.events)
    return floor_and_limit(absolute, max(units, 1.0), real_units, record.mean, record.p95)


def _verdict(
    compared: Compared, most: float, ratio: float, reference: Reference, spec: Metric, shortfall: str
) -> tuple[Verdict, str]:
    metric, stratum, distance = compared.halves
    table = f"{reference.reference_id}.{metric}"
    if compared.absolute is None:
        return (verdict(ratio) if math.isfinite(ratio) else "assumed"), ""
    if shortfall:
        return "insufficient", shortfall
    if compared.users < spec.minimum.units:
        return "insufficient", f"{compared.users} people have enough of it, {spec.minimum.units} needed"
    if not math.isfinite(compared.naive):
        return "not computable", f"{table} of stratum {compared.stratum} has no number in some bin"
    if compared.naive <= most:
        return "insufficient", (
            f"the naive model is {compared.naive:.4g} from {table} ({distance}, {stratum}), within the "
            f"limit of {most:.4g}, and would pass as well"
        )
    if not math.isfinite(compared.value):
        return "not computable", f"events.at gives no finite {compared.distance} ({compared.stratum})"
    if compared.fails:
        return "distinguishable", compared.fails
    if math.isfinite(ratio):
        return verdict(ratio), ""
    says: Verdict = "close" if compared.value <= most else "distinguishable"
    return says, f"halves of {table} were not compared, so the absolute limit counts alone"


def _rounded(number: float) -> float:
    """To six decimals. Whatever is not finite is the one object NaN, so that equal measurements compare equal."""
    return round(float(number), 6) if math.isfinite(number) else math.nan


def _all_rounded(numbers: F64) -> tuple[float, ...]:
    return tuple(_rounded(number) for number in numbers)


def _or_infinity(number: float) -> float:
    return number if math.isfinite(number) else math.inf
