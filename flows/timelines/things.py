"""All things of a build under one numbering: the catalogues of its domains, and what people have of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.household import rows_of
from flows.timelines.shelves import Shelf, shelf
from schemas.activities import TripActivity
from schemas.behaviour.catalogue_index import CatalogueIndex, read_index
from schemas.domain import Domain

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
NOTHING = -1
"""Where a row of things is called for and there is none."""


class Own(NamedTuple):
    """The things of one personal kind, person by person. ``row`` counts all things of the build."""

    first: I64
    """(people,) where in ``row`` those of each begin."""
    has: I64
    """(people,) how many each has."""
    row: I64

    def taken(self, person: I64, uniform: F64) -> I64:
        """(n,) one of the things of each person, each as likely as the next; ``NOTHING`` for those without any."""
        return self._row(person, np.floor(uniform * self.has[person]).astype(np.int64))

    def nth(self, person: I64, nth: I64) -> I64:
        """(n,) the thing of that number of each person, from 0 and round again; ``NOTHING`` for those without any."""
        return self._row(person, nth % np.maximum(1, self.has[person]))

    def favoured(self, person: I64, uniform: F64) -> I64:
        """(n,) one of the things of each person, the first about as often as the next two, and so on: by Zipf's law."""
        reach = np.round((self.has[person] + 1.0) ** uniform, 9)
        return self._row(person, np.minimum(reach.astype(np.int64) - 1, np.maximum(0, self.has[person] - 1)))

    def usual(self, person: I64) -> I64:
        """(n,) always the same one of the things of each person, likewise."""
        return self._row(person, np.zeros(person.size, np.int64))

    def _row(self, person: I64, nth: I64) -> I64:
        padded = np.append(self.row, NOTHING)
        return np.where(self.has[person] > 0, padded[np.minimum(self.first[person] + nth, self.row.size)], NOTHING)


class Things(NamedTuple):
    """``ids`` of all things; of each domain the catalogue, where it ``begins`` in ``ids``, and its shelf; and ``own`` things."""

    ids: pa.Array
    catalogue: Mapping[str, CatalogueIndex]
    begins: Mapping[str, int]
    shelf: Mapping[str, Shelf]
    own: Mapping[tuple[str, str], Own]
    """By domain and personal kind."""


def things_of(domains: Mapping[str, Domain], tables: Mapping[str, pa.Table]) -> Things:
    """From the tables `users`, `coded_items` and `personal_items`."""
    index = {name: read_index(domain, tables["coded_items"]) for name, domain in domains.items()}
    sizes = np.array([len(one.item_ids) for one in index.values()], np.int64)
    begins = dict(zip(index, (np.cumsum(sizes) - sizes).tolist(), strict=True))
    personal = tables["personal_items"].sort_by("item_id").combine_chunks()
    owner = rows_of(personal["owner_user_id"], tables["users"])
    ids = pa.concat_arrays(
        [*(one.id_array for one in index.values()), pa.array(personal["item_id"].to_pylist(), pa.string())]
    )
    people, before = tables["users"].num_rows, int(sizes.sum())
    own = {}
    for name, domain in domains.items():
        for kind in domain.personal:
            here = pc.and_(pc.equal(personal["domain"], name), pc.equal(personal["category"], kind))
            own[name, kind] = _own(np.flatnonzero(here.to_numpy()), owner, people, before)
    return Things(ids, index, begins, {name: shelf(one) for name, one in index.items()}, own)


def _own(rows: I64, owner: I64, people: int, before: int) -> Own:
    order = rows[np.argsort(owner[rows], kind="stable")]
    count = np.bincount(owner[rows], minlength=people).astype(np.int64)
    return Own(np.cumsum(count) - count, count, order.astype(np.int64) + before)


def homes(domains: Mapping[str, Domain], things: Things, people: int) -> I64:
    """(people,) the place where each is who has not arrived anywhere yet: where trips come back to; else ``NOTHING``."""
    for name, domain in domains.items():
        for activity in domain.activities.values():
            if isinstance(activity, TripActivity):
                return things.own[name, activity.back_to].usual(np.arange(people))
    return np.full(people, NOTHING, np.int64)
