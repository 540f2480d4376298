"""Fits an activity to a reference: first when it is done, then what of it is done again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flows.calibrate.compare import (
    Line,
    Target,
    fitted_choices,
    fitted_times,
    lines,
    loss,
    of_unit,
    unfitted_choices,
    unfitted_times,
)
from flows.calibrate.how import Crowd, choices, few_enough, times
from flows.calibrate.search import DIGITS, Axis, Found, Point, search
from flows.calibrate.what import (
    CATEGORY,
    RATE_AXES,
    RHYTHM_AXES,
    WITHIN_A_DAY,
    Fitted,
    habit_axes,
    habit_starts,
    has_kin,
    rhythm_starts,
    with_habit,
    with_rhythm,
)
from schemas.activities import OwnProfile
from validation.fidelity.compare import has_table
from validation.fidelity.occurrences import CATEGORY as OF_CATEGORY
from validation.references.profile import HOURS, WEEK, hours_in, profile_of, week_in
from validation.references.reader import Reference

FEW = 500
"""People with whom the search begins; it ends with all of them."""
PER_WEEK = "events_per_active_week_quantile"
HABIT_TRIES = 0.4
"""Tries for habits, as a part of those for the rhythm."""
Said = Callable[[str, int, int, float], None]
"""Told of each try: what is fitted, how many tries there were and may be, and the least loss so far."""


@dataclass(frozen=True)
class Fit:
    """An activity as it came out, and which of its parts were fitted."""

    activity: Fitted
    has_rhythm: bool
    has_habit: bool
    tries: int


def fit(crowd: Crowd, name: str, activity: Fitted, target: Target, is_listed: bool, tries: int, said: Said) -> Fit:
    """The activity with the parameters that come nearest to the target.

    ``is_listed`` says that the reference is a file of validation/references/, to which the activity then points; else it
    holds hours and weekdays itself.
    """
    taken = 0
    metrics, moved = fitted_times(target), at_its_hours(activity, target.reference, is_listed)
    if metrics:
        moved, taken = _fit_rhythm(crowd, name, moved, target, metrics, tries, said)
    has_habit = bool(fitted_choices(target, has_kin(activity)))
    if has_habit:
        moved, more = _fit_habit(crowd, name, moved, target, int(tries * HABIT_TRIES), said)
        taken += more
    return Fit(moved, bool(metrics), has_habit, taken)


def at_its_hours(activity: Fitted, reference: Reference, is_listed: bool) -> Fitted:
    """The activity at the hours and weekdays of the reference; where it has none, at those that the activity has."""
    told = {table.metric for table in reference.tables}
    if is_listed:
        hours_of = None if HOURS in told else activity.hours_of or activity.reference
        hours_of = activity.hours_of if activity.reference == reference.reference_id else hours_of
        moved = {"reference": reference.reference_id, "hours_of": hours_of}
        if activity.profile is None or HOURS in told:
            return activity.model_copy(update={**moved, "profile": None})
    when = profile_of(activity)
    working, resting = hours_in(reference) if HOURS in told else (when.working_hours, when.resting_hours)
    week = week_in(reference)
    said = [what for metric, what in ((HOURS, "hours"), (WEEK, "weekdays")) if metric in told]
    kept = [what for metric, what in ((HOURS, "hours"), (WEEK, "weekdays")) if metric not in told]
    basis = [f"{' and '.join(said)} of {reference.reference_id}"] if said else []
    basis += [f"{' and '.join(kept)} as in {activity.reference}"] if kept else []
    own = OwnProfile(
        weekday_hours=_rounded(working),
        weekend_hours=_rounded(resting),
        week=_rounded(when.week if week is None else week),
        basis=", ".join(basis),
    )
    return activity.model_copy(update={"reference": reference.reference_id, "hours_of": None, "profile": own})


def _rounded(shares: Sequence[float] | np.ndarray) -> list[float]:
    return [round(float(share), 6) for share in shares]


def rates_of(activity: Fitted, reference: Reference) -> dict[str, float]:
    """The quantiles that the fit of rates begins with: the reference's, if it has them."""
    if not any(table.metric == PER_WEEK and table.stratum == "all" for table in reference.tables):
        return dict(activity.per_week)
    known = reference.shares(PER_WEEK)
    return {name: max(value, 1e-3) for name, value in known.items() if name[:1] == "q"}


