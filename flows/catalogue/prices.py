"""What the things of a domain cost in a market."""

from __future__ import annotations

import numpy as np

from flows.catalogue.grid import Grid
from flows.common.draws import I64, Draws, normal
from schemas.domain import Domain
from schemas.market import Market

PRICE_GRID = 2.0**20


def prices(domain: Domain, market: Market, grid: Grid, draws: Draws) -> I64:
    """(n,) smallest units of the market's currency: base price times factors times a lognormal deviate, in its steps.

    What has a base price costs one step at the least; what has none is free. The deviate is put on a grid of 2**-20
    first, so that the last bit of ``exp`` decides no price. It is the same in every market.
    """
    shop = domain.catalogue
    base = np.array([spec.base_price_cents for spec in shop.categories.values()], np.float64)[grid.category]
    price = base * market.price_factor
    places = {name: place for place, name in enumerate(domain.dimensions)}
    for name in sorted(places):  # so that listing dimensions in another order moves no last bit
        factors = shop.price_factors.get(name, {})
        by_code = np.array([factors.get(value, 1.0) for value in domain.dimensions[name].values])
        price = price * by_code[grid.values[:, places[name]]]
    deviate = np.exp(shop.price_spread * normal(draws.uniform("price", grid.entity)))
    steps = np.floor(price * (np.rint(deviate * PRICE_GRID) / PRICE_GRID) / market.step + 0.5)
    return np.asarray(np.where(base > 0, np.maximum(steps, 1.0), 0.0).astype(np.int64) * market.step)
