"""What is on show and what is taken: the choices of one domain, all at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import Draws, categorical
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.behaviour.choice import choice_shares, position_cost
from schemas.behaviour.effective import EffectiveValues
from schemas.behaviour.taste import taste_utility
from schemas.config.data import TimelinesConfig
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]


class Shelf(NamedTuple):
    """The items of one domain in the order of their categories, with whole-number weights of how often each is on show."""

    row: I64
    """(n,) row of the catalogue index."""
    first: I64
    """(categories,) where each category begins in ``row``."""
    size: I64
    """(categories,) items in it."""
    upto: I64
    """(n,) running sum of the weights within the category."""


def shelf(index: CatalogueIndex, popularity: pa.Table) -> Shelf:
    """The shelf of a domain from the table `popularity`."""
    place = pc.index_in(index.id_array, value_set=popularity["item_id"].combine_chunks())
    weight = popularity["weight"].take(place).to_numpy()
    whole = np.maximum(1, np.rint(weight / weight.max() * 2.0**20)).astype(np.int64)
    order = np.argsort(index.category, kind="stable")
    category = index.category[order].astype(np.int64)
    size = np.bincount(category)
    first = np.cumsum(size) - size
    running = np.cumsum(whole[order])
    before = np.concatenate([[0], running])[first]
    return Shelf(order.astype(np.int64), first, size, running - before[category])


def options_on_show(stock: Shelf, category: I64, count: int, who: U64, key: U64, draws: Draws, aspect: str) -> I64:
    """(n, count) rows of the catalogue: distinct items of the category, by popularity, without regard to the person.

    An item drawn twice gives way to the next one on the shelf.
    """
    if int(stock.size.min()) < count:
        raise ValueError(f"a category has fewer than {count} items to show")
    uniform = draws.uniform(
        aspect, who[:, None], key[:, None] * np.uint64(16) + np.arange(count, dtype=np.uint64)[None, :]
    )
    place = np.empty((who.size, count), np.int64)
    for shelf_number in range(stock.first.size):
        here = np.flatnonzero(category == shelf_number)
        first, size = stock.first[shelf_number], stock.size[shelf_number]
        upto = stock.upto[first : first + size]
        place[here] = np.searchsorted(upto, (uniform[here] * upto[-1]).astype(np.int64), side="right")
    size = stock.size[category]
    for column in range(1, count):
        for _ in range(column):
            taken = (place[:, :column] == place[:, column, None]).any(axis=1)
            place[:, column] = np.where(taken, (place[:, column] + 1) % size, place[:, column])
    return stock.row[stock.first[category][:, None] + place]


def chosen_positions(
    domain: Domain,
    config: TimelinesConfig,
    index: CatalogueIndex,
    tastes: EffectiveValues,
    person: I64,
    at_us: I64,
    options: I64,
    uniform: F64,
) -> tuple[I64, I64]:
    """(n,) position of the option taken, and (n, dimensions) rows of the dispositions that held."""
    value, row = tastes.at(person, at_us)
    utility = taste_utility(domain, index.values, value, tastes.strength[person], options)
    utility -= position_cost(options.shape[1], config.position_effect)
    return categorical(uniform, choice_shares(utility, config.exploration)), row
