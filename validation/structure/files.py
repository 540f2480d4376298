"""Whether the files of a release are those it lists: counts, hashes, names and schemas."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemas.tables import Table
from validation.structure.folder import FILE_NAME, LAYER_FOLDERS, Violation, table_folder

LIST = "reports/files.json"
MANIFEST = "manifest.json"


def check_files(folder: Path, tables: Mapping[str, Table]) -> list[Violation]:
    """Everything in which the folder differs from `reports/files.json`, and the list from the declared tables."""
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))
        entries = {str(entry["path"]): _entry(entry) for entry in listed["files"]}
        totals = {str(name): dict(total) for name, total in listed["tables"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return [Violation(LIST, "", f"cannot be read as a list of files and tables ({type(error).__name__}: {error})")]
    found: list[Violation] = []
    if len(entries) != len(listed["files"]):
        found.append(Violation(LIST, "", "lists a path twice"))
    for path, entry in sorted(entries.items()):
        found.extend(_check_file(folder, path, entry, tables))
    found.extend(_check_totals(entries, totals, tables))
    found.extend(_strays(folder, set(entries)))
    return found


def check_manifest(folder: Path) -> list[Violation]:
    """Files whose SHA-256 is not the one in `manifest.json`; nothing where there is no manifest yet."""
    path = folder / MANIFEST
    if not path.exists():
        return []
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        stated = {**manifest.get("documents", {}), **({LIST: manifest["files"]} if "files" in manifest else {})}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        return [Violation(MANIFEST, "", f"cannot be read ({type(error).__name__}: {error})")]
    found = []
    for name, digest in sorted(stated.items()):
        if not (folder / name).is_file():
            found.append(Violation(name, "", f"is named in {MANIFEST} and missing"))
        elif _sha256(folder / name) != digest:
            found.append(Violation(name, "", f"is not the file whose SHA-256 is in {MANIFEST}"))
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _entry(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of one file, complete. Raises KeyError or ValueError."""
    return {
        "table": str(raw["table"]),
        "split": str(raw["split"]),
        "rows": int(raw["rows"]),
        "bytes": int(raw["bytes"]),
        "sha256": str(raw["sha256"]),
    }


def broken_schemas(folder: Path, tables: Mapping[str, Table]) -> dict[str, list[Violation]]:
    """Table → files of it that cannot be read or differ from its declared schema; only tables that have such files."""
    found: dict[str, list[Violation]] = {}
    for name, declared in tables.items():
        for path in sorted(table_folder(folder, declared).glob("*.parquet")):
            problem = _schema_problem(path, declared)
            if problem:
                found.setdefault(name, []).append(Violation(name, "", problem, examples=(path.name,)))
    return found


def _schema_problem(path: Path, declared: Table) -> str:
    """How the schema of a Parquet file differs from the declared one, names, order, types and nulls; else empty."""
    import pyarrow.parquet as pq

    try:
        have, want = pq.read_schema(path), declared.schema()
    except (OSError, pa.ArrowInvalid) as error:
        return f"is no readable Parquet file ({str(error).splitlines()[0]})"
    if have.equals(want):
        return ""
    if have.names != want.names:
        missing = [name for name in want.names if name not in have.names]
        unknown = [name for name in have.names if name not in want.names]
        told = [f"{what} {', '.join(names)}" for what, names in (("lacks", missing), ("adds", unknown)) if names]
        return f"columns differ from the declaration: {'; '.join(told) or 'other order'}"
    differing = [
        f"{name} is {_told(have.field(name))}, declared {_told(want.field(name))}"
        for name in want.names
        if not have.field(name).equals(want.field(name))
    ]
    return f"types differ from the declaration: {'; '.join(differing)}"


def _told(field: pa.Field) -> str:
    return f"{field.type}{'' if field.nullable else ' not null'}"


def _check_file(folder: Path, path: str, entry: Mapping[str, Any], tables: Mapping[str, Table]) -> list[Violation]:
    """One entry of the list against the file."""
    name, split = entry["table"], entry["split"]
    target = folder / path
    declared = tables.get(name)
    if declared is None:
        return [Violation(name, "", f"`{path}` belongs to no declared table")]
    match = FILE_NAME.fullmatch(target.name)
    if match is None or match["split"] != split or target.parent != table_folder(folder, declared):
        where = f"{LAYER_FOLDERS[declared.layer]}/{name}/{split}-00000-of-00001.parquet"
        return [Violation(name, "", f"`{path}` is not named like `{where}`")]
    if not target.is_file():
        return [Violation(name, "", f"`{path}` is listed and missing")]
    found = []
    size = target.stat().st_size
    if size != entry["bytes"]:
        found.append(Violation(name, "", f"`{path}` has {size} bytes, {entry['bytes']} listed"))
    digest = _sha256(target)
    if digest != entry["sha256"]:
        found.append(Violation(name, "", f"`{path}` has SHA-256 {digest[:12]}…, {entry['sha256'][:12]}… listed"))
    problem = _schema_problem(target, declared)
    if problem:
        found.append(Violation(name, "", problem, examples=(path,)))
    rows = _rows(target)
    if rows is not None and rows != entry["rows"]:
        found.append(Violation(name, "", f"`{path}` has {rows} rows, {entry['rows']} listed"))
    return found


def _rows(path: Path) -> int | None:
    """Rows that the file's footer states; None if it has none."""
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowInvalid):
        return None


def _check_totals(
    entries: Mapping[str, Mapping[str, Any]], totals: Mapping[str, Any], tables: Mapping[str, Table]
) -> list[Violation]:
    """The list's totals against its files, and its tables against the declared ones."""
    found = [Violation(name, "", f"is listed in {LIST} and not declared") for name in sorted(set(totals) - set(tables))]
    for name in tables:
        if name not in totals:
            rule = f"is declared and not listed in {LIST}; an empty table is listed with 0 rows"
            found.append(Violation(name, "", rule))
            continue
        rows: dict[str, int] = {}
        parts: dict[str, list[str]] = {}
        for path, entry in sorted(entries.items()):
            if entry["table"] == name:
                rows[entry["split"]] = rows.get(entry["split"], 0) + entry["rows"]
                parts.setdefault(entry["split"], []).append(Path(path).name)
        stated = totals[name]
        if stated.get("rows") != sum(rows.values()):
            found.append(Violation(name, "", f"{stated.get('rows')} rows listed, its files have {sum(rows.values())}"))
        if stated.get("splits", {}) != rows:
            found.append(Violation(name, "", f"splits {stated.get('splits', {})} listed, its files have {rows}"))
        for split, names in parts.items():
            whole = [f"{split}-{part:05d}-of-{len(names):05d}.parquet" for part in range(len(names))]
            if names != whole:
                found.append(Violation(name, "", f"parts of split `{split}` are not 0 to {len(names) - 1}", len(names)))
    return found


def _strays(folder: Path, listed: set[str]) -> list[Violation]:
    """Files beside the listed ones: anything below `data` and `sealed`, and Parquet files anywhere."""
    below = [path for layer in LAYER_FOLDERS.values() for path in (folder / layer).rglob("*")]
    files = {path for path in [*below, *folder.rglob("*.parquet")] if not path.is_dir()}
    names = sorted(path.relative_to(folder).as_posix() for path in files)
    return [Violation(name, "", f"is not listed in {LIST}") for name in names if name not in listed]
