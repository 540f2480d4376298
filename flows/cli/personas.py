"""``habitus personas``: people alone, without a build: sampled to a file, shown, drawn, and compared."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from flows.cli.cards import cards
from flows.cli.console import Terminal, terminal
from flows.cli.unfit import notices
from flows.common.config import load_config
from flows.common.draws import Draws
from flows.common.files import write_text
from flows.common.stage import Context, Shard, Stage, shards_of
from flows.common.table_files import Write, format_of, read_rows, table_file
from flows.dispositions.flow import DISPOSITIONS_STAGE
from flows.personas.flow import PERSONAS_STAGE
from flows.personas.shares import configured_shares
from schemas.config import Config
from schemas.config.data import USERS_AT_MOST
from schemas.source import InputError
from schemas.tables.configured import configured
from schemas.tables.sealed import DISPOSITIONS, PERSONAS

if TYPE_CHECKING:
    from flows.cli.people_plots import Plots

PEOPLE_AT_ONCE = 50_000
WITH_DISPOSITIONS_AT_ONCE = 2_000
"""Users in one shard, which bound memory: a person has about a hundred dispositions."""
REPORTS = 10
"""Lines about progress, at the most."""
SHOWN = 5
"""Values that a comparison names for each column."""


def sample(
    preset_or_file: str,
    *,
    output: Path,
    number: int | None,
    dispositions: Path | None,
    sets: Sequence[str],
    seed: int | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """0. Writes the people that a build of the config would have, shard by shard, and with them their dispositions."""
    begun = time.perf_counter()
    console = terminal(quiet)
    _judge_number(number)
    config = load_config(preset_or_file, sets, seed=seed, users=number)
    targets = [output] if dispositions is None else [output, dispositions]
    _judge_targets(targets, force)
    for notice in notices(config, preset_or_file):
        console.progress(f"notice: {notice}", "yellow")
    rows = _write(config, output, dispositions, console)
    seconds = round(time.perf_counter() - begun, 1)
    if as_json:
        made = [{"file": str(path), "rows": rows[path], "bytes": path.stat().st_size} for path in targets]
        console.json({"config": config.name, "seed": config.data.seed, "made": made, "seconds": seconds})
        return 0
    for path, what in zip(targets, ("people", "dispositions"), strict=False):
        size = path.stat().st_size / 2**20
        console.result(f"made {path}: {rows[path]:,} {what}, {format_of(path)}, {size:,.1f} MiB")
    changes = [word for change in sets for word in ("--set", change)]
    plot = shlex.join(["habitus", "personas", "plot", str(output), "-o", "plots", "--config", preset_or_file, *changes])
    console.result(f"next: `{plot}` draws them beside what is configured ({seconds:g} s)")
    return 0


def _judge_number(number: int | None) -> None:
    """Raises InputError, in the words of the option, if that many people cannot be drawn."""
    if number is not None and not 1 <= number <= USERS_AT_MOST:
        raise InputError(f"--n is {number}; must be 1 to {USERS_AT_MOST}")


def _judge_targets(targets: Sequence[Path], force: bool) -> None:
    """Raises InputError, before anything is made, if a file cannot be written under its name."""
    for path in targets:
        format_of(path)
        if path.is_dir():
            raise InputError(f"{path} is a folder; give the name of a file")
        if path.exists() and not force:
            raise InputError(f"{path} is there already. Give another name, or `--force` to replace it")
    if len({path.resolve() for path in targets}) < len(targets):
        raise InputError(f"{targets[0]} cannot hold people and dispositions both. Give two names")


def _write(config: Config, output: Path, dispositions: Path | None, console: Terminal) -> dict[Path, int]:
    """Rows by file. Each file appears under its name once all of it is there."""
    people = config.data.users
    shards = shards_of(people, PEOPLE_AT_ONCE if dispositions is None else WITH_DISPOSITIONS_AT_ONCE)
    rows = dict.fromkeys([output] if dispositions is None else [output, dispositions], 0)
    every = -(-len(shards) // REPORTS)
    with contextlib.ExitStack() as stack:
        write = stack.enter_context(table_file(output, configured(PERSONAS, config.data)))
        more: Write | None = None
        if dispositions is not None:
            more = stack.enter_context(table_file(dispositions, configured(DISPOSITIONS, config.data)))
        for place, shard in enumerate(shards, start=1):
            tables = made(config, shard, with_dispositions=more is not None)
            write(tables["personas"])
            rows[output] += tables["personas"].num_rows
            if more is not None and dispositions is not None:
                more(tables["dispositions"])
                rows[dispositions] += tables["dispositions"].num_rows
            if len(shards) > 1 and (place % every == 0 or place == len(shards)):
                console.progress(f"{shard.last:>9,} of {people:,} people")
    return rows


def made(config: Config, shard: Shard, *, with_dispositions: bool) -> dict[str, pa.Table]:
    """The tables of the people of a shard, in memory, and where asked for what they are inclined to."""
    tables: dict[str, pa.Table] = {}
    stages: tuple[Stage, ...] = (PERSONAS_STAGE, DISPOSITIONS_STAGE) if with_dispositions else (PERSONAS_STAGE,)
    for stage in stages:
        read = {name: tables[name] for name in stage.reads}
        tables |= stage.run(Context(config.data, Draws(config.data.seed, stage.name), shard), read)
    return tables


def show(preset_or_file: str, *, number: int, sets: Sequence[str], seed: int | None) -> int:
    """0. Prints a card for each of the first people of the config."""
    console = terminal()
    _judge_number(number)
    config = load_config(preset_or_file, sets, seed=seed, users=number)
    notices(config, preset_or_file)
    for shard in shards_of(number, 100):
        for card in cards(made(config, shard, with_dispositions=True)):
            console.result(card)
    console.progress(
        f"next: `habitus personas sample {preset_or_file} --n 10000 -o people.parquet` writes more of them"
    )
    return 0


def plot(
    file: Path, *, output: Path, preset_or_file: str | None, sets: Sequence[str], force: bool, as_json: bool
) -> int:
    """0. Draws the people of a file into a folder, beside what a config asks for if one is given."""
    from flows.cli.people_plots import draw

    console = terminal()
    if sets and preset_or_file is None:
        raise InputError("--set changes a config; name it with --config")
    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file; give the name of a folder")
    asked = None
    if preset_or_file is not None:
        config = load_config(preset_or_file, sets)
        notices(config, preset_or_file)
        asked = config.data.personas
    people = read_rows(file)
    console.progress(f"drawing {people.num_rows:,} people")
    plots = draw(people, file.name, *(() if asked is None else (configured_shares(asked), asked.correlations)))
    there = [name for name in plots.files if (output / name).exists()]
    if there and not force:
        raise InputError(f"{output} has {there[0]} already. Give another folder, or `--force` to replace its plots")
    for name, text in plots.files.items():
        write_text(output / name, text)
    if as_json:
        console.json({"folder": str(output), "files": list(plots.files), "off": plots.off, "left_out": plots.left_out})
        return 0
    for name, reason in plots.left_out.items():
        console.progress(f"not drawn: {name}, which {reason}")
    for line in plots.off:
        console.result(f"off: {line}")
    console.result(f"made {output}: {len(plots.files) - 1} plots{_verdict(plots, asked is not None)}")
    console.result(f"next: open {output / 'index.html'}")
    return 0


def _verdict(plots: Plots, is_judged: bool) -> str:
    if not is_judged:
        return "; `--config PRESET_OR_FILE` puts beside them what is configured"
    if not plots.off:
        return "; every margin is as configured"
    verb = "figure differs" if len(plots.off) == 1 else "figures differ"
    return f"; {len(plots.off)} {verb} from the config by more than chance"


def diff(one: Path, other: Path, as_json: bool) -> int:
    """0. Prints on which columns two files of people differ, by how much, and for how many of the same people."""
    from validation.fidelity.two_peoples import compare

    console = terminal()
    found = compare(read_rows(one), read_rows(other))
    if as_json:
        console.json(found.facts())
        return 0
    console.result(
        f"people: {found.people[0]:,} in {one}, {found.people[1]:,} in {other}, {found.shared:,} ids in both"
    )
    for file, columns in ((one, found.only_one), (other, found.only_other)):
        if columns:
            console.result(f"only in {file}: {', '.join(columns)}")
    for column in found.columns:
        if column.differs or column.changed:
            for line in _column_lines(column.facts()):
                console.result(line)
    alike = [column.name for column in found.columns if not column.differs and not column.changed]
    if alike:
        console.result(f"alike: {', '.join(alike)}")
    for name, reason in found.left_out.items():
        console.progress(f"margin not compared: {name}, which {reason}")
    return 0


def _column_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """A column that differs, then the values that differ most."""
    if facts["total_variation"] is None:
        yield f"{facts['column']}: {facts['changed']:,} people have another value"
        return
    word = "differs" if facts["differs"] else "margin alike"
    changed = f"; {facts['changed']:,} people have another value" if facts["changed"] else ""
    yield (
        f"{facts['column']}: {word}, total variation {facts['total_variation']:.4f} "
        f"(by chance up to {facts['by_chance']:.4f}){changed}"
    )
    if facts["differs"]:
        for value in facts["values"][:SHOWN]:
            yield (
                f"  {value['value']}: {value['people'][0]:,} ({value['shares'][0]:.1%}) -> "
                f"{value['people'][1]:,} ({value['shares'][1]:.1%})"
            )
