from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flows.release.publish import VersionError, VersionExists, parse_version, publish, staging_folder
from schemas.config import ExecutionConfig
from schemas.source import InputError
from schemas.tables import RELEASED
from tests.flows.release.release_fakes import failed, fake_config, fake_tables, passed, publish_fake, stage_fake, tree


def _versions(out: Path) -> list[str]:
    return sorted(path.name for path in (out / "releases").iterdir())


def test_the_first_release_gets_the_first_version_and_nothing_else_stays(tmp_path: Path) -> None:
    done = publish_fake(tmp_path)
    assert (done.status, done.version, done.exit_code) == ("published", "0.1.0", 0)
    assert done.path == tmp_path / "releases" / "tiny-0.1.0"
    assert _versions(tmp_path) == ["tiny-0.1.0"]


def test_equal_content_is_unchanged_and_its_staging_goes(tmp_path: Path) -> None:
    first = publish_fake(tmp_path)
    before = tree(tmp_path)
    again = publish_fake(tmp_path, size=7)
    assert (again.status, again.path, again.version, again.exit_code) == ("unchanged", first.path, "0.1.0", 0)
    assert tree(tmp_path) == before


def test_other_content_gets_the_next_patch_after_the_highest_number(tmp_path: Path) -> None:
    publish_fake(tmp_path, version="0.1.9")
    publish_fake(tmp_path, note="b", version="0.1.10")
    publish_fake(tmp_path, note="c", version="0.0.30")
    assert publish_fake(tmp_path, note="d").version == "0.1.11"


def test_content_of_an_older_version_is_news_again(tmp_path: Path) -> None:
    publish_fake(tmp_path)
    publish_fake(tmp_path, note="b")
    assert publish_fake(tmp_path).version == "0.1.2"


def test_a_given_version_is_taken(tmp_path: Path) -> None:
    done = publish_fake(tmp_path, version="1.4.0")
    assert (done.version, done.path.name) == ("1.4.0", "tiny-1.4.0")
    assert json.loads((done.path / "manifest.json").read_text())["version"] == "1.4.0"


def test_a_given_version_of_equal_content_is_unchanged(tmp_path: Path) -> None:
    publish_fake(tmp_path, version="1.4.0")
    publish_fake(tmp_path, version="1.5.0", note="b")
    again = publish_fake(tmp_path, version="1.4.0")
    assert (again.status, again.version) == ("unchanged", "1.4.0")
    assert publish_fake(tmp_path, version="9.9.9", note="b").version == "1.5.0", "equal to the latest: no new version"


def test_a_given_version_of_other_content_is_refused_by_name(tmp_path: Path) -> None:
    publish_fake(tmp_path, version="1.2.0")
    before = tree(tmp_path / "releases" / "tiny-1.2.0")
    with pytest.raises(VersionExists, match=r"tiny 1\.2\.0 is taken") as error:
        publish_fake(tmp_path, version="1.2.0", note="b")
    assert isinstance(error.value, InputError), "the command line exits with 2"
    assert tree(tmp_path / "releases" / "tiny-1.2.0") == before
    assert _versions(tmp_path) == ["tiny-1.2.0"]


@pytest.mark.parametrize("text", ["1.2", "v1.2.0", "1.2.0-rc1", "1.2.0+5", "01.2.0", "", "../1.0.0", "1.2.0\n"])
def test_a_malformed_version_is_refused(text: str) -> None:
    with pytest.raises(VersionError, match=r"MAJOR\.MINOR\.PATCH"):
        parse_version(text)


def test_a_folder_without_manifest_keeps_its_number(tmp_path: Path) -> None:
    (tmp_path / "releases" / "tiny-0.3.0").mkdir(parents=True)
    assert publish_fake(tmp_path).version == "0.3.1"
    with pytest.raises(VersionExists, match="not a release"):
        publish_fake(tmp_path, version="0.3.0")


def test_names_that_begin_alike_have_their_own_versions(tmp_path: Path) -> None:
    (tmp_path / "releases" / "tiny_more-5.0.0").mkdir(parents=True)
    assert publish_fake(tmp_path).version == "0.1.0"


