"""The judgement of a release: what its files are, whether its tables hold, and how near to real people it comes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.config import DataConfig
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.tables import Table
from schemas.tables.configured import released_tables
from schemas.tables.sealed import PERSONAS
from validation.fidelity.metrics import Measurement, asked_of, measure
from validation.fidelity.occurrences import Occurrences, read_occurrences
from validation.fidelity.people_facts import Alike, Correlated, PeopleFacts, people_facts
from validation.fidelity.realised import PEOPLE_AT_LEAST, Realised
from validation.structure.cross import Rule, check_rules, rules_of
from validation.structure.files import broken_schemas, check_files, check_manifest
from validation.structure.folder import Violation, open_release
from validation.structure.people_rules import people_rules
from validation.structure.suite import TableReport, check_table, open_context
from validation.structure.time_rules import add_offsets, time_rules

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext

TOLD = 5
"""Violations that the detail of a gate spells out. All stand in the judgement."""
PEOPLE = ("margins", "conditionals", "names", "birthdays", "correlations")
"""Gates of the people beside what is configured, and of what repeats among them."""


@dataclass(frozen=True)
class Gate:
    """One gate. ``passed`` is None where the sample is too small, or where the gate is shown only: that never fails.

    ``value`` must not exceed ``limit``: violations where the limit is 0, else a distance. The verdict `error` says that
    the gate could not be evaluated, which is neither a pass nor a finding about the data.
    """

    passed: bool | None
    value: float | None
    limit: float | None
    verdict: str
    detail: str
    sample: Mapping[str, int]


@dataclass(frozen=True)
class Judgement:
    """Every gate by name, and what stands behind them."""

    gates: Mapping[str, Gate]
    violations: Mapping[str, tuple[Violation, ...]]
    tables: tuple[TableReport, ...]
    measurements: tuple[Measurement, ...]
    people: PeopleFacts | None = None
    """The people beside what is configured; None where that could not be evaluated."""

    @property
    def passed(self) -> bool:
        """Whether no gate failed or broke."""
        return all(gate.passed is not False for gate in self.gates.values())


def judge(folder: Path, config: DataConfig, tables: Mapping[str, Table] | None = None) -> Judgement:
    """The judgement of the release in the folder, from its files alone.

    ``tables`` are the declared ones; by default those of a release of this config. The same folder is judged the same.
    """
    tables = tables if tables is not None else released_tables(config)
    gates: dict[str, Gate] = {}
    found: dict[str, list[Violation]] = {"integrity": [*check_manifest(folder), *check_files(folder, tables)]}
    gates["integrity"] = _gate_of(found["integrity"], {"tables": len(tables)})
    broken = broken_schemas(folder, tables)
    reports = []
    context = open_context()
    for name, declared in tables.items():
        gate = f"structure.{name}"
        if name in broken:
            found[gate] = broken[name]
            gates[gate] = _gate_of(broken[name], {})
            continue
        report = _unless_broken(folder, declared, context)
        reports.append(report)
        found[gate] = list(report.violations)
        gates[gate] = _table_gate(report)
    domains = load_domains(config.domains)
    measurements: list[Measurement] = []
    people = None
    if broken:
        reason = f"not evaluated: files of {', '.join(broken)} differ from the declaration"
        gates.update({name: _error(reason) for name in _later_gates(tables, config, domains)})
    else:
        with open_release(folder, tables.values()) as database:
            _judge_rules(database, tables, config, domains, gates, found)
            measurements = _judge_fidelity(database, config, domains, gates)
            people = _judge_people(database, config, gates, found)
    return Judgement(
        gates=dict(sorted(gates.items())),
        violations={name: tuple(lines) for name, lines in sorted(found.items()) if lines},
        tables=tuple(reports),
        measurements=tuple(measurements),
        people=people,
    )


def _rules(tables: Mapping[str, Table], config: DataConfig, domains: Mapping[str, Domain]) -> list[Rule]:
    dimensions = [name for domain in domains.values() for name in domain.dimension_ids()]
    rules = rules_of(tables, (config.window.start, config.window.end), dimensions)
    return [*rules, *people_rules(config, tables[PERSONAS.name]), *time_rules((config.window.start, config.window.end))]


def _later_gates(tables: Mapping[str, Table], config: DataConfig, domains: Mapping[str, Domain]) -> list[str]:
    """Names of the gates that need tables of the declared schemas."""
    groups = dict.fromkeys(f"cross.{rule.group}" for rule in _rules(tables, config, domains))
    metrics = [asked.gate for spec in domains.values() for asked in asked_of(spec) if asked.is_gate]
    return [*groups, *metrics, *(f"people.{name}" for name in _people_gates(config))]


def _people_gates(config: DataConfig) -> list[str]:
    return [name for name in PEOPLE if name != "correlations" or config.personas.correlations]


def _unless_broken(folder: Path, declared: Table, context: EphemeralDataContext) -> TableReport:
    """The table's report; a file whose content cannot be read is an error of its own."""
    import duckdb
    import pyarrow as pa

    try:
        return check_table(folder, declared, context)
    except (OSError, pa.ArrowInvalid, duckdb.Error) as error:
        return TableReport(
            declared.name, 0, "rows", 0, 0, (), (f"{declared.name}: cannot be read ({_first_line(error)})",)
        )


