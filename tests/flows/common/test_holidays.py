"""Public holidays: known dates of several lands, and days of rest of people."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from flows.common import holidays
from flows.common.holidays import holiday_names, is_holiday, locales_of, rest_days

YEAR = np.arange(20_089, 20_089 + 365)
"""The days of 2025."""


def number(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("locale", "day", "name"),
    [
        ("en_US", "2025-07-04", "Independence Day"),
        ("en_US", "2025-11-27", "Thanksgiving Day"),
        ("de_DE", "2025-10-03", "German Unity Day"),
        ("de_AT", "2025-10-26", "National Day"),
        ("fr_FR", "2025-07-14", "National Day"),
        ("it", "2025-06-02", "Republic Day"),
        ("ja_JP", "2025-05-05", "Children's Day"),
        ("es_MX", "2025-09-16", "Independence Day"),
    ],
)
def test_lands_have_their_holidays(locale: str, day: str, name: str) -> None:
    found = holiday_names(locale, YEAR)
    assert found[number(day)] == name
    assert list(found) == sorted(found) and len(found) < 25


def test_a_holiday_of_another_land_is_none() -> None:
    assert number("2025-07-04") not in holiday_names("de_DE", YEAR)
    assert number("2025-10-03") not in holiday_names("en_US", YEAR)


def test_only_the_days_asked_for_are_told_and_they_are_the_same_in_any_stretch() -> None:
    turn = np.arange(number("2025-12-20"), number("2026-01-10"))
    found = holiday_names("de_DE", turn)
    assert list(found) == [number(day) for day in ("2025-12-25", "2025-12-26", "2026-01-01")]
    assert holiday_names("de_DE", turn[:8]) == {day: name for day, name in found.items() if day in turn[:8]}
    assert holiday_names("de_DE", YEAR[:0]) == {}


def test_a_holiday_observed_in_the_year_before_is_found_there() -> None:
    """1 January 2028 is a Saturday: in the United States the Friday before is free."""
    assert number("2027-12-31") in holiday_names("en_US", np.arange(number("2027-12-27"), number("2028-01-01")))


def test_names_are_in_english_whatever_the_machine_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LANG"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    holidays._of_year.cache_clear()
    assert holiday_names("de_DE", YEAR)[number("2025-10-03")] == "German Unity Day"


@pytest.mark.parametrize("locale", ["ar_AA", "fr_QC", "xx"])
def test_lands_that_nobody_knows_have_none(locale: str) -> None:
    assert holiday_names(locale, YEAR) == {}


def test_people_rest_on_weekends_and_on_the_holidays_of_their_locale() -> None:
    locale, locales = locales_of(pa.table({"locale": ["en_US", "de_DE", "en_US"]}))
    assert (locale.tolist(), locales) == ([1, 0, 1], ["de_DE", "en_US"])
    days = np.array([number(day) for day in ("2025-07-04", "2025-10-03", "2025-10-04", "2025-10-05", "2025-10-06")])
    us, de = [True, False, True, True, False], [False, True, True, True, False]
    assert rest_days(locale, locales, days).tolist() == [us, de, us]
    assert is_holiday(locale, locales, days).sum(axis=1).tolist() == [1, 1, 1]
