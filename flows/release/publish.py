"""From a staged folder to a release: the version is chosen, the documents are written, the folder gets its name."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from semver import Version

from flows.common.files import read_json, remove_tree, write_json
from flows.release.card import write_documents
from flows.release.catalogue import Entry, releases_folder, releases_on_disk, update_catalogue
from flows.release.lock import held
from flows.release.manifest import MANIFEST, content_digest, gate_facts, release_manifest, write_manifest
from flows.release.tables import FILES
from schemas.config import Config
from schemas.source import InputError
from schemas.tables import Table

if TYPE_CHECKING:
    from validation.report.judge import Judgement

FIRST_VERSION = "0.1.0"
LOCK = ".publish.lock"
STAGING_SUFFIX = ".staging"


class VersionError(InputError):
    """The version asked for cannot be given."""


class VersionExists(VersionError):
    """A release of that name and version is there already, with other content. It is left as it is."""


@dataclass(frozen=True)
class Published:
    """What became of a staged folder."""

    path: Path
    version: str | None
    status: Literal["published", "unchanged", "quarantined"]

    @property
    def exit_code(self) -> int:
        return 1 if self.status == "quarantined" else 0


def staging_folder(out: Path, run_id: str) -> Path:
    """Where a release is put together: beside the finished ones, so that a rename suffices; hidden until then."""
    return releases_folder(out) / f".{run_id}.{os.getpid()}{STAGING_SUFFIX}"


def parse_version(text: str) -> Version:
    """The version, or VersionError if the text is not MAJOR.MINOR.PATCH."""
    version = Version.parse(text) if Version.is_valid(text) else None
    if version is None or version.prerelease or version.build:
        raise VersionError(f"version is {text!r}; must be MAJOR.MINOR.PATCH, three whole numbers. Write one like 1.4.0")
    return version


def publish(
    staging: Path,
    out: Path,
    name: str,
    version: str | None,
    judgement: Judgement,
    *,
    config: Config,
    tables: Mapping[str, Table],
) -> Published:
    """Names the staged folder, or says why not.

    A failed judgement sends it to `quarantine/`. Content equal to the latest version, or to the version asked for, is
    `unchanged`, and the staged folder goes. Else it becomes the version asked for, or the next patch after the highest.
    Raises VersionError for a malformed version, VersionExists for one that is taken by other content. In the latter
    case the staged folder goes too: the run folder has all that it was made from.
    """
    wanted = parse_version(version) if version is not None else None
    digest = content_digest(read_json(staging / FILES)["tables"])
    if not judgement.passed:
        return _quarantine(staging, out, name, version, digest, config, judgement)
    named = config if config.name == name else Config.model_validate({**config.model_dump(), "name": name})
    try:
        with held(releases_folder(out) / LOCK):
            return _name(staging, out, named, wanted, digest, judgement, tables)
    except VersionExists:
        remove_tree(staging)
        raise


def _name(
    staging: Path,
    out: Path,
    config: Config,
    wanted: Version | None,
    digest: str,
    judgement: Judgement,
    tables: Mapping[str, Table],
) -> Published:
    """What happens under the lock: the version is chosen, the documents are written for it, the folder is renamed."""
    existing = releases_on_disk(out, config.name)
    same = _same_content(existing, wanted, digest)
    if same is not None:
        remove_tree(staging)
        return Published(same.path, str(same.version), "unchanged")
    chosen = wanted or _next_patch(existing)
    _describe(staging, config, chosen, existing, judgement, tables)
    target = releases_folder(out) / f"{config.name}-{chosen}"
    _put_in_place(staging, target)
    _update_catalogue_if_possible(out)
    return Published(target, str(chosen), "published")


def _same_content(existing: list[Entry], wanted: Version | None, digest: str) -> Entry | None:
    """The release that already is what is to be published; None if there is none."""
    taken = next((entry for entry in existing if entry.version == wanted), None)
    if taken is not None and taken.content_digest != digest:
        state = taken.fault or "published with other content, and stays as it is"
        raise VersionExists(
            f"{taken.name} {taken.version} is taken: {taken.path} is {state}. "
            "Give another version, or none for the next patch"
        )
    latest = next((entry for entry in reversed(existing) if entry.fault is None), None)
    if taken is None and latest is not None and latest.content_digest == digest:
        return latest
    return taken


def _next_patch(existing: list[Entry]) -> Version:
    """The patch after the highest number in use, by whole and by broken folders."""
    return existing[-1].version.bump_patch() if existing else Version.parse(FIRST_VERSION)


def _describe(
    staging: Path,
    config: Config,
    version: Version,
    existing: list[Entry],
    judgement: Judgement,
    tables: Mapping[str, Table],
) -> None:
    """Card, package description, changelog, and last the manifest."""
    files = read_json(staging / FILES)
    manifest = release_manifest(staging, config, str(version), files, judgement, tables)
    before = [entry.path for entry in existing if entry.fault is None and entry.version < version]
    write_documents(staging, config, manifest, files, tables, before[-1] if before else None)
    write_manifest(staging, manifest)


def _put_in_place(staging: Path, target: Path) -> None:
    """The rename that makes the release. It fails, and changes nothing, if the name has been taken meanwhile."""
    try:
        if target.exists():
            raise FileExistsError(target)
        staging.rename(target)
    except OSError as error:
        if target.exists():
            raise VersionExists(f"{target} has just been published by another build; run again") from error
        raise


def _update_catalogue_if_possible(out: Path) -> None:
    """The catalogue is a convenience, built anew by the next release: its failure does not undo this one."""
    import duckdb

    with contextlib.suppress(OSError, duckdb.Error):
        update_catalogue(out)


def _quarantine(
    staging: Path, out: Path, name: str, version: str | None, digest: str, config: Config, judgement: Judgement
) -> Published:
    """Moves the folder away with its reason. It gets no manifest, so nothing takes it for a release."""
    failed = {gate: facts for gate, facts in gate_facts(judgement).items() if facts["passed"] is False}
    reason: dict[str, Any] = {
        "name": name,
        "version": version,
        "content_digest": digest,
        "data_digest": config.data_digest(),
        "seed": config.data.seed,
        "failed_gates": failed,
    }
    (staging / MANIFEST).unlink(missing_ok=True)
    write_json(staging / "reason.json", reason)
    target = out / "quarantine" / f"{name}-{version or digest[:12]}"
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_tree(target)
    staging.rename(target)
    return Published(target, version, "quarantined")