def _judge_rules(
    database: DuckDBPyConnection,
    tables: Mapping[str, Table],
    config: DataConfig,
    domains: Mapping[str, Domain],
    gates: dict[str, Gate],
    found: dict[str, list[Violation]],
) -> None:
    """Adds one gate a group of rules over tables."""
    import duckdb

    add_offsets(database, (config.window.start, config.window.end))
    for group, rules in groupby(_rules(tables, config, domains), key=lambda rule: rule.group):
        gate = f"cross.{group}"
        some = list(rules)
        try:
            found[gate] = check_rules(database, some)[group]
            gates[gate] = _gate_of(found[gate], {"rules": len(some)})
        except duckdb.Error as error:
            gates[gate] = _error(_first_line(error))


def _judge_fidelity(
    database: DuckDBPyConnection, config: DataConfig, domains: Mapping[str, Domain], gates: dict[str, Gate]
) -> list[Measurement]:
    """Every metric of every domain; adds a gate for each that the domain file gates."""
    import duckdb

    measurements = []
    weeks = (config.window.end - config.window.start).total_seconds() / (7 * 86_400)
    for name, domain in domains.items():
        read: dict[tuple[str, str | None, str], Occurrences] = {}
        for asked in asked_of(domain):
            counted = (asked.action, asked.of, asked.per)
            try:
                if counted not in read:
                    read[counted] = read_occurrences(database, name, *counted)
            except duckdb.Error as error:
                if asked.is_gate:
                    gates[asked.gate] = _error(_first_line(error))
                continue
            measurement = measure(
                name, asked.metric, asked.reference, read[counted], of=asked.of, weeks=weeks, is_gate=asked.is_gate
            )
            measurements.append(measurement)
            if asked.is_gate:
                gates[asked.gate] = _fidelity_gate(measurement, config.gates.fidelity)
    return measurements


def _judge_people(
    database: DuckDBPyConnection, config: DataConfig, gates: dict[str, Gate], found: dict[str, list[Violation]]
) -> PeopleFacts | None:
    """Adds the gates of the people, and what breaks them."""
    import duckdb

    names = _people_gates(config)
    try:
        facts = people_facts(database, config.personas.correlations)
    except duckdb.Error as error:
        gates.update({f"people.{name}": _error(_first_line(error)) for name in names})
        return None
    rows: dict[str, Iterable[Realised | Alike | Correlated]] = {
        "margins": facts.margins,
        "conditionals": facts.conditionals,
        "names": facts.names,
        "birthdays": facts.birthdays,
        "correlations": facts.correlations,
    }
    for name in names:
        gates[f"people.{name}"], found[f"people.{name}"] = _people_gate(facts, rows[name])
    return facts


def _people_gate(facts: PeopleFacts, rows: Iterable[Realised | Alike | Correlated]) -> tuple[Gate, list[Violation]]:
    """The gate of some facts, and those that are not as they should be."""
    rows = list(rows)
    judged = sum(row.ok is not None for row in rows)
    sample = {"people": facts.people, "judged": judged, "not_judged": len(rows) - judged}
    violations = [row.violation() for row in rows if row.ok is False]
    if judged:
        return _gate_of(violations, sample), violations
    if not rows:
        return Gate(None, None, None, "not applicable", "nothing of the kind is configured", sample), violations
    reason = f"no share is one of {PEOPLE_AT_LEAST} people or more, as are needed to judge by"
    return Gate(None, None, None, "insufficient", reason, sample), violations


def _fidelity_gate(measurement: Measurement, does_gate: bool) -> Gate:
    worst = measurement.worst
    parts = [
        f"{part.stratum} {part.distance} {part.value:.4g} (limit {part.limit:.4g}, naive {part.naive:.4g})"
        for part in measurement.parts
        if math.isfinite(part.limit)
    ]
    detail = "; ".join([*([measurement.reason] if measurement.reason else []), *parts])
    return Gate(
        passed=measurement.passed if does_gate else None,
        value=_finite(worst.value) if worst else None,
        limit=_finite(worst.limit) if worst else None,
        verdict=measurement.verdict,
        detail=detail if does_gate else f"shown only, as `gates.fidelity` is off; {detail}",
        sample={"users": measurement.users, "key_actions": measurement.events},
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _table_gate(report: TableReport) -> Gate:
    how = "rows judged" if report.route == "rows" else "counts of one query judged, not rows"
    sample = {"rows": report.rows, "expectations": report.expectations, "evaluated": report.evaluated}
    if report.errors or report.evaluated != report.expectations:
        lines = _told([*report.errors, *(str(violation) for violation in report.violations)])
        return Gate(False, float(len(report.violations)), 0.0, "error", lines, sample)
    gate = _gate_of(report.violations, sample)
    return gate if report.violations else dataclasses.replace(gate, detail=how)


def _gate_of(violations: Iterable[Violation], sample: Mapping[str, int]) -> Gate:
    lines = [str(violation) for violation in violations]
    return Gate(not lines, float(len(lines)), 0.0, "failed" if lines else "passed", _told(lines), sample)


def _told(lines: list[str]) -> str:
    more = f"; and {len(lines) - TOLD} more" if len(lines) > TOLD else ""
    return "; ".join(lines[:TOLD]) + more


def _error(reason: str) -> Gate:
    return Gate(False, None, None, "error", reason, {})


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
