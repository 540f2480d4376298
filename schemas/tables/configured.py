"""Tables whose columns the config can add to."""

from __future__ import annotations

import pyarrow as pa

from schemas.config.data import DataConfig
from schemas.tables import RELEASED, Table
from schemas.tables.core import Field
from schemas.tables.fields import TEXT

KINDS = {None: TEXT, True: pa.int64(), False: pa.float64()}
"""Types of the config's own attributes: text, whole numbers, numbers with decimals."""


def configured(table: Table, data: DataConfig) -> Table:
    """The table with the columns that this config gives it."""
    if table.name != "personas":
        return table
    own = data.personas.own_attributes()
    columns = {name: Field(KINDS[kind], f"Attribute `{name}` of the config.") for name, kind in own.items()}
    if data.personas.segments:
        columns["segment"] = Field(TEXT, "The segment of the config that the person belongs to.")
    return table.with_columns(columns)


def released_tables(data: DataConfig) -> dict[str, Table]:
    """Every table of a release of this config, by name."""
    return {name: configured(table, data) for name, table in RELEASED.items()}
