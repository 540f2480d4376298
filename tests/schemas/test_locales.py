"""Claims about lands: their weeks and their money."""

from __future__ import annotations

from datetime import date

import pytest

from schemas.locales import WORLD, currencies_of, land_of, week_of


@pytest.mark.parametrize(
    ("locale", "start", "weekend"),
    [
        ("en_US", "sun", ("sat", "sun")),
        ("pt_PT", "sun", ("sat", "sun")),
        ("de_AT", "mon", ("sat", "sun")),
        ("he_IL", "sun", ("fri", "sat")),
        ("hi_IN", "sun", ("sun",)),
        ("no_NO", "mon", ("sat", "sun")),  # a locale that CLDR writes as nb_NO
    ],
)
def test_the_week_is_that_of_the_land(locale: str, start: str, weekend: tuple[str, ...]) -> None:
    assert week_of(locale) == (start, weekend)


def test_money_is_that_of_the_land_on_the_day() -> None:
    assert currencies_of("de_DE", date(2025, 1, 6)) == ("EUR",)
    assert currencies_of("hr_HR", date(2022, 6, 1)) == ("HRK",)
    assert "EUR" in currencies_of("hr_HR", date(2023, 6, 1))
    assert "EUR" not in currencies_of("bg_BG", date(2025, 1, 6))


def test_of_a_land_that_is_none_nothing_is_claimed() -> None:
    assert land_of("de") == "DE" and land_of("fr_QC") == "QC"
    assert currencies_of("fr_QC", date(2025, 1, 6)) == () and week_of("fr_QC") == WORLD
