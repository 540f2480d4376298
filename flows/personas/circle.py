"""The people around a user: who lives with them, their friends and colleagues, and who of them can use the account."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import Draws, categorical, key_of, normal
from flows.common.given_names import cohorts_of, given_names, pool_of
from flows.common.household import AGE_BANDS, SMALL
from flows.common.ids import id_bits, ids_of, user_ids_of
from flows.common.names import POOL
from flows.personas.tables import Picker, picker
from schemas.tables.sealed import ACTORS

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Small = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]
RELATIONS = ("self", "partner", "child", "parent", "flatmate", "friend", "colleague")
SELF, PARTNER, CHILD, PARENT, FLATMATE, FRIEND, COLLEAGUE = range(len(RELATIONS))
# All figures from here on are assumed.
UNMARRIED_COUPLES = 0.2
"""Share of the unmarried of 20 or more, not living alone, who live with a partner."""
ADULT = 18
WITH_PARTNER = (0.7, 0.2, 0.1)
"""Whether a further adult who lives with a couple is a child, a parent or a flatmate, which stands for whoever else."""
WITHOUT_PARTNER = {25: (0.0, 0.6, 0.4), 45: (0.1, 0.5, 0.4), 65: (0.6, 0.2, 0.2), 999: (0.75, 0.0, 0.25)}
"""The same for somebody without a partner, by the age that they have not reached. Below 36 nobody has grown children."""
FRIENDS = (0.2, 0.35, 0.3, 0.15)
"""Shares of people with one to four friends."""
COLLEAGUES = (0.3, 0.4, 0.3)
"""Shares of the employed with none to two colleagues."""
YEARS_BETWEEN_GENERATIONS = (28.0, 5.5, 16, 45)
"""Age at the birth of a child: mean, standard deviation, least, most."""
OLDEST_WITH_PARENT = 70
"""From this age on nobody lives with a parent."""
AGE_SPREAD = {PARTNER: 4.0, FLATMATE: 6.0, FRIEND: 7.0, COLLEAGUE: 11.0}
"""Standard deviation of years between the user and others of about the same age."""
OLDEST = {PARTNER: 95, CHILD: 65, PARENT: 95, FLATMATE: 95, FRIEND: 95, COLLEAGUE: 70}
SAME_SEX = {PARTNER: 0.03, CHILD: 0.5, FLATMATE: 0.6, FRIEND: 0.7, COLLEAGUE: 0.5}
"""Share of others with the sex of the user. Of two parents one is female and one male."""
MOTHER_FIRST = 0.6
"""Share of those who live with one parent for whom this is the mother."""
SLOTS = 100
"""Others of one group, the household, friends or colleagues, at the most. A slot keeps its person when others come."""
# From here on nothing is assumed.
PEOPLE_AT_ONCE = 2**14
"""Users whose circles are made at once: what they need stays small, and which of them it is takes the fourteen bits
that the fifty of an id leave of 64."""
FACTS = ("given_name", "sex", "age_band")
"""Attributes of everybody around a user."""
NAMES_AT_ONCE = len(FACTS) * 2**14
AGES = 128
"""Years that tables by age reach to."""
CELLS = 2**12
"""Equally likely differences between two ages, of which one is drawn."""
AGE_FROM, NAME_FROM, NAME_BITS, SEX_BITS = np.uint64(52), np.uint64(32), 20, 32
"""Who somebody is, one draw of 64 bits tells: the first twelve the age, the next twenty the name, the last 32 the sex."""


@dataclass(frozen=True)
class Users:
    """What the circles of (users,) people depend on."""

    numbers: U64
    age: Small
    is_male: Mask
    is_employed: Mask
    is_married: Mask
    household: I64
    """Who else lives there."""
    young: I64
    """How many of these are children of the user under 18."""
    ages_of_young: Small
    first_young: I64
    """Where those of each user begin among them."""
    locale: I64
    """Place of the locale among those of the name pools."""
    year: int
    """The first year of the window, from which ages count back to the decade of birth."""


@dataclass(frozen=True)
class Everybody:
    """The users themselves and all around them: (n,) rows, user by user, slot by slot."""

    user: I64
    """Row of the user."""
    number: U64
    """Number of the user."""
    slot: U64
    """0 the user, from 1 on the household, from SLOTS + 1 the friends, from 2 * SLOTS + 1 the colleagues."""
    relation: npt.NDArray[np.uint8]
    count: I64
    """(users,) rows of each user."""


def circle(personas: pa.Table, numbers: U64, share: float, year: int, draws: Draws) -> pa.Table:
    """`actors`: the users and everybody around them in a ``year``. ``share`` of those who live with somebody old enough
    let one of them use the account: the partner, where there is one.
    """
    locales = pc.unique(personas["locale"]).to_pylist()
    words = _words(locales)
    made = []
    for first in range(0, numbers.size, PEOPLE_AT_ONCE):
        part = slice(first, first + PEOPLE_AT_ONCE)
        made.append(_circle(_users(personas[part], numbers[part], locales, year), words, share, draws))
    return pa.concat_tables(made) if made else ACTORS.empty()


def _circle(users: Users, words: pa.Array, share: float, draws: Draws) -> pa.Table:
    """`actors` of some of the users. Ids of one user sort as their hashes do, so that the hash gives each its row."""
    couple = _couples(users, draws)
    people = _everybody(users, draws)
    home = np.flatnonzero(people.slot - np.uint64(1) < SLOTS)  # 0 less one is a great number
    parents, first = _relate(users, people, home, couple, draws)
    bits = draws.bits("who another is", people.number, people.slot)
    age = _ages(users, people, home, couple, bits)
    is_male = _sexes(users, people, bits)
    is_male[parents] = first ^ (draws.uniform("mother first", people.number[parents]) < MOTHER_FIRST)
    can_use = _can_use(people, home, age, share, draws)
    hashes = id_bits(draws, "actor", people.number, people.slot + np.uint64(key_of("actor")))
    place = (people.user.view(np.uint64) << np.uint64(50)) | (hashes >> np.uint64(14))  # one number that sorts them
    order = np.argsort(place)
    place, is_self = place[order], people.relation[order] == SELF
    facts = _facts(users, people, age, is_male, bits)
    table = {
        "actor_id": ids_of("actor", users.numbers, place << np.uint64(14), people.count),
        "user_id": user_ids_of(people.number),
        "relation": pa.array(RELATIONS).take(pa.array(people.relation[order])),
        "has_account_access": pa.array(can_use[order]),
        "attributes": _attributes(words, facts.take(order[~is_self], axis=0), is_self),
    }
    # The key needs a look only where neighbours in its order are the same.
    return ACTORS.conform(pa.table(table), check_key=bool((place[1:] == place[:-1]).any()))


def _users(personas: pa.Table, numbers: U64, locales: list[str], year: int) -> Users:
    household = personas["household_size"].to_numpy().astype(np.int64) - 1
    young = pc.list_value_length(personas["children_ages"]).to_numpy().astype(np.int64)
    return Users(
        numbers,
        age=personas["age_years"].to_numpy(),
        is_male=pc.equal(personas["sex"], "male").to_numpy(),
        is_employed=pc.fill_null(pc.starts_with(personas["labour_status"], "employed"), False).to_numpy(),
        is_married=pc.equal(personas["marital_status"], "married").to_numpy(),
        household=household,
        young=np.minimum(young, household),
        ages_of_young=pc.list_flatten(personas["children_ages"]).to_numpy(),
        first_young=np.cumsum(young) - young,
        locale=pc.index_in(personas["locale"], value_set=pa.array(locales)).to_numpy().astype(np.int64),
        year=year,
    )


def _couples(users: Users, draws: Draws) -> Mask:
    """(users,) who lives with a partner: only where there is room beside the children."""
    unmarried = (users.age >= 20) & (draws.uniform("unmarried couple", users.numbers) < UNMARRIED_COUPLES)
    return np.asarray((users.is_married | unmarried) & (users.household > users.young))


def _everybody(users: Users, draws: Draws) -> Everybody:
    """Who is there, in the order of users and slots; the household is not yet told apart."""
    count = np.zeros((users.numbers.size, 4), np.int64)
    count[:, 0] = 1
    count[:, 1] = users.household
    count[:, 2] = 1 + categorical(draws.uniform("friends", users.numbers), FRIENDS)
    count[:, 3] = np.where(users.is_employed, categorical(draws.uniform("colleagues", users.numbers), COLLEAGUES), 0)
    each = count.reshape(-1)
    before = np.cumsum(each) - each
    first_slot = np.tile(np.array([0, 1, SLOTS + 1, 2 * SLOTS + 1]), users.numbers.size)
    kinds = np.tile(np.array([SELF, FLATMATE, FRIEND, COLLEAGUE], np.uint8), users.numbers.size)
    slot = np.repeat(first_slot - before, each)
    slot += np.arange(slot.size)
    rows = count.sum(axis=1)
    user = np.repeat(np.arange(users.numbers.size), rows)
    return Everybody(user, users.numbers[user], slot.view(np.uint64), np.repeat(kinds, each), rows)


def _relate(users: Users, people: Everybody, home: I64, couple: Mask, draws: Draws) -> tuple[I64, Mask]:
    """Writes who lives there (rows ``home``) into the relations: a partner, the children of `personas`, and others who
    are grown up. Parents are two at most. Gives the rows of the parents, and whether each is the first of the user.
    """
    user, nth = people.user[home], people.slot[home].view(np.int64) - 1
    known = couple + users.young
    people.relation[home] = np.where(nth < couple[user], PARTNER, CHILD)
    grown = home[nth >= known[user]]
    owner = people.user[grown]
    row = np.minimum(users.age, AGES - 1)[owner] + couple[owner] * np.int64(AGES)
    kind = _grown().pick(row, draws.uniform("lives with", people.number[grown], people.slot[grown])) - 3 * row + CHILD
    people.relation[grown] = kind
    parents = grown[kind == PARENT]
    rank = _rank(people.user[parents])
    people.relation[parents[rank >= 2]] = FLATMATE
    parents, rank = parents[rank < 2], rank[rank < 2]
    return parents, rank == 0


@lru_cache(maxsize=1)
def _grown() -> Picker:
    """Whether somebody else who lives there is a grown child, a parent or a flatmate, by couple and age of the user."""
    couple, age = np.divmod(np.arange(2 * AGES), AGES)
    shares = np.tile(np.array(WITH_PARTNER), (age.size, 1))
    below = -1
    for upto, row in WITHOUT_PARTNER.items():
        shares[(couple == 0) & (age >= below) & (age < upto)] = row
        below = upto
    shares[age < 2 * ADULT] *= (0.0, 1.0, 1.0)
    shares[age >= OLDEST_WITH_PARENT] *= (1.0, 0.0, 1.0)
    return picker(np.repeat(np.arange(age.size), 3), shares.reshape(-1), age.size)


def _rank(user: I64) -> I64:
    """(n,) how many rows of the same user come before each, where the rows of each user stand together."""
    place = np.arange(user.size)
    begins = np.concatenate([[True], user[1:] != user[:-1]])[: user.size]
    return np.asarray(place - np.maximum.accumulate(np.where(begins, place, 0)))


def _ages(users: Users, people: Everybody, home: I64, couple: Mask, bits: U64) -> Small:
    """(n,) full years: about the user's, a generation away, or those of the children of `personas`, the first ones."""
    own = users.age[people.user]
    cell = (bits >> AGE_FROM).view(np.int64)
    cell += people.relation * np.int64(CELLS)
    found = own + _differences().take(cell)
    oldest = np.array([OLDEST.get(kind, AGES) for kind in range(len(RELATIONS))], np.int16)
    np.maximum(found, np.minimum(own, np.int16(ADULT)), out=found)
    np.minimum(found, oldest.take(people.relation), out=found)
    user, nth = people.user[home], people.slot[home].view(np.int64) - 1
    child = nth - couple[user]
    young = (child >= 0) & (child < users.young[user])
    found[home[young]] = users.ages_of_young[users.first_young[user[young]] + child[young]]
    return found


