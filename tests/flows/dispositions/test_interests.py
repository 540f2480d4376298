"""Interests: a few a person, more of one area than chance would give, and tastes that lean by them and by nothing else."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from schemas.config.dispositions import DispositionsConfig
from schemas.interests import AREAS, POLARITIES, load_interests
from schemas.load import load_domains
from schemas.tables import fields
from tests.flows.dispositions.likelihood import liked_by, specs_of, tastes
from tests.flows.lives import Lives, is_likely, mean, same_rows

CROWD = 6_000
DOMAINS = ["food", "groceries", "media", "wellness"]
QUIET = {
    "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0},
    "contradictions": {"temporary_state": 0},
}
TAGS = {tag: interest for area in load_interests().areas.values() for tag, interest in area.tags.items()}


def some(users: int = 400, **dispositions: Any) -> Lives:
    return tastes(users, domains=DOMAINS, disturb=QUIET, dispositions=dispositions)


@pytest.fixture(scope="module")
def crowd() -> Lives:
    return some(CROWD)


def test_the_dictionary_of_fields_knows_all_areas_and_polarities() -> None:
    assert (fields.INTEREST_AREAS, fields.POLARITIES) == (AREAS, POLARITIES)


def test_people_have_as_many_interests_as_the_config_says(crowd: Lives) -> None:
    counts = crowd["interests"].group_by("user_id").len()["len"].to_numpy()
    counts = np.concatenate([counts, np.zeros(CROWD - counts.size)])
    assert abs(counts.mean() - 6) < 3.3 * counts.std() / CROWD**0.5
    assert 5.0 < counts.var() < 7.0  # about that of a Poisson, whatever the areas
    assert crowd["interests"].select("user_id", "tag").is_unique().all()


def test_as_many_are_recent_and_as_many_disliked_as_the_config_says(crowd: Lives) -> None:
    rows, start = crowd["interests"], crowd.data.window.start
    assert is_likely(int(rows["is_recent"].sum()), rows.height, 0.2)
    both = rows.filter(pl.col("tag").is_in([tag for tag, one in TAGS.items() if len(one.polarity) == 2]))
    assert is_likely(int((both["polarity"] == "dislikes").sum()), both.height, 0.2)
    for tag, polarity in rows.select("tag", "polarity").unique().iter_rows():
        assert polarity in TAGS[tag].polarity
    age = (pl.lit(start.astimezone(UTC)) - pl.col("began_at")).alias("age")
    new, old = (rows.filter(pl.col("is_recent") == recent).select(age)["age"] for recent in (True, False))
    assert timedelta(0) < new.min() and new.max() <= timedelta(days=90)  # type: ignore[operator]
    assert timedelta(days=365) <= old.min() and old.max() <= timedelta(days=8 * 365)  # type: ignore[operator]


def test_who_has_one_interest_of_an_area_has_more_of_it(crowd: Lives) -> None:
    area = crowd["interests"].pivot("area", index="user_id", values="tag", aggregate_function="len").fill_null(0)
    counts = area.drop("user_id").to_numpy().astype(float)
    assert (counts.var(axis=0) > 1.3 * counts.mean(axis=0)).all()  # independent tags would give the mean
    shares = crowd["interests"]["area"].value_counts()
    for name, count in shares.iter_rows():
        assert abs(count / crowd["interests"].height * len(AREAS) - 1) < 0.1, name


@pytest.mark.parametrize("attribute", ["sex", "region", "home_type", "education"])
def test_no_attribute_tells_of_an_interest(attribute: str, crowd: Lives) -> None:
    """The same people with other interests would do: with n tables the p-values are uniform."""
    rows = crowd["interests"].join(crowd["personas"].select("user_id", attribute), on="user_id")
    one = rows.unique(["user_id", "area"]).group_by(attribute, "area").len()
    all_of_them = crowd["personas"].group_by(attribute).len(name="people")
    one = one.join(all_of_them, on=attribute).with_columns(without=pl.col("people") - pl.col("len"))
    for area in AREAS:
        table = one.filter(area=area).select("len", "without").to_numpy()
        assert stats.chi2_contingency(table).pvalue > 1e-5, area


def test_a_higher_mean_only_adds_and_the_shares_move_nothing_but_themselves() -> None:
    few, many = (some(interests_mean=number)["interests"] for number in (3, 9))
    assert few.height < many.height and few.join(many, on=few.columns, how="anti").height == 0
    other = some(recent_share=0.6, disliked_share=0.6)["interests"]
    assert other.select("user_id", "tag").equals(some()["interests"].select("user_id", "tag"))
    assert some(interests_mean=0)["interests"].height == 0


def test_tastes_lean_by_the_declared_factor(crowd: Lives) -> None:
    """The pooled odds of linked values, of those with one interest for it, against it and none, tilts aside."""
    liked, specs = liked_by(crowd), specs_of(load_domains(DOMAINS))
    found = {sign: [0.0, 0.0] for sign in ("likes", "dislikes")}
    for tag, interest in TAGS.items():
        for dimension, value in interest.links.items():
            if dimension not in specs or specs[dimension].tilts:
                continue
            share = specs[dimension].values[value].share
            holders = crowd["interests"].filter(tag=tag)
            for sign in found:
                users = holders.filter(polarity=sign)["user_id"]
                hits = liked.filter(pl.col("user_id").is_in(users.implode()))[dimension] == value
                factor = 1.6 if sign == "likes" else 1 / 1.6
                found[sign][0] += hits.sum()
                found[sign][1] += len(hits) * share * factor / (1 - share + share * factor)
    for sign, (hits, expected) in found.items():
        assert expected > 60 and abs(hits - expected) < 4 * expected**0.5 + 0.03 * expected, (sign, hits, expected)
    # Both differ from what no leaning at all would give.
    assert found["likes"][0] > 1.25 * found["likes"][1] / 1.45
    assert found["dislikes"][0] < 0.9 * found["dislikes"][1] * 1.45


def test_the_shares_of_all_people_stay_about_where_they_are_without_interests(crowd: Lives) -> None:
    with_them, without = liked_by(crowd), liked_by(some(CROWD, interests_mean=0))
    moved = 0
    for name, spec in specs_of(load_domains(DOMAINS)).items():
        moved += int((with_them[name] != without[name]).sum())
        for value in spec.values:
            pair = [mean((people[name] == value).cast(pl.Float64)) for people in (with_them, without)]
            assert abs(pair[0] - pair[1]) < 0.02, (name, value, pair)
    assert moved > 0.005 * CROWD * len(specs_of(load_domains(DOMAINS)))


def test_many_strong_interests_too_leave_the_shares_of_all_people_about_where_they_are() -> None:
    """Without the division by the mean factor the largest difference is 0.10, with it 0.04."""
    strong, none = (
        liked_by(some(3_000, interests_mean=number, interest_factor=3.0, disliked_share=0)) for number in (30, 0)
    )
    for name, spec in specs_of(load_domains(DOMAINS)).items():
        for value in spec.values:
            pair = [mean((people[name] == value).cast(pl.Float64)) for people in (strong, none)]
            assert abs(pair[0] - pair[1]) < 0.065, (name, value, pair)


def test_interests_that_weigh_nothing_move_no_taste() -> None:
    none, idle = some(interests_mean=0).tables, some(interest_factor=1.0).tables
    assert idle["interests"].num_rows > 2_000 and same_rows(none["dispositions"], idle["dispositions"])
    assert not same_rows(none["dispositions"], some().tables["dispositions"])


def test_a_dimension_without_a_link_is_left_alone() -> None:
    linked = {dimension for interest in TAGS.values() for dimension in interest.links}
    free = [name for name, spec in specs_of(load_domains(DOMAINS)).items() if name not in linked]
    one, other = (some(1_000, interests_mean=number)["dispositions"] for number in (0, 20))
    for name in free:
        leaned = {tilt.dimension for tilt in specs_of(load_domains(DOMAINS))[name].tilts} & linked
        assert leaned or one.filter(dimension=name).equals(other.filter(dimension=name)), name


def test_the_defaults_are_the_declared_ones() -> None:
    config = DispositionsConfig()
    assert (config.interests_mean, config.recent_share, config.disliked_share) == (6.0, 0.2, 0.2)
    assert (config.interest_factor, config.shared_taste) == (1.6, 0.35)
