"""A compact view of the catalogue of one domain, for whoever computes with items: codes instead of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.domain import Domain

I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class CatalogueIndex:
    """The items of one domain by row. Rows are in the order of the item ids."""

    domain: str
    item_ids: list[str]
    """(n,) ids, sorted."""
    values: I8
    """(n, dimensions) codes of the values, both in the order of the domain file."""
    category: I8
    """(n,) codes of the categories, in the order of the domain file."""
    price_cents: I64
    """(n,) prices."""
    id_array: pa.StringArray
    """(n,) the ids again, for look-ups."""

    def code_of(self, item_ids: pa.Array | pa.ChunkedArray | Sequence[str | None]) -> I64:
        """(m,) row of each id; -1 for null and for ids that this domain does not have."""
        if not isinstance(item_ids, (pa.Array, pa.ChunkedArray)):
            item_ids = pa.array(item_ids, pa.string())
        rows = pc.fill_null(pc.index_in(item_ids, value_set=self.id_array), -1)
        return np.asarray(rows.to_numpy(), dtype=np.int64)


def catalogue_index(domain: Domain, items: pa.Table, item_attributes: pa.Table) -> CatalogueIndex:
    """The view of one domain, from the tables `items` and `item_attributes` of all domains, in any order of rows.

    Raises ``ValueError`` naming items that lack a dimension, and values or categories that the domain does not know.
    """
    own = items.filter(pc.equal(items["domain"], domain.name)).sort_by("item_id").combine_chunks()
    ids = own["item_id"].combine_chunks()
    problems: list[str] = []
    category = _codes(own["category"], list(domain.catalogue.categories), f"{domain.name}: category", problems)
    values = np.full((len(ids), len(domain.dimensions)), -1, dtype=np.int8)
    for place, (name, spec) in enumerate(domain.dimensions.items()):
        dimension = f"{domain.name}.{name}"
        rows = item_attributes.filter(pc.equal(item_attributes["dimension"], dimension))
        known = rows.filter(pc.is_in(rows["item_id"], value_set=ids))
        where = pc.index_in(known["item_id"], value_set=ids).to_numpy()
        values[where, place] = _codes(known["value"], list(spec.values), dimension, problems)
        bare = np.setdiff1d(np.arange(len(ids)), where)
        if bare.size:
            problems.append(f"{bare.size} items lack {dimension}, such as {ids[int(bare[0])].as_py()}")
    if problems:
        raise ValueError("the catalogue does not fit its domain file: " + "; ".join(problems))
    return CatalogueIndex(
        domain=domain.name,
        item_ids=ids.to_pylist(),
        values=values,
        category=category,
        price_cents=np.asarray(own["price_cents"].to_numpy(), dtype=np.int64),
        id_array=ids,
    )


def _codes(column: pa.ChunkedArray, levels: list[str], what: str, problems: list[str]) -> I8:
    found = pc.index_in(column, value_set=pa.array(levels, pa.string()))
    if found.null_count:
        strange = pc.unique(column.filter(pc.is_null(found))).to_pylist()
        problems.append(f"{what} knows no {strange[:3]}; its values are {levels}")
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int8)
