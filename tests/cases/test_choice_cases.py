"""Faults of public reports about simulated choices: people who take what nothing speaks for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pytest

from flows.common.household import own_actors, rows_of
from flows.disturb.overlay import household_sensitivity
from flows.disturb.purse import price_loss
from schemas.behaviour.catalogue_index import read_index
from schemas.behaviour.choice import choice_shares, match_table, position_cost
from schemas.behaviour.effective import effective_values
from schemas.config.data import NINE_DOMAINS
from schemas.load import load_domain
from tests.flows.lives import Lives, live, small_config
from validation.validity.dominance import dominance, dominated, hopeless

EXPLORATION = 0.05
FAR_BEHIND = 6.0
"""Log-odds behind the best option on show, at which but one in four hundred is taken by taste."""


class Screens(NamedTuple):
    """Choices of one domain on the clean timeline as arrays, one row each, and what the log has of them."""

    utility: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]
    taken: npt.NDArray[np.int64]
    match: npt.NDArray[np.float64]
    cents: npt.NDArray[np.int64]
    logged: npt.NDArray[np.int64]
    """Place of what the log says was taken."""
    is_noise: npt.NDArray[np.bool_]
    """Whether the log's line is labelled as noise."""


@pytest.fixture(scope="module")
def lived() -> dict[str, Screens]:
    """A month of nine domains, with much noise."""
    noise = {"accidental": 0.15, "other_person": 0.2, "duplicate": 0.02}
    data = small_config(
        60, 4, domains=list(NINE_DOMAINS), disturb={"noise": noise}, timelines={"exploration": EXPLORATION}
    )
    lives = Lives(data, live(data, last="disturb"))
    return {domain: screens(lives, domain) for domain in NINE_DOMAINS}


def screens(lives: Lives, name: str) -> Screens:
    tables, config, domain = lives.tables, lives.data.timelines, load_domain(name)
    events, index = tables["clean_events"], read_index(domain, tables["coded_items"])
    selves = own_actors(tables["actors"], tables["users"])
    tastes = effective_values(tables["dispositions"], selves, "actor_id", domain.value_names())
    rows = np.flatnonzero(pc.and_(pc.equal(events["domain"], name), pc.is_valid(events["options"])).to_numpy())
    users, some = rows_of(events["user_id"], tables["users"]), events.take(rows)
    options = index.code_of(pc.list_flatten(some["options"])).reshape(rows.size, -1)
    person, strength = users[rows], tastes.strength[users[rows]]
    liked, _ = tastes.at(person, some["at"].cast("int64").to_numpy())
    match = np.stack(
        [
            match_table(spec.kind, len(spec.values))[liked[:, column, None], index.values[options, column]]
            for column, spec in enumerate(domain.dimensions.values())
        ],
        axis=2,
    )
    utility = (match * strength[:, None, :]).sum(axis=2) - position_cost(options.shape[1], config.position_effect)
    utility -= price_loss(events, users, rows, options, household_sensitivity(tables), domain, index, config)
    log = tables["symbolic_events"]
    place = pc.index_in(some["event_id"], value_set=log["event_id"].combine_chunks())
    truth = tables["symbolic_truth"]
    label = truth["is_noise"].take(pc.index_in(some["event_id"], value_set=truth["event_id"].combine_chunks()))
    taken, logged = (
        (options == index.code_of(items)[:, None]).argmax(axis=1)
        for items in (some["item_id"], log["item_id"].take(place))
    )
    shares = choice_shares(utility, config.exploration)
    is_noise = label.to_numpy().astype(bool)
    return Screens(utility, shares, taken, match, index.price_cents[options], logged, is_noise)


def test_fault_73_a_dominated_option_is_taken_as_often_as_the_model_says_and_no_more(
    lived: dict[str, Screens],
) -> None:
    """Of 99 people, 28 took an option that another beat in every respect. Here each domain's count is what taste,
    price, place and the declared share of choices without regard to them make of it."""
    seen = 0
    for domain, some in lived.items():
        worse = dominated(some.match, some.cents)
        verdict = dominance(worse, some.shares, some.taken)
        assert verdict.is_as_declared, (domain, verdict)
        by_lot = worse.mean(axis=1).sum()  # what people without taste would take
        assert verdict.found < 0.75 * by_lot or by_lot < 25, (domain, verdict, by_lot)
        seen += int(worse.any(axis=1).sum())
    assert seen > 500


def test_fault_73_what_is_far_behind_is_taken_by_exploration_alone(lived: dict[str, Screens]) -> None:
    options = found = 0
    for some in lived.values():
        hopes = hopeless(some.utility, FAR_BEHIND)
        options += int(hopes.sum())
        found += int(hopes[np.arange(some.taken.size), some.taken].sum())
    rate = EXPLORATION / 6 + np.exp(-FAR_BEHIND)
    assert options > 300 and found <= options * rate + 4 * np.sqrt(options * rate) + 1


def test_fault_73_in_the_log_only_what_is_owned_up_to_as_noise_does_more(lived: dict[str, Screens]) -> None:
    """Lines that are not labelled take what the model says; labelled ones, put against the same model, far more."""
    excess = {}
    for is_noise in (False, True):
        found = expected = variance = 0.0
        for some in lived.values():
            here = some.is_noise == is_noise
            worse = hopeless(some.utility[here], 2.0)
            verdict = dominance(worse, some.shares[here], some.logged[here])
            assert verdict.is_as_declared or is_noise, verdict
            found, expected = found + verdict.found, expected + verdict.expected
            variance += verdict.spread**2
        excess[is_noise] = (found - expected) / np.sqrt(variance)
    assert abs(excess[False]) < 4 and excess[True] > 8, excess
