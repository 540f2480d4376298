"""Every table of the project, declared once."""

from __future__ import annotations

from schemas.tables import internal, sealed, visible
from schemas.tables.core import Field, Table, TableError, cast_exactly, replaced, schema_digest, sort_rows

VISIBLE: dict[str, Table] = {t.name: t for t in vars(visible).values() if isinstance(t, Table)}
SEALED: dict[str, Table] = {t.name: t for t in vars(sealed).values() if isinstance(t, Table)}
INTERNAL: dict[str, Table] = {
    t.name: t for t in vars(internal).values() if isinstance(t, Table) and t.layer == "internal"
}
RELEASED: dict[str, Table] = {**VISIBLE, **SEALED}

__all__ = [
    "INTERNAL",
    "RELEASED",
    "SEALED",
    "VISIBLE",
    "Field",
    "Table",
    "TableError",
    "cast_exactly",
    "replaced",
    "schema_digest",
    "sort_rows",
]
