"""Who does how much where: no two domains alike, some not at all, some only for a part of the time."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy import stats

from schemas.config.data import NINE_DOMAINS
from tests.flows.dispositions.likelihood import tastes
from tests.flows.lives import Lives, is_likely, live, mean, small_config

STILL: dict[str, float] = {"absent_share": 0, "late_start_share": 0, "early_end_share": 0}
NINE = list(NINE_DOMAINS)


def some(users: int = 4_000, domains: list[str] | None = None, **dispositions: Any) -> pl.DataFrame:
    return tastes(users, domains=domains or NINE, dispositions=dispositions)["participation"]


@pytest.fixture(scope="module")
def crowd() -> pl.DataFrame:
    return some()


def test_factors_are_log_normal_and_those_of_two_domains_are_independent() -> None:
    rows = some(**STILL, activity_spread=0.4).with_columns(own=pl.col("rate_factor") / pl.col("attribute_factor"))
    logs = np.log(rows.pivot("domain", index="user_id", values="own").drop("user_id").to_numpy())
    for column in range(9):
        assert stats.kstest((logs[:, column] + 0.4**2 / 2) / 0.4, "norm").pvalue > 1e-5
    correlation = np.corrcoef(logs.T)[np.triu_indices(9, 1)]
    assert abs(correlation).max() < 5 / 4_000**0.5
    still = some(50, **STILL, activity_spread=0)
    assert still["rate_factor"].equals(still["attribute_factor"], check_names=False)


@pytest.mark.parametrize("domains", [NINE, ["food", "groceries"], ["food"]], ids=len)
def test_the_mean_over_all_people_is_one_whatever_is_missed(domains: list[str]) -> None:
    """Of the factor times the part of the window in which it counts; 4 standard errors."""
    lives = tastes(8_000, 10, domains=domains, dispositions={"absent_share": 0.3, "late_start_share": 0.3})
    window = lives.data.window
    begins = pl.max_horizontal("valid_from", pl.lit(window.start))
    part = (pl.col("valid_to").fill_null(window.end) - begins) / (window.end - window.start)
    amount = lives["participation"].select(amount=pl.col("rate_factor") * part)["amount"].to_numpy()
    assert abs(amount.mean() - 1) < 4 * amount.std() / amount.size**0.5


def test_as_many_are_absent_come_late_and_leave_early_as_the_config_says(crowd: pl.DataFrame) -> None:
    gone = crowd["rate_factor"] == 0
    assert is_likely(int(gone.sum()), crowd.height, 0.12)
    there = crowd.filter(~gone)
    start = small_config(1, 4).window.start
    assert is_likely(int((there["valid_from"] > start).sum()), there.height, 0.1)
    assert is_likely(int(there["valid_to"].count()), there.height, 0.05)
    assert there.filter(pl.col("valid_from") > start)["valid_to"].count() == 0
    assert crowd.filter(gone)["valid_to"].count() == 0 and (crowd.filter(gone)["valid_from"] < start).all()
    each = dict(crowd.filter(gone)["domain"].value_counts().iter_rows())
    assert all(is_likely(each[name], 4_000, 0.12) for name in NINE)
    assert 1 < crowd.filter(gone).group_by("user_id").len()["len"].max() < 9  # type: ignore[operator]


@pytest.mark.parametrize("domains", [["food"], ["food", "media"], NINE[:4]], ids=len)
def test_nobody_is_absent_from_all_domains(domains: list[str]) -> None:
    rows = some(500, domains, absent_share=0.9)
    taking_part = rows.filter(pl.col("rate_factor") > 0).group_by("user_id").len()
    assert taking_part.height == 500
    share = 0.9 - 0.9 ** len(domains) / len(domains)
    assert is_likely(int((rows["rate_factor"] == 0).sum()), rows.height, share)


def test_a_higher_share_only_adds_absences_and_moves_no_taste() -> None:
    few, many = (tastes(300, domains=NINE, dispositions={"absent_share": share}) for share in (0.05, 0.3))
    gone = [lives["participation"].filter(rate_factor=0).select("user_id", "domain") for lives in (few, many)]
    assert (
        0 < gone[0].height < gone[1].height and gone[0].join(gone[1], on=["user_id", "domain"], how="anti").height == 0
    )
    for name in ("dispositions", "interests", "drift"):
        assert few[name].equals(many[name]), name


def test_nobody_comes_and_goes_more_often_than_there_are_people() -> None:
    with pytest.raises(ValidationError, match="`late_start_share` and `early_end_share` together are above 1"):
        small_config(1, dispositions={"late_start_share": 0.6, "early_end_share": 0.5})


# What the timeline makes of it.


@pytest.fixture(scope="module")
def lived() -> Lives:
    dispositions = {"absent_share": 0.2, "late_start_share": 0.3, "early_end_share": 0.3}
    data = small_config(150, 6, domains=NINE, dispositions=dispositions)
    return Lives(data, live(data, last="timelines"))


def test_nothing_is_done_in_the_apps_of_a_domain_before_after_or_without_taking_part(lived: Lives) -> None:
    lines = lived["clean_sessions"].filter(pl.col("app") != "assistant")
    rows = lines.join(lived["participation"], on=["user_id", "domain"], how="left")
    assert rows.height > 30_000 and rows["rate_factor"].null_count() == 0
    assert (rows["rate_factor"] > 0).all() and (rows["started_at"] >= rows["valid_from"]).all()
    assert (rows["started_at"] < rows["valid_to"]).fill_null(True).all()
    ended = lived["participation"].filter(pl.col("valid_to").is_not_null(), pl.col("rate_factor") > 0)
    assert rows.join(ended, on=["user_id", "domain"], how="semi").height > 3_000  # before that they did take part


def test_who_has_twice_the_factor_does_twice_as_much() -> None:
    data = small_config(300, 8, domains=["food", "media"], dispositions={**STILL, "activity_spread": 0.8})
    lives = Lives(data, live(data, last="timelines"))
    sessions = lives["clean_sessions"].filter(pl.col("app") != "assistant").group_by("user_id", "domain").len()
    rows = lives["participation"].join(sessions, on=["user_id", "domain"], how="left").fill_null(0)
    flat = small_config(300, 8, domains=["food", "media"], dispositions={**STILL, "activity_spread": 0})
    usual = Lives(flat, live(flat, last="timelines"))["clean_sessions"].filter(pl.col("app") != "assistant")
    rows = rows.join(usual.group_by("user_id", "domain").len(name="usual"), on=["user_id", "domain"], how="inner")
    for domain in ("food", "media"):
        own = rows.filter(domain=domain)
        own = own.with_columns(factor=pl.col("rate_factor") / pl.col("attribute_factor"))
        expected = (own["usual"] * own["factor"]).sum()
        assert abs(own["len"].sum() / expected - 1) < 0.05
        keen, idle = own.filter(pl.col("factor") > 1.3), own.filter(pl.col("factor") < 0.6)
        for group in (keen, idle):
            assert abs(group["len"].sum() / (group["usual"] * group["factor"]).sum() - 1) < 0.1
        assert mean(keen["len"] / keen["usual"]) > 3 * mean(idle["len"] / idle["usual"])
