from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import habitus
from schemas.tables import RELEASED
from tests.flows.release.release_fakes import fake_tables, publish_fake


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / published.name))


def test_a_whole_release_opens_and_says_what_it_is(published: Path) -> None:
    release = habitus.open_release(str(published), verify=True)
    assert (release.name, release.version, release.splits) == ("tiny", "0.1.0", ["train", "test", "catalogue"])
    assert repr(release) == f"<Release tiny 0.1.0 at {published}>"


def test_tables_are_read_by_split_or_whole(published: Path) -> None:
    release = habitus.open_release(published)
    parts = [release.table("events", split) for split in ("train", "test")]
    assert release.table("events").equals(pa.concat_tables(parts))
    assert sum(part.num_rows for part in parts) == fake_tables(6)["events"].num_rows
    assert release.tasks("test").equals(release.table("tasks", "test"))
    things = [release.table("items", split) for split in release.splits]
    assert [part.num_rows for part in things] == [1, 1, 3]
    assert release.table("items").equals(pa.concat_tables(things))
    assert release.table("items").sort_by("item_id").equals(fake_tables(6)["items"])


def test_an_empty_table_and_an_empty_split_have_the_declared_schema(published: Path) -> None:
    release = habitus.open_release(published)
    for table in (release.table("images"), release.table("events", "catalogue"), release.table("tools", "train")):
        assert table.num_rows == 0
    assert release.table("events", "catalogue").schema.equals(RELEASED["events"].schema())


def test_polars_gets_the_same_rows(published: Path) -> None:
    release = habitus.open_release(published)
    assert release.polars("sessions").equals(pl.DataFrame(release.table("sessions")))


def test_sealed_tables_are_read_by_their_own_method_only(published: Path) -> None:
    release = habitus.open_release(published)
    assert release.sealed("answers", "test").num_rows == release.tasks("test").num_rows
    with pytest.raises(habitus.ReleaseError, match=r"release\.sealed"):
        release.table("answers")
    with pytest.raises(habitus.ReleaseError, match=r"release\.table"):
        release.sealed("events")


def test_unknown_names_are_answered_with_the_known_ones(published: Path) -> None:
    release = habitus.open_release(published)
    with pytest.raises(habitus.ReleaseError, match="no table 'event'; it has actors, answers"):
        release.table("event")
    with pytest.raises(habitus.ReleaseError, match=r"no split 'dev'.* train, test, catalogue"):
        release.table("events", "dev")


def test_a_folder_without_manifest_is_no_release(copy: Path) -> None:
    (copy / "manifest.json").unlink()
    with pytest.raises(habitus.ReleaseError, match=r"not a release: no manifest\.json"):
        habitus.open_release(copy)
    with pytest.raises(habitus.ReleaseError, match="no such folder"):
        habitus.open_release(copy / "nowhere")


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"name": "tiny"}'])
def test_a_broken_manifest_is_an_error_and_no_traceback(copy: Path, content: str) -> None:
    (copy / "manifest.json").write_text(content)
    with pytest.raises(habitus.ReleaseError, match=r"manifest\.json"):
        habitus.open_release(copy)


def test_all_missing_and_cut_files_are_listed_at_once(copy: Path) -> None:
    (copy / "data/events/train-00000-of-00001.parquet").unlink()
    target = copy / "sealed/answers/test-00000-of-00001.parquet"
    target.write_bytes(target.read_bytes()[:-10])
    with pytest.raises(habitus.ReleaseError) as error:
        habitus.open_release(copy)
    assert "data/events/train-00000-of-00001.parquet is missing" in str(error.value)
    assert "sealed/answers/test-00000-of-00001.parquet has" in str(error.value)


def test_a_list_of_files_that_was_edited_is_found(copy: Path) -> None:
    listed = json.loads((copy / "reports/files.json").read_text())
    listed["files"] = listed["files"][1:]
    (copy / "reports/files.json").write_text(json.dumps(listed))
    with pytest.raises(habitus.ReleaseError, match=r"files\.json is not the one"):
        habitus.open_release(copy)


def test_a_flipped_byte_is_found_by_verifying_only(copy: Path) -> None:
    target = copy / "data/items/catalogue-00000-of-00001.parquet"
    content = bytearray(target.read_bytes())
    content[40] ^= 1
    target.write_bytes(bytes(content))
    habitus.open_release(copy)
    with pytest.raises(habitus.ReleaseError, match=r"catalogue-00000-of-00001\.parquet has another hash"):
        habitus.open_release(copy, verify=True)


def test_dropped_rows_strange_files_and_changed_documents_are_found_by_verifying(copy: Path) -> None:
    target = copy / "data/users/train-00000-of-00001.parquet"
    pq.write_table(pq.read_table(target).slice(1), target)
    shutil.copy(target, copy / "data/users/train-00001-of-00001.parquet")
    (copy / "README.md").write_text("another card")
    with pytest.raises(habitus.ReleaseError) as error:
        habitus.open_release(copy, verify=True)
    rows = json.loads((copy / "reports/files.json").read_text())["tables"]["users"]["splits"]["train"]
    assert f"data/users/train-00000-of-00001.parquet has {rows - 1} rows; {rows} expected" in str(error.value)
    assert "data/users/train-00001-of-00001.parquet is not listed" in str(error.value)
    assert "README.md is missing or not as published" in str(error.value)


def test_users_attributes_of_their_own_are_read(tmp_path: Path) -> None:
    from flows.release.publish import publish, staging_folder
    from flows.release.tables import stage_tables
    from schemas.config import Config
    from schemas.tables.configured import released_tables
    from tests.flows.release.release_fakes import fake_config, passed

    plain = fake_config(6).model_dump()
    plain["data"]["personas"]["attributes"] = {"pet": {"weights": {"no": 0.5, "cat": 0.5}}}
    config = Config.model_validate(plain)
    tables, staging = released_tables(config.data), staging_folder(tmp_path, "run")
    sources = dict(fake_tables(6))
    sources["personas"] = sources["personas"].append_column("pet", pa.array(["no"] * 6))
    stage_tables({name: [table] for name, table in sources.items()}, staging, config.data, tables)
    path = publish(staging, tmp_path, "tiny", None, passed(), config=config, tables=tables).path
    assert habitus.open_release(path).sealed("personas")["pet"].to_pylist() == ["no"] * 6
    assert "| `pet` | string |" in (path / "README.md").read_text()


def test_importing_habitus_is_cheap() -> None:
    heavy = "polars", "duckdb", "pandas", "datasets", "prefect", "great_expectations", "faker"
    code = f"import sys, habitus; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_publishing_again_does_not_disturb_an_open_release(tmp_path: Path) -> None:
    release = habitus.open_release(publish_fake(tmp_path).path)
    publish_fake(tmp_path, note="b")
    assert release.table("events").equals(habitus.open_release(release.path).table("events"))
