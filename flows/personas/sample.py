"""People: attributes drawn from the population, names from pools, and the people around them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.clock import DAY, microseconds
from flows.common.draws import Draws, categorical, key_of, permutation
from flows.common.ids import opaque_ids, user_ids
from flows.common.names import POOL, Kind, name_pool
from flows.common.stage import Context, Tables
from flows.personas.population import GROUP_YEARS, INCOME_BANDS, Distribution, population
from schemas.config.personas import BUILT_IN
from schemas.tables.configured import configured
from schemas.tables.core import sort_rows
from schemas.tables.sealed import ACTORS, PERSONAS
from schemas.tables.visible import USERS

U64 = npt.NDArray[np.uint64]
SIGN_UP_DAYS = 700
"""Accounts begin up to this many days before the window: assumed."""


def sample_people(context: Context, tables: Tables) -> Tables:
    """`users`, `personas` and `actors` of the shard. Every draw is keyed by user and attribute."""
    data, draws, shard = context.data, context.draws, context.shard
    numbers = np.arange(shard.first, shard.last, dtype=np.uint64)
    ids = user_ids(shard.first, shard.last)
    drawn = {d.name: d for d in population(data.personas)}
    text: dict[str, pa.Array] = {}
    for distribution in drawn.values():
        text[distribution.name] = _draw(distribution, numbers, draws, text)
    start = data.window.start.astimezone(UTC)
    age = _ages(text, drawn, numbers, draws)
    locales = list(data.personas.locales)
    locale = pa.array(locales).take(
        pa.array(categorical(draws.uniform("locale", numbers), list(data.personas.locales.values())))
    )
    given_name, family_name = _names(locale, text["sex"], numbers, draws)
    employed = pc.starts_with(text["labour_status"], "employed")
    columns: dict[str, pa.Array] = {
        "user_id": ids,
        "sample_weight": pa.array(np.ones(numbers.size)),
        "given_name": given_name,
        "family_name": family_name,
        "birth_date": _birth_dates(age, start, numbers, draws),
        "age_years": pa.array(age.astype(np.int16)),
        "income_usd": _incomes(text, drawn, numbers, draws),
        "occupation": pc.if_else(employed, text["occupation"], None)
        if not drawn["occupation"].is_own
        else text["occupation"],
        "household_size": pc.cast(text["household_size"], pa.int16()),
        "locale": locale,
    }
    columns |= {name: text[name] for name in text if name in PERSONAS.columns and name not in columns}
    columns |= {name: text[name] for name in data.personas.attributes if name not in BUILT_IN}
    before = (1 + np.floor(draws.uniform("sign_up", numbers) * SIGN_UP_DAYS * DAY / 60e6)).astype(np.int64) * 60_000_000
    users = pa.table(
        {
            "user_id": ids,
            "locale": locale,
            "time_zone": text["time_zone"],
            "signed_up_at": pa.array(microseconds(start) - before).cast(pa.timestamp("us", "UTC")),
        }
    )
    declared = configured(PERSONAS, data)
    personas = declared.conform(pa.table({name: columns[name] for name in declared.columns}))
    actors = _actors(personas, numbers, data.dispositions.household_actor_share, draws)
    return {"users": USERS.conform(users), "personas": personas, "actors": actors}


def _draw(distribution: Distribution, numbers: U64, draws: Draws, drawn: Mapping[str, pa.Array]) -> pa.Array:
    """(n,) the attribute's text for each person, given its parent."""
    levels = pa.array(distribution.levels, pa.string())
    if distribution.is_unique:
        order = permutation(draws.bits(f"{distribution.name} order", 0, np.arange(len(levels), dtype=np.uint64)))
        return levels.take(pa.array(order[numbers.astype(np.int64)]))
    uniform = draws.uniform(distribution.name, numbers)
    if distribution.parent is None:
        return levels.take(pa.array(categorical(uniform, distribution.weights[0])))
    parent = pc.index_in(drawn[distribution.parent], value_set=pa.array(distribution.parent_levels)).to_numpy()
    code = np.zeros(numbers.size, np.int64)
    for place in range(len(distribution.parent_levels)):
        here = parent == place
        code[here] = categorical(uniform[here], distribution.weights[place]) if here.any() else 0
    return levels.take(pa.array(code))


