"""The catalogue of a domain, as its tables say it: what many tests look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.catalogue.items import things
from flows.common.draws import Draws
from schemas.domain import Domain
from schemas.market import load_market

DRAWS = Draws(7, "catalogue")


@dataclass(frozen=True)
class Shelf:
    """The things of one domain as their tables say it, in the order of their ids."""

    domain: Domain
    items: pa.Table
    attributes: pa.Table

    def column(self, name: str) -> list[str]:
        texts: list[str] = self.items[name].to_pylist()
        return texts

    def codes(self, level: str) -> npt.NDArray[np.int64]:
        """(n,) codes of a dimension or distractor, read from `item_attributes`, in the order of the domain file."""
        rows = self.attributes.filter(pc.equal(self.attributes["dimension"], f"{self.domain.name}.{level}"))
        assert rows["item_id"].equals(self.items["item_id"])
        known = (
            self.domain.dimensions[level].values
            if level in self.domain.dimensions
            else self.domain.distractors[level].words
        )
        codes = pc.index_in(rows["value"], value_set=pa.array(list(known)))
        assert codes.null_count == 0
        return np.asarray(codes.to_numpy(), np.int64)

    def grid(self) -> npt.NDArray[np.int64]:
        """(n, 1 + dimensions) codes of category and values."""
        category = pc.index_in(self.items["category"], value_set=pa.array(list(self.domain.catalogue.categories)))
        return np.stack([category.to_numpy(), *(self.codes(name) for name in self.domain.dimensions)], axis=1)


def shelves(domains: Mapping[str, Domain], draws: Draws = DRAWS, market: str = "us") -> dict[str, Shelf]:
    """What is made of the domains."""
    items, attributes = things(domains, load_market(market), draws)
    made = {}
    for name, domain in domains.items():
        own = items.filter(pc.equal(items["domain"], name)).combine_chunks()
        its = pc.is_in(attributes["item_id"], value_set=own["item_id"].combine_chunks())
        made[name] = Shelf(domain, own, attributes.filter(its).combine_chunks())
    return made
