"""Whose things are whose, where people live, and when they come of age."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from flows.timelines.setting import people_of
from flows.timelines.things import NOTHING, Own, homes, things_of
from schemas.load import load_domains
from tests.flows.lives import Lives, fits
from tests.flows.timelines.shard import DRAWS, people

EPOCH = date(1970, 1, 1)


def test_each_of_ones_own_things_is_taken_alike_and_nobody_takes_anothers() -> None:
    own = Own(np.array([0, 3, 3]), np.array([3, 0, 1]), np.array([7, 8, 9, 4]))
    person = np.arange(9_000) % 3
    taken = own.taken(person, DRAWS.uniform("thing", np.arange(9_000)))
    assert fits(np.bincount(taken[person == 0], minlength=10)[7:], [1 / 3] * 3)
    assert set(taken[person == 1].tolist()) == {NOTHING} and set(taken[person == 2].tolist()) == {4}
    assert own.usual(np.array([0, 1, 2, 0])).tolist() == [7, NOTHING, 4, 7]
    assert Own(np.zeros(2, np.int64), np.zeros(2, np.int64), np.empty(0, np.int64)).usual(np.arange(2)).tolist() == [
        -1,
        -1,
    ]


def test_all_things_stand_once_in_one_numbering(world: Lives) -> None:
    domains = load_domains(world.data.domains)
    things = things_of(domains, world.tables)
    ids = things.ids.to_pylist()
    assert sorted(ids) == sorted([*world["items"]["item_id"], *world["personal_items"]["item_id"]])
    for name, index in things.catalogue.items():
        first = things.begins[name]
        assert ids[first : first + len(index.item_ids)] == index.item_ids
    users = world["users"]["user_id"].to_list()
    for (domain, kind), own in things.own.items():
        mine = world["personal_items"].filter(domain=domain, category=kind)
        expected = {user: set(items) for user, items in mine.group_by("owner_user_id").agg("item_id").iter_rows()}
        for row, user in enumerate(users):
            found = {ids[thing] for thing in own.row[own.first[row] : own.first[row] + own.has[row]]}
            assert found == expected.get(user, set())


def test_home_is_where_trips_come_back_to(world: Lives) -> None:
    domains = load_domains(world.data.domains)
    things, count = things_of(domains, world.tables), world.data.users
    home = things.ids.take(homes(domains, things, count)).to_pylist()
    kinds = world["personal_items"].filter(pl.col("item_id").is_in(home))
    assert set(kinds["domain"]) == {"mobility"} and set(kinds["category"]) == {"home"}
    assert [item.split("-")[0] for item in home] == world["users"]["user_id"].to_list()
    assert set(homes(load_domains(["food"]), things, count).tolist()) == {NOTHING}


@given(st.dates(date(1920, 1, 1), date(2010, 12, 31)), st.integers(0, 99))
def test_people_come_of_age_on_their_birthday(born: date, years: int) -> None:
    some = people(1)._replace(birth_day=np.array([(born - EPOCH).days]))
    day = EPOCH + timedelta(days=int(some.of_age(years)[0]))
    year = born.year + years
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    first_of_march = (born.month, born.day) == (2, 29) and not is_leap
    assert (day.year, day.month, day.day) == ((year, 3, 1) if first_of_march else (year, born.month, born.day))


def test_people_are_in_the_order_of_the_users_whatever_that_of_the_personas(world: Lives) -> None:
    shuffled = world["personas"].sort("birth_date").to_arrow()
    some = people_of(world.tables["users"], shuffled)
    born = dict(world["personas"].select("user_id", "birth_date").iter_rows())
    assert some.birth_day.tolist() == [(born[user] - EPOCH).days for user in world["users"]["user_id"]]
    zones = [some.zones[zone] for zone in some.zone]
    assert zones == world["users"]["time_zone"].to_list()