@lru_cache(maxsize=1)
def _differences() -> Small:
    """(relations * CELLS,) years that others are older than the user, each as likely as the next of a relation."""
    deviate = normal((np.arange(CELLS) + 0.5) / CELLS)
    mean, spread, least, most = YEARS_BETWEEN_GENERATIONS
    generation = np.clip(np.rint(mean + spread * deviate), least, most)
    years = np.zeros((len(RELATIONS), CELLS))
    years[CHILD], years[PARENT] = -generation, generation
    for kind, about in AGE_SPREAD.items():
        years[kind] = np.rint(about * deviate)
    return years.astype(np.int16).reshape(-1)


def _sexes(users: Users, people: Everybody, bits: U64) -> Mask:
    """(n,) whether each is male, parents apart."""
    shares = [SAME_SEX.get(kind, 1.0) for kind in range(len(RELATIONS))]
    same = np.array([round(share * 2**SEX_BITS) for share in shares], np.uint64)
    other = (bits & np.uint64(2**SEX_BITS - 1)) >= same.take(people.relation)
    return np.asarray(users.is_male[people.user] ^ other)


def _can_use(people: Everybody, home: I64, age: Small, share: float, draws: Draws) -> Mask:
    """(n,) whether each can use the user's account: the user, and for a share of the users one more, the partner or
    any of the household (rows ``home``) who is old enough.
    """
    able = home[age[home] >= SMALL]
    able = able[draws.uniform("shared account", people.number[able]) < share]
    found = people.slot == 0
    if not able.size:
        return found
    turn = draws.bits("who shares the account", people.number[able], people.slot[able])
    turn[people.relation[able] == PARTNER] = 0
    turn = (turn & ~np.uint64(127)) | people.slot[able]  # SLOTS fit into seven bits, so that no two are the same
    user = people.user[able]
    begins = np.flatnonzero(np.concatenate([[True], user[1:] != user[:-1]]))
    least = np.repeat(np.minimum.reduceat(turn, begins), np.diff(begins, append=user.size))
    found[able[turn == least]] = True
    return found


