"""How well people are told apart by what they choose: their own next month against that of others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from flows.common.draws import Draws
from schemas.load import load_domains
from tests.flows.lives import Lives

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
OTHERS = 100


def chosen(lives: Lives, dimensions: list[str], since: pl.Expr, upto: pl.Expr) -> F64:
    """(people, values) how often each chose a thing of each value of the dimensions between two instants."""
    domains = load_domains(lives.data.domains)
    values = [(name, value) for d in domains.values() for name, known in d.value_names().items() for value in known]
    place = {pair: column for column, pair in enumerate(values)}
    row = {user: number for number, user in enumerate(lives["users"]["user_id"])}
    taken = lives["clean_events"].drop_nulls("options").filter(pl.col("at") >= since, pl.col("at") < upto)
    counts = (
        taken.select("user_id", "item_id")
        .join(lives["item_attributes"].filter(pl.col("dimension").is_in(dimensions)), on="item_id")
        .group_by("user_id", "dimension", "value")
        .len()
    )
    found = np.zeros((len(row), len(values)))
    for user, dimension, value, count in counts.iter_rows():
        found[row[user], place[dimension, value]] = count
    return found


def divergence(one: F64, other: F64) -> F64:
    """(...,) Jensen-Shannon divergence of rows of shares, in nats."""
    middle = (one + other) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(p > 0, p * np.log(p / middle), 0.0).sum(axis=-1) for p in (one, other)]
    return np.asarray((parts[0] + parts[1]) / 2)


def further_by_all(first: F64, second: F64, draws: Draws) -> F64:
    """(people,) share of ``OTHERS`` other people whose second month diverges more from one's first than one's own does.

    The distribution is over all values of all dimensions, so that what one does how often tells too. Who did nothing in
    a month is near to nobody.
    """
    months = [counts / np.where(counts.any(axis=1), counts.sum(axis=1), np.nan)[:, None] for counts in (first, second)]
    return _closer(lambda other: divergence(months[0], months[1][other]), first.shape[0], draws)


def further_by_taste(first: F64, second: F64, blocks: list[slice], draws: Draws) -> F64:
    """The same by the likeness of shares within each dimension, ``blocks`` of the columns, about those of all people.

    The two months are independent samples, so the product of their deviations is 0 on average where tastes do not differ,
    however much or little somebody does. A divergence would not be: it falls with the number of choices.
    """
    deviations, counts = [], []
    for month in (first, second):
        number = np.stack([month[:, block].sum(axis=1) for block in blocks], axis=1)
        columns = []
        for place, block in enumerate(blocks):
            all_of_them = month[:, block].sum(axis=0) / max(1, month[:, block].sum())
            shares = month[:, block] / np.maximum(number[:, place], 1)[:, None]
            columns.append(np.where(number[:, place, None] > 0, shares - all_of_them, 0.0))
        deviations.append(columns)
        counts.append(number)

    def unlike(other: I64) -> F64:
        weight = counts[0] * counts[1][other] / np.maximum(counts[0] + counts[1][other], 1)
        product = [(mine * theirs[other]).sum(axis=1) for mine, theirs in zip(*deviations, strict=True)]
        return np.asarray(-(weight * np.stack(product, axis=1)).sum(axis=1))

    return _closer(unlike, first.shape[0], draws)


def _closer(distance: Callable[[I64], F64], people: int, draws: Draws) -> F64:
    """(people,) share of others who are further. ``distance`` is from everybody's first month to a second month each."""
    everybody = np.arange(people)
    order = np.argsort(draws.bits("others", everybody[:, None], everybody[None, :]), axis=1)
    others = np.array([row[row != person][:OTHERS] for person, row in zip(everybody, order, strict=True)])
    own = distance(everybody)
    return np.asarray(np.mean([own < distance(others[:, column]) for column in range(others.shape[1])], axis=0))
