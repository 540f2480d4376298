"""Tastes of the people around: their own, shared with a partner in part, and of children by their age."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from schemas.load import load_domains
from schemas.tables.fields import TRAITS
from tests.flows.dispositions.likelihood import has_level, specs_of, tastes
from tests.flows.lives import Lives, frame, is_likely, mean, run, same_rows

DOMAINS = ["food", "groceries"]
SPECS = specs_of(load_domains(DOMAINS))
QUIET = {
    "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0},
    "contradictions": {"temporary_state": 0},
}
STRANGERS = np.mean([sum(value.share**2 for value in spec.values.values()) for spec in SPECS.values()])


def some(users: int = 3_000, **dispositions: Any) -> Lives:
    return tastes(users, domains=DOMAINS, disturb=QUIET, dispositions=dispositions)


def with_user(lives: Lives) -> pl.DataFrame:
    """Every taste of every other person, beside the user's own in the same dimension."""
    band = pl.col("attributes").list.eval(pl.element().struct.field("value")).list.get(2, null_on_oob=True)
    actors = lives["actors"].with_columns(band=band).select("actor_id", "relation", "band")
    rows = lives["dispositions"].join(actors, on="actor_id")
    own = rows.filter(relation="self").select("user_id", "dimension", mine="value", strength_of_user="strength")
    return rows.filter(pl.col("relation") != "self").join(own, on=["user_id", "dimension"])


@pytest.fixture(scope="module")
def crowd() -> pl.DataFrame:
    return with_user(some())


def agree(rows: pl.DataFrame) -> float:
    return mean((rows["value"] == rows["mine"]).cast(pl.Float64))


def test_everybody_around_has_one_lasting_taste_in_every_dimension() -> None:
    lives = some(200)
    rows = with_user(lives)
    others = lives["actors"].filter(pl.col("relation") != "self")
    assert rows.height == others.height * len(SPECS) and rows.select("actor_id", "dimension").is_unique().all()
    assert set(rows["clock"]) <= {"trait", "habit"} and rows["valid_to"].null_count() == rows.height
    assert lives["dispositions"]["disposition_id"].is_unique().all()
    assert mean((rows["strength"] == rows["strength_of_user"]).cast(pl.Float64)) < 0.05


def test_partners_share_the_declared_part_of_their_tastes_and_strangers_none(crowd: pl.DataFrame) -> None:
    """What is not taken over agrees as often as that of two people of like attributes: a little more than strangers."""
    partner, stranger = agree(crowd.filter(relation="partner")), agree(crowd.filter(relation="colleague"))
    assert STRANGERS - 0.01 < stranger < STRANGERS + 0.06
    assert abs(partner - (0.35 + 0.65 * stranger)) < 0.02
    half = agree(crowd.filter(relation="friend"))
    assert abs(half - (0.175 + 0.825 * stranger)) < 0.02


def test_the_smaller_a_child_the_more_of_its_tastes_are_those_of_the_house(crowd: pl.DataFrame) -> None:
    child = crowd.filter(relation="child")
    shares = [agree(child.filter(band=band)) for band in ("0-5", "6-12", "13-17", "18-24")]
    assert shares[0] > shares[1] + 0.05 > shares[2] + 0.1 > shares[3] + 0.15


def test_a_childs_own_tastes_are_those_of_its_age() -> None:
    """With nothing shared: tilts by age count by the child's own, and what only grown people have is not the child's."""
    rows = with_user(some(6_000, shared_taste=0))
    for name, spec in SPECS.items():
        [first, *_] = [*[tilt for tilt in spec.tilts if tilt.attribute == "age_years"], None]
        if first is None:
            continue
        level = next(iter(first.multiply))
        value = max(first.multiply[level], key=lambda v: first.multiply[level][v])
        low, high = (float(part) for part in level.split(".."))
        old = rows.filter(dimension=name, relation="parent", band="75+")
        young = rows.filter(dimension=name, relation="child", band="6-12")
        inside, outside = (old, young) if low <= 85 < high and not low <= 9 < high else (young, old)
        if low <= 9 < high or low <= 85 < high:
            assert (inside["value"] == value).mean() > (outside["value"] == value).mean() - 0.02  # type: ignore[operator]
    assert has_level(pl.DataFrame({"age_years": [9]}), _tilt("0..18"), "0..18").all()


def _tilt(level: str) -> Any:
    from schemas.domain import Tilt

    return Tilt(attribute="age_years", multiply={level: {}}, basis="assumed")


def test_how_much_is_shared_moves_no_taste_of_a_user_and_shares_only_grow() -> None:
    none, some_of_it, all_of_it = (some(300, shared_taste=share) for share in (0, 0.35, 1))
    own = [
        lives["dispositions"].join(lives["actors"].filter(relation="self"), on="actor_id", how="semi")
        for lives in (none, some_of_it, all_of_it)
    ]
    assert own[0].equals(own[1]) and own[1].equals(own[2])
    assert same_rows(none.tables["interests"], all_of_it.tables["interests"])
    assert agree(with_user(all_of_it).filter(relation="partner")) == 1
    pair = with_user(none).join(with_user(some_of_it), on="disposition_id", suffix="_later")
    changed = pair.filter(pl.col("value") != pl.col("value_later"))
    assert changed.height > 500 and (changed["value_later"] == changed["mine"]).all()


def test_as_many_partners_differ_from_their_users_as_without_a_common_house() -> None:
    """The other way round: a partner whose tastes are not shared is like anybody of that household."""
    rows = with_user(some(3_000, shared_taste=0)).filter(relation="partner")
    for name, spec in SPECS.items():
        if not spec.tilts:
            here = rows.filter(dimension=name)
            both = sum(value.share**2 for value in spec.values.values())
            assert (
                is_likely(int((here["value"] == here["mine"]).sum()), here.height, both)
                or abs(agree(here) - both) < 0.03
            )


def test_traits_move_the_tastes_of_users_and_not_of_those_around_them() -> None:
    lives = some(1_200, shared_taste=0)
    personas = lives.tables["personas"]
    everybody = pa.array([75] * personas.num_rows, pa.int16())
    for name in TRAITS:
        personas = personas.set_column(personas.column_names.index(name), name, everybody)
    moved = run("dispositions", lives.data, {**lives.tables, "personas": personas})
    actors = lives["actors"].select("actor_id", is_user=pl.col("relation") == "self")
    before, after = (
        frame(table).join(actors, on="actor_id") for table in (lives.tables["dispositions"], moved["dispositions"])
    )
    assert before.filter(~pl.col("is_user")).equals(after.filter(~pl.col("is_user")))
    base = [one.filter(pl.col("is_user"), dimension="food.base")["value"] for one in (before, after)]
    tofu = [mean((values == "tofu").cast(pl.Float64)) for values in base]
    # Of food.base 0.24 are tofu; a share of 0.24 * 1.3 beside one of 0.24 * 0.8 for beef comes to 0.31.
    assert tofu[1] > tofu[0] + 0.05, tofu
