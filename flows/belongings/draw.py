"""What people have of their own: a home, contacts, devices. Nobody else ever sees or uses them."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import F64, I64, U64, Draws, categorical, key_of
from flows.common.ids import opaque_ids, user_numbers
from flows.common.names import Kind, distinct_names
from flows.common.rates import rate_uniform
from flows.common.stage import Context, Tables
from schemas.domain import PersonalSpec
from schemas.load import load_domains
from schemas.market import load_market
from schemas.tables.core import sort_rows
from schemas.tables.internal import PERSONAL_ATTRIBUTES, PERSONAL_ITEMS

POOLS: Mapping[str, tuple[Kind, ...]] = {
    "given_name": ("female", "male"),
    "family_name": ("family",),
    "street": ("street",),
}
"""Field of a title to the pools that its names come from."""


class People(NamedTuple):
    """The users of a shard."""

    ids: pa.Array
    numbers: U64
    given_name: pa.Array
    locale: I64
    """(n,) codes of ``locales``."""
    locales: list[str]


class Owned(NamedTuple):
    """The things of one kind, owner by owner."""

    kind: str
    people: People
    owner: I64
    """(m,) places among the people."""
    number: U64
    """(m,) which of the owner's things of this kind, from 0."""


def own_things(context: Context, tables: Tables) -> Tables:
    """What the users of the shard own: `personal_items`, and `personal_attributes` beside it.

    A thing's id is drawn for (user, domain, kind, number), all else for (user, kind, number): kinds of equal name are
    the same things in all domains, so an address is in the same street wherever one orders.
    """
    people, draws = _people(tables), context.draws
    currency = load_market(context.data.market).currency
    items, attributes = [PERSONAL_ITEMS.empty()], [PERSONAL_ATTRIBUTES.empty()]
    for name, domain in load_domains(context.data.domains).items():
        for kind, spec in domain.personal.items():
            owned = _owned(name, kind, spec, people, draws)
            keys = owned.number + np.uint64(key_of("belonging", name, kind))
            ids = opaque_ids(draws, "belonging", people.numbers[owned.owner], keys)
            items.append(_items(name, spec, owned, ids, currency, draws))
            attributes += _attributes(name, spec, owned, ids, draws)
    return {
        "personal_items": PERSONAL_ITEMS.conform(sort_rows(pa.concat_tables(items), PERSONAL_ITEMS)),
        "personal_attributes": PERSONAL_ATTRIBUTES.conform(
            sort_rows(pa.concat_tables(attributes), PERSONAL_ATTRIBUTES)
        ),
    }


def _people(tables: Tables) -> People:
    users, personas = tables["users"], tables["personas"]
    place = pc.index_in(users["user_id"], value_set=personas["user_id"].combine_chunks())
    locales = sorted(pc.unique(users["locale"]).to_pylist())
    return People(
        ids=users["user_id"].combine_chunks(),
        numbers=user_numbers(users["user_id"]),
        given_name=personas["given_name"].combine_chunks().take(place.combine_chunks()),
        locale=pc.index_in(users["locale"], value_set=pa.array(locales, pa.string())).to_numpy().astype(np.int64),
        locales=locales,
    )


def _owned(domain: str, kind: str, spec: PersonalSpec, people: People, draws: Draws) -> Owned:
    """How many things of the kind each of the people has: more of them who do more, where the domain says so."""
    counts = sorted((int(count), share) for count, share in spec.count.items())
    if spec.count_by is None:
        uniform = draws.uniform("count", people.numbers, key_of(kind))
    else:
        uniform = rate_uniform(draws.seed, f"{domain} {spec.count_by}", people.numbers)
    drawn = categorical(uniform, [share for _, share in counts])
    each = np.array([count for count, _ in counts])[drawn]
    first = np.cumsum(each) - each
    number = np.arange(int(each.sum())) - np.repeat(first, each)
    return Owned(kind, people, np.repeat(np.arange(each.size), each), number.astype(np.uint64))


