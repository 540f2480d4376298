"""Claims about notices of what does not fit the lands of the people."""

from __future__ import annotations

from typing import Any

from flows.personas.lands import land_notices
from tests.flows.lives import small_config


def told(market: str, **locales: float) -> list[str]:
    data: Any = {"market": market, "personas": {"locales": locales}}
    return land_notices(small_config(2, **data))


def test_who_lives_at_home_hears_nothing() -> None:
    assert told("us", en_US=1.0) == told("eurozone", de_DE=0.5, fr_BE=0.5) == []


def test_foreign_money_english_streets_and_other_days_of_rest_are_told() -> None:
    money, streets, rest = told("eurozone", de_DE=0.8, tr_TR=0.1, he_IL=0.1)
    assert money.startswith("prices are in EUR") and "`tr_TR` (TRY), `he_IL` (ILS)" in money
    assert "`tr_TR`" in streets and "`he_IL`" not in streets
    assert "`he_IL`" in rest and "`tr_TR`" not in rest
