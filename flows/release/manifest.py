"""The manifest: what a release is, what made it, and what was proved about it. Without it a folder is no release."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.common.code import code_digest, project_root, prompt_digest
from flows.common.files import file_sha256, read_json, write_text
from flows.release.tables import FILES
from schemas.config import SCHEMA_VERSION, Config
from schemas.tables import Table, schema_digest

if TYPE_CHECKING:
    from validation.report.judge import Judgement

MANIFEST = "manifest.json"
MANIFEST_VERSION = 1
PACKAGES = (
    "faker",
    "numpy",
    "polars",
    "pyarrow",
    "duckdb",
    "pandas",
    "scipy",
    "prefect",
    "great_expectations",
    "tzdata",
    "holidays",
    "habitus",
)


def content_digest(described: Mapping[str, Any]) -> str:
    """SHA-256 over name and digest of every table, by name. ``described`` is `tables` of `files.json`."""
    lines = [f"{name} {described[name]['digest']}\n" for name in sorted(described)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def release_manifest(
    staging: Path,
    config: Config,
    version: str,
    files: Mapping[str, Any],
    judgement: Judgement,
    tables: Mapping[str, Table],
) -> dict[str, Any]:
    """Everything the manifest says, but for the documents, which are written from it.

    No clock and no machine in it: equal content and packages give equal bytes.
    """
    root = project_root()
    described = files["tables"]
    return {
        "name": config.name,
        "version": version,
        "schema_versions": {"manifest": MANIFEST_VERSION, "config": SCHEMA_VERSION},
        "config": {
            "schema_version": config.schema_version,
            "name": config.name,
            "data": config.data.model_dump(mode="json"),
        },
        "seed": config.data.seed,
        "data_digest": config.data_digest(),
        "code_digest": code_digest(root),
        "schema_digest": schema_digest(tables),
        "prompt_digest": prompt_digest(root),
        "packages": package_versions(),
        "tables": {name: {key: described[name][key] for key in ("rows", "digest")} for name in sorted(described)},
        "content_digest": content_digest(described),
        "gates": gate_facts(judgement),
        "files": file_sha256(staging / FILES),
    }


def write_manifest(staging: Path, manifest: Mapping[str, Any]) -> None:
    """`manifest.json`, the last file of a release: the manifest, and the hashes of all files that are no tables.

    Keys stay in the order given: the order of the config's splits and weights is part of it.
    """
    listed = {entry["path"] for entry in read_json(staging / FILES)["files"]} | {FILES.as_posix(), MANIFEST}
    found = sorted(path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file())
    whole = {**manifest, "documents": {name: file_sha256(staging / name) for name in found if name not in listed}}
    write_text(staging / MANIFEST, json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def package_versions() -> dict[str, str]:
    """Python and every package whose version can change the bytes of a release."""
    return {"python": platform.python_version(), **{name: installed_version(name) for name in PACKAGES}}


def gate_facts(judgement: Judgement) -> dict[str, dict[str, Any]]:
    """Every gate as JSON can hold it, by name."""
    return {
        name: {
            "passed": gate.passed,
            "value": plain(gate.value),
            "limit": plain(gate.limit),
            "verdict": gate.verdict,
            "detail": gate.detail,
            "sample": plain(gate.sample),
        }
        for name, gate in sorted(judgement.gates.items())
    }


def plain(value: Any) -> Any:
    """The value as JSON can hold it: floats rounded to six decimals, what is not a finite number as text."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
