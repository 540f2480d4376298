"""Claims about markets."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.market import FILE, Markets, load_market, load_markets
from schemas.source import SourceError, check, read_yaml


def test_the_markets_have_their_currencies() -> None:
    known = {name: market.currency for name, market in load_markets().items()}
    wanted = {
        "us": "USD",
        "uk": "GBP",
        "eurozone": "EUR",
        "canada": "CAD",
        "australia": "AUD",
        "japan": "JPY",
        "india": "INR",
    }
    assert known.items() >= wanted.items()
    assert load_market("us").price_factor == 1


def test_a_price_is_plausible_in_the_units_that_people_see() -> None:
    """What costs 14.00 in the United States, in whole units of each currency: yen have no smaller one."""
    seen = {name: 1400 * m.price_factor / (1 if m.currency == "JPY" else 100) for name, m in load_markets().items()}
    assert seen["us"] == 14
    assert 5 < seen["uk"] < 14
    assert 700 < seen["japan"] < 2500
    assert 150 < seen["india"] < 1200


def test_an_unknown_market_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        SourceError, match=r"markets\.yaml: market is japn; there is no such market\. Did you mean `japan`"
    ):
        load_market("japn")
    with pytest.raises(SourceError, match="[Kk]nown are us, uk, eurozone"):
        load_market("x")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("currency: GBP", "currency: pounds", "currency"),
        ("price_factor: 0.70", "price_factor: 0", "price_factor"),
        ("step: 100", "step: 0", "step"),
        ("title: Japan", "title: Japan\n    vat: 0.1", "vat"),
    ],
)
def test_a_wrong_market_is_named_with_its_line(old: str, new: str, told: str, tmp_path: Path) -> None:
    text = FILE.read_text()
    assert text.count(old) == 1
    spoilt = tmp_path / "markets.yaml"
    spoilt.write_text(text.replace(old, new))
    line = text[: text.index(old)].count("\n") + 1
    with pytest.raises(SourceError) as error:
        check(Markets, read_yaml(spoilt))
    assert told in str(error.value)
    assert f"markets.yaml:{line}" in str(error.value) or f"markets.yaml:{line + 1}" in str(error.value)
