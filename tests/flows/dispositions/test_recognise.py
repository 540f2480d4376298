"""People are recognisable: with tastes alone at work, one's next month is nearer to one's own than to that of others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from flows.common.draws import Draws
from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domains
from tests.flows.dispositions.recognise import F64, chosen, divergence, further_by_all, further_by_taste
from tests.flows.lives import QUIET, Lives, live, small_config

AT_LEAST = 0.88
"""Of real shoppers 92.5 % of others are further."""


def months(users: int = 300, **dispositions: Any) -> tuple[F64, F64, list[slice]]:
    """Choices of two months of four weeks, without drift, states and noise; and where each dimension's values stand."""
    data = small_config(users, 8, domains=list(NINE_DOMAINS), disturb=QUIET, dispositions=dispositions)
    lives = Lives(data, live(data, last="timelines"))
    start, names = data.window.start, {}
    for domain in load_domains(data.domains).values():
        names |= domain.value_names()
    ends = np.cumsum([len(known) for known in names.values()])
    blocks = [slice(int(end) - len(known), int(end)) for end, known in zip(ends, names.values(), strict=True)]
    cuts = [pl.lit(start + timedelta(weeks=week)) for week in (0, 4, 8)]
    first, second = (chosen(lives, list(names), *cuts[n : n + 2]) for n in (0, 1))
    return first, second, blocks


@pytest.fixture(scope="module")
def lived() -> tuple[F64, F64, list[slice]]:
    return months()


def test_a_month_is_nearer_to_ones_own_next_than_to_those_of_most_others(
    lived: tuple[F64, F64, list[slice]], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, blocks = lived
    draws = Draws(7, "recognise")
    by_all, by_taste = (
        further_by_all(first, second, draws).mean(),
        further_by_taste(first, second, blocks, draws).mean(),
    )
    with capsys.disabled():
        print(f"\nothers further than oneself: {by_all:.3f}; by taste within dimensions alone {by_taste:.3f}")
    assert by_all >= AT_LEAST and by_taste >= AT_LEAST


def test_people_who_do_everything_equally_often_are_recognised_too() -> None:
    still = {"activity_spread": 0, "absent_share": 0, "late_start_share": 0, "early_end_share": 0}
    first, second, _ = months(150, **still)
    further = further_by_all(first, second, Draws(7, "recognise"))
    assert further.mean() + 2 * further.std() / further.size**0.5 >= AT_LEAST  # half as many people as above


def test_people_without_tastes_are_nobody_in_particular() -> None:
    first, second, blocks = months(150, strength_mean=0.001, interests_mean=0)
    assert abs(further_by_taste(first, second, blocks, Draws(7, "recognise")).mean() - 0.5) < 0.08


def test_the_divergence_is_that_of_jensen_and_shannon() -> None:
    one, other = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]), np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert np.allclose(divergence(one, other), [0.0, np.log(2)])