def _words(locales: list[str]) -> pa.Array:
    """The words for sex, then those for age, then names by locale, decade of birth and sex."""
    return pa.concat_arrays([pa.array(["female", "male", *AGE_BANDS]), given_names(tuple(locales))])


def _facts(users: Users, people: Everybody, age: Small, is_male: Mask, bits: U64) -> npt.NDArray[np.int32]:
    """(n, 3) name, sex and age band of each, as places among the words."""
    lows = np.array([low for low, _ in AGE_BANDS.values()])
    band = 2 + (np.searchsorted(lows, np.arange(AGES), side="right") - 1)
    pool = pool_of(users.locale[people.user], cohorts_of(users.year - np.arange(AGES))[age], is_male)
    nth = (bits >> NAME_FROM & np.uint64(2**NAME_BITS - 1)) * np.uint64(POOL) >> np.uint64(NAME_BITS)
    facts = np.empty((age.size, len(FACTS)), np.int32)
    facts[:, 0] = (2 + lows.size) + pool * POOL + nth.view(np.int64)
    facts[:, 1] = is_male
    facts[:, 2] = band[age]
    return facts


def _attributes(words: pa.Array, facts: npt.NDArray[np.int32], is_self: Mask) -> pa.Array:
    """(n,) lists of name and value: none for the users, whose own are in `personas`, and for all others their facts
    (others, 3) in words.
    """
    kind = ACTORS.columns["attributes"].type
    names = _names_of_facts(-(-facts.size // NAMES_AT_ONCE)).slice(0, facts.size)
    pairs = pa.StructArray.from_arrays([names, words.take(pa.array(facts.reshape(-1)))], fields=list(kind.value_type))
    ends = np.zeros(is_self.size + 1, np.int32)
    np.cumsum(np.where(is_self, np.int32(0), np.int32(len(FACTS))), out=ends[1:])
    return pa.ListArray.from_arrays(ends, pairs, type=kind)


@lru_cache(maxsize=4)
def _names_of_facts(times: int) -> pa.Array:
    """The names of the facts over and over: the same for any circle, which takes as many as it has."""
    turns = np.tile(np.arange(len(FACTS), dtype=np.int8), times * NAMES_AT_ONCE // len(FACTS))
    return pa.array(FACTS).take(pa.array(turns))
