from __future__ import annotations

from typing import Any

from schemas.domain import Domain
from schemas.load import load_domain
from validation.fidelity.metrics import METRICS, Asked, asked_of


def asked(name: str, gates: dict[str, Any]) -> dict[str, list[Asked]]:
    domain = Domain.model_validate({**load_domain(name).model_dump(mode="json"), "gates": gates})
    found: dict[str, list[Asked]] = {}
    for one in asked_of(domain):
        found.setdefault(one.metric, []).append(one)
    return found


def test_times_are_counted_by_the_key_action_and_choices_by_that_of_choosing() -> None:
    dunnhumby = "grocery_dunnhumby_cj"
    ranks = {"reference": dunnhumby, "of": "category"}
    found = asked("groceries", {"hour_of_day": dunnhumby, "user_ranks": ranks, "basket_size": dunnhumby})
    hours, favourites, baskets = (found[name][0] for name in ("hour_of_day", "user_ranks", "basket_size"))
    assert (hours.action, hours.of, hours.per, hours.is_gate) == ("checkout", None, "line", True)
    assert (favourites.action, favourites.of, favourites.per) == ("add", "category", "line")
    assert (baskets.action, baskets.per) == ("add", "session")
    assert not found["memory"][0].is_gate and found["memory"][0].reference == dunnhumby
    assert set(found) == set(METRICS)


def test_an_action_of_its_own_and_two_references_have_gates_of_their_own() -> None:
    bought = {"reference": "media_cdnow_purchases", "action": "purchase", "per": "session"}
    ranks = [{"reference": "media_movielens_100k", "of": "mood"}, "media_lastfm_hetrec2011"]
    found = asked("media", {"day_of_week": bought, "user_ranks": ranks})
    (weekday,) = found["day_of_week"]
    assert (weekday.action, weekday.per, weekday.gate) == ("purchase", "session", "fidelity.media.day_of_week")
    assert [one.gate for one in found["user_ranks"]] == [
        "fidelity.media.user_ranks.media_movielens_100k",
        "fidelity.media.user_ranks.media_lastfm_hetrec2011",
    ]
    assert [one.of for one in found["user_ranks"]] == ["mood", "item"]


def test_days_summed_up_and_bookings_are_read_with_all_that_they_say() -> None:
    assert asked("wellness", {})["hour_of_day"][0].of == "item"
    assert asked("travel", {})["day_of_week"][0].of == "item"
    assert asked("planning", {})["hour_of_day"][0].of is None
    steps, stars = asked("wellness", {})["daily_amount"][0], asked("fashion", {})["rating"][0]
    assert (steps.action, steps.of, stars.action) == ("log", "item", "review")
