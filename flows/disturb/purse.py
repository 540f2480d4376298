"""What prices take from the options of clean lines, for somebody else who pays from the same purse."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.behaviour.catalogue_index import CatalogueIndex
from schemas.behaviour.price import PriceModel, month_and_week, pressure, price_weight, prices_of, spent_before
from schemas.config.data import DomainTimeline, TimelinesConfig
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
MINUTE_US = 60_000_000


def price_loss(
    events: pa.Table,
    users: I64,
    rows: I64,
    options: I64,
    sensitivity: F64,
    domain: Domain,
    index: CatalogueIndex,
    config: TimelinesConfig,
) -> F64:
    """(n, options) log-odds that each option on show loses by its price, zeros in lines that are not paid for.

    ``events`` are the clean lines and ``users`` the row of each line's user; ``rows`` (n,) some of the lines, of one
    domain; ``options`` what those show, as rows of the catalogue; ``sensitivity`` (users,) of the household. What the
    account spent in earlier weeks of the month counts, by the calendar where the account is.
    """
    is_paid = pc.is_valid(events["price_cents"]).to_numpy()
    if config.price_effect == 0.0 or not is_paid[rows].any():
        return np.zeros(options.shape)
    own = config.domains.get(domain.name, DomainTimeline())
    prices = prices_of(domain, index, own.rate_factor)
    is_own = np.asarray(pc.and_(pc.equal(events["domain"], domain.name), pc.is_valid(events["options"])).to_numpy())
    bought = np.flatnonzero(is_own & is_paid)
    item = index.code_of(events["item_id"].take(pa.array(bought)))
    local = events["at"].cast(pa.int64()).to_numpy()[bought]
    local = local + events["utc_offset_min"].to_numpy()[bought].astype(np.int64) * MINUTE_US
    spent = np.zeros(events.num_rows)
    spent[bought] = spent_before(users[bought], *month_and_week(local), prices.cents[item])
    minds = sensitivity[users[rows]]
    model = PriceModel(config.price_effect, config.budget_effect)
    weight = price_weight(model, pressure(spent[rows], prices.budget_cents, minds), minds)
    return np.asarray((weight * is_paid[rows])[:, None] * prices.log[options])
