"""What releases there are: read from their manifests, and kept as a table for those who would rather ask in SQL."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semver import Version

from flows.common.files import read_json
from flows.release.manifest import MANIFEST

CATALOGUE_FILE = "catalog.duckdb"


@dataclass(frozen=True)
class Entry:
    """One folder of `releases/`. ``fault`` says why it is no release; the figures are then missing."""

    name: str
    version: Version
    path: Path
    content_digest: str | None = None
    users: int = 0
    events: int = 0
    tasks: int = 0
    gates: Mapping[str, Any] | None = None
    fault: str | None = None

    def facts(self) -> dict[str, Any]:
        """The entry as JSON can hold it."""
        return {
            "name": self.name,
            "version": str(self.version),
            "path": str(self.path),
            "content_digest": self.content_digest,
            "users": self.users,
            "events": self.events,
            "tasks": self.tasks,
            "gates": self.gates,
            "fault": self.fault,
        }


def releases_folder(out: Path) -> Path:
    """Where finished releases lie."""
    return out / "releases"


def releases_on_disk(out: Path, name: str | None = None) -> list[Entry]:
    """Every folder of `releases/` that is named like a release, by name and version; of one name if given."""
    folder = releases_folder(out)
    entries = [entry for path in folder.iterdir() if (entry := _entry(path))] if folder.is_dir() else []
    return sorted((e for e in entries if name in (None, e.name)), key=lambda e: (e.name, e.version))


def update_catalogue(out: Path) -> None:
    """`catalog.duckdb` built anew from the manifests and put in place by a rename, whoever reads the old one."""
    import duckdb

    rows = [entry.facts() for entry in releases_on_disk(out) if entry.fault is None]
    draft = out / f".{CATALOGUE_FILE}.{os.getpid()}.partial"
    draft.unlink(missing_ok=True)
    try:
        with duckdb.connect(draft) as connection:
            connection.execute(
                "CREATE TABLE releases (name VARCHAR, version VARCHAR, path VARCHAR, content_digest VARCHAR, "
                "users BIGINT, events BIGINT, tasks BIGINT, gates JSON, PRIMARY KEY (name, version))"
            )
            for row in rows:
                connection.execute(
                    "INSERT INTO releases VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        row["name"],
                        row["version"],
                        row["path"],
                        row["content_digest"],
                        row["users"],
                        row["events"],
                        row["tasks"],
                        json.dumps(row["gates"]),
                    ],
                )
        draft.replace(out / CATALOGUE_FILE)
    finally:
        draft.unlink(missing_ok=True)


def _entry(path: Path) -> Entry | None:
    """The entry of one folder; None if it is not named like a release."""
    name, dash, text = path.name.partition("-")
    if not dash or name.startswith(".") or not Version.is_valid(text) or not path.is_dir():
        return None
    version = Version.parse(text)
    if not (path / MANIFEST).is_file():
        return Entry(name, version, path, fault=f"not a release: no {MANIFEST}")
    try:
        manifest = read_json(path / MANIFEST)
        rows = {table: int(facts["rows"]) for table, facts in manifest["tables"].items()}
        return Entry(
            name,
            version,
            path,
            str(manifest["content_digest"]),
            rows.get("users", 0),
            rows.get("events", 0),
            rows.get("tasks", 0),
            manifest["gates"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return Entry(name, version, path, fault=f"{MANIFEST} cannot be read: {error}")
