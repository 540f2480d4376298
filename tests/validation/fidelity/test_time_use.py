"""The judge of days: passes days drawn from the reference, fails everybody doing the same at all hours."""

from __future__ import annotations

import numpy as np
import pytest

from flows.common.draws import Draws, categorical
from schemas.behaviour.day_plan import ACTIVITIES
from validation.fidelity.time_use import time_use
from validation.references.reader import UnknownReference, load_reference

PEOPLE = 2_000
EVERYBODY = np.ones((PEOPLE, 1), bool)


def drawn(is_flat: bool) -> np.ndarray:
    """(people, 1, 48) every half hour by itself from the reference's shares of its hour, or of the whole day."""
    values = load_reference("timeuse_atus_clock_weekday").shares("activity_share_at_hour", "weekday")
    shares = np.array([[values[f"{hour:02d}|{name}"] for name in ACTIVITIES] for hour in range(24)])
    uniform = Draws(3, "days").uniform("half hours", np.arange(PEOPLE)[:, None], np.arange(48)[None, :])
    rows = [categorical(uniform[:, slot], shares.mean(axis=0) if is_flat else shares[slot // 2]) for slot in range(48)]
    return np.stack(rows, axis=1).astype(np.int8)[:, None]


def test_days_of_the_reference_pass() -> None:
    judged = time_use(drawn(is_flat=False), EVERYBODY)
    assert judged.passed
    assert judged.value < 2 * judged.floor
    assert judged.verdict == "indistinguishable"


def test_the_naive_model_fails_by_as_much_as_is_said() -> None:
    judged = time_use(drawn(is_flat=True), EVERYBODY)
    assert judged.passed is False
    assert judged.value == pytest.approx(judged.naive, abs=0.01)
    assert judged.verdict == "distinguishable"


def test_few_people_and_unknown_strata_say_nothing() -> None:
    few = np.arange(PEOPLE)[:, None] < 50
    assert time_use(drawn(is_flat=False), few).passed is None
    assert time_use(drawn(is_flat=False), EVERYBODY & False).verdict == "insufficient"
    with pytest.raises(UnknownReference):
        time_use(drawn(is_flat=False), EVERYBODY, "weekday|age=5")