def _ages(
    text: Mapping[str, pa.Array], drawn: Mapping[str, Distribution], numbers: U64, draws: Draws
) -> npt.NDArray[np.int64]:
    """Full years: those of the config, or evenly within the age group."""
    if "age_years" in drawn:
        return pc.cast(text["age_years"], pa.int64()).to_numpy(zero_copy_only=False)
    bounds = np.array([GROUP_YEARS[g] for g in drawn["age_group"].levels])
    group = pc.index_in(text["age_group"], value_set=pa.array(drawn["age_group"].levels)).to_numpy()
    low, high = bounds[group, 0], bounds[group, 1]
    return low + np.floor(draws.uniform("age_years", numbers) * (high - low)).astype(np.int64)


def _incomes(text: Mapping[str, pa.Array], drawn: Mapping[str, Distribution], numbers: U64, draws: Draws) -> pa.Array:
    """USD a year: those of the config, or evenly within the band, in steps of 500."""
    if "income_usd" in drawn:
        return pc.cast(text["income_usd"], pa.int32())
    levels = drawn["income_band"].levels
    bounds = np.array([INCOME_BANDS[band] for band in levels])
    band = pc.index_in(text["income_band"], value_set=pa.array(levels)).to_numpy()
    low, high = bounds[band, 0], bounds[band, 1]
    steps = np.floor(draws.uniform("income_usd", numbers) * ((high - low) // 500)).astype(np.int64)
    return pa.array((low + steps * 500).astype(np.int32))


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


def _names(locale: pa.Array, sex: pa.Array, numbers: U64, draws: Draws) -> tuple[pa.Array, pa.Array]:
    """First and last names by locale and sex."""
    locales = pc.unique(locale).to_pylist()
    place = pc.index_in(locale, value_set=pa.array(locales)).to_numpy()
    is_male = pc.equal(sex, "male").to_numpy(zero_copy_only=False)
    kinds: tuple[Kind, ...] = ("female", "male", "family")
    pools = pa.concat_arrays([name_pool(name, kind) for name in locales for kind in kinds])
    first = np.floor(draws.uniform("given_name", numbers) * POOL).astype(np.int64)
    last = np.floor(draws.uniform("family_name", numbers) * POOL).astype(np.int64)
    given = pools.take(pa.array((place * 3 + is_male) * POOL + first))
    return given, pools.take(pa.array((place * 3 + 2) * POOL + last))


def _actors(personas: pa.Table, numbers: U64, share: float, draws: Draws) -> pa.Table:
    """The user, and for a share of the households of two or more the person they live with who may use the same account."""
    married = pc.equal(personas["marital_status"], "married").to_numpy()
    shared = np.flatnonzero(
        (personas["household_size"].to_numpy() > 1) & (draws.uniform("shared account", numbers) < share)
    )
    other = np.where(
        married[shared],
        "partner",
        np.array(["flatmate", "child", "parent"])[
            categorical(draws.uniform("relation", numbers[shared]), [0.4, 0.4, 0.2])
        ],
    )
    who = np.concatenate([numbers, numbers[shared]])
    role = np.concatenate([np.zeros(numbers.size, np.uint64), np.ones(shared.size, np.uint64)])
    user_id = pa.concat_arrays(
        [personas["user_id"].combine_chunks(), personas["user_id"].combine_chunks().take(pa.array(shared))]
    )
    keys = role + np.uint64(key_of("actor"))
    table = pa.table(
        {
            "actor_id": opaque_ids(draws, "actor", who, keys),
            "user_id": user_id,
            "relation": pa.array(["self"] * numbers.size + other.tolist(), pa.string()),
            "attributes": _no_lists(ACTORS.columns["attributes"].type, who.size),
        }
    )
    return ACTORS.conform(sort_rows(table, ACTORS))


def _no_lists(kind: pa.ListType, count: int) -> pa.Array:
    """(count,) empty lists."""
    return pa.ListArray.from_arrays(np.zeros(count + 1, np.int32), pa.array([], kind.value_type), type=kind)
