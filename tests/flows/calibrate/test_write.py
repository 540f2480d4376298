"""What was fitted in the text of a domain file: that and nothing else."""

from __future__ import annotations

import difflib

import pytest

from flows.calibrate.fit import Fit, at_its_hours
from flows.calibrate.what import Fitted, habit_starts, with_habit
from flows.calibrate.write import rewritten
from schemas.domain import Domain
from schemas.load import FOLDER, domain_names, load_domain
from schemas.source import check, read_text
from tests.flows.calibrate.artificial import evening
from validation.references.reader import reference_of

TIMES = frozenset({"hour_of_day", "day_of_week", "inter_event_gap"})
EVENING = reference_of(evening())
FAST = [("groceries", "shop")]
RHYTHMIC = [
    (domain, name) if (domain, name) in FAST else pytest.param(domain, name, marks=pytest.mark.slow)
    for domain in domain_names()
    for name, one in load_domain(domain).activities.items()
    if isinstance(one, Fitted)
]


def text_of(domain: str) -> str:
    return (FOLDER / "domains" / f"{domain}.yaml").read_text(encoding="utf-8")


def fitted(activity: Fitted) -> Fitted:
    """The activity at other hours, with other rates, another rhythm and, if it can have one, another habit."""
    moved = at_its_hours(activity, EVENING, is_listed=False)
    rates = {name: round(2 * value, 4) for name, value in activity.per_week.items()}
    rhythm = activity.rhythm.model_copy(update={"sway": 0.123, "basis": 'calibrated to "evening", gaps: all'})
    moved = moved.model_copy(update={"per_week": rates, "per_week_basis": "calibrated to evening, x", "rhythm": rhythm})
    return with_habit(moved, habit_starts(None)[0], "calibrated to evening")


@pytest.mark.parametrize(("domain", "name"), RHYTHMIC)
def test_every_activity_with_a_rhythm_is_written_and_read_back(domain: str, name: str) -> None:
    before, text = load_domain(domain), text_of(domain)
    activity = before.activities[name]
    assert isinstance(activity, Fitted)
    fit = Fit(fitted(activity), has_rhythm=True, has_habit=True, tries=1)
    after = rewritten(text, before, name, fit, TIMES)
    domain_then = check(Domain, read_text(after, "after"))
    assert domain_then.activities[name] == fit.activity
    assert {**domain_then.activities, name: activity} == before.activities
    assert not TIMES & set(domain_then.gates)
    assert [line for line in after.splitlines() if "#" in line] == [line for line in text.splitlines() if "#" in line]
    assert max(len(line) for line in after.splitlines()) <= max(121, *(len(line) for line in text.splitlines()))
    changed = [line for line in difflib.ndiff(text.splitlines(), after.splitlines()) if line[:2] in ("- ", "+ ")]
    assert len(changed) < 50


BLOCK = """    rhythm:
      # as measured
      sway: 0.3  # by hand
      basis: assumed

    # what they look for
"""


def test_other_styles_of_yaml_are_kept_around_what_changes() -> None:
    text = text_of("food").replace("    search:", f"{BLOCK}    search:", 1)
    before = check(Domain, read_text(text, "block"))
    activity = before.activities["meal"]
    assert isinstance(activity, Fitted) and activity.rhythm.sway == 0.3
    after = rewritten(text, before, "meal", Fit(fitted(activity), True, True, 1), frozenset())
    assert "    # what they look for\n    search:" in after
    assert after.count("gates:\n  hour_of_day") == text.count("gates:\n  hour_of_day")
    assert check(Domain, read_text(after, "after")).activities["meal"].rhythm.sway == 0.123  # type: ignore[union-attr]


@pytest.mark.slow
def test_gates_held_against_the_new_reference_stay() -> None:
    before, text = load_domain("groceries"), text_of("groceries")
    activity = before.activities["shop"]
    assert isinstance(activity, Fitted)
    kept = rewritten(text, before, "shop", Fit(activity, True, False, 1), TIMES)
    assert check(Domain, read_text(kept, "after")).gates == before.gates
