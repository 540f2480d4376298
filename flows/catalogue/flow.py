"""The stage `catalogue`."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from flows.catalogue.generate import catalogue, popularity
from flows.common.stage import Context, Stage, Tables
from schemas.load import load_domains
from schemas.tables.core import sort_rows
from schemas.tables.internal import POPULARITY
from schemas.tables.visible import ITEM_ATTRIBUTES, ITEMS, TOOLS


def make_catalogue(context: Context, tables: Tables) -> Tables:
    """`items`, `item_attributes` and `tools` of all domains, and how often each item is on show."""
    domains = load_domains(context.data.domains)
    made = catalogue(domains, context.draws)
    weights = []
    for name, domain in domains.items():
        ids = made.items.filter(pc.equal(made.items["domain"], name))["item_id"]
        weight = popularity(domain, ids.to_pylist(), context.draws)
        weights.append(pa.table({"item_id": ids, "domain": pa.repeat(name, len(ids)), "weight": weight}))
    return {
        "items": made.items,
        "item_attributes": made.item_attributes,
        "tools": made.tools,
        "popularity": POPULARITY.conform(sort_rows(pa.concat_tables(weights), POPULARITY)),
    }


CATALOGUE_STAGE = Stage("catalogue", make_catalogue, reads={}, writes=(ITEMS, ITEM_ATTRIBUTES, TOOLS, POPULARITY))
