"""Layers, chains and tables of a day keep the shares they are made from."""

from __future__ import annotations

import numpy as np

from schemas.behaviour.day_plan import (
    COLUMNS,
    GRID,
    QUANTILES,
    SLOTS,
    alias_table,
    chain,
    half_hours,
    night_sleep,
    shares,
    slot_of_rank,
    to_totals,
)

WAVES = 1.2 + np.sin(np.arange(SLOTS * 15).reshape(SLOTS, 15) ** 1.3)


def test_half_hours_keep_the_mean_of_the_hour_and_begin_at_four() -> None:
    hourly = shares(WAVES[::2])
    halves = half_hours(hourly)
    assert np.allclose(np.roll(halves, 8, axis=0).reshape(24, 2, 15).mean(axis=1), hourly, atol=0.02)
    assert np.allclose(halves.sum(axis=1), 1)


def test_a_chain_keeps_the_shares_of_every_half_hour() -> None:
    made = chain(WAVES[None], np.full(15, 0.3), np.ones((15, 15)) - np.eye(15))
    at = made.shares[0, 0]
    for slot in range(SLOTS - 1):
        at = (at[:, None] * made.step[0, slot]).sum(axis=0)
        assert np.abs(at - made.shares[0, slot + 1]).max() < 0.005


def test_an_alias_table_draws_each_outcome_as_often_as_it_is_probable() -> None:
    rows = shares(WAVES[:3] ** 4)
    table = alias_table(rows)
    for row, threshold, other in zip(rows, table.threshold.astype(int), table.other, strict=True):
        counted = np.bincount(np.arange(COLUMNS), threshold, COLUMNS) + np.bincount(other, GRID - threshold, COLUMNS)
        assert np.abs(counted[:15] / (COLUMNS * GRID) - row).max() < 2 / (COLUMNS * GRID)
        assert counted[15] == 0


def test_ranks_reach_a_half_hour_as_the_share_says() -> None:
    reached = np.linspace(0.02, 0.9, SLOTS)
    slots = slot_of_rank(reached)
    for slot in (0, 10, 47):
        assert abs((slots <= slot).mean() - reached[slot]) < 1 / QUANTILES
    assert slots[-1] == SLOTS


def test_nobody_is_in_nights_sleep_in_the_afternoon() -> None:
    asleep = np.concatenate([np.linspace(0.95, 0.03, 24), np.linspace(0.03, 0.97, 24)])
    layer = night_sleep(asleep)
    assert layer[23] == layer[24] == 0
    assert (layer <= asleep + 1e-12).all()
    assert (layer[0], layer[-1]) == (asleep[0], asleep[-1])


def test_factors_bring_a_day_to_its_totals() -> None:
    base, wanted = shares(WAVES), shares(np.arange(1.0, 16.0))
    assert np.abs(shares(base * to_totals(base, wanted)).mean(axis=0) - wanted).max() < 0.001