def _fit_rhythm(
    crowd: Crowd, name: str, activity: Fitted, target: Target, metrics: list[str], tries: int, said: Said
) -> tuple[Fitted, int]:
    """First with few people, from several starts; then with all of them, from where that led."""
    basis = f"calibrated to {target.reference.reference_id}, {', '.join(metrics)}"

    def lost(people: Crowd, fitted: Fitted) -> float:
        _, ours = times(people, name, fitted)
        return loss(target, [(metric, "item", ours) for metric in metrics]) if ours.at_us.size else np.inf

    starts, axes = rhythm_starts(activity.rhythm), {**RATE_AXES, **RHYTHM_AXES}
    if has_table(target.reference, ("inter_event_gap_days_quantile",)):
        starts = [{**start, **{name: starts[0][name] for name in WITHIN_A_DAY}} for start in starts]
        axes = {name: axis for name, axis in axes.items() if name not in WITHIN_A_DAY}
    few = crowd.first(FEW) if crowd.size > 2 * FEW else crowd
    both = [dict(activity.per_week), rates_of(activity, target.reference)]
    rates = min(both, key=lambda one: round(lost(few, with_rhythm(activity, starts[0], one)), DIGITS))

    def tried(people: Crowd) -> Callable[[Point], float]:
        return lambda point: lost(people, with_rhythm(activity, point, rates))

    found = _in_two(few, crowd, starts, axes, tried, tries, "rhythm", said)
    fitted = with_rhythm(activity, found.point, rates)
    rhythm = fitted.rhythm.model_copy(update={"basis": basis})
    per_week_basis = f"calibrated to {target.reference.reference_id}, {PER_WEEK}"
    return fitted.model_copy(update={"rhythm": rhythm, "per_week_basis": per_week_basis}), found.tries


def _in_two(
    few: Crowd,
    crowd: Crowd,
    starts: list[Point],
    axes: Mapping[str, Axis],
    tried: Callable[[Crowd], Callable[[Point], float]],
    tries: int,
    what: str,
    said: Said,
) -> Found:
    first = search(starts, axes, tried(few), tries=tries, said=lambda n, least: said(what, n, tries, least))
    if few is crowd:
        return first
    last = search(
        [first.point],
        axes,
        tried(crowd),
        tries=max(1, tries // 4),
        gentle=0.5,
        said=lambda n, least: said(f"{what}, all people", n, tries // 4, least),
    )
    return Found(last.point, last.loss, first.tries + last.tries)


def _fit_habit(crowd: Crowd, name: str, activity: Fitted, target: Target, tries: int, said: Said) -> tuple[Fitted, int]:
    metrics, few = fitted_choices(target, has_kin(activity)), few_enough(crowd, name, activity)
    basis = f"calibrated to {target.reference.reference_id}, {', '.join(dict.fromkeys(m for m, _ in metrics))}"
    habit = activity.habit
    starts, axes = habit_starts(habit), dict(habit_axes())
    if any(of == OF_CATEGORY for _, of in metrics):
        kin = habit_starts(habit.categories if habit is not None else None)
        pairs = [(own, kin[min(place, len(kin) - 1)]) for place, own in enumerate(starts)]
        starts = [{**own, **{CATEGORY + key: value for key, value in of.items()}} for own, of in pairs]
        axes |= {CATEGORY + key: axis for key, axis in habit_axes().items()}

    def tried(point: Point) -> float:
        chosen = choices(few, name, with_habit(activity, point, basis))
        return loss(target, [(metric, of, of_unit(chosen, of)) for metric, of in metrics])

    found = search(starts, axes, tried, tries=max(1, tries), said=lambda n, least: said("habit", n, tries, least))
    return with_habit(activity, found.point, basis), found.tries


def told(crowd: Crowd, name: str, activity: Fitted, target: Target) -> dict[str, list[Line]]:
    """Distances of what people do from the target, by whether they are fitted."""
    _, ours = times(crowd, name, activity)
    found: dict[str, list[Line]] = {"fitted": [], "not fitted": []}
    for group, metrics in (("fitted", fitted_times(target)), ("not fitted", unfitted_times(target))):
        for metric in metrics:
            found[group] += lines(target, metric, "item", ours)
    kin = has_kin(activity)
    kinds = (("fitted", fitted_choices(target, kin)), ("not fitted", unfitted_choices(target, kin)))
    if any(listed for _, listed in kinds):
        chosen = choices(few_enough(crowd, name, activity), name, activity)
        for group, listed in kinds:
            for metric, of in listed:
                found[group] += lines(target, metric, of, of_unit(chosen, of))
    return found
