"""The catalogue: one thing for every category and combination of values, what it is, what it costs, and the tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import F64, I64, U64, Draws, base32, key_of, keys_of, normal
from schemas.domain import Domain
from schemas.tables.visible import ITEM_ATTRIBUTES, ITEMS, TOOLS
from validation.world.tools import Toolbox, argument_schema

PRICE_GRID = 2.0**20
PRICE_STEP_CENTS = 5


class Catalogue(NamedTuple):
    """The visible tables without users."""

    items: pa.Table
    item_attributes: pa.Table
    tools: pa.Table


class Grid(NamedTuple):
    """The things of one domain, in no order that means anything."""

    entity: U64
    """(n,) key of each thing: of its domain, category and values, never of its place or of the seed."""
    item_ids: npt.NDArray[np.bytes_]
    """(n,) opaque, from the key and the seed."""
    category: I64
    """(n,) codes, in the order of the domain file."""
    values: I64
    """(n, dimensions) codes, in the order of the domain file."""
    noun: I64
    """(n,) codes of what each is called, counted through the categories."""
    distractors: I64
    """(n, distractors) codes, in the order of the domain file."""


def catalogue(domains: Mapping[str, Domain], draws: Draws) -> Catalogue:
    """Items, their attributes and the tools of all domains, as declared and in the order of their keys.

    Raises ``ValueError`` naming every tool that cannot work, and ``TableError`` if two things share an id.
    """
    grids = {name: make_grid(domain, draws) for name, domain in domains.items()}
    ids = np.concatenate([grid.item_ids for grid in grids.values()])
    order = np.argsort(ids, kind="stable")
    items = pa.concat_tables([_items(domain, grids[name], draws) for name, domain in domains.items()])
    tools = pa.concat_tables([_tools(domain) for domain in domains.values()])
    attributes = _attributes(domains, grids, ids, order)
    return Catalogue(
        ITEMS.conform(items.take(pa.array(order))),
        ITEM_ATTRIBUTES.conform(attributes, check_key=False),  # its key is right if that of `items` is
        TOOLS.conform(tools.sort_by("tool_id")),
    )


def popularity(domain: Domain, item_ids: Sequence[str], draws: Draws) -> F64:
    """(n,) how often each thing is on show, relative to the most popular one: ``rank ** -exponent``, 6 decimals.

    The law of Zipf (1949) over a rank that is drawn for each thing and so does not depend on the order of the list.
    """
    bits = draws.bits("popularity", keys_of(list(item_ids)))
    rank = np.empty(bits.size, np.int64)
    rank[np.argsort(bits, kind="stable")] = np.arange(1, bits.size + 1)
    return np.asarray(np.round(rank.astype(np.float64) ** -domain.catalogue.popularity_exponent, 6))


def _items(domain: Domain, grid: Grid, draws: Draws) -> pa.Table:
    size = grid.entity.size
    words = _words(domain, grid)
    titles = _filled(domain.catalogue.titles, words, draws.uniform("title", grid.entity))
    words["title"] = Words(titles, np.arange(size))
    return pa.table(
        {
            "item_id": _text(grid.item_ids),
            "domain": pa.repeat(domain.name, size),
            "category": pa.array(list(domain.catalogue.categories)).take(pa.array(grid.category)),
            "title": titles,
            "description": _filled(domain.catalogue.descriptions, words, draws.uniform("description", grid.entity)),
            "price_cents": _prices(domain, grid, draws),
            "currency": pa.repeat(domain.currency, size),
            "owner_user_id": pa.nulls(size, pa.string()),
        }
    )


def make_grid(domain: Domain, draws: Draws) -> Grid:
    """Every category with every combination of values, each once, with its key and what the draws say of it.

    The key of a thing is the sum of the keys of its parts, modulo 2**64, so that listing dimensions or values in
    another order, or adding a category, renames nothing.
    """
    shop = domain.catalogue
    sizes = [len(shop.categories), *(len(spec.values) for spec in domain.dimensions.values())]
    codes = np.indices(sizes, dtype=np.int64).reshape(len(sizes), -1)
    entity = _part_keys(domain.name, "category", list(shop.categories))[codes[0]]
    for place, (name, spec) in enumerate(domain.dimensions.items(), start=1):
        entity = entity + _part_keys(domain.name, f"dimension {name}", list(spec.values))[codes[place]]
    per_category = np.array([len(names) for names in shop.categories.values()], dtype=np.int64)
    first = np.cumsum(per_category) - per_category
    noun = first[codes[0]] + _pick(draws.uniform("noun", entity), per_category[codes[0]])
    distractors = [
        _pick(draws.uniform(f"distractor {name}", entity), len(spec.words)) for name, spec in domain.distractors.items()
    ]
    return Grid(
        entity=entity,
        item_ids=np.char.add(b"i-", base32(draws.bits("item_id", entity))),
        category=codes[0],
        values=codes[1:].T,
        noun=noun,
        distractors=np.stack(distractors, axis=1) if distractors else np.empty((entity.size, 0), np.int64),
    )


def _part_keys(domain: str, what: str, names: list[str]) -> U64:
    return np.array([key_of("item", domain, what, name) for name in names], dtype=np.uint64)


def _pick(u: F64, size: I64 | int) -> I64:
    return (u * size).astype(np.int64)


class Words(NamedTuple):
    """What a field of a template says of each thing: ``vocabulary[codes]``."""

    vocabulary: pa.StringArray
    codes: I64


def _words(domain: Domain, grid: Grid) -> dict[str, Words]:
    """The noun, the first word of each thing's value in every dimension, and the phrases of the distractors."""
    nouns = [noun for names in domain.catalogue.categories.values() for noun in names]
    words = {"noun": Words(_vocabulary(nouns), grid.noun)}
    for place, (name, spec) in enumerate(domain.dimensions.items()):
        words[name] = Words(_vocabulary(value.words[0] for value in spec.values.values()), grid.values[:, place])
    for place, (name, distractor) in enumerate(domain.distractors.items()):
        words[name] = Words(_vocabulary(distractor.words.values()), grid.distractors[:, place])
    return words


