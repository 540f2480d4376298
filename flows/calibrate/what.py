"""Which parameters of an activity are fitted, between which bounds, and from where the search sets out."""

from __future__ import annotations

import math
from collections.abc import Mapping

from flows.calibrate.search import Axis, Point, significant
from schemas.activities import Activity, Habit, ReplyActivity, Returns, Rhythm, SessionActivity, TripActivity
from schemas.domain import Domain

Fitted = SessionActivity | TripActivity | ReplyActivity
"""Activities with a rhythm."""
LEVEL, SPREAD = "level", "spread"
"""How far the quantiles of `per_week` are moved and spread, on a log scale, from those that the search begins with."""

RATE_AXES = {LEVEL: Axis(-3.0, 3.0, 0.15), SPREAD: Axis(0.15, 2.5, 0.15, "log")}
RHYTHM_AXES = {
    "again": Axis(0.002, 0.94, 0.35, "log-odds"),
    "gap_spread": Axis(0.05, 2.0, 0.2, "log"),
    "soon_minutes": Axis(0.1, 720.0, 0.4, "log"),
    "later_share": Axis(0.002, 0.95, 0.4, "log-odds"),
    "later_hours": Axis(0.5, 240.0, 0.35, "log"),
    "sway": Axis(0.0, 1.9, 0.15),
    "dormant_share": Axis(0.001, 0.7, 0.4, "log-odds"),
    "dormant_weeks": Axis(1.0, 16.0, 0.25, "log"),
    "gap_spread_between": Axis(0.01, 1.0, 0.1),
    "again_between": Axis(0.0, 2.0, 0.25),
    "sway_memory": Axis(0.0, 0.95, 0.12),
    "soon_spread": Axis(0.1, 3.5, 0.3),
    "later_spread": Axis(0.1, 3.5, 0.3),
}
"""In the order in which they are tried: those that move most first."""
WITHIN_A_DAY = ("again", "again_between", "soon_minutes", "soon_spread")
"""What a reference that tells only dates says nothing of: left as it is in the domain file."""
HABIT_AXES = {
    "new": Axis(0.02, 1.0, 0.25, "log"),
    "decay": Axis(0.0, 1.5, 0.08),
    "recent": Axis(0.02, 0.98, 0.12),
    "lag_days": Axis(0.1, 120.0, 0.35, "log"),
    "lag_spread": Axis(0.1, 2.5, 0.2),
    "new_between": Axis(0.0, 2.0, 0.2),
    "rest_hours": Axis(0.0, 24.0, 2.0),
}
CATEGORY = "category "
"""What the names of parameters of returns to categories begin with."""

_ELSEWHERE = (
    # even, weekly, near chance, in bursts, in long trains: hand-set points apart from each other
    (0.25, 0.03, 0.10, 0.02, 0.02, 20.0, 0.30, 24.0),
    (0.75, 0.20, 0.35, 0.03, 0.15, 20.0, 0.20, 12.0),
    (0.90, 0.25, 0.60, 0.06, 0.45, 5.0, 0.40, 12.0),
    (0.60, 0.30, 1.20, 0.15, 0.60, 2.0, 0.10, 15.0),
    (1.30, 0.30, 0.80, 0.12, 0.20, 15.0, 0.30, 24.0),
)
_NAMES = (
    "gap_spread",
    "gap_spread_between",
    "sway",
    "dormant_share",
    "again",
    "soon_minutes",
    "later_share",
    "later_hours",
)


def activity_of(domain: Domain, name: str | None) -> str:
    """The activity to be fitted: the one named, or the first with a rhythm that does the domain's key action.

    Raises KeyError with what to say if there is none.
    """
    rhythmic = [one for one, activity in domain.activities.items() if isinstance(activity, Fitted)]
    if name is not None:
        if name not in rhythmic:
            raise KeyError(name, "is no activity with a rhythm", f"those are {', '.join(rhythmic) or 'none'}")
        return name
    for one in rhythmic:
        if domain.key_action in actions_of(domain.activities[one]):
            return one
    raise KeyError(domain.key_action, "no activity with a rhythm does the key action", "name one by --activity")