def _items(domain: str, spec: PersonalSpec, owned: Owned, ids: pa.Array, currency: str, draws: Draws) -> pa.Table:
    size = owned.owner.size
    columns = {
        "item_id": ids,
        "domain": pa.repeat(domain, size),
        "category": pa.repeat(owned.kind, size),
        "title": _titles(spec, owned, draws),
        "description": pa.repeat(spec.description, size),
        "price_cents": pa.repeat(pa.scalar(0, pa.int64()), size),
        "currency": pa.repeat(currency, size),
        "owner_user_id": owned.people.ids.take(pa.array(owned.owner)),
    }
    declared = PERSONAL_ITEMS.columns
    return pa.table(
        [columns[name] if name in columns else pa.nulls(size, field.type) for name, field in declared.items()],
        schema=PERSONAL_ITEMS.schema(),
    )


def _titles(spec: PersonalSpec, owned: Owned, draws: Draws) -> pa.Array:
    """(m,) titles. An owner's things of one kind take the templates in turn, from a drawn one on; once given names come
    round again, the template with most names, so that no two titles are the same."""
    first = (_of_owner("template", owned, draws) * len(spec.titles)).astype(np.uint64)
    longest = max(range(len(spec.titles)), key=lambda place: spec.titles[place].count("{"))
    template = (first + owned.number) % np.uint64(len(spec.titles))
    template = np.where(owned.number >= _given_names(owned), np.uint64(longest), template)
    words = {name: _names(name, spec, owned, draws) for name in POOLS}
    texts, rows = [pa.array([], pa.string())], []
    for place, title in enumerate(spec.titles):
        rows.append(np.flatnonzero(template == place))
        pieces: list[pa.Array] = []
        for literal, field, _, _ in Formatter().parse(title):
            pieces.append(pa.repeat(literal, rows[-1].size))
            pieces += [words[field].take(pa.array(rows[-1]))] if field is not None else []
        texts.append(pc.binary_join_element_wise(*pieces, ""))
    return pa.concat_arrays(texts).take(pa.array(np.argsort(np.concatenate(rows), kind="stable")))


def _names(field: str, spec: PersonalSpec, owned: Owned, draws: Draws) -> pa.Array:
    """(m,) names for a field of the titles, different for all things of one kind and owner.

    From the pools of the owner's locale: the first one is drawn, and so is the step to the next. A device is called
    after its owner, whose given name it bears.
    """
    if field == "given_name" and spec.holds == "devices":
        return owned.people.given_name.take(pa.array(owned.owner))
    pools = [distinct_names(locale, *POOLS[field]) for locale in owned.people.locales]
    size = np.array([len(pool) for pool in pools], np.uint64)
    begin = np.cumsum(size) - size
    locale = owned.people.locale[owned.owner]
    own = size[locale]
    start = (_of_owner(f"first {field}", owned, draws) * own).astype(np.uint64)
    step = np.uint64(1) + (_of_owner(f"step of {field}", owned, draws) * (own - np.uint64(1))).astype(np.uint64)
    while (shares := np.gcd(step, own) > 1).any():  # else the names would come round before the pool is used up
        step[shares] = step[shares] % own[shares] + np.uint64(1)
    lap, nth = np.divmod(owned.number, _given_names(owned))
    later = lap if field == "family_name" else np.uint64(0)  # another one each time the given names come round
    return pa.concat_arrays(pools).take(pa.array(begin[locale] + (start + nth * step + later) % own))


def _given_names(owned: Owned) -> U64:
    """(m,) how many given names there are where each owner lives."""
    counts = [len(distinct_names(locale, *POOLS["given_name"])) for locale in owned.people.locales]
    return np.array(counts, np.uint64)[owned.people.locale[owned.owner]]


def _of_owner(aspect: str, owned: Owned, draws: Draws) -> F64:
    """(m,) a uniform for the owner and the kind, the same for all things of the two."""
    return draws.uniform(aspect, owned.people.numbers, key_of(owned.kind))[owned.owner]


def _attributes(domain: str, spec: PersonalSpec, owned: Owned, ids: pa.Array, draws: Draws) -> list[pa.Table]:
    """One table an attribute: its value for each thing."""
    tables = []
    who = owned.people.numbers[owned.owner]
    for name, shares in spec.attributes.items():
        uniform = draws.uniform("attribute", who, owned.number + np.uint64(key_of(owned.kind, name)))
        values = sorted(shares)
        code = categorical(uniform, [shares[value] for value in values])
        columns = [
            ids,
            pa.repeat(f"{domain}.{owned.kind}_{name}", len(ids)),
            pa.array(values, pa.string()).take(pa.array(code)),
        ]
        tables.append(pa.table(columns, schema=PERSONAL_ATTRIBUTES.schema()))
    return tables
