"""The things of all domains as the tables of the catalogue: `items`, and `item_attributes` beside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flows.catalogue.attributes import attributes, text
from flows.catalogue.grid import Grid, item_ids, make_grid
from flows.catalogue.prices import prices
from flows.catalogue.texts import texts
from flows.catalogue.words import spelled, stacked
from flows.common.draws import Draws
from schemas.domain import Domain
from schemas.market import Market
from schemas.tables.visible import ITEM_ATTRIBUTES, ITEMS


def things(domains: Mapping[str, Domain], market: Market, draws: Draws) -> tuple[pa.Table, pa.Table]:
    """`items` and `item_attributes` of all domains, in the order of their keys. Raises ``TableError`` for twin ids."""
    grids = {name: make_grid(domain, draws) for name, domain in domains.items()}
    bits = np.concatenate([grid.id_bits for grid in grids.values()])
    order = np.argsort(bits, kind="stable")
    ids = item_ids(bits[order])
    said = [texts(domain, grids[name], draws) for name, domain in domains.items()]
    facts = pa.concat_tables([_facts(domain, market, grids[name], draws) for name, domain in domains.items()])
    items = facts.take(pa.array(order))
    for name, column in (
        ("item_id", text(ids)),
        ("title", spelled(stacked([one.titles for one in said]), order)),
        ("description", pc.ascii_ltrim_whitespace(spelled(stacked([one.descriptions for one in said]), order))),
    ):
        items = items.append_column(name, column)
    return (
        ITEMS.conform(items, check_key=bool((ids[1:] == ids[:-1]).any())),
        # Its key is right if that of `items` is.
        ITEM_ATTRIBUTES.conform(attributes(domains, grids, ids, order), check_key=False),
    )


def _facts(domain: Domain, market: Market, grid: Grid, draws: Draws) -> pa.Table:
    """The columns that are neither ids nor texts."""
    size = grid.entity.size
    categories = domain.catalogue.categories
    place = pa.array(grid.category)

    def of_category(values: list[int | None]) -> pa.Array:
        return pa.array(values, pa.int16()).take(place)

    return pa.table(
        {
            "domain": pa.repeat(domain.name, size),
            "category": pa.array(list(categories)).take(place),
            "price_cents": prices(domain, market, grid, draws),
            "currency": pa.repeat(market.currency, size),
            "owner_user_id": pa.nulls(size, pa.string()),
            "min_age": of_category([spec.min_age for spec in categories.values()]),
            "opens_hour": of_category([spec.opens for spec in categories.values()]),
            "closes_hour": of_category([spec.closes for spec in categories.values()]),
        }
    )
