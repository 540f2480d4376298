"""`habitus validate`: a release judged from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flows.cli.console import terminal
from schemas.config import Config
from schemas.source import InputError

if TYPE_CHECKING:
    from validation.report.judge import Gate

MANIFEST = "manifest.json"


def validate(release: Path, json: bool) -> int:
    """0 if no gate fails, else 1. Prints every gate; with ``json`` all of the judgement. Writes nothing.

    Raises InputError if the folder is not there or is no release.
    """
    console = terminal()
    config = release_config(release)
    from validation.report.judge import judge
    from validation.report.render import fidelity_facts, validation_facts

    judgement = judge(release, config.data)
    if json:
        console.json({**validation_facts(judgement), **fidelity_facts(judgement)})
    else:
        width = max(len(name) for name in judgement.gates)
        for name, gate in judgement.gates.items():
            console.result(gate_line(name.ljust(width), gate))
        failed = [name for name, gate in judgement.gates.items() if gate.passed is False]
        told = f"{len(failed)} of {len(judgement.gates)} gates failed: {', '.join(failed)}"
        console.result(told if failed else "no gate failed")
    return 0 if judgement.passed else 1


def gate_line(name: str, gate: Gate) -> str:
    """One gate on one line: state, figures, and for all but passed ones why."""
    state = {True: "passed", False: "FAILED", None: "-"}[gate.passed]
    figures = "" if gate.value is None or gate.limit is None else f"{gate.value:.4g} of {gate.limit:.4g}"
    why = "" if gate.passed else gate.detail
    return f"{name}  {state:<6}  {gate.verdict:<17}  {figures:<16}  {why}".rstrip()


def release_config(release: Path) -> Config:
    """The config that the release's manifest holds. Raises InputError."""
    import json

    path = release / MANIFEST
    if not release.is_dir():
        raise InputError(f"{release} is no folder. Give the folder of a release, such as outputs/releases/smoke-1.0.0.")
    if not path.is_file():
        raise InputError(
            f"{release} has no {MANIFEST}, so it is no release: its build has not finished, or failed a gate."
        )
    try:
        return Config.model_validate(json.loads(path.read_text(encoding="utf-8"))["config"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        first = " ".join(str(error).split())
        raise InputError(f"{path} holds no config that this version of the project reads ({first}).") from error
