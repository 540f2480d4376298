"""What a locale says of its land: when the week begins, which days are its weekend, and what is paid with there.

The facts are CLDR's, as babel has them. A locale is that of an account, such as `de_AT`; without a land, as in `de`, it
stands for the land where most speak the language.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import NamedTuple

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Week(NamedTuple):
    """How people of a land count the week."""

    start: str
    """The first day, one of `mon` to `sun`."""
    weekend: tuple[str, ...]
    """The days of rest, in the order of DAYS."""


WORLD = Week("mon", ("sat", "sun"))
"""Where CLDR says nothing of a land of its own."""


@cache
def week_of(locale: str) -> Week:
    """The week in the land of a locale; that of most of the world where CLDR does not know the land."""
    from babel import Locale, UnknownLocaleError

    try:
        land = Locale.parse(f"und_{land_of(locale)}")
    except (UnknownLocaleError, ValueError):
        return WORLD
    first, last = land.weekend_start, land.weekend_end
    days = {(first + day) % 7 for day in range((last - first) % 7 + 1)}
    return Week(DAYS[land.first_week_day], tuple(name for place, name in enumerate(DAYS) if place in days))


@cache
def currencies_of(locale: str, day: date) -> tuple[str, ...]:
    """ISO 4217 codes of what is legal tender in the land of a locale on a day; none where CLDR does not know the land."""
    from babel.numbers import get_territory_currencies

    return tuple(get_territory_currencies(land_of(locale), day, day))


@cache
def land_of(locale: str) -> str:
    """The land of a locale, as ISO 3166 has it; empty if CLDR does not know where most speak the language."""
    from babel.core import get_global

    language, _, land = locale.partition("_")
    return land or str(get_global("likely_subtags").get(language, "")).rpartition("_")[2]
