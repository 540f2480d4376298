"""What is on show: from which categories, and which of their things."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR
from flows.common.draws import Draws, categorical
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.domain import Domain
from schemas.hours import HOURS

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


def shelf(index: CatalogueIndex) -> Shelf:
    """The shelf of a domain."""
    whole = np.maximum(1, np.rint(index.weight / index.weight.max() * 2.0**20)).astype(np.int64)
    order = np.argsort(index.category, kind="stable")
    category = index.category[order].astype(np.int64)
    size = np.bincount(category)
    first = np.cumsum(size) - size
    running = np.cumsum(whole[order])
    before = np.concatenate([[0], running])[first]
    return Shelf(order.astype(np.int64), first, size, running - before[category])


def categories_on_show(domain: Domain, clock_us: I64, of_age: dict[int, I64], uniform: F64) -> I64:
    """(n,) categories, each as likely as the next among those that are open and that the person may have.

    ``clock_us`` (n,) wall clocks; ``of_age`` maps an age to the (n,) days on which the person of each row reaches it.
    """
    categories = list(domain.catalogue.categories.values())
    if all(category.is_free_to_all for category in categories):
        return categorical(uniform, np.ones(len(categories)))
    is_open = np.array([[category.is_open(hour) for category in categories] for hour in range(HOURS)])
    allowed = is_open[clock_us % DAY // HOUR]
    for column, category in enumerate(categories):
        if category.min_age is not None:
            allowed[:, column] &= clock_us // DAY >= of_age[category.min_age]
    return categorical(uniform, allowed)


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
    return np.asarray(stock.row[stock.first[category][:, None] + place])