def _vocabulary(words: Iterable[str]) -> pa.StringArray:
    return pa.array(list(words), pa.string())


def _filled(templates: list[str], words: Mapping[str, Words], u: F64) -> pa.StringArray:
    """(n,) each thing's template with its words in it, beginning with a capital."""
    chosen = _pick(u, len(templates))
    order = np.argsort(chosen, kind="stable")
    counts = np.bincount(chosen, minlength=len(templates))
    texts = []
    for template, rows in zip(templates, np.split(order, np.cumsum(counts)[:-1]), strict=True):
        pieces: list[Words] = []
        for literal, field, _, _ in Formatter().parse(template):
            pieces += [Words(_vocabulary([literal]), np.zeros(rows.size, np.int64))] if literal else []
            pieces += [Words(words[field].vocabulary, words[field].codes[rows])] if field is not None else []
        first = Words(_vocabulary(map(_capitalised, pieces[0].vocabulary.to_pylist())), pieces[0].codes)
        columns = [piece.vocabulary.take(pa.array(piece.codes)) for piece in (first, *pieces[1:])]
        texts.append(pc.binary_join_element_wise(*columns, ""))
    back = np.empty(order.size, np.int64)
    back[order] = np.arange(order.size)
    return pa.concat_arrays(texts).take(pa.array(back))


def _capitalised(word: str) -> str:
    """With its first letter in upper case and the others as they are: `Tokyo-style` keeps its own."""
    return word[:1].upper() + word[1:]


