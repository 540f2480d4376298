"""The range of a number cut into pieces, wherever a config speaks of a value or a band of it.

A piece is called by its lowest number. So a selector picks pieces as it picks values: `18..35` those that begin in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from schemas.behaviour.measured import ends_of
from schemas.config.numeric import AnyNumeric, step_of
from schemas.config.selectors import band_of, is_number, parts_of


def selectors_of(personas: Mapping[str, Any]) -> dict[str, set[str]]:
    """For each attribute the values and bands that tables, rules, margins and groups name. ``personas`` is a plain map,
    of which parts of the wrong shape are passed over."""
    found: dict[str, set[str]] = {}
    for name, selector in _named(personas):
        found.setdefault(name, set()).add(selector)
    return found


def _named(personas: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    specs = [*_maps(personas.get("attributes"))]
    specs += [spec for segment in _maps(personas.get("segments")) for spec in _maps(segment.get("attributes"))]
    for spec in specs:
        number = spec.get("number")
        yield from _parents(spec.get("given"), spec.get("table"))
        yield from _parents(spec.get("given"), number.get("by") if isinstance(number, dict) else None)
    for rake in _listed(personas.get("rake")):
        yield from _parents(rake.get("attribute"), rake.get("weights"))
        yield from _parents(rake.get("given"), rake.get("table"))
    for entry in (*_listed(personas.get("rules")), *_listed(personas.get("oversample"))):
        for key in ("when", "need", "where"):
            choices = entry.get(key)
            for name, choice in choices.items() if isinstance(choices, dict) else ():
                yield from ((name, str(value)) for value in (choice if isinstance(choice, list) else [choice]))


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [part for part in value.values() if isinstance(part, dict)] if isinstance(value, dict) else []


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _parents(given: Any, rows: Any) -> Iterator[tuple[str, str]]:
    names = given if isinstance(given, list) else [given]
    for key in rows if isinstance(rows, dict) else {}:
        parts = parts_of(key, len(names)) if isinstance(key, str) else ()
        if len(parts) == len(names):
            yield from ((name, part) for name, part in zip(names, parts, strict=True) if isinstance(name, str))


def pieces_of(spec: AnyNumeric, selectors: Iterable[str], more: Iterable[float] = ()) -> tuple[str, ...]:
    """The pieces of the number's range, in order: cut at the ends of bands, around single values, and at ``more``."""
    step = step_of(spec)
    ends = ends_of(spec)
    low, high = (_cell(end, step) for end in (min(low for low, _ in ends), max(high for _, high in ends)))
    cuts = {low, *cuts_at(step, selectors), *(math.ceil(_exact(value) / step) for value in more)}
    return tuple(number_text(cut * step) for cut in sorted(cuts) if low <= cut <= high)


def cuts_at(step: Fraction, selectors: Iterable[str]) -> set[int]:
    """Where numbers in steps are cut, in whole steps: at the ends of bands, before and after single values."""
    cuts: set[int] = set()
    for selector in selectors:
        band = band_of(selector)
        if band is not None:
            cuts |= {math.ceil(_exact(end) / step) for end in band if math.isfinite(end)}
        elif is_number(selector) and (cell := Fraction(Decimal(selector)) / step).denominator == 1:
            cuts |= {int(cell), int(cell) + 1}
    return cuts


def _exact(value: float) -> Fraction:
    return Fraction(Decimal(repr(value)))


def _cell(value: float, step: Fraction) -> int:
    return round(_exact(value) / step)


def number_text(value: Fraction) -> str:
    """A number of at most six decimals, without zeros at the end."""
    text = f"{Decimal(value.numerator) / Decimal(value.denominator):.6f}"
    return text.rstrip("0").rstrip(".")
