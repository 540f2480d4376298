"""References in files of one's own."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from flows.calibrate.read import problems, reference_at
from schemas.source import SourceError
from tests.flows.calibrate.artificial import evening, heavy, weekly
from validation.references.reader import FOLDER


def written(folder: Path, content: Any) -> str:
    (folder / "ours.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    return str(folder / "ours.json")


def told(name: str) -> list[str]:
    with pytest.raises(SourceError) as caught:
        reference_at(name)
    return [str(violation) for violation in caught.value.violations]


def test_built_in_references_and_artificial_ones_are_right() -> None:
    for name in ("grocery_dunnhumby_cj", "mobility_foursquare_nyc", "social_collegemsg", "media_cdnow_purchases"):
        raw = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        assert list(problems(raw)) == [], name
    assert [list(problems(made())) for made in (evening, weekly, heavy)] == [[], [], []]


def test_a_file_is_read_with_its_window_and_an_id_with_what_is_known(tmp_path: Path) -> None:
    reference, seen, is_listed = reference_at(written(tmp_path, {**evening(), "window_weeks": 40}))
    assert (reference.reference_id, seen.weeks, is_listed) == ("evening", 40.0, False)
    assert math.isnan(reference_at(written(tmp_path, evening()))[1].weeks)
    reference, seen, is_listed = reference_at("grocery_dunnhumby_cj")
    assert (reference.n_users, seen.weeks, is_listed) == (2469, 52, True)


def test_everything_wrong_is_told_at_once_with_its_line(tmp_path: Path) -> None:
    raw = evening()
    raw["n_users"] = "many"
    of = {table["metric"]: table for table in raw["tables"]}
    of["day_of_week_share"]["values"][0] += 0.5
    of["memory_M"]["values"][0] = 2.0
    of["burstiness_B"]["values"].pop()
    of["burstiness_Bn"]["values"][1] = "half"
    raw["self_distance"][0]["users_per_half"] = 0
    lines = told(written(tmp_path, raw))
    assert len(lines) == 6 and all(line.startswith(str(tmp_path)) or "ours.json:" in line for line in lines)
    rows = Path(tmp_path / "ours.json").read_text().splitlines()
    number = 1 + next(place for place, row in enumerate(rows) if '"n_users": "many"' in row)
    assert any(
        f"ours.json:{number}: n_users is many; must be a number of 0 or more. Write the number." in x for x in lines
    )
    assert any("shares must be 0 or more and sum to 1; the sum is 1.5. Divide by the sum." in line for line in lines)
    assert any("quantiles must rise. List them from the lowest up." in line for line in lines)
    assert any("bins and values must be lists of equal length" in line for line in lines)
    assert any("values[1] is half; must be a finite number" in line for line in lines)
    assert any("self_distance[0].users_per_half is 0; must be above 0" in line for line in lines)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[]", "must be a map with tables"),
        ('{"tables": [', "not JSON"),
        ("{}", "tables is missing; must be a list of one table or more"),
    ],
)
def test_what_is_no_reference_is_told(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "ours.json").write_text(content)
    assert any(says in line for line in told(str(tmp_path / "ours.json")))


def test_a_reference_without_rhythm_is_refused_with_what_it_needs(tmp_path: Path) -> None:
    raw = evening()
    raw["tables"] = [table for table in raw["tables"] if table["metric"] == "hour_of_day_share"]
    assert any("none of its metrics can be fitted" in line for line in told(written(tmp_path, raw)))


def test_an_id_nearly_right_is_suggested() -> None:
    assert any("Did you mean `grocery_dunnhumby_cj`?" in line for line in told("grocery_dunnhumby"))
    assert any("cannot be read" in line for line in told("nowhere.json"))
