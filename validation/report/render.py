"""A judgement as files: two of JSON for programmes, and a page that opens anywhere without a network."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation.fidelity.metrics import Part
from validation.report.judge import Judgement
from validation.report.people_page import conditional_tables, margin_plots, people_rows

TEMPLATE = "index.html.j2"
WIDTH, HEIGHT = 300, 120
MARGIN_LEFT, MARGIN_BOTTOM, MARGIN_TOP = 36, 18, 8
BASE = HEIGHT - MARGIN_BOTTOM


def write_reports(judgement: Judgement, folder: Path) -> None:
    """Writes `reports/validation.json`, `reports/fidelity.json` and `reports/index.html` into the release's folder."""
    (folder / "reports").mkdir(parents=True, exist_ok=True)
    for name, text in report_texts(judgement).items():
        (folder / name).write_bytes(text.encode())


def report_texts(judgement: Judgement) -> dict[str, str]:
    """Path within the release → content. Equal judgements give equal text: no clock, no machine, fixed order."""
    return {
        "reports/validation.json": _json(validation_facts(judgement)),
        "reports/fidelity.json": _json(fidelity_facts(judgement)),
        "reports/index.html": page(judgement),
    }


def validation_facts(judgement: Judgement) -> dict[str, Any]:
    """Gates, tables and every violation, as JSON can hold them."""
    facts: dict[str, Any] = _plain(
        {
            "passed": judgement.passed,
            "gates": {name: dataclasses.asdict(gate) for name, gate in judgement.gates.items()},
            "tables": {
                report.table: {
                    "rows": report.rows,
                    "route": report.route,
                    "expectations": report.expectations,
                    "evaluated": report.evaluated,
                    "errors": list(report.errors),
                }
                for report in judgement.tables
            },
            "violations": {
                gate: [dataclasses.asdict(violation) for violation in lines]
                for gate, lines in judgement.violations.items()
            },
        }
    )
    return facts


def fidelity_facts(judgement: Judgement) -> dict[str, Any]:
    """Every measurement, whether it gates or not, and the people beside what is configured, as JSON can hold it."""
    gates = judgement.gates
    measurements = [
        {**dataclasses.asdict(one), "is_gate": f"fidelity.{one.domain}.{one.metric}" in gates}
        for one in judgement.measurements
    ]
    people = {} if judgement.people is None else {"people": _plain(people_rows(judgement.people))}
    return {"measurements": _plain(measurements), **people}


def _plain(value: Any) -> Any:
    """Mappings, lists, texts and finite numbers only."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def page(judgement: Judgement) -> str:
    """The whole report as one HTML page without any outside part."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["number"] = _number
    plot = {"width": WIDTH, "height": HEIGHT, "left": MARGIN_LEFT, "top": MARGIN_TOP, "base": BASE}
    people = judgement.people
    return environment.get_template(TEMPLATE).render(
        judgement=judgement,
        panels=list(_panels(judgement)),
        plot=plot,
        margins=[] if people is None else margin_plots(people),
        conditionals=[] if people is None else list(conditional_tables(people)),
        repeats=() if people is None else (*people.names, *people.birthdays),
    )


def _number(value: float | None) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"


@dataclass(frozen=True)
class Panel:
    """One small plot: synthetic people as bars, real people and the naive model as lines. All in pixels."""

    title: str
    bars: tuple[tuple[float, float, float, float], ...]
    real: str
    naive: str
    ticks: tuple[tuple[float, str], ...]
    top: str
    caption: str


def _panels(judgement: Judgement) -> Iterator[Panel]:
    """One panel a distribution of shares: hours by day type, weekdays."""
    for one in judgement.measurements:
        for part in one.parts:
            if part.distance == "total_variation":
                yield _panel(f"{one.domain}, {one.metric.replace('_', ' ')} ({part.stratum})", part)


def _panel(title: str, part: Part) -> Panel:
    step = (WIDTH - MARGIN_LEFT) / len(part.bins)
    top = max(0.01, *(share for share in (*part.real, *part.synthetic, *part.naive_shape) if math.isfinite(share)))
    left = [MARGIN_LEFT + place * step for place in range(len(part.bins))]

    def height(share: float) -> float:
        return round(share / top * (BASE - MARGIN_TOP), 2) if math.isfinite(share) else 0.0

    def line(shares: tuple[float, ...]) -> str:
        return " ".join(f"{x + step / 2:.2f},{BASE - height(share):.2f}" for x, share in zip(left, shares, strict=True))

    every = 1 if len(part.bins) <= 7 else math.ceil(len(part.bins) / 4)
    return Panel(
        title=title,
        bars=tuple(
            (round(x + step * 0.1, 2), round(BASE - height(share), 2), round(step * 0.8, 2), height(share))
            for x, share in zip(left, part.synthetic, strict=True)
        ),
        real=line(part.real),
        naive=line(part.naive_shape),
        ticks=tuple((round(x + step / 2, 2), name) for x, name in list(zip(left, part.bins, strict=True))[::every]),
        top=f"{top:.0%}" if top >= 0.1 else f"{top:.1%}",
        caption=f"distance {_number(part.value)}, limit {_number(part.limit)}, naive {_number(part.naive)}: {part.verdict}",
    )
