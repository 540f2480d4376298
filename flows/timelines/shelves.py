"""What is on show: from which categories, and which of their things."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from flows.common.clock import DAY, HOUR
from flows.common.draws import Draws, categorical, categorical_of
from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.domain import Domain
from schemas.hours import HOURS, is_open_at

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


GUIDE = 4096
"""Stretches into which the weights of a shelf are cut for a first guess."""


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


class OpenShelves(NamedTuple):
    """The shelves of a domain at the places and times of some choices.

    ``clock_us`` (n,) wall clocks; ``of_age`` maps an age to the (n,) days on which the person of each choice reaches it;
    ``uniform`` (n,) by which categories are drawn. The first two may be empty where everything can be had by everybody.
    """

    domain: Domain
    clock_us: I64
    of_age: dict[int, I64]
    uniform: F64

    def drawn(self, position: I64) -> I64:
        """(m,) categories for choices at these positions, by popularity among those that can be had."""
        if self.domain.catalogue.is_free_to_all:
            return categorical(self.uniform[position], self._popularity)
        of_age = {age: day[position] for age, day in self.of_age.items()}
        return categories_on_show(self.domain, self.clock_us[position], of_age, self.uniform[position])

    def allows(self, position: I64, category: I64) -> Mask | None:
        """(m,) whether things of these categories can be had there and then; None if everything always can."""
        if self.domain.catalogue.is_free_to_all:
            return None
        clock = self.clock_us[position]
        allowed = _is_open(self.domain)[clock % DAY // HOUR, category]
        for code, one in enumerate(self.domain.catalogue.categories.values()):
            if one.min_age is not None:
                here = np.flatnonzero(category == code)
                allowed[here] &= clock[here] // DAY >= self.of_age[one.min_age][position[here]]
        return np.asarray(allowed)

    @property
    def _popularity(self) -> list[float]:
        return [category.popularity for category in self.domain.catalogue.categories.values()]


def _is_open(domain: Domain) -> Mask:
    """(24, categories) whether things of each can be had in each hour of the local day."""
    return _open_hours(tuple((one.opens, one.closes) for one in domain.catalogue.categories.values()))


@cache
def _open_hours(categories: tuple[tuple[int | None, int | None], ...]) -> Mask:
    return np.array([[is_open_at(*hours, hour) for hours in categories] for hour in range(HOURS)])


def categories_on_show(domain: Domain, clock_us: I64, of_age: dict[int, I64], uniform: F64) -> I64:
    """(n,) categories by popularity among those that are open and that the person may have.

    ``clock_us`` (n,) wall clocks; ``of_age`` maps an age to the (n,) days on which the person of each row reaches it.
    """
    categories = list(domain.catalogue.categories.values())
    popularity = np.array([category.popularity for category in categories])
    if domain.catalogue.is_free_to_all:
        return categorical(uniform, popularity)
    ages = sorted(of_age)
    case = clock_us % DAY // HOUR
    for age in ages:
        case = case * 2 + (clock_us // DAY >= of_age[age])
    # Few cases occur, each with shares of its own: those of the hour, for people of some age.
    occurs = np.bincount(case) > 0
    cases = np.flatnonzero(occurs)
    allowed = _is_open(domain)[cases >> len(ages)]
    for column, category in enumerate(categories):
        if category.min_age is not None:
            allowed[:, column] &= (cases >> (len(ages) - 1 - ages.index(category.min_age)) & 1).astype(bool)
    return categorical_of(uniform, allowed * popularity, (np.cumsum(occurs) - 1)[case])


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
    order = np.argsort(category.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(category, minlength=stock.first.size))
    for shelf_number, here in enumerate(np.split(order, ends[:-1])):
        first, size = stock.first[shelf_number], stock.size[shelf_number]
        upto = stock.upto[first : first + size]
        place[here] = _found(upto, (uniform[here] * upto[-1]).astype(np.int64))
    has_twins = np.zeros(who.size, bool)
    columns = [np.ascontiguousarray(place[:, column]) for column in range(count)]
    for column in range(1, count):
        for other in range(column):
            has_twins |= columns[other] == columns[column]
    twins = np.flatnonzero(has_twins)
    place[twins] = _next_ones(place[twins], stock.size[category[twins]])
    return np.asarray(stock.row[stock.first[category][:, None] + place])


def _found(upto: I64, target: I64) -> I64:
    """Where each target, from 0 on, falls among rising sums: as `searchsorted` to the right, from a guess nearby."""
    if target.size < GUIDE:
        return np.searchsorted(upto, target, side="right")
    step = int(upto[-1]) // GUIDE + 1
    guide = np.searchsorted(upto, np.arange(GUIDE) * step, side="right")
    place = guide.take(target // step)
    short = upto.take(place) <= target
    while short.any():
        place += short
        short = upto.take(place) <= target
    return place


def _next_ones(place: I64, size: I64) -> I64:
    """(n, count) places in which whatever is drawn twice gives way to the next one, round again at the end of the shelf."""
    for column in range(1, place.shape[1]):
        for _ in range(column):
            taken = (place[:, :column] == place[:, column, None]).any(axis=1)
            place[:, column] = np.where(taken, (place[:, column] + 1) % size, place[:, column])
    return place
