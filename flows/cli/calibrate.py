"""``habitus calibrate``: fits when and how often people do something to a reference, and writes the domain file."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.cli.console import Terminal, terminal
from flows.cli.progress import TriesProgress
from flows.cli.releases import aligned
from schemas.explain import did_you_mean
from schemas.source import InputError, SourceError, Violation, read_yaml

if TYPE_CHECKING:
    from flows.calibrate.compare import Target
    from flows.calibrate.events import Log
    from schemas.domain import Domain

WEEKS, MOST_WEEKS = 26, 53


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for."""

    domain: str | None
    reference: str | None
    events: Path | None
    activity: str | None
    output: Path | None
    users: int
    weeks: int | None
    tries: int
    seed: int
    is_forced: bool


def calibrate(wanted: Wanted, as_json: bool, is_quiet: bool) -> int:
    """0 if every fitted metric is within its limit, 1 if one is not; the file is written all the same.

    With events and no domain, only a reference is written, and it is 0. Raises InputError for what cannot be used.
    """
    console = terminal(quiet=is_quiet)
    _check(wanted)
    if wanted.domain is None:
        return _measure(wanted, console, as_json)
    return _calibrate(wanted, console, as_json)


def _check(wanted: Wanted) -> None:
    """Options that do not go together, and numbers that cannot be, all at once."""
    wrong: list[Violation] = []

    def objects(option: str, value: object, rule: str, fix: str) -> None:
        wrong.append(Violation(option, None, option.lstrip("-"), str(value), rule, fix))

    if (wanted.reference is None) == (wanted.events is None):
        given = "both" if wanted.events else "neither"
        objects("--reference", given, "one of --reference and --events is needed, and not both", "give one of the two")
    if wanted.domain is None and wanted.events is None:
        objects("--domain", "missing", "there is nothing to be fitted", "name a domain, such as --domain groceries")
    for option, value, least in (("--users", wanted.users, 50), ("--tries", wanted.tries, 1)):
        if value < least:
            objects(option, value, f"must be {least} or more", f"write {least}")
    if wanted.weeks is not None and not 4 <= wanted.weeks <= 520:
        objects("--weeks", wanted.weeks, "must lie from 4 to 520", f"write {WEEKS}")
    target = _output(wanted)
    if target.exists() and not wanted.is_forced:
        objects("--output", target, "is there already", "name another file, or add --force")
    if wrong:
        raise SourceError(wrong)


def _output(wanted: Wanted) -> Path:
    if wanted.output is not None:
        return wanted.output
    if wanted.domain is None:
        return Path(f"{wanted.events.stem if wanted.events else 'events'}_reference.json")
    return Path(f"{Path(wanted.domain).stem}.yaml")


