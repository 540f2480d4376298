"""Who has which value of an attribute: columns of `personas`, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from schemas.config.personas import GROUP_YEARS, INCOME_BANDS, UNDER_AGE
from schemas.config.selectors import band_of, is_number, picked

Mask = npt.NDArray[np.bool_]


def has_level(people: pa.Table, attribute: str, level: str) -> Mask:
    """(people,) whether each has the value, or lies in the band `low..high`, the high end excluded.

    ``people`` has the columns of `personas`. Who has no value has no level either. Raises KeyError for an attribute
    that nobody has.
    """
    column = _column(people, attribute)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return _is_in(column, level)
    texts = pc.dictionary_encode(column)
    values = [str(value) for value in texts.dictionary.to_pylist()]
    wanted = np.zeros(len(values) + 1, bool)
    wanted[picked(level, values)] = True
    return wanted[pc.fill_null(texts.indices, len(values)).to_numpy()]


def factor_of(people: pa.Table, attribute: str, factors: Mapping[str, float]) -> npt.NDArray[np.float64]:
    """(people,) the factor of the row that each is in; 1 where they are in none."""
    out = np.ones(people.num_rows)
    for level, factor in factors.items():
        out[has_level(people, attribute, level)] *= factor
    return out


def _column(people: pa.Table, attribute: str) -> pa.Array:
    if attribute in people.column_names:
        return people[attribute].combine_chunks()
    if attribute == "children":
        return pc.list_value_length(people["children_ages"].combine_chunks())
    if attribute == "age_group":
        return _banded(people["age_years"], GROUP_YEARS, UNDER_AGE)
    if attribute == "income_band":
        return _banded(people["income_usd"], INCOME_BANDS, None)
    raise KeyError(f"people have no attribute {attribute}")


def _banded(numbers: pa.ChunkedArray, bands: Mapping[str, tuple[int, int]], below: str | None) -> pa.Array:
    """(people,) the band that each number lies in; the last is open."""
    lows = np.array([low for low, _ in bands.values()])
    place = np.searchsorted(lows, numbers.to_numpy(), side="right")
    return pa.array([below, *bands], pa.string()).take(pa.array(place))


def _is_in(column: pa.Array, level: str) -> Mask:
    value = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if is_number(level):
        return np.asarray(value == float(level))
    band = band_of(level)
    if band is None:
        return np.zeros(value.size, bool)
    return np.asarray((value >= band[0]) & (value < band[1]))
