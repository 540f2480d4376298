"""Rules that the people of a release obey: those of the config, and the age that follows from the date of birth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC

from schemas.config import DataConfig
from schemas.config.selectors import band_of, is_number
from schemas.tables import Table
from validation.structure.cross import Rule
from validation.structure.folder import literal, quoted


def people_rules(config: DataConfig, personas: Table) -> list[Rule]:
    """One rule over `personas` for each rule of the config that speaks of what can be seen, and one for ages."""
    start = config.window.start.astimezone(UTC).date()
    birthday_to_come = f"month(birth_date) * 100 + day(birth_date) > {start.month * 100 + start.day}"
    age = Rule(
        "people",
        "personas",
        "age_years",
        f"follows from `birth_date` on {start}, the day on which the window begins",
        f"SELECT user_id AS id FROM personas WHERE age_years <> {start.year} - year(birth_date) - "
        f"CASE WHEN {birthday_to_come} THEN 1 ELSE 0 END",
    )
    rules = [age]
    for rule in config.personas.rules:
        when, need = _all(rule.when, personas), _all(rule.need, personas)
        if when is not None and need is not None:
            # A person without a value, such as an occupation, breaks nothing.
            breaks = f"SELECT user_id AS id FROM personas p WHERE ({when}) AND NOT ({need})"
            rules.append(Rule("people", "personas", ", ".join(rule.need), f"obeys the rule `{rule.name}`", breaks))
    return rules


def _all(choices: Mapping[str, Sequence[str]], personas: Table) -> str | None:
    """SQL that is true for people who have one of the values of every attribute; None if one has no column."""
    parts = [_one_of(name, selectors, personas) for name, selectors in choices.items()]
    return None if None in parts else " AND ".join(f"({part})" for part in parts)


def _one_of(name: str, selectors: Sequence[str], personas: Table) -> str | None:
    if name == "children":
        return _picks("len(p.children_ages)", selectors)
    if name in personas.columns:
        return _picks(f"p.{quoted(name)}", selectors)
    if name not in ("age_group", "income_band"):
        return None
    number = {"age_group": "p.age_years", "income_band": "p.income_usd"}[name]
    return (
        f"EXISTS (SELECT 1 FROM population q WHERE q.attribute = {literal(name)} AND q.given = '' "
        f"AND {_picks('q.label', selectors)} AND {number} BETWEEN coalesce(q.band_from, '-infinity') "
        "AND coalesce(q.band_to, 'infinity'))"
    )


def _picks(value: str, selectors: Sequence[str]) -> str:
    """SQL that is true where the value is one of these, or a number in one of these bands."""
    parts = []
    for selector in selectors:
        band = band_of(selector)
        number = f"TRY_CAST({value} AS DOUBLE)"
        if is_number(selector):
            parts.append(f"{number} = {selector}")
        elif band is None:
            parts.append(f"CAST({value} AS VARCHAR) = {literal(selector)}")
        else:
            low, high = (None if math.isinf(end) else repr(end) for end in band)
            ends = ([f"{number} >= {low}"] if low else []) + ([f"{number} < {high}"] if high else [])
            parts.append(f"({' AND '.join(ends)})")
    return f"({' OR '.join(parts)})"
