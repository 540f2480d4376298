"""How often people like what: the shares of the domain files, moved by the tilts, to within what so many people allow."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from flows.common.stage import Shard
from schemas.domain import DimensionSpec
from schemas.load import load_domains
from tests.flows.dispositions.likelihood import expected, has_level, liked_by, specs_of, tastes
from tests.flows.lives import Lives, frame, run, same_rows, small_config

CROWD = 20_000
DOMAINS = load_domains(["food", "groceries"])
SPECS = specs_of(DOMAINS)
TILTED = [
    (name, place, level)
    for name, spec in SPECS.items()
    for place, tilt in enumerate(spec.tilts)
    for level in tilt.multiply
]
RARE = 1e-5
"""A p-value must be higher. There are fewer than a hundred, so 1 in 1,000 choices of the seed would fail."""


@pytest.fixture(scope="module")
def crowd() -> Lives:
    return tastes(
        CROWD,
        disturb={
            "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0},
            "contradictions": {"temporary_state": 0},
        },
    )


@pytest.fixture(scope="module")
def liked(crowd: Lives) -> pl.DataFrame:
    return liked_by(crowd)


def p_value(
    values: pl.Series, spec: DimensionSpec, probability: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> float:
    counts = np.array([(values == value).sum() for value in spec.values])
    return float(stats.chisquare(counts, probability.sum(axis=0) / probability.sum() * counts.sum()).pvalue)


@pytest.mark.parametrize("name", SPECS)
def test_values_are_liked_as_often_as_shares_tilts_and_interests_say(
    name: str, liked: pl.DataFrame, crowd: Lives
) -> None:
    assert p_value(liked[name], SPECS[name], expected(liked, name, SPECS[name], crowd)) > RARE


@pytest.mark.parametrize(("name", "place", "level"), TILTED)
def test_a_tilt_moves_shares_by_its_factors_and_in_its_direction(
    name: str, place: int, level: str, liked: pl.DataFrame, crowd: Lives
) -> None:
    spec = SPECS[name]
    tilt = spec.tilts[place]
    here = has_level(liked, tilt, level)
    meant, rest = liked.filter(here), liked.filter(~here)
    assert min(meant.height, rest.height) > 300
    assert p_value(meant[name], spec, expected(meant, name, spec, crowd)) > RARE
    assert p_value(rest[name], spec, expected(rest, name, spec, crowd)) > RARE
    plain = {value: entry.share for value, entry in spec.values.items()}
    for value, factor in tilt.multiply[level].items():
        share = (meant[name] == value).mean()
        assert isinstance(share, float) and (share > plain[value]) == (factor > 1), value


def test_tilts_by_bands_and_by_names_and_by_tastes_elsewhere_are_all_tried() -> None:
    assert {".." in level for _, _, level in TILTED} == {True, False}
    assert {SPECS[name].tilts[place].dimension is None for name, place, _ in TILTED} == {True, False}


@pytest.mark.parametrize("attribute", ["region", "home_type", "marital_status"])
def test_attributes_without_a_tilt_tell_nothing(attribute: str, liked: pl.DataFrame) -> None:
    for name in (name for name, spec in SPECS.items() if not spec.tilts):
        counts = (
            liked.group_by(attribute, name)
            .len()
            .pivot(name, index=attribute, values="len")
            .fill_null(0)
            .drop(attribute)
        )
        assert stats.chi2_contingency(counts.to_numpy()).pvalue > RARE


def test_dimensions_without_a_common_tilt_are_independent(liked: pl.DataFrame) -> None:
    plain = [name for name, spec in SPECS.items() if not spec.tilts]
    assert len(plain) >= 3
    for one in plain:
        for other in plain:
            if one < other:
                counts = liked.group_by(one, other).len().pivot(one, index=other, values="len").fill_null(0).drop(other)
                assert stats.chi2_contingency(counts.to_numpy()).pvalue > RARE, (one, other)


def test_strengths_are_log_normal_about_the_median_of_the_config_and_the_factor_of_the_dimension() -> None:
    people = tastes(4_000, dispositions={"strength_mean": 2.0, "strength_spread": 0.5})
    steady = {"drift": {"gradual_share": 0}}
    first = people["dispositions"].filter(pl.col("cause").is_null())
    for name, spec in SPECS.items():
        own = first.filter(pl.col("dimension") == name).unique("user_id")["strength"].to_numpy()
        assert own.size == 4_000 and (np.round(own, 3) == own).all()
        assert stats.kstest(np.log(own / (2.0 * spec.strength)) / 0.5, "norm").pvalue > RARE, name
    firm = tastes(50, dispositions={"strength_mean": 2.0, "strength_spread": 0.0}, disturb=steady)["dispositions"]
    assert {(name, strength) for name, strength in firm.select("dimension", "strength").iter_rows()} == {
        (name, round(2.0 * spec.strength, 3)) for name, spec in SPECS.items()
    }


def test_the_clock_of_what_one_begins_with_is_that_of_the_domain_file(crowd: Lives) -> None:
    clocks = set(crowd["dispositions"].select("dimension", "clock", "is_sensitive").unique().iter_rows())
    assert clocks == {(name, spec.clock, spec.sensitive) for name, spec in SPECS.items()}


def test_a_further_domain_changes_no_taste_in_what_does_not_depend_on_it() -> None:
    one, two = tastes(60, domains=["groceries"]), tastes(60, domains=["food", "groceries"])
    for table in ("dispositions", "drift"):
        rows = two.tables[table]
        first = rows.filter(pa.array([name.startswith("groceries.") for name in rows["dimension"].to_pylist()]))
        assert one.tables[table].num_rows > 0 and same_rows(first, one.tables[table]), table


def test_a_taste_that_depends_on_another_domain_follows_the_shares_where_that_is_absent() -> None:
    linked = next(name for name, spec in SPECS.items() if any(tilt.dimension for tilt in spec.tilts))
    spec = SPECS[linked].model_copy(update={"tilts": [tilt for tilt in SPECS[linked].tilts if tilt.attribute]})
    alone = tastes(
        4_000,
        domains=[linked.split(".")[0]],
        disturb={"drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0}},
    )
    selves = alone["actors"].filter(pl.col("relation") == "self").select("actor_id")
    rows = alone["dispositions"].filter(clock=spec.clock, dimension=linked).join(selves, on="actor_id", how="semi")
    people = alone["personas"].join(rows.select("user_id", "value"), on="user_id")
    assert people.height == 4_000 and p_value(people["value"], spec, expected(people, linked, spec, alone)) > RARE


def test_other_rates_leave_what_people_begin_with_alone() -> None:
    quiet = tastes(
        60,
        disturb={
            "drift": {"abrupt_per_year": 0, "gradual_share": 0, "seasonal_share": 0},
            "contradictions": {"temporary_state": 0},
        },
    )["dispositions"]
    restless = tastes(60, disturb={"drift": {"abrupt_per_year": 9}, "contradictions": {"temporary_state": 0.5}})[
        "dispositions"
    ]
    columns = [name for name in quiet.columns if name != "valid_to"]
    begins = restless.filter(pl.col("cause").is_null()).select(columns)
    assert begins.equals(quiet.select(columns))
    assert restless.height > quiet.height


def test_more_states_take_none_away_and_change_none() -> None:
    few, many = (
        tastes(200, disturb={"contradictions": {"temporary_state": rate}})["dispositions"].filter(
            pl.col("clock") == "state"
        )
        for rate in (0.05, 0.3)
    )
    assert 0 < few.height < many.height
    assert many.join(few.select("disposition_id"), on="disposition_id", how="semi").equals(few)


def test_states_are_of_the_users_themselves_and_lie_well_within_the_window() -> None:
    stay = {"late_start_share": 0, "early_end_share": 0}
    all_of_them = {"temporary_state": 1.0, "state_days": 2}
    people = tastes(400, disturb={"contradictions": all_of_them}, dispositions=stay)
    states = people["dispositions"].filter(pl.col("clock") == "state")
    selves = people["actors"].filter(pl.col("relation") == "self")["actor_id"]
    assert states.select("actor_id", "dimension").is_unique().all()
    named = {name for name, spec in SPECS.items() if not spec.sensitive}
    assert states.height == 400 * len(named) and set(states["dimension"]) == named < set(SPECS)
    assert set(states["actor_id"]) == set(selves)
    window = people.data.window
    assert states["valid_from"].is_between(window.start + (window.end - window.start) * 0.1, window.end).all()
    assert (states["valid_to"] < window.end).all()
    assert (states["cause"] == "passing state").all()


def test_no_state_begins_before_a_person_comes_or_ends_after_they_have_gone() -> None:
    come_and_go = {"late_start_share": 0.5, "early_end_share": 0.5, "absent_share": 0}
    people = tastes(300, 8, disturb={"contradictions": {"temporary_state": 1.0}}, dispositions=come_and_go)
    domain = pl.col("dimension").str.split(".").list.first().alias("domain")
    states = people["dispositions"].filter(clock="state").with_columns(domain)
    both = states.join(people["participation"], on=["user_id", "domain"], suffix="_there")
    assert states.height == both.height > 500
    assert (both["valid_from"] >= both["valid_from_there"]).all()
    assert (both["valid_to"] < both["valid_to_there"]).fill_null(True).all()


def test_states_begin_at_any_time_of_the_middle_of_the_window_and_last_any_time_they_may() -> None:
    stay = {"late_start_share": 0, "early_end_share": 0}
    short = {"temporary_state": 0.1, "state_days": 9}
    people = tastes(1_500, disturb={"contradictions": short}, dispositions=stay)
    states = people["dispositions"].filter(pl.col("clock") == "state")
    window = people.data.window
    onset = (states["valid_from"] - window.start).dt.total_seconds() / (window.end - window.start).total_seconds()
    days = (states["valid_to"] - states["valid_from"]).dt.total_seconds() / 86_400
    assert stats.kstest(onset, "uniform", (0.1, 0.8)).pvalue > RARE
    assert stats.kstest(days + 0.5 / 24, "uniform", (3, 6)).pvalue > RARE  # whole hours
    assert stats.spearmanr(onset, days).pvalue > RARE


def test_a_ledger_row_of_drift_tells_what_held_before_and_after() -> None:
    people = tastes(1_500, disturb={"drift": {"abrupt_per_year": 12}})
    half_way = pl.col("onset_at") + (pl.col("ended_at") - pl.col("onset_at")) / 2
    shows = pl.when(pl.col("kind") == "gradual").then(half_way).otherwise(pl.col("onset_at")).alias("shows_at")
    selves = people["actors"].filter(pl.col("relation") == "self").select("actor_id")
    lasting = people["dispositions"].filter(pl.col("clock") != "state").join(selves, on="actor_id", how="semi")
    holding = lasting.select("user_id", "dimension", "value", "valid_from", "valid_to")
    drift = people["drift"].with_columns(shows).join(holding, on=["user_id", "dimension"])
    just_before = drift.filter(
        (pl.col("valid_from") < pl.col("shows_at")) & ~(pl.col("valid_to") < pl.col("shows_at")).fill_null(False)
    )
    then = drift.filter(
        (pl.col("valid_from") <= pl.col("shows_at")) & ~(pl.col("valid_to") <= pl.col("shows_at")).fill_null(False)
    )
    assert just_before.height == then.height == people["drift"].height > 1_000
    assert (just_before["value"] == just_before["before"]).all()
    assert (then["value"] == then["after"]).all()
    assert set(people["drift"].select("family", "kind", "policy", "is_contested").iter_rows()) == {
        ("drift", "abrupt", "follow_new_value", False),
        ("drift", "gradual", "follow_new_value", False),
        ("drift", "seasonal", "follow_context", False),
    }


def test_what_a_sensitive_event_moves_is_sensitive() -> None:
    people = tastes(600, disturb={"drift": {"abrupt_per_year": 12}})["dispositions"]
    moved = people.filter(pl.col("cause") == "health_scare")
    assert moved.height > 40 and moved["is_sensitive"].all()
    other = people.filter(pl.col("cause") == "new_job")
    assert {name for name, sensitive in other.select("dimension", "is_sensitive").iter_rows() if sensitive} == {
        name for name in other["dimension"] if SPECS[name].sensitive
    }


def test_shards_of_people_have_the_tastes_they_have_in_the_whole() -> None:
    config = small_config(90, 4, disturb={"drift": {"abrupt_per_year": 6}, "contradictions": {"temporary_state": 0.3}})
    whole = run("dispositions", config, run("personas", config, {}, Shard(0, 90)), Shard(0, 90))
    part = run("dispositions", config, run("personas", config, {}, Shard(40, 90)), Shard(40, 90))
    for name, table in part.items():
        own = whole[name].filter(pa.array([int(user[1:]) >= 40 for user in whole[name]["user_id"].to_pylist()]))
        assert table.num_rows > 0 and same_rows(own, table), name


def test_nobody_has_no_tastes() -> None:
    config = small_config(5, 4)
    tables = run("personas", config, {}, Shard(0, 5))
    nobody = {name: table[:0] for name, table in tables.items()}
    made = run("dispositions", config, nobody, Shard(0, 0))
    none = dict.fromkeys(("dispositions", "drift", "interests", "participation"), 0)
    assert {name: frame(table).height for name, table in made.items()} == none
