"""The stage `catalogue`."""

from __future__ import annotations

import dataclasses

import pyarrow as pa

from flows.catalogue.generate import catalogue, popularity
from flows.common.stage import Context, Stage, Tables
from schemas.behaviour.catalogue_index import catalogue_index, coded_items
from schemas.load import load_domains
from schemas.market import load_market
from schemas.tables.core import sort_rows
from schemas.tables.internal import CODED_ITEMS
from schemas.tables.visible import ITEM_ATTRIBUTES, ITEMS, TOOLS


def make_catalogue(context: Context, tables: Tables) -> Tables:
    """`items`, `item_attributes` and `tools` of all domains, and the catalogue once more in numbers."""
    domains = load_domains(context.data.domains)
    made = catalogue(domains, load_market(context.data.market), context.draws)
    coded = []
    for domain in domains.values():
        index = catalogue_index(domain, made.items, made.item_attributes)
        weight = popularity(domain, index.item_ids, context.draws)
        coded.append(coded_items(dataclasses.replace(index, weight=weight)))
    return {
        "items": made.items,
        "item_attributes": made.item_attributes,
        "tools": made.tools,
        "coded_items": CODED_ITEMS.conform(sort_rows(pa.concat_tables(coded), CODED_ITEMS)),
    }


CATALOGUE_STAGE = Stage("catalogue", make_catalogue, reads={}, writes=(ITEMS, ITEM_ATTRIBUTES, TOOLS, CODED_ITEMS))
