"""Notices of what does not fit the lands of the people, and may be meant: money, streets, days of rest."""

from __future__ import annotations

from flows.common.names import has_streets
from schemas.config import DataConfig
from schemas.config.currency import abroad, locales_of
from schemas.locales import WORLD, week_of
from schemas.market import load_market


def land_notices(data: DataConfig) -> list[str]:
    """One sentence each, for all locales that it concerns."""
    plain = data.model_dump(mode="json")
    locales = locales_of(plain["personas"])
    found: list[str] = []
    if paid := abroad(plain):
        told = ", ".join(f"`{locale}` ({currency})" for locale, currency in paid.items())
        found.append(f"prices are in {load_market(data.market).currency}; people of {told} live abroad")
    if english := [locale for locale in locales if not has_streets(locale)]:
        found.append(f"streets of {_listed(english)} have English forms: Faker has none of the language")
    if resting := [locale for locale in locales if week_of(locale).weekend != WORLD.weekend]:
        found.append(f"people of {_listed(resting)} rest on Saturday and Sunday here, and on other days in their land")
    return found


def _listed(locales: list[str]) -> str:
    return ", ".join(f"`{locale}`" for locale in locales)
