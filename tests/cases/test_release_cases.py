"""Faults of released data that were reported of other projects, as cases that must come out right here."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import habitus
from flows.release.publish import VersionExists
from flows.release.series import Limits
from flows.release.tables import stage_tables
from schemas.tables import RELEASED, TableError
from tests.flows.release.release_fakes import cut, fake_config, fake_tables, publish_fake, stage_fake, tree


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_fake(tmp_path_factory.mktemp("outputs"), file_rows=50).path


def test_g1_s01_the_manifest_lists_exact_versions(published: Path) -> None:
    import faker

    packages = json.loads((published / "manifest.json").read_text())["packages"]
    assert packages["faker"] == faker.VERSION
    assert packages["pyarrow"] == pa.__version__
    assert packages["python"] == ".".join(str(part) for part in sys.version_info[:3])


def test_g1_s08_content_and_bytes_have_digests_of_their_own(tmp_path: Path, published: Path) -> None:
    """Rewritten with another codec, the rows have the same content digest and another file digest."""
    config, tables = fake_config(6), fake_tables(6)
    one = stage_fake(tmp_path / "a", config, tables)
    other = stage_fake(tmp_path / "b", config, tables, limits=Limits(10))
    assert one["tables"] == other["tables"]
    assert {e["sha256"] for e in one["files"] if e["table"] == "events"}.isdisjoint(e["sha256"] for e in other["files"])
    manifest = json.loads((published / "manifest.json").read_text())
    assert manifest["content_digest"] and manifest["files"]


def test_g4_s03_and_g6_s08_a_version_is_published_once(tmp_path: Path) -> None:
    publish_fake(tmp_path, version="1.2.0")
    before = tree(tmp_path / "releases")
    with pytest.raises(VersionExists, match=r"1\.2\.0"):
        publish_fake(tmp_path, version="1.2.0", note="another seed")
    assert tree(tmp_path / "releases") == before


def test_g6_s01_a_column_that_is_null_in_one_file_keeps_its_type(tmp_path: Path) -> None:
    events = fake_tables(6)["events"]
    texts = [None] * 100 + events["text"].to_pylist()[100:]
    changed = events.set_column(events.column_names.index("text"), "text", pa.array(texts, pa.string()))
    whole = {"release": {"splits": {"test": 1.0}}}["release"]
    stage_fake(tmp_path, fake_config(6, **whole), {**fake_tables(6), "events": changed}, 10, Limits(50))
    files = sorted((tmp_path / "data/events").iterdir())
    assert pq.read_table(files[0])["text"].null_count == 50
    assert {str(pq.read_schema(path).field("text").type) for path in files} == {"string"}
    assert ds.dataset(tmp_path / "data/events").to_table()["text"].to_pylist() == texts
    assert pl.read_parquet(tmp_path / "data/events/*.parquet")["text"].to_list() == texts
    assert [row[0] for row in duckdb.sql(f"SELECT text FROM '{tmp_path}/data/events/*.parquet'").fetchall()] == texts


def test_g6_s03_s04_text_is_plain_string_in_every_file(published: Path) -> None:
    for path in published.rglob("*.parquet"):
        text = str(pq.read_schema(path))
        assert "large_string" not in text
        assert "dictionary" not in text
        assert "large_list" not in text


def test_g6_s04_wide_types_of_other_writers_come_out_as_declared(tmp_path: Path) -> None:
    frame = pl.DataFrame(fake_tables(6)["items"]).with_columns(pl.col("domain").cast(pl.Categorical))
    wide = frame.to_arrow()
    assert pa.types.is_large_string(wide.schema.field("title").type)
    stage_tables({"items": [wide]}, tmp_path, fake_config(6).data, {"items": RELEASED["items"]})
    paths = sorted((tmp_path / "data/items").iterdir())
    assert [path.name.split("-")[0] for path in paths] == ["catalogue", "test", "train"]
    whole = pa.concat_tables([pq.read_table(path) for path in paths]).sort_by("item_id")
    assert whole.combine_chunks().equals(fake_tables(6)["items"].sort_by("item_id").combine_chunks())


def test_g6_s05_instants_keep_zone_and_unit_in_every_reader(published: Path) -> None:
    folder = published / "data/events"
    arrow = ds.dataset(folder).to_table()
    assert arrow.schema.field("at").type == pa.timestamp("us", "UTC")
    frame = pl.read_parquet(folder / "*.parquet")
    assert frame.schema["at"] == pl.Datetime("us", "UTC")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/Chicago'")
        epochs = connection.sql(f"SELECT epoch_us(\"at\") FROM '{folder}/*.parquet'").fetchall()
    assert (
        [row[0] for row in epochs] == arrow["at"].cast(pa.int64()).to_pylist() == frame["at"].dt.epoch("us").to_list()
    )


def test_g6_s06_the_card_lists_files_so_that_no_name_decides_a_split(published: Path) -> None:
    front = (published / "README.md").read_text().split("---\n")[1]
    assert "*" not in front
    for path in published.rglob("*.parquet"):
        assert f"- {path.relative_to(published).as_posix()}" in front


@pytest.mark.parametrize("splits", [{"train": 1.0, "validation": 0.0}, {"train": 0.999, "validation": 0.001}])
def test_g6_s14_a_split_without_users_is_nowhere(tmp_path: Path, splits: dict[str, float]) -> None:
    path = publish_fake(tmp_path, users=7, splits=splits).path
    assert not list(path.rglob("validation-*"))
    assert "split: validation" not in (path / "README.md").read_text()
    release = habitus.open_release(path, verify=True)
    assert release.table("events", "validation").num_rows == 0
    assert release.table("events", "train").num_rows == 7 * 24


def test_g6_s07_dropped_rows_are_found_with_both_counts(published: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(published, tmp_path / "copy"))
    target = next(path for path in sorted((copy / "data/events").iterdir()))
    rows = pq.read_table(target)
    pq.write_table(rows.slice(10), target)
    with pytest.raises(
        habitus.ReleaseError, match=f"{target.name} has {rows.num_rows - 10} rows; {rows.num_rows} expected"
    ):
        habitus.open_release(copy, verify=True)


def test_g6_s09_long_texts_are_cut_into_files_under_the_cap(tmp_path: Path) -> None:
    """1 MB a file and 12 MB of texts, in the place of the 2 GiB that one Arrow column holds."""
    events, cap = fake_tables(6)["events"], 1_000_000
    texts = ["ä" * 45_000] * events.num_rows
    place = events.column_names.index("text")
    long = events.set_column(place, "text", pa.array(texts, pa.string()))
    data, declared = fake_config(6, splits={"test": 1.0}).data, {"events": RELEASED["events"]}
    report = stage_tables(cut({"events": long}, 7), tmp_path / "a", data, declared, Limits(1_000, file_bytes=cap))
    assert len(report["files"]) >= 12
    tables = [pq.read_table(tmp_path / "a" / entry["path"]) for entry in report["files"]]
    assert max(sum(len(text.encode()) for text in table["text"].to_pylist()) for table in tables) <= cap
    assert pa.concat_tables(tables).equals(long)
    texts[77] = "x" * (cap + 1)
    over = events.set_column(place, "text", pa.array(texts, pa.string()))
    with pytest.raises(TableError, match=str(events["event_id"][77].as_py())):
        stage_tables(cut({"events": over}, 7), tmp_path / "b", data, declared, Limits(1_000, file_bytes=cap))


def test_g6_s10_fewer_files_leave_no_old_ones_behind(tmp_path: Path) -> None:
    publish_fake(tmp_path, file_rows=10, version="1.0.0")
    later = publish_fake(tmp_path, file_rows=60, note="b", version="1.0.1").path
    listed = {entry["path"] for entry in json.loads((later / "reports/files.json").read_text())["files"]}
    assert listed == {path.relative_to(later).as_posix() for path in later.rglob("*.parquet")}
    assert pl.read_parquet(later / "data/events/*.parquet").height == 144


def test_g6_s11_money_is_whole_cents_in_every_reader(published: Path) -> None:
    folder = published / "data/events"
    cents = [value for value in ds.dataset(folder).to_table()["price_cents"].to_pylist() if value is not None]
    assert set(cents) == {1999}
    assert pl.read_parquet(folder / "*.parquet")["price_cents"].sum() == sum(cents)
    assert duckdb.sql(f"SELECT sum(price_cents)::BIGINT FROM '{folder}/*.parquet'").fetchall() == [(sum(cents),)]
