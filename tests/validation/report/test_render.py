from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from schemas.load import load_domain
from validation.fidelity.metrics import Measurement, Part
from validation.report.judge import Judgement
from validation.report.render import page, report_texts, write_reports

Judged = tuple[Path, Judgement]
VOID = {"meta", "br", "link"}


class Wellformed(HTMLParser):
    """Collects text, and complains about tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def hours(value: float) -> Measurement:
    even = tuple([1 / 24] * 24)
    bins = tuple(map(str, range(24)))
    part = Part("weekday", "total_variation", value, 0.6, 0.02, 0.08, 1.0, "close", "", bins, even, even, even)
    return Measurement("food", "hour_of_day", "food_takeaway_london", True, "close", "", 900, 9000, (part,))


def test_reports_are_written_and_equal_judgements_give_equal_bytes(sound: Judged, tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        write_reports(sound[1], folder)
    names = ["reports/fidelity.json", "reports/index.html", "reports/validation.json"]
    assert sorted(path.relative_to(tmp_path / "a").as_posix() for path in (tmp_path / "a").rglob("*.*")) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_json_has_sorted_keys_and_no_number_that_json_lacks(spoilt: Judged) -> None:
    texts = report_texts(spoilt[1])
    for name in ("reports/validation.json", "reports/fidelity.json"):
        value = json.loads(texts[name], parse_constant=lambda word: (_ for _ in ()).throw(AssertionError(word)))
        assert texts[name] == json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    facts = json.loads(texts["reports/validation.json"])
    assert facts["passed"] is False
    assert facts["gates"]["structure.events"]["passed"] is False
    assert facts["violations"]["cross.references"] == [
        {"table": "events", "column": "item_id", "rule": "is in `items.item_id`", "count": 1, "examples": ["<i9>"]}
    ]
    assert facts["tables"]["users"] == {"rows": 2, "route": "rows", "expectations": 9, "evaluated": 9, "errors": []}
    measurements = json.loads(texts["reports/fidelity.json"])["measurements"]
    gates = {one["metric"]: one["is_gate"] for one in measurements}
    assert {metric for metric, is_gate in gates.items() if is_gate} == set(load_domain("food").gates) > {"hour_of_day"}
    assert gates["inter_event_gap"] is False


def test_the_page_needs_no_network_and_escapes_what_the_data_says(spoilt: Judged) -> None:
    text = report_texts(spoilt[1])["reports/index.html"]
    words = " ".join(Wellformed(text).words)
    assert not re.search(r"(?:src|href)=|url\(|@import|https?:", text)
    assert "<i9>" not in text and "<i9>" in words
    assert "At least one gate failed." in words
    assert "People as configured" in words and "50.0% configured, 2" in words
    assert all(name in words for name in spoilt[1].gates)


def test_hours_are_drawn_for_real_synthetic_and_naive_people() -> None:
    text = page(Judgement({}, {}, (), (hours(0.03),)))
    Wellformed(text)
    assert text.count("<rect x=") == 24
    assert text.count("<polyline") == 2
    assert "food, hour of day (weekday)" in text
    assert "distance 0.03, limit 0.08, naive 0.6: close" in text


def test_a_missing_number_is_a_dash() -> None:
    assert "distance –, limit 0.08" in page(Judgement({}, {}, (), (hours(float("nan")),)))
