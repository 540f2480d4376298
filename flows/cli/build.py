"""`habitus build`: from a config to a verified release, or a clear word why not."""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.cli.console import Terminal, terminal
from flows.common.environment import prepare

if TYPE_CHECKING:
    from flows.common.estimate import Estimate
    from flows.release.flow import Outcome
    from schemas.config import Config

BY_USERS = (
    "personas",
    "belongings",
    "dispositions",
    "timelines",
    "disturb",
    "candidates",
    "language",
    "corrupt",
    "certify",
)
AT_ONCE = ("catalogue", "population", "days", "selection", "requests", "settle")
INTERRUPTED = 130
"""Exit code of a build that was stopped from the keyboard, as shells have it."""


def build(
    preset_or_file: str,
    *,
    sets: Sequence[str],
    out: Path,
    release_version: str | None,
    seed: int | None,
    users: int | None,
    workers: int | None,
    dry_run: bool,
    json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """0 when a release is there (new or unchanged), 1 when a gate failed; errors of input are raised, others give 3."""
    from flows.cli.unfit import notices
    from flows.common.config import load_config
    from flows.common.estimate import estimate
    from flows.release.publish import parse_version

    begun = time.perf_counter()
    console = terminal(quiet or json, verbose)
    config = load_config(preset_or_file, sets, seed=seed, users=users, workers=workers)
    if release_version is not None:
        parse_version(release_version)
    expected = estimate(config)
    rare = notices(config, preset_or_file)
    if dry_run:
        return _show_estimate(console, config, expected, json)
    out = out.resolve()
    _check_space(out, expected)
    run, key = _run_folder(out, config)
    console.progress(
        f"building {config.name}: {config.data.users:,} people, {config.data.window.weeks} weeks, "
        f"about {expected.rows['events']:,} events, {expected.minutes:g} minutes"
    )
    for notice in rare:
        console.progress(f"notice: {notice}", "yellow")
    log = run / "build.log"
    with _locked(run), _logged(log):
        outcome = _run(console, config, run, out, key, release_version, log)
    if outcome is None:
        return 3
    seconds = round(time.perf_counter() - begun, 1)
    if json:
        console.json({**_facts(outcome, seconds), "notices": rare})
    else:
        _summary(console, outcome, seconds, log, rare)
    return outcome.exit_code


def _run(
    console: Terminal, config: Config, run: Path, out: Path, key: str, version: str | None, log: Path
) -> Outcome | None:
    """The outcome, or None when the run broke and the reader has been told."""
    starts_server = prepare(out, run / "results")
    if starts_server:
        console.progress("starting Prefect's own server on this machine: up to 20 s the first time")
    from flows.cli.progress import BuildProgress
    from flows.pipeline import Job, run_build, watch
    from schemas.source import InputError

    job = Job(config, run, out, key, version)
    shards = len(job.shards)
    try:
        with BuildProgress(console, {**dict.fromkeys(BY_USERS, shards), **dict.fromkeys(AT_ONCE, 1)}) as progress:
            watch.set(progress)
            return run_build(job)
    except InputError:
        raise
    except KeyboardInterrupt:
        console.error(f"interrupted. Finished parts are kept: run the same command again to go on. Log: {log}")
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        logging.getLogger("habitus").exception("the build broke")
        first = next(iter(str(error).splitlines()), "")
        console.error(
            f"the build broke: {type(error).__name__}: {first}\nNothing was published. Finished parts are kept: run the "
            f"same command again to go on. Log: {log}"
        )
        return None


def _check_space(out: Path, expected: Estimate) -> None:
    from schemas.source import InputError

    out.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(out).free
    if free < expected.disk_bytes:
        raise InputError(
            f"{out} has {free / 2**30:.2f} GiB free; this build needs about {expected.disk_bytes / 2**30:.2f} GiB. "
            "Give another --out, run `habitus clean`, or ask for fewer users"
        )


def _run_folder(out: Path, config: Config) -> tuple[Path, str]:
    """Where the parts of this config, code and set of packages lie; equal inputs share it, so that work goes on."""
    from flows.common.code import code_digest, project_root
    from flows.common.draws import key_of
    from flows.release.manifest import package_versions

    versions = ",".join(f"{name}={version}" for name, version in package_versions().items())
    key = f"{key_of(config.data_digest(), code_digest(project_root()), versions):016x}"
    run = out / "runs" / f"{config.name}-{key}"
    run.mkdir(parents=True, exist_ok=True)
    return run, key


@contextlib.contextmanager
def _locked(run: Path) -> Iterator[None]:
    """One build at a time in a run folder. Raises InputError if another is at work there."""
    from flows.release.lock import Locked, held
    from schemas.source import InputError

    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held(run.with_name(f".{run.name}.lock"), patience_s=0.2))
        except Locked as error:
            raise InputError(f"another build of this config is at work. {error}") from error
        yield