def actions_of(activity: Activity) -> list[str]:
    """What an activity with a rhythm does that can count as an occurrence."""
    if isinstance(activity, SessionActivity):
        return [activity.choose, *([activity.close] if activity.close is not None else [])]
    return [activity.choose] if isinstance(activity, TripActivity) else [getattr(activity, "action", "")]


def rhythm_point(rhythm: Rhythm, level: float = 0.0, spread: float = 1.0) -> Point:
    """The parameters of a rhythm within their bounds, and what is done to the rates."""
    point = {name: axis.moved(float(getattr(rhythm, name)), 0.0) for name, axis in RHYTHM_AXES.items()}
    return {LEVEL: level, SPREAD: spread, **point}


def rhythm_starts(rhythm: Rhythm) -> list[Point]:
    """The rhythm as it is, and points elsewhere, so that a far reference is not reached for from one corner."""
    plain = Rhythm()
    others = [
        plain.model_copy(update={**dict(zip(_NAMES, values, strict=True)), "soon_spread": 1.5}) for values in _ELSEWHERE
    ]
    return [rhythm_point(rhythm), rhythm_point(rhythm, spread=0.8), *(rhythm_point(one, spread=0.8) for one in others)]


def with_rhythm(activity: Fitted, point: Point, per_week: Mapping[str, float]) -> Fitted:
    """The activity with the rhythm and rates of a point. ``per_week`` are the quantiles that these start from."""
    rhythm = activity.rhythm.model_copy(update={name: point[name] for name in RHYTHM_AXES})
    rates = moved_quantiles(per_week, point[LEVEL], point[SPREAD])
    return activity.model_copy(update={"rhythm": rhythm, "per_week": rates})


def moved_quantiles(quantiles: Mapping[str, float], level: float, spread: float) -> dict[str, float]:
    """Quantiles whose logs are spread about their mean and then moved; in four significant digits, and rising."""
    logs = [math.log(max(value, 1e-4)) for value in quantiles.values()]
    mean = sum(logs) / len(logs)
    moved = [significant(math.exp(mean + level + spread * (log - mean))) for log in logs]
    return dict(zip(quantiles, moved, strict=True))


def habit_point(returns: Returns) -> Point:
    """The parameters of returns within their bounds."""
    return {name: axis.moved(float(getattr(returns, name)), 0.0) for name, axis in habit_axes().items()}


def habit_axes() -> dict[str, Axis]:
    """Those of the parameters that the model of habits has."""
    return {name: axis for name, axis in HABIT_AXES.items() if name in Returns.model_fields}


def habit_starts(returns: Returns | None) -> list[Point]:
    """The returns as they are, and points elsewhere."""
    own = [] if returns is None else [habit_point(returns)]
    found = []
    for new, decay, recent, lag_days in ((0.6, 0.3, 0.3, 14.0), (0.3, 0.1, 0.6, 3.0), (0.9, 0.1, 0.2, 21.0)):
        other = {
            "new": new,
            "decay": decay,
            "recent": recent,
            "lag_days": lag_days,
            "lag_spread": 1.0,
            "new_between": 0.3,
        }
        found.append({name: other.get(name, 0.0) for name in habit_axes()})
    return [*own, *found]


def with_habit(activity: Fitted, point: Point, basis: str) -> Fitted:
    """The activity with the habit of a point; returns to categories where the point has them. All else stays as it is."""
    before = activity.habit
    own = {} if before is None else before.model_dump(exclude={"categories"})
    kin = {} if before is None or before.categories is None else before.categories.model_dump()
    own |= {name: point[name] for name in habit_axes()}
    kin |= {name: point[CATEGORY + name] for name in habit_axes() if CATEGORY + name in point}
    habit = Habit(**{**own, "basis": basis}, categories=Returns(**kin) if kin else None)
    return activity.model_copy(update={"habit": habit})


def has_kin(activity: Fitted) -> bool:
    """Whether the activity has returns to categories."""
    return activity.habit is not None and activity.habit.categories is not None
