"""The pattern search on functions whose least value is known."""

from __future__ import annotations

import math

import pytest

from flows.calibrate.search import Axis, Point, search

AXES = {
    "even": Axis(-2.0, 2.0, 0.3),
    "log": Axis(0.01, 100.0, 0.5, "log"),
    "odds": Axis(0.01, 0.99, 0.5, "log-odds"),
}
START: Point = {"even": -1.0, "log": 20.0, "odds": 0.1, "kept": 7.0}


def valley(point: Point) -> float:
    """Least at 0.5, 2 and 0.8, with a bend: the axes pull on each other."""
    even, log = point["even"] - 0.5, math.log(point["log"] / 2)
    odds = math.log(point["odds"] / (1 - point["odds"]) / 4)
    return even**2 + log**2 + odds**2 + 0.8 * even * log


def test_it_finds_the_bottom_on_every_scale_and_keeps_what_is_no_axis() -> None:
    found = search([START], AXES, valley, tries=400)
    assert found.loss < 1e-3
    assert found.point["even"] == pytest.approx(0.5, abs=0.05)
    assert found.point["log"] == pytest.approx(2.0, rel=0.05)
    assert found.point["odds"] == pytest.approx(0.8, abs=0.02)
    assert found.point["kept"] == 7.0


def test_bounds_hold_and_the_bottom_beyond_them_is_met_at_the_wall() -> None:
    seen: list[Point] = []

    def beyond(point: Point) -> float:
        seen.append(point)
        return (point["even"] - 5) ** 2

    found = search([START], {"even": AXES["even"]}, beyond, tries=60)
    assert found.point["even"] == 2.0
    assert max(point["even"] for point in seen) <= 2.0


def test_it_sets_out_from_the_best_start_stops_when_near_enough_and_counts_its_tries() -> None:
    near = {"even": 0.5, "log": 2.0, "odds": 0.8, "kept": 1.0}
    found = search([START, near], AXES, valley, tries=100, enough=1e-6)
    assert (found.point, found.tries) == (near, 2)
    calls: list[int] = []
    search([START], AXES, valley, tries=25, said=lambda tries, least: calls.append(tries))
    assert calls == sorted(calls) and 25 <= calls[-1] <= 26


def test_losses_that_differ_in_the_last_bits_only_decide_nothing() -> None:
    trembling = iter(range(10_000))

    def flat(point: Point) -> float:
        return 1.0 - next(trembling) * 1e-15

    assert search([START], AXES, flat, tries=50).point == START


def test_no_number_is_no_improvement() -> None:
    found = search([START], AXES, lambda point: valley(point) if point["even"] > -1.2 else math.nan, tries=200)
    assert found.point["even"] > -1.2 and math.isfinite(found.loss)