def test_a_failed_judgement_goes_to_quarantine_with_its_reason(tmp_path: Path) -> None:
    done = publish_fake(tmp_path, judgement=failed())
    assert (done.status, done.exit_code, done.path.parent) == ("quarantined", 1, tmp_path / "quarantine")
    reason = json.loads((done.path / "reason.json").read_text())
    assert reason["failed_gates"]["cross.keys"]["detail"] == "u000001 twice"
    assert done.path.name == f"tiny-{reason['content_digest'][:12]}"
    assert (done.path / "data/events").is_dir()
    assert not (done.path / "manifest.json").exists()
    assert not (tmp_path / "releases").exists() or _versions(tmp_path) == []


def test_quarantine_takes_the_version_asked_for_and_replaces_the_last_try(tmp_path: Path) -> None:
    publish_fake(tmp_path, judgement=failed(), version="2.0.0")
    again = publish_fake(tmp_path, judgement=failed(), version="2.0.0", note="b")
    assert [path.name for path in (tmp_path / "quarantine").iterdir()] == ["tiny-2.0.0"]
    assert json.loads((again.path / "reason.json").read_text())["version"] == "2.0.0"


def test_equal_content_gives_equal_bytes_of_all_files_however_it_was_built(tmp_path: Path) -> None:
    config, tables = fake_config(6), fake_tables(6)
    trees = []
    for number, workers in enumerate((1, 4)):
        out = tmp_path / str(number)
        staging = staging_folder(out, f"run{number}")
        stage_fake(staging, config, tables, 1_000_000 if number else 9)
        how = config.model_copy(update={"execution": ExecutionConfig(workers=workers, shard_users=workers)})
        trees.append(tree(publish(staging, out, "tiny", None, passed(), config=how, tables=RELEASED).path))
    assert trees[0] == trees[1]


def test_the_manifest_is_the_last_file_and_says_what_made_the_release(tmp_path: Path) -> None:
    path = publish_fake(tmp_path).path
    manifest = json.loads((path / "manifest.json").read_text())
    last = max((file for file in path.rglob("*") if file.is_file()), key=lambda file: file.stat().st_mtime_ns)
    assert last.name == "manifest.json"
    assert set(manifest["packages"]) == {
        "python",
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
    }
    assert manifest["seed"] == 7
    assert "execution" not in json.dumps(manifest)
    assert manifest["tables"]["users"]["rows"] == 6
    assert list(manifest["documents"]) == ["CHANGELOG.md", "README.md", "datapackage.json"]
    assert manifest["gates"]["fidelity.food.hours"] == {
        "passed": None,
        "value": "nan",
        "limit": 0.1,
        "verdict": "insufficient sample",
        "detail": "3 rows",
        "sample": {"users": 3},
    }


def test_the_order_of_splits_survives_in_the_manifest(tmp_path: Path) -> None:
    path = publish_fake(tmp_path, splits={"train": 0.5, "held_out": 0.2, "test": 0.3}).path
    splits = json.loads((path / "manifest.json").read_text())["config"]["data"]["release"]["splits"]
    assert list(splits) == ["train", "held_out", "test"]


PUBLISH = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from flows.release.publish import VersionExists
from tests.flows.release.release_fakes import publish_fake
try:
    done = publish_fake(Path(sys.argv[2]), note=sys.argv[3], version=sys.argv[4] or None, run_id="run" + sys.argv[3])
    print(done.status, done.version)
except VersionExists:
    print("refused")
"""


@pytest.mark.parametrize(
    ("notes", "version", "expected"),
    [
        (("a", "b"), "1.0.0", ["published 1.0.0", "refused"]),
        (("a", "b"), "", ["published 0.1.0", "published 0.1.1"]),
    ],
)
def test_of_two_builds_at_once_one_wins(
    tmp_path: Path, notes: tuple[str, str], version: str, expected: list[str]
) -> None:
    arguments = [sys.executable, "-c", PUBLISH, str(Path(__file__).parents[3]), str(tmp_path)]
    both = [subprocess.Popen([*arguments, note, version], stdout=subprocess.PIPE, text=True) for note in notes]
    found = sorted(process.communicate(timeout=120)[0].strip() for process in both)
    assert found == expected
    assert _versions(tmp_path) == [f"tiny-{line.split()[1]}" for line in expected if line.startswith("published")]
