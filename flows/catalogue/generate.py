"""The catalogue: one thing for every category and combination of values, what it is, what it costs, and the tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from flows.catalogue.items import things
from flows.common.draws import F64, Draws, keys_of
from schemas.domain import Domain
from schemas.market import Market
from schemas.tables.visible import TOOLS
from validation.world.tools import Toolbox, argument_schema


class Catalogue(NamedTuple):
    """The visible tables without users."""

    items: pa.Table
    item_attributes: pa.Table
    tools: pa.Table


def catalogue(domains: Mapping[str, Domain], market: Market, draws: Draws) -> Catalogue:
    """Items, their attributes and the tools of all domains, as declared and in the order of their keys.

    Raises ``ValueError`` naming every tool that cannot work, and ``TableError`` if two things share an id.
    """
    items, item_attributes = things(domains, market, draws)
    tools = pa.concat_tables([_tools(domain) for domain in domains.values()])
    return Catalogue(items, item_attributes, TOOLS.conform(tools.sort_by("tool_id")))


def popularity(domain: Domain, item_ids: Sequence[str], draws: Draws) -> F64:
    """(n,) how often each thing is on show, relative to the most popular one: ``rank ** -exponent``, 6 decimals.

    The law of Zipf (1949) over a rank that is drawn for each thing and so does not depend on the order of the list.
    """
    bits = draws.bits("popularity", keys_of(list(item_ids)))
    rank = np.empty(bits.size, np.int64)
    rank[np.argsort(bits, kind="stable")] = np.arange(1, bits.size + 1)
    return np.asarray(np.round(rank.astype(np.float64) ** -domain.catalogue.popularity_exponent, 6))


def _tools(domain: Domain) -> pa.Table:
    """The rows of `tools` of one domain. An agent calls a tool by its id, so id and name are one."""
    specs = Toolbox.of(domain).specs.values()
    return pa.table(
        {
            "tool_id": [spec.name for spec in specs],
            "domain": [domain.name] * len(specs),
            "name": [spec.name for spec in specs],
            "description": [spec.description for spec in specs],
            "parameters": [json.dumps(argument_schema(spec), sort_keys=True) for spec in specs],
        },
        schema=pa.schema([(name, pa.string()) for name in TOOLS.columns]),
    )
