"""Claims about people learnt from a user's own file: the joint distribution is kept, no row is copied."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.draws import Draws, categorical, normal
from flows.common.learn_people import Learnt, draw, learn, restored, stated, values
from flows.common.read_people import PeopleFileError, read_people
from flows.personas.copula import spearman
from schemas.config.people_file import PeopleFile
from schemas.source import judge, read_text

SCHOOLS = np.array(["none", "school", "college", "master", "Promoviert: é"])
COLUMNS = {"age_years": "AGE", "sex": "SEX", "education": "EDU", "income_usd": "INC", "kids": "KIDS"}
calm = settings(deadline=None, max_examples=15, derandomize=True)


def population(count: int, seed: int = 5) -> pa.Table:
    """People in whom income hangs on school, and children on age and sex together."""
    draws, who = Draws(seed, "test"), np.arange(count)
    age = 18 + np.floor(draws.uniform("age", who) * 60).astype(np.int64)
    sex = categorical(draws.uniform("sex", who), [0.5, 0.5])
    school = categorical(draws.uniform("school", who), [0.3, 0.3, 0.2, 0.15, 0.05])
    income = np.rint(20_000 * 1.4**school * np.exp(0.4 * normal(draws.uniform("income", who))) / 500) * 500
    kids = categorical(draws.uniform("kids", who), [0.4, 0.3, 0.2, 0.1]) * (age > 25) * ((age > 50) == (sex == 0))
    return pa.table(
        {
            "AGE": age,
            "SEX": np.array(["female", "male"])[sex],
            "EDU": SCHOOLS[school],
            "INC": income,
            "KIDS": kids,
            "unused": draws.bits("noise", who),
        }
    )


def spec(file: str = "people.csv", columns: dict[str, str] | None = None, **more: Any) -> PeopleFile:
    return PeopleFile(file=file, columns=columns or COLUMNS, **more)


def saved(table: pa.Table, folder: Path, name: str = "people.csv") -> Path:
    if name.endswith(".csv"):
        pacsv.write_csv(table, folder / name)
    else:
        pq.write_table(table, folder / name)
    return folder


def sampled(chain: list[Learnt], count: int, seed: int = 1) -> dict[str, Any]:
    """Values by attribute, as the engine draws them."""
    draws, numbers = Draws(seed, "personas"), np.arange(count, dtype=np.uint64)
    codes: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for one in chain:
        codes[one.name], left = draw(one, draws.uniform(one.name, numbers), codes)
        found[one.name] = values(one, codes[one.name], left)
    return found


def learnt(table: pa.Table, folder: Path, **more: Any) -> list[Learnt]:
    given = spec(**more)
    return learn(given, read_people(given, saved(table, folder)))


def shares(*columns: Any) -> dict[tuple[Any, ...], float]:
    rows, count = np.unique(
        np.array([np.asarray(column).astype(str) for column in columns]), axis=1, return_counts=True
    )
    return {tuple(row): number / len(columns[0]) for row, number in zip(rows.T.tolist(), count, strict=True)}


def distance(a: dict[Any, float], b: dict[Any, float]) -> float:
    return sum(abs(a.get(key, 0) - b.get(key, 0)) for key in {*a, *b}) / 2


def test_the_joint_distribution_is_that_of_the_file(tmp_path: Path) -> None:
    people = population(5000)
    drawn = sampled(learnt(people, tmp_path), 50_000)
    file = {name: people[column].to_numpy() for name, column in COLUMNS.items()}
    for name in ("sex", "education", "kids"):
        texts = file[name].astype(float) if name == "kids" else file[name]
        assert distance(shares(texts), shares(drawn[name])) < 0.01
    old = {"file": file["age_years"] > 50, "drawn": drawn["age_years"] > 50}
    joint = shares(old["file"], file["sex"], file["kids"] > 0)
    assert distance(joint, shares(old["drawn"], drawn["sex"], drawn["kids"] > 0)) < 0.02
    assert distance(joint, shares(old["drawn"], drawn["sex"], np.roll(drawn["kids"], 1) > 0)) > 0.08, "naive"
    for name in ("age_years", "income_usd"):
        at = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
        assert np.allclose(np.quantile(drawn[name], at), np.quantile(file[name], at), rtol=0.06)
        assert drawn[name].mean() == pytest.approx(file[name].mean(), rel=0.01)
    for place in SCHOOLS:
        wanted = np.mean(file["income_usd"][file["education"] == place])
        assert np.mean(drawn["income_usd"][drawn["education"] == place]) == pytest.approx(wanted, rel=0.05)


def test_numbers_lie_on_the_grid_of_the_file_between_its_ends(tmp_path: Path) -> None:
    people = population(2000)
    chain = learnt(people, tmp_path)
    drawn = sampled(chain, 20_000)
    assert (drawn["income_usd"] % 500 == 0).all()
    assert drawn["income_usd"].min() >= people["INC"].to_numpy().min()
    assert drawn["income_usd"].max() <= people["INC"].to_numpy().max()
    assert set(drawn["kids"].tolist()) == {0, 1, 2, 3}
    assert {one.name: one.is_whole for one in chain}["income_usd"]
    new = set(drawn["income_usd"].tolist()) - set(people["INC"].to_pylist())
    assert len(new) > 10, "values of the file are not repeated, bands are filled"


def test_codes_are_not_filled_up_to_the_next_one(tmp_path: Path) -> None:
    place = np.arange(2000)
    age = np.where(place % 4 == 0, np.where(place % 8 == 0, 80, 85), 20 + place % 60)
    people = pa.table({"CODE": np.array([1, 2, 99])[place % 3], "AGE": age})
    drawn = sampled(learnt(people, tmp_path, columns={"code": "CODE", "age_years": "AGE"}), 5000)
    assert set(drawn["code"].tolist()) == {1, 2, 99}
    assert {80, 85} == {value for value in drawn["age_years"].tolist() if value >= 80}


def _cells(chain: list[Learnt], columns: dict[str, Any]) -> list[tuple[int, ...]]:
    """Each person's combination of levels."""
    found = []
    for one in chain:
        column = np.asarray(columns[one.name])
        if one.bands is None:
            found.append(np.searchsorted(np.array(one.levels), column.astype(str)).tolist())
        else:
            found.append((np.searchsorted(one.bands.low[:, 0], np.rint(column * 1e6), side="right") - 1).tolist())
    return list(zip(*found, strict=True))


