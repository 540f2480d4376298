"""People: attributes drawn from the population, names from pools, and the people around them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.common.clock import DAY, microseconds
from flows.common.draws import Draws
from flows.common.given_names import cohorts_of, given_names, pool_of
from flows.common.ids import user_ids
from flows.common.names import POOL, Kind, name_pool
from flows.common.stage import Context, Tables
from flows.personas.children import children_ages
from flows.personas.circle import circle
from flows.personas.devices import devices
from flows.personas.draw import Drawn, drawn
from flows.personas.population import Population, population
from schemas.config.personas import PersonasConfig
from schemas.locales import week_of
from schemas.tables.configured import configured
from schemas.tables.fields import TRAITS
from schemas.tables.sealed import PERSONAS
from schemas.tables.visible import USERS

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
SIGN_UP_DAYS = 700
"""Accounts begin up to this many days before the window: assumed."""


def sample_people(context: Context, tables: Tables) -> Tables:
    """`users`, `personas` and `actors` of the shard. Every draw is keyed by user and attribute."""
    people = people_of(context)
    numbers = np.arange(context.shard.first, context.shard.last, dtype=np.uint64)
    share = context.data.dispositions.household_actor_share
    year = context.data.window.start.astimezone(UTC).year
    return {**people, "actors": circle(people["personas"], numbers, share, year, context.draws)}


def people_of(context: Context) -> dict[str, pa.Table]:
    """`users` and `personas` of the shard, without the people around them."""
    data, draws, shard = context.data, context.draws, context.shard
    numbers = np.arange(shard.first, shard.last, dtype=np.uint64)
    ids = user_ids(shard.first, shard.last)
    who = drawn(_population(data.personas.model_dump_json()), numbers, draws)
    start = data.window.start.astimezone(UTC)
    age = who.numbers("age_years")
    is_male = who.flags("sex", "male")
    given_name, family_name = _names(
        who.levels["locale"], who.codes["locale"], is_male, cohorts_of(start.year - age), numbers, draws
    )
    columns: dict[str, pa.Array] = {
        "user_id": ids,
        "sample_weight": pa.array(np.round(who.weight, 6)),
        "given_name": given_name,
        "family_name": family_name,
        "birth_date": _birth_dates(age, start, numbers, draws),
        "age_years": pa.array(age.astype(np.int16)),
        "income_usd": pa.array(who.numbers("income_usd").astype(np.int32)),
        "occupation": _occupations(who, data.personas),
        "household_size": pa.array(who.numbers("household_size").astype(np.int16)),
        "children_ages": children_ages(who.numbers("children"), age, numbers, draws),
        **{name: pa.array(who.numbers(name).astype(np.int16)) for name in TRAITS},
        "devices": devices(age, numbers, draws),
    }
    declared = configured(PERSONAS, data)
    columns |= {name: who.column(name) for name in declared.columns if name not in columns}
    before = (1 + np.floor(draws.uniform("sign_up", numbers) * SIGN_UP_DAYS * DAY / 60e6)).astype(np.int64) * 60_000_000
    users = pa.table(
        {
            "user_id": ids,
            "locale": columns["locale"],
            "week_start": _week_starts(who),
            "time_zone": columns["time_zone"],
            "signed_up_at": pa.array(microseconds(start) - before).cast(pa.timestamp("us", "UTC")),
        }
    )
    # User ids are counted, so no two are the same: the key needs no check.
    personas = declared.conform(pa.table({name: columns[name] for name in declared.columns}), check_key=False)
    return {"users": USERS.conform(users, check_key=False), "personas": personas}


@lru_cache(maxsize=2)
def _population(config: str) -> Population:
    """The population of a config, which all shards of a process share."""
    return population(PersonasConfig.model_validate_json(config))


def _occupations(who: Drawn, config: PersonasConfig) -> pa.Array:
    """Occupations; those of the built-in population only where there is work."""
    names = list(config.segments) or [""]
    own = [
        "occupation" in config.attributes or bool(name and "occupation" in config.segments[name].attributes)
        for name in names
    ]
    shown = np.array(own)[who.plan] | who.flags(
        "labour_status", *(v for v in who.levels["labour_status"] if v.startswith("employed"))
    )
    codes = who.codes["occupation"]
    return pa.array(who.levels["occupation"], pa.string()).take(pa.array(codes, mask=~shown | (codes < 0)))


def _birth_dates(age: npt.NDArray[np.int64], start: datetime, numbers: U64, draws: Draws) -> pa.Array:
    """A date on which somebody born then has exactly this age at the start of the window.

    The year before the birthday-to-be is counted in days, so a leap day is a birth date only in leap years.
    """
    today = start.date()
    years, place = np.unique(age, return_inverse=True)
    last = np.array([_years_before(today, int(y)).toordinal() for y in years], np.int64)[place]
    first = np.array([_years_before(today, int(y) + 1).toordinal() for y in years], np.int64)[place] + 1
    day = first + np.floor(draws.uniform("birth_date", numbers) * (last - first + 1)).astype(np.int64)
    return pa.array((day - date(1970, 1, 1).toordinal()).astype(np.int32)).cast(pa.date32())


def _years_before(day: date, years: int) -> date:
    """The same day some years earlier; 29 February becomes the 28th where there is none."""
    try:
        return day.replace(year=day.year - years)
    except ValueError:
        return day.replace(year=day.year - years, day=28)


def _week_starts(who: Drawn) -> pa.Array:
    """(n,) first days of the week in the lands of the locales."""
    return pa.array([week_of(locale).start for locale in who.levels["locale"]]).take(pa.array(who.codes["locale"]))


def _names(
    locales: Sequence[str], locale: I64, is_male: npt.NDArray[np.bool_], cohort: I64, numbers: U64, draws: Draws
) -> tuple[pa.Array, pa.Array]:
    """First names by locale, sex and decade of birth, last names by locale and sex.

    The decade is that of the window's first year less the age, so that no name hangs on the day of birth.
    """
    kinds: tuple[Kind, ...] = ("family_female", "family_male")
    families = pa.concat_arrays([name_pool(name, kind) for name in locales for kind in kinds])
    first = np.floor(draws.uniform("given_name", numbers) * POOL).astype(np.int64)
    last = np.floor(draws.uniform("family_name", numbers) * POOL).astype(np.int64)
    given = given_names(tuple(locales)).take(pa.array(pool_of(locale, cohort, is_male) * POOL + first))
    return given, families.take(pa.array((locale * 2 + is_male) * POOL + last))
