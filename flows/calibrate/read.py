"""Reads a reference of one's own: a JSON file in the schema of validation/references/, judged in full before it is used."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flows.calibrate.compare import HABIT, RHYTHM
from schemas.explain import Place, did_you_mean
from schemas.source import SourceError, Violation, display, read_yaml
from validation.fidelity.compare_rhythm import DAY_NAMES, HOUR_NAMES
from validation.fidelity.exposure import UNKNOWN, Exposure, exposure_of
from validation.fidelity.metrics import METRICS
from validation.references.profile import HOURS, WEEK
from validation.references.reader import Reference, load_reference, reference_ids, reference_of

TEXTS = ("reference_id", "domain", "source", "licence", "note")
COUNTS = ("n_users", "n_events")
TABLE_TEXTS = ("metric", "stratum", "unit", "how_computed")
DISTANCE_NUMBERS = ("splits", "mean", "p95", "users_per_half", "n_events_total")
BY_QUANTILE = ("burstiness_B", "burstiness_Bn", "memory_M")
WINDOW = "window_weeks"
"""A key that files of one's own may have: for how many weeks the people were watched."""
TOLERANCE = 0.02
Finding = tuple[Place, str, str]


def reference_at(name: str) -> tuple[Reference, Exposure, bool]:
    """The reference of that id or in that file, what it could see, and whether it is one of validation/references/.

    Raises SourceError with everything that is wrong.
    """
    if name in reference_ids():
        return load_reference(name), exposure_of(name), True
    path = Path(name)
    if path.suffix.lower() != ".json" and not path.exists():
        fix = did_you_mean(name, reference_ids(), "name a file that ends with .json, or an id")
        raise SourceError([Violation("--reference", None, "reference", name, "there is no such reference", fix)])
    raw = _raw(path)
    found = list(problems(raw))
    if found:
        source = read_yaml(path)  # JSON is YAML, and this reader knows the lines
        raise SourceError([source.violation(*one) for one in found])
    weeks = raw.get(WINDOW)
    seen = UNKNOWN if weeks is None else Exposure(float(weeks), basis=f"{WINDOW} of {path.name}")
    return reference_of({**raw, "self_distance": raw.get("self_distance", [])}), seen, False


def _raw(path: Path) -> Any:
    file = display(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = Violation(file, None, "", "", f"cannot be read: {error.strerror}", "check the path")
    except UnicodeDecodeError:
        why = Violation(file, None, "", "", "the file is not in UTF-8", "save it as UTF-8")
    except json.JSONDecodeError as error:
        why = Violation(file, error.lineno, "", "", f"not JSON: {error.msg}", "check commas, quotes and brackets")
    raise SourceError([why])


def problems(raw: Any) -> Iterator[Finding]:
    """Everything that is wrong with the content of a reference file: where, the rule, and a fix."""
    if not isinstance(raw, dict):
        yield (), "must be a map with tables", "write it as the files of validation/references/ are"
        return
    yield from _keys(raw, (), TEXTS, COUNTS)
    if WINDOW in raw and not (_is_number(raw[WINDOW]) and raw[WINDOW] > 0):
        yield (WINDOW,), "must be a number of weeks above 0", "leave it out if it is not known"
    tables = raw.get("tables")
    if not isinstance(tables, list) or not tables:
        yield ("tables",), "must be a list of one table or more", "add what was measured"
        return
    for place, table in enumerate(tables):
        yield from _table(table, ("tables", place))
    distances = raw.get("self_distance") or []
    if not isinstance(distances, list):
        yield ("self_distance",), "must be a list of distances", "leave it out if none are known"
        distances = []
    for place, record in enumerate(distances):
        here: Place = ("self_distance", place)
        yield from _keys(record, here, ("metric", "stratum", "distance"), DISTANCE_NUMBERS)
        if isinstance(record, dict) and record.get("users_per_half") == 0:
            yield (*here, "users_per_half"), "must be above 0", "leave the distance out"
    named = {table.get("metric") for table in tables if isinstance(table, dict)}
    known = [table for metric in (*RHYTHM, *HABIT) for table in METRICS[metric].tables]
    if not named & set(known):
        yield ("tables",), "none of its metrics can be fitted", f"it needs one of {', '.join(known)}"


def _keys(given: Any, at: Place, texts: tuple[str, ...], counts: tuple[str, ...]) -> Iterator[Finding]:
    if not isinstance(given, dict):
        yield at, "must be a map", f"give it {', '.join(texts)}"
        return
    for key in texts:
        if not isinstance(given.get(key), str):
            yield (*at, key), "must be a text", "write it in quotes"
    for key in counts:
        if not (_is_number(given.get(key)) and given[key] >= 0):
            yield (*at, key), "must be a number of 0 or more", "write the number"


def _table(table: Any, at: Place) -> Iterator[Finding]:
    yield from _keys(table, at, TABLE_TEXTS, ())
    if not isinstance(table, dict):
        return
    if not isinstance(table.get("n"), int | list):
        yield (*at, "n"), "must be a count", "write how many observations there are"
    bins, values = table.get("bins"), table.get("values")
    if not isinstance(bins, list) or not isinstance(values, list) or len(bins) != len(values) or not bins:
        yield (*at, "values"), "bins and values must be lists of equal length", "give one value a bin"
        return
    wrong = [place for place, value in enumerate(values) if not _is_number(value)]
    yield from (((*at, "values", place), "must be a finite number", "leave the bin out") for place in wrong)
    metric = table.get("metric")
    if wrong or not isinstance(metric, str):
        return
    known = dict(zip([str(name) for name in bins], values, strict=True))
    if metric in (HOURS, WEEK):
        yield from _shares(known, HOUR_NAMES if metric == HOURS else DAY_NAMES, at)
    elif metric.endswith("_quantile") or metric in BY_QUANTILE:
        yield from _quantiles(known, at)


def _shares(known: Mapping[str, float], names: tuple[str, ...], at: Place) -> Iterator[Finding]:
    missing = [name for name in names if name not in known]
    if missing:
        yield (*at, "bins"), f"lacks {', '.join(missing)}", f"list {names[0]} to {names[-1]}"
    if min(known.values()) < 0 or abs(math.fsum(known.values()) - 1) > TOLERANCE:
        total = math.fsum(known.values())
        yield (*at, "values"), f"shares must be 0 or more and sum to 1; the sum is {total:.4g}", "divide by the sum"


def _quantiles(known: Mapping[str, float], at: Place) -> Iterator[Finding]:
    listed = [(name, value) for name, value in known.items() if name[:1] == "q"]
    places = [_probability(name) for name, _ in listed]
    if len(listed) < 3 or any(place is None for place in places):
        yield (*at, "bins"), "must be three quantiles or more", "name them like q0.05"
        return
    values = [value for _, value in listed]
    if places != sorted(set(places), key=float) or values != sorted(values):  # type: ignore[arg-type]
        yield (*at, "values"), "quantiles must rise", "list them from the lowest up"


def _probability(name: str) -> float | None:
    try:
        place = float(name[1:])
    except ValueError:
        return None
    return place if 0 <= place <= 1 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