def _meetings(folder: Path, least: int) -> tuple[int, int, int, int]:
    """How often rows that are alone in their combination are met by drawn people and by as many strangers.

    First by their combination of levels, then by all their values.
    """
    counts = np.zeros(4, np.int64)
    for seed in range(3):
        people = population(41_000, seed)
        file, strangers = people.slice(0, 1000), people.slice(1000)
        chain = learnt(file, folder, least_rows=least)
        by_name = [{name: part[column].to_numpy() for name, column in COLUMNS.items()} for part in (file, strangers)]
        drawn = sampled(chain, len(strangers), seed)
        [own, *others] = [_cells(chain, columns) for columns in (by_name[0], drawn, by_name[1])]
        times = Counter(own)
        alone = {cell for cell in own if times[cell] == 1}
        exact = [list(zip(*(column.tolist() for column in c.values()), strict=True)) for c in (*by_name, drawn)]
        rows = {row for row, cell in zip(exact[0], own, strict=True) if cell in alone}
        counts += [sum(cell in alone for cell in other) for other in others] + [
            sum(row in rows for row in exact[place]) for place in (2, 1)
        ]
    cells, cells_by_strangers, values_, values_by_strangers = counts.tolist()
    return cells, cells_by_strangers, values_, values_by_strangers


def test_a_row_that_is_alone_is_met_no_more_often_than_strangers_meet_it(tmp_path: Path) -> None:
    cells, by_strangers, exact, exact_by_strangers = _meetings(tmp_path, least=5)
    assert exact_by_strangers > 1000, "there must be something to compare"
    assert cells < 1.05 * by_strangers
    assert exact < 1.15 * exact_by_strangers
    cells, by_strangers, exact, exact_by_strangers = _meetings(tmp_path, least=2)
    assert cells > 1.2 * by_strangers, "with two rows for a share people come near to copies, and this test sees it"


def test_no_weight_stands_on_fewer_rows_than_asked(tmp_path: Path) -> None:
    people = population(600)
    for least in (5, 20):
        chain = learnt(people, tmp_path, least_rows=least)
        given = spec(least_rows=least)
        table = read_people(given, tmp_path)
        codes: dict[str, Any] = {}
        for one in chain:
            here = one.tables[-1]
            codes[one.name] = _codes_of(one, table)
            assert all(len(part.parents) == depth for depth, part in enumerate(one.tables))
            for cell, weights in zip(here.cells, here.weights, strict=True):
                inside = np.ones(len(table), bool)
                for parent, code in zip(here.parents, cell, strict=True):
                    inside &= codes[parent] == code
                count = np.bincount(codes[one.name][inside], minlength=len(one.levels))
                assert inside.sum() >= least or not here.parents
                assert weights.sum() == pytest.approx(1)
                often = count >= least
                assert np.allclose(weights[often], count[often] / inside.sum())
                assert weights[~often].sum() == pytest.approx(count[~often].sum() / inside.sum())


