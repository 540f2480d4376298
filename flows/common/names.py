"""Pools of names of people and streets, one for each locale and kind, the same in every process."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Literal

import pyarrow as pa

from flows.common.draws import key_of

Kind = Literal["female", "male", "family", "street"]
POOL = 512
"""Names in a pool. A name that Faker gives often stands in it often."""


@lru_cache(maxsize=256)
def name_pool(locale: str, kind: Kind) -> pa.Array:
    """(512,) names in NFC, from a Faker of its own that is seeded by locale and kind.

    One Faker a locale, made anew for each pool: no state outlives a pool, and no locale draws from another's stream.
    A locale without names by sex gives the same pool for both.
    """
    from faker import Faker

    faker = Faker(locale)
    faker.seed_instance(key_of("names", locale, kind))
    if kind == "family":
        speak = faker.last_name
    elif kind == "street":
        speak = faker.street_name
    elif kind == "female":
        speak = faker.first_name_female
    else:
        speak = faker.first_name_male
    return pa.array([unicodedata.normalize("NFC", speak()) for _ in range(POOL)], pa.string())


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