@contextlib.contextmanager
def _logged(log: Path) -> Iterator[None]:
    """What libraries and the build log, in a file."""
    handler = logging.FileHandler(log, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def _show_estimate(console: Terminal, config: Config, expected: Estimate, json: bool) -> int:
    facts = {
        "name": config.name,
        "rows": dict(expected.rows),
        "disk_bytes": expected.disk_bytes,
        "memory_bytes": expected.memory_bytes,
        "minutes": expected.minutes,
        "workers": config.execution.workers,
    }
    if json:
        console.json(facts)
        return 0
    console.result(f"{config.name}: nothing built; an estimate")
    for name, rows in expected.rows.items():
        console.result(f"  {name:<10} {rows:>14,} rows")
    console.result(f"  disk       {expected.disk_bytes / 2**20:>14,.0f} MiB for run and release")
    console.result(f"  memory     {expected.memory_bytes / 2**20:>14,.0f} MiB with {config.execution.workers} workers")
    console.result(f"  time       {expected.minutes:>14g} minutes with {config.execution.workers} workers")
    return 0


def _facts(outcome: Outcome, seconds: float) -> dict[str, Any]:
    name = outcome.path.name
    return {
        "release": name,
        "version": outcome.version,
        "status": outcome.status,
        "path": str(outcome.path),
        "rows": outcome.rows,
        "gates": {n: {k: g[k] for k in ("passed", "value", "limit")} for n, g in outcome.gates.items()},
        "seconds": seconds,
        "cpu_seconds": _cpu_seconds(),
    }


def _cpu_seconds() -> float:
    """User and system time of this process and of those it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(u.ru_utime + u.ru_stime for u in used), 1)


def _summary(console: Terminal, outcome: Outcome, seconds: float, log: Path, rare: Sequence[str]) -> None:
    """What was made, where it lies, what the gates said, and what to do next."""
    failed = {name: gate for name, gate in outcome.gates.items() if gate["passed"] is False}
    passed = sum(gate["passed"] is True for gate in outcome.gates.values())
    undecided = {name: gate for name, gate in outcome.gates.items() if gate["passed"] is None}
    headline = {
        "published": f"made {outcome.path.name}",
        "unchanged": f"unchanged: equal content is already there as {outcome.path.name}",
        "quarantined": "not published: a gate failed",
    }[outcome.status]
    where = _short(outcome.path)
    console.result(f"{headline} in {seconds:g} s")
    console.result(f"  where   {where}")
    shown = ("users", "sessions", "events", "injections", "tasks")
    console.result("  rows    " + ", ".join(f"{outcome.rows.get(name, 0):,} {name}" for name in shown))
    console.result(
        f"  gates   {passed} passed, {len(failed)} failed, {len(undecided)} undecided (sample too small)"
        if undecided
        else f"  gates   {passed} passed, {len(failed)} failed"
    )
    for name, gate in failed.items():
        console.result(f"          {name} failed: {gate.get('detail') or gate['verdict']}")
    for notice in rare:
        console.result(f"  notice  {notice}")
    console.result(f"  log     {_short(log)}")
    if outcome.status == "quarantined":
        console.result(f"next: read {where}/reason.json and {where}/reports/index.html")
    else:
        console.result(
            f"next: open {where}/reports/index.html, read {where}/README.md, or run `habitus validate {where}`"
        )


def _short(path: Path) -> str:
    """The path from here, where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)