def _prices(domain: Domain, grid: Grid, draws: Draws) -> I64:
    """(n,) cents: base price times factors times a lognormal deviate, to the next 5 cents, 5 at the least.

    The deviate is put on a grid of 2**-20 first, so that the last bit of ``exp`` decides no price.
    """
    shop = domain.catalogue
    price = np.array([shop.base_price_cents[name] for name in shop.categories], np.float64)[grid.category]
    places = {name: place for place, name in enumerate(domain.dimensions)}
    for name in sorted(places):  # so that listing dimensions in another order moves no last bit
        factors = shop.price_factors.get(name, {})
        by_code = np.array([factors.get(value, 1.0) for value in domain.dimensions[name].values])
        price = price * by_code[grid.values[:, places[name]]]
    deviate = np.exp(shop.price_spread * normal(draws.uniform("price", grid.entity)))
    steps = np.floor(price * (np.rint(deviate * PRICE_GRID) / PRICE_GRID) / PRICE_STEP_CENTS + 0.5)
    return np.maximum(steps, 1.0).astype(np.int64) * PRICE_STEP_CENTS


def _attributes(
    domains: Mapping[str, Domain], grids: Mapping[str, Grid], ids: npt.NDArray[np.bytes_], order: I64
) -> pa.Table:
    """The rows of `item_attributes` in the order of their key. ``ids`` are those of the grids, ``order`` sorts them."""
    dimensions: list[str] = []
    values: list[str] = []
    dimension_codes, value_codes, counts = [], [], []
    for name, domain in domains.items():
        levels = {key: list(spec.values) for key, spec in domain.dimensions.items()}
        levels |= {key: list(spec.words) for key, spec in domain.distractors.items()}
        codes = np.concatenate([grids[name].values, grids[name].distractors], axis=1)
        things, each = codes.shape
        for place, (key, names) in sorted(enumerate(levels.items()), key=lambda entry: entry[1][0]):
            codes[:, place] += len(values)
            dimensions.append(f"{name}.{key}")
            values += names
        by_name = sorted(range(each), key=list(levels).__getitem__)
        value_codes.append(codes[:, by_name].reshape(-1))
        dimension_codes.append(np.tile(np.arange(len(dimensions) - each, len(dimensions)), things))
        counts.append(np.full(things, each))
    each_count = np.concatenate(counts)
    rows = _spread(order, each_count)
    return pa.table(
        {
            "item_id": _text(np.repeat(ids[order], each_count[order])),
            "dimension": _vocabulary(dimensions).take(pa.array(np.concatenate(dimension_codes)[rows])),
            "value": _vocabulary(values).take(pa.array(np.concatenate(value_codes)[rows])),
        }
    )


def _spread(order: I64, counts: I64) -> I64:
    """Row numbers of the attributes once the things that own them are put in ``order``, each with its own in turn."""
    first = np.cumsum(counts) - counts
    moved = counts[order]
    start = first[order] - (np.cumsum(moved) - moved)
    return np.asarray(np.repeat(start, moved) + np.arange(int(moved.sum())))


def _text(ids: npt.NDArray[np.bytes_]) -> pa.StringArray:
    """Arrow text of equally long byte strings, without a Python loop."""
    width = ids.dtype.itemsize
    offsets = np.arange(ids.size + 1, dtype=np.int32) * np.int32(width)
    return pa.StringArray.from_buffers(ids.size, pa.py_buffer(offsets), pa.py_buffer(ids.tobytes()))


def _tools(domain: Domain) -> pa.Table:
    """The rows of `tools` of one domain. An agent calls a tool by its id, so id and name are one."""
    specs = Toolbox.of(domain).specs.values()
    return pa.table(
        {
            "tool_id": [spec.name for spec in specs],
            "domain": [domain.name] * len(specs),
            "name": [spec.name for spec in specs],
            "description": [spec.description for spec in specs],
            "parameters": [json.dumps(argument_schema(spec), sort_keys=True) for spec in specs],
        },
        schema=pa.schema([(name, pa.string()) for name in TOOLS.columns]),
    )
