"""Claims about the pools of names."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from flows.common.names import POOL, Kind, distinct_names, has_names, has_streets, name_pool, street_locale

ROOT = Path(__file__).parents[3]
KINDS: tuple[Kind, ...] = ("female", "male", "family")


def printed(code: str, **environment: str) -> str:
    """What a process of its own prints."""
    settings = {**os.environ, "PYTHONUTF8": "1", **environment}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=settings
    )
    return ran.stdout.strip()


@pytest.mark.parametrize("locale", ["en_US", "en_GB", "fr_FR", "en_IN", "hi_IN", "vi_VN", "ar_SA", "he_IL", "ja_JP"])
def test_a_pool_holds_names_in_nfc_of_which_many_differ(locale: str) -> None:
    for kind in KINDS:
        names = name_pool(locale, kind).to_pylist()
        assert len(names) == POOL
        assert all(name and name == name.strip() and unicodedata.is_normalized("NFC", name) for name in names)
        assert len(set(names)) >= 10, kind


def test_pools_of_sexes_and_locales_differ() -> None:
    pools = {
        (locale, kind): set(name_pool(locale, kind).to_pylist()) for locale in ("en_US", "fr_FR") for kind in KINDS
    }
    for one in pools:
        for other in pools:
            if one < other:
                assert len(pools[one] & pools[other]) < 0.5 * min(len(pools[one]), len(pools[other])), (one, other)


def test_a_pool_does_not_depend_on_which_pools_were_made_before() -> None:
    first = name_pool("fr_FR", "female").to_pylist()
    name_pool.cache_clear()
    for locale in ("vi_VN", "en_IN", "fr_FR"):
        name_pool(locale, "family")
    assert name_pool("fr_FR", "female").to_pylist() == first


def test_a_pool_is_the_same_in_another_process_with_other_hash_seeds() -> None:
    code = "from flows.common.names import name_pool; print(','.join(name_pool('en_GB', 'male').to_pylist()))"
    here = ",".join(name_pool("en_GB", "male").to_pylist())
    assert printed(code, PYTHONHASHSEED="12345") == here


def test_importing_the_stage_does_not_import_faker() -> None:
    code = "import sys, flows.personas.flow; print('faker' in sys.modules)"
    assert printed(code) == "False"


@pytest.mark.parametrize("locale", ["en_US", "hi_IN", "vi_VN", "ja_JP", "ko_KR"])
def test_distinct_names_are_those_of_the_pools_and_a_prime_number(locale: str) -> None:
    both = distinct_names(locale, "female", "male").to_pylist()
    assert set(both) <= {*name_pool(locale, "female").to_pylist(), *name_pool(locale, "male").to_pylist()}
    assert len(set(both)) == len(both) > 12
    assert all(len(both) % divisor for divisor in range(2, len(both)))
    streets = distinct_names(locale, "street").to_pylist()
    assert len(set(streets)) == len(streets) > 12


def test_last_names_go_by_sex_where_the_language_has_them_so() -> None:
    for locale in ("el_GR", "sk_SK"):
        women, men = (set(name_pool(locale, kind).to_pylist()) for kind in ("family_female", "family_male"))
        assert len(women & men) < 0.05 * len(women | men)  # a few have one form only
    family = name_pool("de_DE", "family")
    assert name_pool("de_DE", "family_female") is family and name_pool("de_DE", "family_male") is family


def test_streets_are_in_the_language_of_the_locale_where_faker_has_any() -> None:
    """G3-S10: what Faker has nothing of, it would say in English without a word."""
    assert street_locale("fr_BE") == "fr_FR" and has_streets("fr_BE")
    assert name_pool("fr_BE", "street").equals(name_pool("fr_FR", "street"))
    assert street_locale("nl_BE") == "nl_BE" and not has_streets("tr_TR")
    assert has_names("tr_TR") and has_names("en_AU") and not has_names("lb_LU")