def _codes_of(one: Learnt, table: pa.Table) -> Any:
    column = table[one.name]
    if one.bands is None:
        return np.searchsorted(np.array(one.levels), column.to_numpy().astype(str))
    return np.searchsorted(one.bands.low[:, 0], column.to_numpy(), side="right") - 1


def test_a_lone_row_is_smoothed_away(tmp_path: Path) -> None:
    """One person alone has `rare` together with `blue`; what is learnt lets all that are `rare` share the colours."""
    colour = ["blue", "red", "red", "green"] * 250
    kind = ["common"] * 1000
    for place in (0, 1, 2):
        kind[place] = "rare"
    table = pa.table({"K": kind, "C": colour})
    chain = learnt(table, tmp_path, columns={"kind": "K", "colour": "C"})
    [only] = [one for one in chain if one.name == "colour"]
    assert [part.parents for part in only.tables] == [(), ("kind",)]
    assert only.tables[1].cells.tolist() == [[0]], "three rows are too few for a table of their own"
    code, _ = draw(only, np.linspace(0, 0.999, 1000), {"kind": np.ones(1000, np.int64)})
    assert np.bincount(code).tolist() == pytest.approx([250, 250, 500], abs=2)


def test_values_rise_with_the_uniform_so_that_they_can_be_correlated(tmp_path: Path) -> None:
    chain = learnt(population(1000), tmp_path)
    income = next(one for one in chain if one.name == "income_usd")
    uniform = np.linspace(0, 1 - 2**-53, 5000)
    before = {one.name: np.ones(5000, np.int64) for one in chain if one.name != "income_usd"}
    found = values(income, *draw(income, uniform, before))
    assert (np.diff(found) >= 0).all() and found[0] < found[-1]
    assert spearman(uniform, found) > 0.99


def test_the_order_of_rows_and_the_kind_of_file_have_no_effect(tmp_path: Path) -> None:
    people = population(500)
    order = np.argsort(Draws(1, "test").bits("order", np.arange(500)))
    one = read_people(spec(), saved(people, tmp_path))
    other = read_people(spec("shuffled.parquet"), saved(people.take(pa.array(order)), tmp_path, "shuffled.parquet"))
    assert stated(learn(spec(), one)) == stated(learn(spec(), other))
    first, second = sampled(learn(spec(), one), 300), sampled(learn(spec(), other), 300)
    assert all(np.array_equal(first[name], second[name]) for name in COLUMNS)


def test_what_a_config_states_is_what_is_learnt(tmp_path: Path) -> None:
    chain = learnt(population(700), tmp_path)
    plain = json.loads(json.dumps(stated(chain)))
    again = restored(PeopleFile(file="a.csv", columns={"a": "b"}, learnt=plain).learnt or {})
    one, other = sampled(chain, 3000), sampled(again, 3000)
    for name in COLUMNS:
        assert np.mean(one[name] == other[name]) > 0.999, "weights have six digits there"


def test_numbers_are_cut_where_a_config_speaks_of_them(tmp_path: Path) -> None:
    given, people = spec(), population(900)
    table = read_people(given, saved(people, tmp_path))
    chain = learn(given, table, {"age_years": ["18..21", "40"], "income_usd": ["..1500.5", "kind", "30000..30100"]})
    ages, income = (next(one for one in chain if one.name == name).levels for name in ("age_years", "income_usd"))
    assert {"18", "21", "40", "41"} <= set(ages)
    lowest = people["INC"].to_numpy().min()
    assert "1500.5" not in income and (lowest > 1500 or "2000" in income)
    assert [float(level) for level in ages] == sorted(float(level) for level in ages)
    drawn = sampled(chain, 20_000)
    wanted = np.mean((people["AGE"].to_numpy() >= 18) & (people["AGE"].to_numpy() < 21))
    assert np.mean((drawn["age_years"] >= 18) & (drawn["age_years"] < 21)) == pytest.approx(wanted, abs=0.01)


def test_text_is_kept_as_it_is_and_composed(tmp_path: Path) -> None:
    zips = [f"{place % 3:05d}" for place in range(60)]
    answers = ["no", "NA", "Hie\u0302\u0301u"] * 20
    flags = ["true", "false", "1"] * 20
    chain = learnt(
        pa.table({"z": zips, "w": answers, "f": flags}), tmp_path, columns={"zip": "z", "word": "w", "flag": "f"}
    )
    assert [one.levels for one in chain] == [
        ("00000", "00001", "00002"),
        ("Hi\u1ebfu", "NA", "no"),
        ("1", "false", "true"),
    ]


