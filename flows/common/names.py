"""Pools of names of people and streets, one for each locale and kind, the same in every process."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from typing import Literal

import pyarrow as pa

from flows.common.draws import key_of
from schemas.locales import land_of

Kind = Literal["female", "male", "family", "family_female", "family_male", "street"]
POOL = 512
"""Names in a pool. A name that Faker gives often stands in it often."""
ENGLISH = "en"
"""The language in which Faker speaks where it has nothing of a locale's own."""


@lru_cache(maxsize=256)
def name_pool(locale: str, kind: Kind) -> pa.Array:
    """(512,) names in NFC, from a Faker of its own that is seeded by locale and kind.

    One Faker a locale, made anew for each pool: no state outlives a pool, and no locale draws from another's stream.
    A locale without names by sex gives the same pool for both, of last names too. A locale without streets has those of
    `street_locale`.
    """
    from faker import Faker

    if kind == "street":
        locale = street_locale(locale)
    faker = Faker(locale, providers=["faker.providers.person", "faker.providers.address"])
    by_sex = kind in ("family_female", "family_male")
    if by_sex and not any(hasattr(p, "last_names_female") for p in faker.get_providers()):
        return name_pool(locale, "family")
    faker.seed_instance(key_of("names", locale, kind))
    speak = {
        "female": faker.first_name_female,
        "male": faker.first_name_male,
        "family": faker.last_name,
        "family_female": faker.last_name_female,
        "family_male": faker.last_name_male,
        "street": faker.street_name,
    }[kind]
    return pa.array([unicodedata.normalize("NFC", speak()) for _ in range(POOL)], pa.string())


def has_names(locale: str) -> bool:
    """Whether Faker has names of the locale's own, or those of its language; else they would be English ones."""
    return _has("person", locale) or _language(locale) == ENGLISH


def street_locale(locale: str) -> str:
    """The locale whose streets people of a locale live in: its own, or that of the land where most speak the language.

    Where Faker has neither, the locale itself: the streets are English then, with names of the locale's own.
    """
    others = (locale, f"{_language(locale)}_{land_of(_language(locale))}")
    return next((other for other in others if _has("address", other)), locale)


def has_streets(locale: str) -> bool:
    """Whether there are streets in the language of the locale."""
    return _has("address", street_locale(locale)) or _language(locale) == ENGLISH


def _language(locale: str) -> str:
    return locale.partition("_")[0]


@lru_cache(maxsize=512)
def _has(what: Literal["person", "address"], locale: str) -> bool:
    """Whether Faker has a provider of the locale's own; where it has none, it takes the English one without a word."""
    return find_spec(f"faker.providers.{what}.{locale}") is not None


@lru_cache(maxsize=256)
def distinct_names(locale: str, *kinds: Kind) -> pa.Array:
    """(prime number,) different names of those pools, each once.

    A step of any length walks through a prime number of names without meeting one twice.
    """
    every = dict.fromkeys(name for kind in kinds for name in name_pool(locale, kind).to_pylist())
    names = pa.array(list(every), pa.string())
    return names.slice(0, next(size for size in range(len(names), 0, -1) if _is_prime(size) or size == 1))


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))
