"""Cases about types: what is written is what every reader reads. Each test names the case it stands for."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from flows.common.draws import Draws
from flows.common.files import write_table
from schemas.tables import RELEASED, Field, Table, TableError, cast_exactly
from schemas.tables.core import TIMESTAMP
from schemas.tables.fields import STRATA
from schemas.tables.visible import EVENTS, ITEMS, TASKS, USERS
from validation.fidelity.occurrences import is_weekend, iso_weekday
from validation.references.sample import stable_sample
from validation.structure.folder import connect

NOON = datetime(2025, 1, 6, 12, 0, 0, 123456, tzinfo=UTC)
DAY_US = 86_400_000_000
AWKWARD_IDS = ["H-1", "H-10", "h-1", "007", "1e5", "null", "EU/West"]


def event(name: str, **values: Any) -> dict[str, Any]:
    return {
        "event_id": name,
        "user_id": "u000000",
        "session_id": "s",
        "seq": 0,
        "at": NOON,
        "logged_at": NOON,
        "utc_offset_min": -360,
        "domain": "food",
        "app": "Platehop",
        "action": "order",
        "source": "self",
        **values,
    }


def written(folder: Path, declared: Table, *shards: pa.Table) -> Path:
    """The shards as the pipeline writes them, in a folder of their own."""
    for place, shard in enumerate(shards):
        write_table(folder / f"train-{place:05d}-of-{len(shards):05d}.parquet", declared, shard)
    return folder


def by_pyarrow(folder: Path) -> pa.Table:
    return ds.dataset(folder, format="parquet").to_table()


def by_polars(folder: Path) -> pa.Table:
    return pl.read_parquet(folder / "*.parquet").to_arrow()


def by_duckdb(folder: Path) -> pa.Table:
    with connect() as database:
        return database.sql(f"SELECT * FROM read_parquet('{folder}/*.parquet')").to_arrow_table()


def by_pandas(folder: Path) -> pa.Table:
    frame = pd.read_parquet(folder, dtype_backend="pyarrow")
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


READERS = {"pyarrow": by_pyarrow, "polars": by_polars, "duckdb": by_duckdb, "pandas": by_pandas}
EVERY_READER = pytest.mark.parametrize("read", READERS.values(), ids=READERS)
Read = Callable[[Path], pa.Table]


@pytest.fixture(scope="module")
def population() -> pa.Table:
    ids = [f"h{number:05d}" for number in range(20_000)]
    return pa.table({"household": ids, "size": pa.array(range(20_000), pa.int32())})


@pytest.mark.parametrize("threads", [1, 8])
def test_g1_s07_a_reference_subsample_is_chosen_by_key_and_not_by_the_engine(
    threads: int, population: pa.Table
) -> None:
    shuffled = population.take(pa.array(np.argsort(Draws(1, "test").bits("order", np.arange(20_000)))))
    first = stable_sample(population, "household", 1_000)["household"].to_pylist()
    assert len(set(first)) == 1_000
    for rows in (population, shuffled, population):
        assert stable_sample(rows, "household", 1_000, threads)["household"].to_pylist() == first


def test_g2_s07_every_weekend_event_is_on_a_saturday_or_sunday_of_the_users_own_date() -> None:
    draws, rows = Draws(7, "test"), np.arange(10_000)
    offset = np.array([-660, -300, 0, 330, 840])[rows % 5]
    saturday = 20_099  # 2025-01-11
    day = saturday + 7 * (draws.uniform("week", rows) * 52).astype(np.int64) + rows % 2
    local = day * DAY_US + (draws.uniform("moment", rows) * DAY_US).astype(np.int64)
    at = local - offset * 60_000_000
    assert is_weekend(at, offset).all()
    assert not is_weekend(at + 2 * DAY_US, offset).any()
    assert set(iso_weekday(at, offset).tolist()) == {6, 7}


def test_g2_s07_our_weekday_is_the_iso_number_whatever_each_library_says() -> None:
    sunday = date(2024, 3, 10)
    assert iso_weekday(np.array([(sunday - date(1970, 1, 1)).days * DAY_US]), np.array([0])).tolist() == [7]
    assert (sunday.weekday(), sunday.isoweekday()) == (6, 7)
    assert pl.select(pl.lit(sunday).dt.weekday()).item() == 7
    assert duckdb.sql("SELECT dayofweek(DATE '2024-03-10'), isodow(DATE '2024-03-10')").fetchall() == [(0, 7)]
    days = [date(1969, 12, 20) + timedelta(days=step) for step in range(0, 40_000, 13)]
    at = np.array([(day - date(1970, 1, 1)).days * DAY_US for day in days])
    assert iso_weekday(at, np.zeros(at.size, np.int64)).tolist() == [day.isoweekday() for day in days]


def test_g2_s09_milliseconds_are_cast_in_the_open_and_the_join_loses_no_row() -> None:
    moments = [NOON.replace(microsecond=123_000) + timedelta(seconds=step) for step in range(1_000)]
    reference = pa.table({"at": pa.array(moments, pa.timestamp("ms", "UTC")), "n": range(1_000)})
    ours = pa.table({"at": pa.array(moments, TIMESTAMP), "m": range(1_000)})
    with pytest.raises(pl.exceptions.PolarsError):
        pl.from_arrow(ours).join(pl.from_arrow(reference), on="at")  # type: ignore[union-attr,arg-type]
    cast = reference.set_column(0, "at", cast_exactly(reference["at"], TIMESTAMP))
    assert cast.schema.field("at").type == TIMESTAMP
    joined = pl.from_arrow(ours).join(pl.from_arrow(cast), on="at")  # type: ignore[union-attr,arg-type]
    assert joined.height == 1_000
    assert (joined["n"] == joined["m"]).all()


def test_g2_s09_a_finer_unit_is_refused_where_digits_would_go_and_so_is_a_time_without_zone() -> None:
    told = {"user_id": ["u000000"], "locale": ["en_US"], "week_start": ["sun"], "time_zone": ["UTC"]}
    rows = USERS.empty().to_pydict() | told
    coarse = USERS.conform(pa.table({**rows, "signed_up_at": pa.array([1_000], pa.timestamp("ms", "UTC"))}))
    assert coarse["signed_up_at"].type == TIMESTAMP
    assert coarse["signed_up_at"].cast(pa.int64()).to_pylist() == [1_000_000]
    with pytest.raises(TableError, match=r"signed_up_at: .* does not become .* without loss"):
        USERS.conform(pa.table({**rows, "signed_up_at": pa.array([1_001], pa.timestamp("ns", "UTC"))}))
    with pytest.raises(TableError, match="a time without a zone is not an instant"):
        USERS.conform(pa.table({**rows, "signed_up_at": pa.array([1_001], pa.timestamp("us"))}))


@EVERY_READER
def test_g6_s01_a_shard_of_nulls_has_the_declared_type(read: Read, tmp_path: Path) -> None:
    silent = pa.Table.from_pylist([{name: event("e0").get(name) for name in EVENTS.columns}])
    assert silent.schema.field("text").type == pa.null()
    spoken = pa.Table.from_pylist([event("e1", text="hello")], schema=EVENTS.schema())
    folder = written(tmp_path, EVENTS, silent, spoken)
    assert {pq.read_schema(path).field("text").type for path in folder.iterdir()} == {pa.string()}
    assert sorted(read(folder)["text"].to_pylist(), key=str) == [None, "hello"]


def test_g6_s02_structs_get_the_declared_order_and_missing_children_become_null() -> None:
    declared = Table(
        name="strata",
        layer="internal",
        key=("task_id",),
        doc="For tests.",
        columns={"task_id": Field(pa.string(), "Which."), "strata": STRATA},
    )
    whole = {field.name: None for field in STRATA.type} | {
        "constraint_count": 3,
        "distance_days": 1.5,
        "implicitness": "L2",
    }
    nights = [
        pa.table({"task_id": ["a"], "strata": pa.array([whole], STRATA.type)}),
        pa.table({"task_id": ["b"], "strata": [{"implicitness": "L3", "constraint_count": 2}]}),
    ]
    assert nights[1].schema.field("strata").type != STRATA.type
    both = pa.concat_tables([declared.conform(night) for night in nights])
    assert both.schema == declared.schema()
    first, second = both["strata"].to_pylist()
    assert (first["constraint_count"], first["distance_days"], first["implicitness"]) == (3, 1.5, "L2")
    assert list(second) == [field.name for field in STRATA.type]
    assert (second["constraint_count"], second["implicitness"], second["distance_days"]) == (2, "L3", None)
    with pytest.raises(TableError, match="undeclared struct fields"):
        declared.conform(pa.table({"task_id": ["c"], "strata": [{"mood": "good"}]}))


@EVERY_READER
def test_g6_s03_categories_are_plain_text_in_every_shard(read: Read, tmp_path: Path) -> None:
    levels = EVENTS.columns["action"].values
    assert levels is not None
    frames = [
        pl.from_arrow(pa.Table.from_pylist([event(f"e{n}", action=action)], schema=EVENTS.schema()))
        for n, action in enumerate(("view", "order"))
    ]
    enums = [frame.with_columns(pl.col("action").cast(pl.Enum(levels))).to_arrow() for frame in frames]  # type: ignore[union-attr]
    assert pa.types.is_dictionary(enums[0].schema.field("action").type)
    folder = written(tmp_path, EVENTS, *enums)
    assert {str(pq.read_schema(path).field("action").type) for path in folder.iterdir()} == {"string"}
    column = read(folder)["action"]
    assert not pa.types.is_dictionary(column.type)
    assert sorted(column.to_pylist()) == ["order", "view"]


def test_g6_s03_no_public_table_has_a_dictionary_column() -> None:
    assert not [
        name
        for name, declared in RELEASED.items()
        for field in declared.columns.values()
        if pa.types.is_dictionary(field.type)
    ]


def test_g6_s04_large_strings_become_strings_and_the_folder_opens_as_a_data_set(tmp_path: Path) -> None:
    hours = dict.fromkeys(("min_age", "opens_hour", "closes_hour"), pl.Int16)
    rows = [
        {
            "item_id": f"i{n}",
            "domain": "food",
            "category": "main",
            "title": "Bowl",
            "description": "A bowl.",
            "price_cents": 900,
            "currency": "USD",
            "owner_user_id": None,
            **dict.fromkeys(hours),
        }
        for n in range(4)
    ]
    large = pl.DataFrame(rows, schema_overrides={"owner_user_id": pl.String, **hours}).to_arrow(
        compat_level=pl.CompatLevel.oldest()
    )
    assert large.schema.field("title").type == pa.large_string()
    for country in ("country=AT", "country=US"):
        written(tmp_path / country, ITEMS, large)
    assert ds.dataset(tmp_path / "country=AT", format="parquet").schema == ITEMS.schema()
    by_country = ds.partitioning(pa.schema([("country", pa.string())]), flavor="hive")
    whole = ds.dataset(tmp_path, format="parquet", partitioning=by_country)
    assert whole.schema.field("country").type == pa.string()
    assert whole.to_table()["title"].type == pa.string()
    assert whole.count_rows() == 8


@EVERY_READER
def test_g6_s05_times_are_instants_in_utc_to_the_microsecond_for_every_reader(read: Read, tmp_path: Path) -> None:
    moments = [NOON, datetime(1970, 1, 1, tzinfo=UTC), datetime(2024, 3, 10, 9, 59, 59, 999_999, tzinfo=UTC)]
    rows = [
        {
            "user_id": f"u{n:06d}",
            "locale": "en_US",
            "week_start": "sun",
            "time_zone": "America/New_York",
            "signed_up_at": moment,
        }
        for n, moment in enumerate(moments)
    ]
    folder = written(tmp_path, USERS, pa.Table.from_pylist(rows, schema=USERS.schema()))
    assert pq.read_schema(next(folder.iterdir())).field("signed_up_at").type == TIMESTAMP
    found = read(folder).sort_by("user_id")
    kind = found.schema.field("signed_up_at").type
    assert (kind.unit, kind.tz) == ("us", "UTC")
    assert found["signed_up_at"].cast(pa.int64()).to_pylist() == [
        (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) for moment in moments
    ]
    assert set(found["time_zone"].to_pylist()) == {"America/New_York"}


@EVERY_READER
def test_g6_s11_money_is_whole_cents_and_exact_on_every_way(read: Read, tmp_path: Path) -> None:
    with connect() as database:
        cents = database.sql(
            "SELECT unnest(['a', 'b', 'c', 'd']) AS event_id, "
            "unnest([(59.99::DECIMAL(6, 2) * 100)::BIGINT, (0.10::DECIMAL(4, 2) * 100)::BIGINT, 10, 10]) AS price_cents"
        ).to_arrow_table()
    polars = pl.from_arrow(cents)
    assert isinstance(polars, pl.DataFrame)
    rows = [event(row["event_id"], price_cents=row["price_cents"], currency="USD") for row in polars.to_dicts()]
    found = read(written(tmp_path, EVENTS, pa.Table.from_pylist(rows, schema=EVENTS.schema()))).sort_by("event_id")
    assert found["price_cents"].type == pa.int64()
    amounts = found["price_cents"].to_pylist()
    assert Decimal(amounts[0]) / 100 == Decimal("59.99")
    assert Decimal(sum(amounts[1:])) / 100 == Decimal("0.30")


def test_g6_s11_no_public_table_holds_money_as_anything_but_whole_cents() -> None:
    money = {
        (name, column): field.type
        for name, declared in RELEASED.items()
        for column, field in declared.columns.items()
        if column.endswith("_cents")
    }
    assert set(money.values()) == {pa.int64()}
    with pytest.raises(TableError, match="price_cents"):
        ITEMS.conform(pa.table({**{name: ["x"] for name in ITEMS.columns}, "price_cents": [59.99]}))


@EVERY_READER
def test_g8_s11_awkward_ids_stay_distinct_text(read: Read, tmp_path: Path) -> None:
    items = [
        {
            "item_id": name,
            "domain": "food",
            "category": "main",
            "title": name,
            "description": "A dish.",
            "price_cents": 900,
            "currency": "USD",
        }
        for name in AWKWARD_IDS
    ]
    folder = written(tmp_path / "items", ITEMS, pa.Table.from_pylist(items, schema=ITEMS.schema()))
    found = read(folder)["item_id"]
    assert sorted(found.to_pylist()) == sorted(AWKWARD_IDS)
    assert found.null_count == 0
    assert [path.name for path in tmp_path.rglob("*")] == ["items", "train-00000-of-00001.parquet"]


def test_g8_s11_awkward_ids_join_exactly_and_stand_in_the_answer_key_as_they_are(tmp_path: Path) -> None:
    items = [
        {
            "item_id": name,
            "domain": "food",
            "category": "main",
            "title": name,
            "description": "A dish.",
            "price_cents": 900,
            "currency": "USD",
        }
        for name in AWKWARD_IDS
    ]
    options = [{"option_id": name, "label": name, "item_id": name} for name in AWKWARD_IDS]
    tasks = [
        {
            "task_id": name,
            "user_id": "u000000",
            "family": "know",
            "domains": ["food"],
            "asked_at": NOON,
            "utc_offset_min": 0,
            "request": "?",
            "options": options,
            "tool_ids": [],
        }
        for name in AWKWARD_IDS
    ]
    written(tmp_path / "items", ITEMS, pa.Table.from_pylist(items, schema=ITEMS.schema()))
    written(tmp_path / "tasks", TASKS, TASKS.conform(pa.Table.from_pylist(tasks, schema=TASKS.schema())))
    gold = {name: json.dumps({"option_ids": [name]}) for name in AWKWARD_IDS}
    with connect() as database:
        database.register("keys", pa.table({"task_id": list(gold), "gold": list(gold.values())}))
        rows = database.execute(
            f"SELECT t.task_id, i.item_id FROM read_parquet('{tmp_path}/tasks/*.parquet') t JOIN keys USING (task_id) "
            f"JOIN read_parquet('{tmp_path}/items/*.parquet') i ON i.item_id = json_extract_string(gold, '$.option_ids[0]')"
        ).fetchall()
    assert sorted(rows) == sorted((name, name) for name in AWKWARD_IDS)
    polars = pl.read_parquet(tmp_path / "tasks" / "*.parquet").join(
        pl.read_parquet(tmp_path / "items" / "*.parquet"), left_on="task_id", right_on="item_id"
    )
    assert sorted(polars["task_id"].to_list()) == sorted(AWKWARD_IDS)
    with pytest.raises(TableError, match="key item_id repeats: 007"):
        ITEMS.conform(pa.Table.from_pylist([*items, items[3]], schema=ITEMS.schema()))