def problems(table: pa.Table, folder: Path, columns: dict[str, str], name: str = "people.csv") -> list[Any]:
    with pytest.raises(PeopleFileError) as caught:
        read_people(spec(name, columns), saved(table, folder, name))
    assert name in str(caught.value)
    return caught.value.problems


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_everything_that_is_wrong_with_a_file_is_told_at_once(tmp_path: Path, name: str) -> None:
    table = pa.table(
        {
            "INCOME": [None, *range(99)],
            "name": [f"n{place}" for place in range(100)],
            "hours": pa.array([*range(99), 10**13]),
        }
    )
    columns = {"income_usd": "INCOM", "pay": "INCOME", "who": "name", "hours": "hours"}
    found = problems(table, tmp_path, columns, name)
    assert [place for place, _, _ in found] == [("columns", attribute) for attribute in columns]
    assert found[0][1:] == ("the file has no column `INCOM`", "did you mean `INCOME`?")
    assert "has 1 empty values" in found[1][1]
    assert "`name` has 100 different values in 100 rows; at most 20 can be learnt" in found[2][1]
    assert "beyond 9e+12" in found[3][1]


def test_words_among_numbers_are_named(tmp_path: Path) -> None:
    table = pa.table({"pay": ["NA", "?", *(str(place) for place in range(98))]})
    [(_, rule, fix)] = problems(table, tmp_path, {"pay": "pay"})
    assert "at most 20 can be learnt" in rule
    assert "is it numeric? `NA`, `?` is no number" in fix


def test_few_rows_no_file_no_table_and_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    assert "49 rows; at least 50" in problems(population(49), tmp_path, COLUMNS)[0][1]
    with pytest.raises(PeopleFileError, match="there is no such file"):
        read_people(spec("nobody.csv"), tmp_path)
    (tmp_path / "bad.parquet").write_bytes(b"not a table")
    with pytest.raises(PeopleFileError, match="the file cannot be read"):
        read_people(spec("bad.parquet"), tmp_path)
    (tmp_path / "twice.csv").write_text("a,a\n" + "1,2\n" * 60)
    with pytest.raises(PeopleFileError, match="several columns `a`"):
        read_people(spec("twice.csv", {"x": "a"}), tmp_path)
    (tmp_path / "latin.csv").write_bytes(b"a\n" + "Z\u00fcrich\n".encode("latin-1") * 60)
    with pytest.raises(PeopleFileError, match="UTF-8"):
        read_people(spec("latin.csv", {"x": "a"}), tmp_path)


@pytest.mark.parametrize(
    ("text", "field", "rule"),
    [
        ("{file: people.xlsx, columns: {a: b}}", "file", "CSV or Parquet"),
        ("{file: people.csv, columns: {}}", "columns", "at least 1 entries"),
        ("{file: people.csv, columns: {a: x, b: x}}", "columns", "`x` stands for `a` already"),
        ("{file: people.csv, columns: {a: x}, bands: 1}", "bands", "2 to 100"),
    ],
)
def test_the_section_is_judged(text: str, field: str, rule: str) -> None:
    model, [violation] = judge(PeopleFile, read_text(text, "people.yaml"))
    assert model is None
    assert violation.field == field
    assert rule in violation.rule


@calm
@given(st.integers(50, 400), st.integers(0, 2**31), st.integers(2, 30), st.integers(2, 10))
def test_any_file_gives_whole_tables_and_values_within_it(count: int, seed: int, bands: int, least: int) -> None:
    people = population(count, seed)
    table = pa.table(
        {
            "sex": people["SEX"],
            "income": pa.array(np.rint(people["INC"].to_numpy() * 1e6).astype(np.int64)),
            "kids": pa.array(people["KIDS"].to_numpy() * 1_000_000),
            "education": people["EDU"],
        }
    )
    given = spec(columns={name: name for name in table.column_names}, bands=bands, least_rows=least)
    chain = learn(given, table)
    drawn = sampled(chain, 500, seed)
    for one in chain:
        assert all((part.weights >= 0).all() and np.allclose(part.weights.sum(axis=1), 1) for part in one.tables)
        known = table[one.name].to_numpy()
        if one.bands is None:
            assert set(drawn[one.name]) <= set(known.tolist())
        else:
            assert drawn[one.name].min() * 1e6 >= known.min() and drawn[one.name].max() * 1e6 <= known.max()
            assert one.bands.weights.sum() == count
