"""A release, opened: its tables, and the history that may be used for a task."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from habitus.history import History, View, build_history, parse_window
from schemas.tables import RELEASED

if TYPE_CHECKING:
    import polars

MANIFEST = "manifest.json"
FILES = "reports/files.json"
CATALOGUE = "catalogue"
Window = str | dt.timedelta | None


class ReleaseError(ValueError):
    """The folder is no whole release, or it does not hold what was asked for."""


class UnknownTask(ReleaseError, KeyError):
    """No task of that id is in the release."""

    def __str__(self) -> str:
        return str(self.args[0])


def open_release(path: str | Path, *, verify: bool = False) -> Release:
    """The release in that folder, checked for wholeness: every listed file is there with its size.

    With ``verify``, also that every file has its hash and its rows and that no Parquet file is there unlisted; that
    reads everything. Raises ReleaseError with all faults found.
    """
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        reason = f"no {MANIFEST}" if folder.is_dir() else "no such folder"
        raise ReleaseError(f"{folder} is not a release: {reason}")
    release = Release(folder, _read(folder / MANIFEST), _read(folder / FILES))
    faults = release.faults(thorough=verify)
    if faults:
        raise ReleaseError(f"{folder} is not whole:\n" + "\n".join(f"  - {fault}" for fault in faults))
    return release


class Release:
    """One immutable release. Tables are read when asked for; visible and sealed ones by different methods."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any], files: Mapping[str, Any]) -> None:
        self.path = folder
        self.manifest = manifest
        try:
            self.name = str(manifest["name"])
            self.version = str(manifest["version"])
            self.splits = [*manifest["config"]["data"]["release"]["splits"], CATALOGUE]
            self._files: list[dict[str, Any]] = files["files"]
            self._tables: dict[str, dict[str, Any]] = files["tables"]
        except (KeyError, TypeError) as error:
            raise ReleaseError(f"{folder} is not a release: {MANIFEST} or {FILES} lacks {error}") from error
        self._catalogue: dict[str, pa.Table] = {}
        self._tasks: dict[str, tuple[dict[str, Any], str]] | None = None
        self._latest: tuple[str, pa.Table, pa.Table] | None = None

    def __repr__(self) -> str:
        return f"<Release {self.name} {self.version} at {self.path}>"

    def table(self, name: str, split: str | None = None) -> pa.Table:
        """A visible table, of one split or of all, in the order of the config's splits."""
        return self._layer_table(name, split, "visible")

    def polars(self, name: str, split: str | None = None) -> polars.DataFrame:
        """A visible table as a Polars frame."""
        import polars

        frame = polars.from_arrow(self.table(name, split))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def tasks(self, split: str | None = None) -> pa.Table:
        """The tasks of one split or of all."""
        return self.table("tasks", split)

    def sealed(self, name: str, split: str | None = None) -> pa.Table:
        """A table of the truth. For scoring and analysis, not for agents."""
        return self._layer_table(name, split, "sealed")

    def history(self, task_id: str, view: View = "natural", window: Window = None) -> History:
        """What may be known of the task's user when the task is put: only what is strictly earlier.

        ``view`` is `natural`, or `structured` with the attributes of items. ``window`` keeps the last stretch only:
        a timedelta, or text such as `90d`, `12w`, `48h`. Raises UnknownTask.
        """
        if view not in ("natural", "structured"):
            raise ReleaseError(f"view is {view!r}; must be 'natural' or 'structured'")
        task, split = self._task(task_id)
        user = str(task["user_id"])
        sessions, events = self._user_rows(user, split)
        things = self._things()
        owned = pc.or_kleene(pc.is_null(things["owner_user_id"]), pc.equal(things["owner_user_id"], user))
        items = things.filter(owned)
        attributes = self._item_attributes(items) if view == "structured" else None
        return build_history(task, view, parse_window(window), sessions, events, items, attributes)

    def faults(self, *, thorough: bool = False) -> list[str]:
        """Everything in which the folder differs from its manifest; none for a whole release."""
        faults = []
        if _sha256(self.path / FILES) != self.manifest.get("files"):
            faults.append(f"{FILES} is not the one that {MANIFEST} was written for")
        for entry in self._files:
            faults.extend(self._file_faults(entry, thorough=thorough))
        if thorough:
            faults.extend(self._document_faults())
            listed = {entry["path"] for entry in self._files}
            found = {p.relative_to(self.path).as_posix() for p in self.path.rglob("*.parquet")}
            faults.extend(f"{path} is not listed in {FILES}" for path in sorted(found - listed))
        return faults

    def _file_faults(self, entry: Mapping[str, Any], *, thorough: bool) -> list[str]:
        path = self.path / entry["path"]
        if not path.is_file():
            return [f"{entry['path']} is missing"]
        faults = []
        if path.stat().st_size != entry["bytes"]:
            faults.append(f"{entry['path']} has {path.stat().st_size:,} bytes; {entry['bytes']:,} expected")
        if thorough:
            if _sha256(path) != entry["sha256"]:
                faults.append(f"{entry['path']} has another hash than expected")
            try:
                rows = pq.read_metadata(path).num_rows
            except (OSError, pa.ArrowException) as error:
                return [*faults, f"{entry['path']} is no Parquet file: {error}"]
            if rows != entry["rows"]:
                faults.append(f"{entry['path']} has {rows:,} rows; {entry['rows']:,} expected")
        return faults

    def _document_faults(self) -> list[str]:
        documents: Mapping[str, str] = self.manifest.get("documents", {})
        changed = (name for name, digest in documents.items() if _sha256(self.path / name) != digest)
        return [f"{name} is missing or not as published" for name in changed]

    def _layer_table(self, name: str, split: str | None, layer: str) -> pa.Table:
        facts = self._tables.get(name)
        if facts is None:
            known = ", ".join(sorted(self._tables))
            raise ReleaseError(f"{self.name} {self.version} has no table {name!r}; it has {known}")
        if facts["layer"] != layer:
            way = "release.sealed(name)" if facts["layer"] == "sealed" else "release.table(name)"
            raise ReleaseError(f"{name} is a {facts['layer']} table; read it with {way}")
        if split is not None and split not in self.splits:
            raise ReleaseError(f"no split {split!r} in {self.name} {self.version}; it has {', '.join(self.splits)}")
        paths = self._paths(name, split)
        if not paths:
            return RELEASED[name].empty()
        return pa.concat_tables(pq.read_table(path, partitioning=None) for path in paths)

    def _paths(self, name: str, split: str | None = None) -> list[str]:
        """The table's files, by split in the order of the config, then by number."""
        wanted = self.splits if split is None else [split]
        return [
            str(self.path / entry["path"])
            for one in wanted
            for entry in self._files
            if entry["table"] == name and entry["split"] == one
        ]

    def _task(self, task_id: str) -> tuple[dict[str, Any], str]:
        """Id, user and time of the task, and the split of its user. All tasks are looked up once and kept."""
        if self._tasks is None:
            self._tasks = {
                row["task_id"]: (row, split)
                for split in self.splits
                for path in self._paths("tasks", split)
                for row in pq.read_table(
                    path, columns=["task_id", "user_id", "asked_at"], partitioning=None
                ).to_pylist()
            }
        if task_id not in self._tasks:
            raise UnknownTask(f"no task {task_id!r} in {self.name} {self.version}; release.tasks() lists them all")
        return self._tasks[task_id]

    def _user_rows(self, user: str, split: str) -> tuple[pa.Table, pa.Table]:
        """Sessions and events of one user. The latest user's are kept, for tasks come user by user."""
        if self._latest is None or self._latest[0] != user:
            sessions = self._rows_where("sessions", split, "user_id", user)
            events = self._rows_where("events", split, "user_id", user)
            self._latest = (
                user,
                RELEASED["sessions"].empty() if sessions is None else sessions,
                RELEASED["events"].empty() if events is None else events,
            )
        return self._latest[1], self._latest[2]

    def _rows_where(self, name: str, split: str, column: str, value: str) -> pa.Table | None:
        """Rows with that value; row groups that cannot hold it are not read. None where the split has no rows."""
        import pyarrow.dataset as ds  # brings pandas with it

        paths = self._paths(name, split)
        if not paths:
            return None
        return ds.dataset(paths, format="parquet").to_table(filter=pc.field(column) == value, use_threads=False)

    def _things(self) -> pa.Table:
        if "items" not in self._catalogue:
            self._catalogue["items"] = self.table("items").combine_chunks()
        return self._catalogue["items"]

    def _item_attributes(self, items: pa.Table) -> pa.Table:
        if "item_attributes" not in self._catalogue:
            self._catalogue["item_attributes"] = self.table("item_attributes").combine_chunks()
        every = self._catalogue["item_attributes"]
        return every.filter(pc.is_in(every["item_id"], value_set=items["item_id"].combine_chunks()))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} cannot be read: {error}") from error


def _sha256(path: Path) -> str | None:
    """The hash of the file; None if it is not there."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return None
