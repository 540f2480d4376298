"""Life events: to whom they happen, how often, and what a higher rate does."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flows.common.draws import Draws
from flows.common.ids import user_numbers
from flows.common.stage import Shard
from flows.dispositions.levels import has_level
from flows.dispositions.life_events import Happened, what_happens
from schemas.behaviour.hazards import yearly_hazards
from schemas.load import load_life_events
from tests.flows.lives import run, small_config

LIFE = load_life_events()
KINDS = list(LIFE.events)
PEOPLE, WEEKS = 10_000, 52


@pytest.fixture(scope="module")
def personas() -> pa.Table:
    return run("personas", small_config(PEOPLE), {}, Shard(0, PEOPLE))["personas"]


def happened(personas: pa.Table, per_year: float) -> Happened:
    return what_happens(LIFE, personas, user_numbers(personas["user_id"]), 0, WEEKS, per_year, Draws(7, "dispositions"))


def test_every_event_moves_several_domains() -> None:
    assert len(LIFE.events) >= 12
    for name, event in LIFE.events.items():
        assert len({dimension.split(".")[0] for dimension in event.moves}) >= 2, name


def test_shares_and_mean_of_the_file_are_those_of_the_built_in_people(personas: pa.Table) -> None:
    mean = yearly_hazards(LIFE.events, partial(has_level, personas), PEOPLE).mean(axis=0)
    assert LIFE.mean_per_year == pytest.approx(mean.sum(), rel=0.02)
    for event, part in zip(LIFE.events.values(), mean / mean.sum(), strict=True):
        assert event.share == pytest.approx(part, rel=0.1)
    assert sum(event.share for event in LIFE.events.values()) == pytest.approx(1, abs=0.002)


def test_people_have_as_many_events_as_the_rate_says_and_the_young_more(personas: pa.Table) -> None:
    person = happened(personas, 2.0).person
    expected = PEOPLE * WEEKS * 2.0 / (365.25 / 7)
    assert abs(person.size - expected) < 3.3 * expected**0.5 + 0.02 * expected  # the sample of people, and chance
    age = personas["age_years"].to_numpy()
    young, old = (np.isin(person, np.flatnonzero(who)).sum() / who.sum() for who in (age < 35, age >= 65))
    assert young > 1.5 * old


def test_events_happen_to_those_to_whom_they_can_happen(personas: pa.Table) -> None:
    person, _, _, event = happened(personas, 6.0)
    age, work, wed, home = (
        personas[name].to_numpy() for name in ("age_years", "labour_status", "marital_status", "home_type")
    )
    children = pc.list_value_length(personas["children_ages"]).to_numpy()

    def those(name: str) -> np.ndarray:
        who = person[event == KINDS.index(name)]
        assert who.size > 100, name
        return who

    assert age[those("retired")].min() >= 55 and set(work[those("retired")]).isdisjoint({"not_in_labor_force"})
    assert age[those("new_child")].max() < 45
    assert children[those("child_left_home")].min() >= 1
    assert "married" not in set(wed[those("new_partner")]) and "widowed" not in set(wed[those("separation")])
    for name in ("lost_job", "pay_rise"):
        assert set(work[those(name)]) == {"employed-at work", "employed-absent"}
    moved = np.concatenate([those("moved_to_town"), those("moved_out_of_town")])
    rent, own = ((home[moved] == kind).sum() / (home == kind).sum() for kind in ("rent", "own"))
    assert rent > 3.5 * own


def test_a_higher_rate_adds_events_and_leaves_those_there_are_as_they_are(personas: pa.Table) -> None:
    few, many = (set(zip(*happened(personas.slice(0, 2_000), rate), strict=True)) for rate in (0.8, 5.0))
    assert 500 < len(few) < len(many) / 3 and few < many
    assert not happened(personas.slice(0, 100), 0).person.size


def test_what_happens_to_a_person_does_not_hang_on_who_else_is_there(personas: pa.Table) -> None:
    whole, part = happened(personas.slice(0, 400), 3.0), happened(personas.slice(300, 100), 3.0)
    later = np.flatnonzero(whole.person >= 300)
    assert part.person.size > 100
    assert all((a[later] - shift == b).all() for a, b, shift in zip(whole, part, (300, 0, 0, 0), strict=True))