def _measure(wanted: Wanted, console: Terminal, as_json: bool) -> int:
    """A log as a reference file."""
    from flows.calibrate.events import read_log, reference_from
    from flows.common.files import write_text

    assert wanted.events is not None
    target = _output(wanted)
    made = reference_from(read_log(wanted.events), target.stem, "own", f"own log, {wanted.events.name}")
    write_text(target, json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    told = {
        "reference": str(target),
        "users": made["n_users"],
        "events": made["n_events"],
        "tables": len(made["tables"]),
    }
    if as_json:
        console.json(told)
        return 0
    console.result(f"{target}: {told['users']:,} people, {told['events']:,} lines, {told['tables']} tables")
    console.progress(f"fit a domain to it: habitus calibrate --domain groceries --reference {target}")
    return 0


def _calibrate(wanted: Wanted, console: Terminal, as_json: bool) -> int:
    from flows.calibrate.compare import HABIT, RHYTHM
    from flows.calibrate.fit import fit, told
    from flows.calibrate.how import crowd_of
    from flows.calibrate.report import facts, is_within
    from flows.calibrate.what import Fitted, activity_of
    from flows.calibrate.write import rewritten
    from flows.common.files import write_text

    domain, text, file = _domain(str(wanted.domain))
    aimed, judged, is_listed = _targets(wanted)
    try:
        name = activity_of(domain, wanted.activity)
    except KeyError as error:
        value, rule, fix = error.args
        raise SourceError([Violation(file, None, "activities", value, rule, fix)]) from error
    activity = domain.activities[name]
    assert isinstance(activity, Fitted)
    weeks = int(aimed.weeks)
    # Who is fitted and who is reported on are different people.
    crowd, others = (crowd_of(domain, wanted.users, weeks, seed) for seed in (wanted.seed, wanted.seed + 1))
    console.progress(f"{domain.name} {name} to {aimed.reference.reference_id}: {wanted.users:,} people, {weeks} weeks")
    with TriesProgress(console) as progress:
        found = fit(crowd, name, activity, aimed, is_listed, wanted.tries, progress)
    metrics = frozenset({*RHYTHM, "hour_of_day", "day_of_week", "events_per_user", *(HABIT if found.has_habit else ())})
    written = rewritten(text, domain, name, found, metrics)
    target = _output(wanted)
    write_text(target, written)
    before, after = told(others, name, activity, judged), told(others, name, found.activity, judged)
    is_ok = is_within(after)
    if as_json:
        said = {"domain": domain.name, "activity": name, "reference": aimed.reference.reference_id, "file": str(target)}
        console.json({**said, "tries": found.tries, **facts(before, after, _absent(judged))})
    else:
        _print(console, before, after, _absent(judged), wanted.events is not None)
        verdict = "every fitted metric is within its limit" if is_ok else "NOT every fitted metric is within its limit"
        console.result(f"{target}: {verdict}")
        console.progress(f"build with it: habitus build smoke --set domains.{domain.name}={target}")
    return 0 if is_ok else 1


def _absent(target: Target) -> dict[str, list[str]]:
    from flows.calibrate.compare import absent

    return dict(absent(target))


def _domain(name: str) -> tuple[Domain, str, str]:
    """A built-in domain, or one in a file: what it says, its text, and what errors call it."""
    from schemas.load import FOLDER, domain_names, load_domains
    from validation.structure.domain_file import check_domain

    is_file = name.endswith((".yaml", ".yml"))
    if not is_file and name not in domain_names():
        fix = did_you_mean(name, domain_names(), "name a domain or a file that ends with .yaml")
        raise SourceError([Violation("--domain", None, "domain", name, "there is no such domain", fix)])
    path = Path(name) if is_file else FOLDER / "domains" / f"{name}.yaml"
    source = read_yaml(path)
    if not source.is_readable:
        raise SourceError(source.violations)
    checked = check_domain(source, load_domains(domain_names()))
    if checked.domain is None:
        raise SourceError(checked.violations)
    return checked.domain, path.read_text(encoding="utf-8-sig"), source.file


def _targets(wanted: Wanted) -> tuple[Target, Target, bool]:
    """What is aimed at, what is reported on, and whether it is a file of validation/references/."""
    from flows.calibrate.compare import Target
    from flows.calibrate.events import read_log
    from flows.calibrate.read import problems, reference_at
    from validation.fidelity.exposure import Exposure
    from validation.references.reader import reference_of

    if wanted.events is None:
        reference, seen, is_listed = reference_at(str(wanted.reference))
        weeks = _weeks(wanted, seen.weeks)
        return (target := Target(reference, seen, weeks)), target, is_listed
    both = []
    log = read_log(wanted.events)
    for raw in _halves(log, wanted.events):
        wrong = list(problems(raw))
        if wrong:
            raise InputError(
                f"{wanted.events}: half of its people tell too little: {wrong[0][1]}. Give it more people."
            )
        seen = Exposure(float(raw["window_weeks"]), basis="the log's own window")
        both.append(Target(reference_of(raw), seen, _weeks(wanted, seen.weeks)))
    return both[0], replace(both[1], weeks=both[0].weeks), False


def _halves(log: Log, path: Path) -> list[dict[str, Any]]:
    from flows.calibrate.events import reference_from

    return [
        reference_from(log.half(is_second), path.stem, "own", f"{path.name}, {which} half of its people")
        for is_second, which in ((False, "one"), (True, "the other"))
    ]


def _weeks(wanted: Wanted, seen: float) -> float:
    """Our window: what is asked for, or else as long as the reference watched, up to a year; 26 weeks if it does not say."""
    if wanted.weeks is not None:
        return float(wanted.weeks)
    return float(min(MOST_WEEKS, max(4, round(seen)))) if math.isfinite(seen) else float(WEEKS)


def _print(console: Terminal, before: Any, after: Any, absent: dict[str, list[str]], is_half: bool) -> None:
    from flows.calibrate.report import notes, rows

    who = "people of the log who were not fitted to" if is_half else "the reference"
    for group in ("fitted", "not fitted"):
        if after[group]:
            console.result(f"{group}, against {who}:")
            for line in aligned(rows(before[group], after[group]), counts=(2, 3, 4, 5)):
                console.result(f"  {line}")
        if absent[group]:
            console.result(f"  absent from the reference: {', '.join(absent[group])}")
    for note in notes(after):
        console.progress(f"note: {note}")
