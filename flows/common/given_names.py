"""Pools of given names by locale, decade of birth and sex: in some lands a name tells an age."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from ruamel.yaml import YAML

from flows.common.draws import Draws, categorical, key_of
from flows.common.names import POOL, name_pool

I64 = npt.NDArray[np.int64]
Sex = Literal["female", "male"]
SEXES: tuple[Sex, ...] = ("female", "male")
DECADES = tuple(range(1930, 2020, 10))
"""The first years of the decades of birth that are told apart. Whoever was born before or after them counts as of the
first or the last."""


def cohorts_of(born: npt.ArrayLike) -> I64:
    """The place in ``DECADES`` of each year of birth."""
    return np.clip(np.asarray(born, np.int64) // 10 - DECADES[0] // 10, 0, len(DECADES) - 1)


@lru_cache(maxsize=16)
def given_names(locales: tuple[str, ...]) -> pa.Array:
    """(locales * decades * 2 * POOL,) the pools of some locales one after another, as ``pool_of`` counts them."""
    pools = [given_name_pool(locale, sex, decade) for locale in locales for decade in DECADES for sex in SEXES]
    return pa.concat_arrays([pa.array([], pa.string()), *pools])


def pool_of(locale: I64, cohort: I64, is_male: npt.NDArray[np.bool_]) -> I64:
    """The place of each one's pool among those of ``given_names``, from places of locales and of decades."""
    return np.asarray((locale * len(DECADES) + cohort) * len(SEXES) + is_male)


@lru_cache(maxsize=256)
def given_name_pool(locale: str, sex: Sex, decade: int) -> pa.Array:
    """(POOL,) names, each as often as it fell to those born in that decade; the same ones for all decades where nothing
    is known.

    Where something is, names stand in the pool by their frequency, in steps of equal length from a draw of the pool's
    own on: no pool hangs on which were made before.
    """
    if locale not in _known():
        return name_pool(locale, sex)
    names, weights = _by_decade(locale, sex)
    begin = Draws(key_of("names", locale, sex), "names").uniform("given names of a decade", decade)
    return names.take(pa.array(categorical((np.arange(POOL) + begin) / POOL, weights[DECADES.index(decade)])))


@lru_cache(maxsize=16)
def _by_decade(locale: str, sex: Sex) -> tuple[pa.Array, npt.NDArray[np.float64]]:
    """(names,) Faker's own of a locale, and (decades, names) how frequent they are: as in Faker over the decades that
    Faker's frequencies are of, and from decade to decade as the ranks say. A name without any rank is always the same.
    """
    provider = import_module(f"faker.providers.person.{locale}").Provider
    faker: Mapping[str, float] = provider.first_names_female if sex == "female" else provider.first_names_male
    known = _known()[locale]
    profile = np.full((len(DECADES), len(faker)), 1 / (known["head"] + known["unlisted"]))
    place = {name: nth for nth, name in enumerate(faker)}
    for row, decade in zip(profile, DECADES, strict=True):
        for rank, name in enumerate(known[sex][decade].split(), start=1):
            if name in place:
                row[place[name]] = 1 / (known["head"] + rank)
    mean = profile[[DECADES.index(year) for year in known["frequencies"]]].mean(axis=0)
    names = pa.array([unicodedata.normalize("NFC", name) for name in faker], pa.string())
    return names, np.array([*faker.values()]) * profile / mean


@lru_cache(maxsize=1)
def _known() -> dict[str, Any]:
    """Locale to what `schemas/populations/name_cohorts.yaml` says of it."""
    place = Path(__file__).parents[2] / "schemas" / "populations" / "name_cohorts.yaml"
    content = YAML(typ="safe", pure=True).load(place)
    return {locale: known for locale, known in content.items() if locale != "title"}
