"""Claims about the currency of the market against the lands of the people."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.config.currency import abroad, currency_disagreements, locales_of


def config(market: str, start: str = "2025-01-06T00:00:00+00:00", **personas: Any) -> dict[str, Any]:
    return {"market": market, "window": {"start": start}, "personas": personas}


@pytest.mark.parametrize(
    "data",
    [
        config("us"),
        config("eurozone", population="eurozone"),
        config("eurozone", locales={"de_DE": 0.9, "tr_TR": 0.1}),
        config("uk", attributes={"locale": {"given": "region", "table": {"a": {"en_GB": 1}, "b": {"cy_GB": 1}}}}),
        config("japan", segments={"home": {"attributes": {"locale": {"weights": {"ja_JP": 1}}}}}),
        config("us", locales={"fr_QC": 1}),  # of a land that nobody knows nothing is claimed
        config("us", start="soon", locales={"de_DE": 1}),
        config("mars", locales={"de_DE": 1}),
    ],
)
def test_people_who_can_pay_are_let_be(data: dict[str, Any]) -> None:
    assert list(currency_disagreements(data)) == []


@pytest.mark.parametrize(
    ("data", "market"),
    [
        (config("us", population="eurozone"), "eurozone"),
        (config("us", locales={"de_DE": 1.0}), "eurozone"),
        (config("eurozone"), "us"),
        (config("eurozone", locales={"en_US": 1.0, "de_DE": 0.0}), "us"),
        (config("eurozone", population="eurozone", attributes={"locale": {"weights": {"en_GB": 1}}}), "uk"),
    ],
)
def test_a_market_in_whose_money_nobody_pays_is_refused(data: dict[str, Any], market: str) -> None:
    [found] = currency_disagreements(data)
    assert found.place == ("market",) and f"`market: {market}`" in found.fix


def test_the_money_of_a_land_is_that_of_the_window() -> None:
    early = config("eurozone", "2022-06-01T00:00:00+00:00", locales={"hr_HR": 1})
    assert "HRK" in next(currency_disagreements(early)).rule
    assert list(currency_disagreements(config("eurozone", "2025-06-01T00:00:00+00:00", locales={"hr_HR": 1}))) == []


def test_who_lives_abroad_is_told() -> None:
    data = config("eurozone", locales={"de_DE": 0.9, "tr_TR": 0.1})
    assert abroad(data) == {"tr_TR": "TRY"}
    assert abroad(config("eurozone", population="eurozone")) == {}


def test_locales_of_the_population_stand_where_the_config_says_nothing() -> None:
    assert "el_GR" in locales_of({"population": "eurozone"}) and "en_US" not in locales_of({"population": "eurozone"})
    assert locales_of({"population": "eurozone", "locales": {"de_DE": 1.0}}) == ["de_DE"]
