from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pytest

from flows.release.datapackage import field_type
from schemas.tables import RELEASED
from schemas.tables.core import TIMESTAMP


def test_every_file_is_a_resource_with_its_real_hash_size_and_schema(published: Path) -> None:
    package = json.loads((published / "datapackage.json").read_text(encoding="utf-8"))
    files = {p.relative_to(published).as_posix() for p in published.rglob("*.parquet")}
    assert {resource["path"] for resource in package["resources"]} == files
    assert len({resource["name"] for resource in package["resources"]}) == len(files)
    for resource in package["resources"]:
        content = (published / resource["path"]).read_bytes()
        declared = RELEASED[resource["path"].split("/")[1]]
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert resource["bytes"] == len(content)
        assert [field["name"] for field in resource["schema"]["fields"]] == list(declared.columns)
        assert resource["schema"]["primaryKey"] == list(declared.key)


def test_constraints_follow_from_the_declared_field(published: Path) -> None:
    package = json.loads((published / "datapackage.json").read_text(encoding="utf-8"))
    events = next(r for r in package["resources"] if r["path"].startswith("data/events/"))
    fields = {field["name"]: field for field in events["schema"]["fields"]}
    assert fields["rating"]["constraints"] == {"required": False, "minimum": 1, "maximum": 5}
    assert fields["source"]["constraints"]["enum"] == ["self", "notification", "import"]
    assert fields["price_cents"]["unit"] == "cents"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (pa.string(), "string"),
        (pa.int16(), "integer"),
        (pa.float64(), "number"),
        (pa.bool_(), "boolean"),
        (TIMESTAMP, "datetime"),
        (pa.date32(), "date"),
        (pa.list_(pa.string()), "array"),
        (pa.struct([]), "object"),
        (pa.binary(), "any"),
    ],
)
def test_types_have_their_names_in_the_standard(kind: pa.DataType, name: str) -> None:
    assert field_type(kind) == name
