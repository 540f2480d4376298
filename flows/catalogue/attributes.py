"""The structured view: what every thing is, in symbols, one row for each dimension and distractor."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from flows.catalogue.grid import Grid
from flows.catalogue.words import Words, blocks, stacked
from flows.common.draws import I64
from schemas.domain import Domain
from schemas.tables.visible import ITEM_ATTRIBUTES


def attributes(
    domains: Mapping[str, Domain], grids: Mapping[str, Grid], ids: npt.NDArray[np.bytes_], order: I64
) -> pa.Table:
    """The rows of `item_attributes` in the order of their key. ``order`` puts the things of the grids in that of ``ids``."""
    values = stacked([_values(domain, grids[name]) for name, domain in domains.items()])
    dimensions = [
        (f"{name}.{level}", len(known)) for name, domain in domains.items() for level, known in _levels(domain).items()
    ]
    words = pa.array(values.vocabulary, pa.string())
    names = pa.array([name for name, _ in dimensions], pa.string())
    name_of = np.repeat(np.arange(len(dimensions), dtype=np.int32), [size for _, size in dimensions])
    chunks: list[list[pa.StringArray]] = [[], [], []]
    for places, table in blocks(values, order):
        known = table >= 0
        codes = table[known]
        chunks[0].append(text(np.repeat(ids[places], known.sum(axis=1))))
        chunks[1].append(names.take(pa.array(name_of[codes])))
        chunks[2].append(words.take(pa.array(codes)))
    columns = [pa.chunked_array(parts, pa.string()) for parts in chunks]
    return pa.table(columns, names=list(ITEM_ATTRIBUTES.columns))


def text(ids: npt.NDArray[np.bytes_]) -> pa.StringArray:
    """Arrow text of equally long byte strings, without a Python loop."""
    width = ids.dtype.itemsize
    offsets = np.arange(ids.size + 1, dtype=np.int32) * np.int32(width)
    return pa.StringArray.from_buffers(ids.size, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(ids)))


def _levels(domain: Domain) -> dict[str, list[str]]:
    """Values by dimension and distractor, in the order of the file."""
    levels = {key: list(spec.values) for key, spec in domain.dimensions.items()}
    return levels | {key: list(spec.words) for key, spec in domain.distractors.items()}


def _values(domain: Domain, grid: Grid) -> Words:
    """Every value of every dimension and distractor, and (n, both) codes of those of the things, by name of either."""
    levels = _levels(domain)
    size = np.array([len(names) for names in levels.values()])
    codes = np.concatenate([grid.values, grid.distractors], axis=1) + (np.cumsum(size) - size)
    by_name = sorted(range(len(levels)), key=list(levels).__getitem__)
    return Words([value for names in levels.values() for value in names], codes[:, by_name].astype(np.int32))
