"""What a calibration did, metric by metric: before, after, limit, floor, and whether that is near enough."""

from __future__ import annotations

from typing import Any

from flows.calibrate.compare import Line

HEADINGS = ("metric", "distance", "before", "after", "limit", "floor", "")
Told = dict[str, list[Line]]


def is_within(after: Told) -> bool:
    """Whether every fitted metric that can be judged is within its limit."""
    return all(line.is_ok for line in after["fitted"] if line.is_ok is not None)


def facts(before: Told, after: Told, absent: dict[str, list[str]]) -> dict[str, Any]:
    """The report for programs."""
    return {
        "within_limits": is_within(after),
        **{group.replace(" ", "_"): [_fact(*pair) for pair in _pairs(before[group], after[group])] for group in after},
        "absent": absent,
    }


def _pairs(before: list[Line], after: list[Line]) -> list[tuple[Line | None, Line]]:
    known = {line.name: line for line in before}
    return [(known.get(line.name), line) for line in after]


def _fact(before: Line | None, after: Line) -> dict[str, Any]:
    return {
        "metric": after.metric,
        "stratum": after.stratum,
        "distance": after.distance,
        "before": None if before is None else before.value,
        "after": after.value,
        "limit": after.limit,
        "floor": after.floor,
        "ok": after.is_ok,
        "note": after.note,
    }


def rows(before: list[Line], after: list[Line]) -> list[tuple[str, ...]]:
    """The lines of one table of the report, headings first."""
    found: list[tuple[str, ...]] = [HEADINGS]
    for old, new in _pairs(before, after):
        stratum = "" if new.stratum in ("", "all") else f" ({_short(new.stratum)})"
        says = {True: "ok", False: "not within", None: new.note.partition(":")[0] or "not judged"}[new.is_ok]
        numbers = (None if old is None else old.value, new.value, new.limit, new.floor)
        found.append((f"{new.metric}{stratum}", new.distance or "-", *(_number(one) for one in numbers), says))
    return found


def notes(after: Told) -> list[str]:
    """Why some lines are not judged, each reason once."""
    return list(dict.fromkeys(line.note for listed in after.values() for line in listed if line.note))


def _short(stratum: str) -> str:
    return stratum if len(stratum) <= 24 else f"{stratum[:23]}…"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
