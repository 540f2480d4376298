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
F64 = npt.NDArray[np.float64]


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
    weight: F64
    """(n,) how often each is on show, relative to the others; ones where that is not known."""

    def code_of(self, item_ids: pa.Array | pa.ChunkedArray | Sequence[str | None]) -> I64:
        """(m,) row of each id; -1 for null and for ids that this domain does not have."""
        if not isinstance(item_ids, (pa.Array, pa.ChunkedArray)):
            item_ids = pa.array(item_ids, pa.string())
        rows = pc.fill_null(pc.index_in(item_ids, value_set=self.id_array), -1)
        return np.asarray(rows.to_numpy(), dtype=np.int64)


def catalogue_index(domain: Domain, items: pa.Table, item_attributes: pa.Table) -> CatalogueIndex:
    """The view of one domain, from the tables `items` and `item_attributes` of all domains, in any order of rows.

    What belongs to a user is no part of the catalogue and is left out.
    Raises ``ValueError`` naming items that lack a dimension, and values or categories that the domain does not know.
    """
    is_own = pc.and_(pc.equal(items["domain"], domain.name), pc.is_null(items["owner_user_id"]))
    own = items.filter(is_own).sort_by("item_id").combine_chunks()
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
        weight=np.ones(len(ids)),
    )


def coded_items(index: CatalogueIndex) -> pa.Table:
    """The index as rows of the internal table `coded_items`, from which `read_index` takes it back at once."""
    size, width = index.values.shape
    offsets = np.arange(size + 1, dtype=np.int32) * np.int32(width)
    return pa.table(
        {
            "item_id": index.id_array,
            "domain": pa.repeat(index.domain, size),
            "price_cents": index.price_cents,
            "category_code": index.category,
            "value_codes": pa.ListArray.from_arrays(offsets, pa.array(index.values.reshape(-1), pa.int8())),
            "weight": index.weight,
        }
    )


def read_index(domain: Domain, coded: pa.Table) -> CatalogueIndex:
    """The view of one domain, from the internal table `coded_items`, whose rows are sorted by item."""
    own = coded.filter(pc.equal(coded["domain"], domain.name)).combine_chunks()
    ids = own["item_id"].combine_chunks()
    codes = pc.list_flatten(own["value_codes"]).to_numpy().astype(np.int8)
    return CatalogueIndex(
        domain=domain.name,
        item_ids=ids.to_pylist(),
        values=codes.reshape(len(ids), len(domain.dimensions)),
        category=own["category_code"].to_numpy().astype(np.int8),
        price_cents=own["price_cents"].to_numpy().astype(np.int64),
        id_array=ids,
        weight=own["weight"].to_numpy(),
    )


def _codes(column: pa.ChunkedArray, levels: list[str], what: str, problems: list[str]) -> I8:
    found = pc.index_in(column, value_set=pa.array(levels, pa.string()))
    if found.null_count:
        strange = pc.unique(column.filter(pc.is_null(found))).to_pylist()
        problems.append(f"{what} knows no {strange[:3]}; its values are {levels}")
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int8)
