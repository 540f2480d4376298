"""Tables whose columns the config can add to."""

from __future__ import annotations

from schemas.config.data import DataConfig
from schemas.config.personas import BUILT_IN
from schemas.tables import RELEASED, Table
from schemas.tables.core import Field
from schemas.tables.fields import TEXT


def configured(table: Table, data: DataConfig) -> Table:
    """The table with the columns that this config gives it."""
    if table.name != "personas":
        return table
    own = [name for name in data.personas.attributes if name not in BUILT_IN]
    return table.with_columns({name: Field(TEXT, f"Attribute `{name}` of the config.") for name in own})


def released_tables(data: DataConfig) -> dict[str, Table]:
    """Every table of a release of this config, by name."""
    return {name: configured(table, data) for name, table in RELEASED.items()}
