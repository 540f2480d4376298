"""What people pay with: the currency of the market must be that of a land in which some of the people live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from schemas.config.people import Disagreement, levels_of, map_at
from schemas.config.written import attributes_of
from schemas.locales import currencies_of


def currency_disagreements(data: Mapping[str, Any]) -> Iterator[Disagreement]:
    """One, if nobody's locale is of a land with the market's currency.

    Some may have another: those who live abroad keep the locale of their home.
    """
    from schemas.market import load_markets

    markets = load_markets()
    market, day = markets.get(str(data.get("market"))), _first_day(data)
    locales = locales_of(map_at(data, "personas"))
    if market is None or day is None or not locales:
        return
    paid = {locale: currencies_of(locale, day) for locale in locales}
    if not all(paid.values()) or any(market.currency in found for found in paid.values()):
        return
    listed = ", ".join(f"`{locale}` {found[0]}" for locale, found in list(paid.items())[:6])
    rule = f"sells in {market.currency}, and nobody's locale is of a land that pays with it: {listed}"
    fitting = [name for name, other in markets.items() if any(other.currency in found for found in paid.values())]
    fix = f"write `market: {fitting[0]}`, or give" if fitting else "give"
    yield Disagreement(("market",), rule, f"{fix} people a locale of that land in data.personas.locales")


def abroad(data: Mapping[str, Any]) -> dict[str, str]:
    """Locales that some people have although the market does not sell in the currency of their land, which is told."""
    from schemas.market import load_markets

    currency, day = load_markets()[data["market"]].currency, _first_day(data)
    paid = {locale: currencies_of(locale, day) for locale in locales_of(data["personas"])} if day is not None else {}
    return {locale: found[0] for locale, found in paid.items() if found and currency not in found}


def locales_of(personas: Mapping[str, Any]) -> list[str]:
    """Every locale that somebody of the population has."""
    places = [("attributes", "locale"), *_segments(personas)]
    specs = [spec for place in places if (spec := map_at(personas, *place))]
    everybody = bool(map_at(personas, "attributes", "locale"))
    if map_at(personas, "locales") and not everybody:
        specs.append({"weights": personas["locales"]})
        everybody = True
    learnt = map_at(personas, "people_from", "learnt", "locale").get("levels", [])
    found = [locale for spec in specs for locale in levels_of(spec) if _is_taken(spec, locale)]
    if not everybody and "locale" not in map_at(personas, "people_from", "columns"):
        found += attributes_of(str(personas.get("population", "us")))["locale"].levels
    return list(dict.fromkeys([*found, *learnt]))


def _segments(personas: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [("segments", name, "attributes", "locale") for name in map_at(personas, "segments")]


def _is_taken(spec: Mapping[str, Any], locale: str) -> bool:
    """Whether the locale has a share above 0 anywhere."""
    rows = [map_at(spec, "weights"), *(row for row in map_at(spec, "table").values() if isinstance(row, dict))]
    shares = [row[locale] for row in rows if locale in row]
    return not shares or any(share != 0 for share in shares)


def _first_day(data: Mapping[str, Any]) -> date | None:
    """The day on which the window begins; None where that is no date."""
    try:
        return date.fromisoformat(str(map_at(data, "window").get("start"))[:10])
    except ValueError:
        return None
