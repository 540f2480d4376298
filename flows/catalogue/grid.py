"""The things of a domain: one for every category and combination of values, each with a key of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.draws import F64, I64, U64, Draws, base32, key_of, keys_of
from schemas.domain import Domain


class Grid(NamedTuple):
    """The things of one domain, in no order that means anything."""

    entity: U64
    """(n,) key of each thing: of its domain, category and values, never of its place or of the seed."""
    id_bits: U64
    """(n,) what the id of each thing is made of, from the key and the seed. Ids sort as these do."""
    category: I64
    """(n,) codes, in the order of the domain file."""
    values: I64
    """(n, dimensions) codes, in the order of the domain file."""
    noun: I64
    """(n,) codes of what each is called, counted through the categories."""
    distractors: I64
    """(n, distractors) codes, in the order of the domain file."""


def make_grid(domain: Domain, draws: Draws) -> Grid:
    """Every category with every combination of values, each once, with its key and what the draws say of it.

    The key of a thing is the sum of the keys of its parts, modulo 2**64, so that listing dimensions or values in
    another order, or adding a category, renames nothing.
    """
    categories = domain.catalogue.categories
    sizes = [len(categories), *(len(spec.values) for spec in domain.dimensions.values())]
    codes = np.indices(sizes, dtype=np.int64).reshape(len(sizes), -1)
    entity = _part_keys(domain.name, "category", list(categories))[codes[0]]
    for place, (name, spec) in enumerate(domain.dimensions.items(), start=1):
        entity = entity + _part_keys(domain.name, f"dimension {name}", list(spec.values))[codes[place]]
    per_category = np.array([len(spec.nouns) for spec in categories.values()], dtype=np.int64)
    first = np.cumsum(per_category) - per_category
    noun = first[codes[0]] + pick(draws.uniform("noun", entity), per_category[codes[0]])
    sizes_of = np.array([len(spec.words) for spec in domain.distractors.values()])
    return Grid(
        entity=entity,
        id_bits=draws.bits("item_id", entity),
        category=codes[0],
        values=codes[1:].T,
        noun=noun,
        distractors=pick(draws.uniform("distractor", entity, keys_of(list(domain.distractors))[:, None]).T, sizes_of),
    )


def item_ids(bits: U64) -> npt.NDArray[np.bytes_]:
    """(n,) opaque ids: `i-` and ten characters."""
    ids = np.empty((bits.size, 12), np.uint8)
    ids[:, :2] = list(b"i-")
    ids[:, 2:] = base32(bits).view(np.uint8).reshape(-1, 10)
    return ids.view("S12")[:, 0]


def pick(u: F64, size: I64 | int) -> I64:
    """Uniforms in [0, 1) → whole numbers below ``size``, each as likely."""
    return (u * size).astype(np.int64)


def _part_keys(domain: str, what: str, names: list[str]) -> U64:
    return np.array([key_of("item", domain, what, name) for name in names], dtype=np.uint64)
