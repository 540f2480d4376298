"""datapackage.json: every file of a release with schema and hash, in the shape of the Data Package standard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from schemas.tables import Field, Table


def datapackage(manifest: Mapping[str, Any], files: Mapping[str, Any], tables: Mapping[str, Table]) -> dict[str, Any]:
    """One resource a file, for a resource has one hash. Schemas follow from the declared tables."""
    return {
        "profile": "data-package",
        "name": manifest["name"],
        "version": manifest["version"],
        "title": f"Habitus {manifest['name']} {manifest['version']}",
        "licenses": [{"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0"}],
        "resources": [_resource(entry, tables[entry["table"]]) for entry in files["files"]],
    }


def _resource(entry: Mapping[str, Any], declared: Table) -> dict[str, Any]:
    return {
        "name": str(entry["path"]).removesuffix(".parquet").replace("/", "."),
        "title": declared.doc,
        "path": entry["path"],
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "bytes": entry["bytes"],
        "hash": f"sha256:{entry['sha256']}",
        "rows": entry["rows"],
        "split": entry["split"],
        "schema": {
            "fields": [_field(name, field, name in declared.optional) for name, field in declared.columns.items()],
            "primaryKey": list(declared.key),
        },
    }


def _field(name: str, field: Field, is_optional: bool) -> dict[str, Any]:
    constraints: dict[str, Any] = {"required": not is_optional}
    is_list = pa.types.is_list(field.type)
    if field.values is not None and not is_list:
        constraints["enum"] = list(field.values)
    if not is_list:
        constraints |= {k: v for k, v in (("minimum", field.low), ("maximum", field.high)) if v is not None}
    described = {
        "name": name,
        "type": field_type(field.type),
        "description": field.doc,
        "constraints": constraints,
        "arrowType": str(field.type),
    }
    return described if field.unit is None else {**described, "unit": field.unit}


def field_type(kind: pa.DataType) -> str:
    """The type's name in the Table Schema standard."""
    names = (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_floating, "number"),
        (pa.types.is_timestamp, "datetime"),
        (pa.types.is_date, "date"),
        (pa.types.is_list, "array"),
        (pa.types.is_struct, "object"),
        (pa.types.is_string, "string"),
    )
    return next((name for is_kind, name in names if is_kind(kind)), "any")
