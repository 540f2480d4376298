"""Writes the generated pages of docs/ and the excerpts in README.md.

Run by ``make docs``; with ``--check`` it writes nothing and says what differs. Every page follows from what the
project declares: tables, config, command line, stages. The excerpts follow from the preset `smoke`, whose stages are
run in memory.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import functools
import inspect
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemas.config import Config
from schemas.keys import default_text, first_line, is_section, keys_of, range_text, sections, value_text
from schemas.tables import INTERNAL, RELEASED, SEALED, VISIBLE, Field, Table

ROOT = Path(__file__).resolve().parents[1]
NOTE = "<!-- Written by docs/generate.py (`make docs`). Do not edit. -->\n"
SHOWN = 20
"""Lines of the log that the README shows, and lines of a difference that ``--check`` shows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when all is written, or as it should be; 1 when ``--check`` finds a page that differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page differs")
    only_check = parser.parse_args(arguments).check
    stale = 0
    for path, text in pages().items():
        target = ROOT / path
        before = target.read_text(encoding="utf-8") if target.is_file() else ""
        if before == text:
            continue
        if not only_check:
            target.write_text(text, encoding="utf-8")
            continue
        stale += 1
        there, wanted = before.splitlines(), text.splitlines()
        lines = list(difflib.unified_diff(there, wanted, path, f"{path} as generated", lineterm="", n=1))
        sys.stderr.write("\n".join(lines[:SHOWN]) + "\n")
    if stale:
        sys.stderr.write(f"{stale} pages differ from what the project declares; run `make docs` and commit them\n")
    return 1 if stale else 0


def pages() -> dict[str, str]:
    """Path from the root → text of every page, in no need of a release."""
    return {
        "docs/data-dictionary.md": dictionary(),
        "docs/config.md": config_keys(),
        "docs/cli.md": command_line(),
        "docs/stages.md": stages(),
        "README.md": with_excerpts((ROOT / "README.md").read_text(encoding="utf-8")),
    }


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"


# The data dictionary.


def dictionary() -> str:
    """Every table and column, released ones first."""
    lines = [
        "# Data dictionary\n",
        NOTE,
        "Every table and column. Times are instants in UTC; `utc_offset_min` beside them gives the user's wall clock. "
        "Money is in whole cents. Rows lie on disk in the order of the key, which is unique. A column may hold nulls "
        "only where *null* says so. Attributes that a config adds stand at the end of `personas`, as text.\n",
        "Visible tables, in `data/`, are what an agent may read. Sealed tables, in `sealed/`, are the truth, for "
        "scoring and analysis. Internal tables pass between stages and never leave the run folder "
        "([stages](stages.md)).\n",
        *table(["table", "layer", "holds"], [[_link(t), t.layer, t.doc] for t in RELEASED.values()]),
        "",
    ]
    for title, tables in (("Visible", VISIBLE), ("Sealed", SEALED), ("Internal", INTERNAL)):
        lines.append(f"## {title}\n")
        for declared in tables.values():
            lines.extend(_table_lines(declared))
    return "\n".join(lines)


def _link(declared: Table) -> str:
    return f"[`{declared.name}`](#{declared.name})"


def _table_lines(declared: Table) -> Iterator[str]:
    yield f"### {declared.name}\n"
    yield f"{declared.doc} Key: {', '.join(f'`{name}`' for name in declared.key)}."
    alike = next((t for t in RELEASED.values() if t.columns == declared.columns), declared)
    if alike is not declared:
        yield f"Columns as in {_link(alike)}.\n"
        return
    yield ""
    headings = ["column", "type", "unit", "null", "meaning", "allowed", "refers to"]
    yield from table(headings, [_column_cells(declared, name, field) for name, field in declared.columns.items()])
    yield ""


def _column_cells(declared: Table, name: str, field: Field) -> list[str]:
    reference = declared.references.get(name)
    null = "yes" if name in declared.optional else ""
    refers_to = f"`{reference}`" if reference else ""
    return [f"`{name}`", type_text(field.type), field.unit or "", null, field.doc, _allowed(field), refers_to]


def _allowed(field: Field) -> str:
    if field.values is not None:
        return ", ".join(f"`{value}`" for value in field.values)
    bounds = [f"{word} {bound:g}" for word, bound in (("from", field.low), ("to", field.high)) if bound is not None]
    return " ".join(bounds)


def type_text(kind: pa.DataType) -> str:
    """An Arrow type as one reads it: `list<string>`, `struct<name: string, …>`."""
    if pa.types.is_list(kind):
        return f"list<{type_text(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{child.name}: {type_text(child.type)}' for child in kind)}>"
    return str(kind)


# The config.


def config_keys() -> str:
    """Every key of the config, section by section."""
    from flows.common import config as loader

    lines = [
        "# Config\n",
        NOTE,
        "`habitus config show smoke` prints a complete config with these comments, and `habitus config explain KEY` "
        "says what of the data depends on a key; `habitus config check FILE` finds everything that is wrong with a "
        "config, and `habitus config diff A B` says whether two can give different data. "
        "`data` says what is made and is digested; `execution` says how a build runs, and changes nothing in what it "
        "makes. Files are YAML 1.2, so `no` is text and `22:00` is not a number; a key that does not exist, or stands "
        "twice, is an error.\n",
        (inspect.getdoc(loader) or "").split("\n\n", 1)[1].replace("``", "`") + "\n",
    ]
    for path, model in sections(Config):
        lines += [f"## `{path}`\n" if path else "## Top level\n", first_line(model) + "\n"]
        rows = [
            [f"`{key}`", value_text(slot), range_text(slot), default_text(field), field.description or ""]
            for key, slot, field in keys_of(model, path)
            if not is_section(slot)  # a section has a table of its own
        ]
        if rows:
            lines += [*table(["key", "type", "range", "default", "meaning"], rows), ""]
    return "\n".join(lines)


# The command line.


def command_line() -> str:
    """Every verb with its options and examples, as its own help has them, and what exit codes mean."""
    from flows.cli.main import EXAMPLES, app

    started_as = sys.argv[0]
    sys.argv[0] = "habitus"  # the usage lines begin with the running program, whatever runs this
    try:
        text = app.generate_docs(output_format="markdown", recursive=True)
    finally:
        sys.argv[0] = started_as
    head, _, rest = text.partition("## Table of Contents")
    verbs = rest[rest.index("**Commands**") :]
    codes = [
        ["0", "done, or equal content is already published"],
        ["1", "a gate failed; nothing was published"],
        ["2", "bad input or usage; nothing was made"],
        ["3", "the run broke; finished parts are kept, so run it again"],
        ["130", "interrupted; finished parts are kept"],
    ]
    head = re.sub(r"\n*Exit codes:[^\n]*\n", "\n", head)
    results = "Results go to standard output, everything on the way to standard error.\n"
    examples = EXAMPLES.strip().removeprefix("Examples:").replace("\n\n", "\n- ").strip()
    return "\n".join(
        [
            head.replace("# habitus\n", f"# Command line\n\n{NOTE}", 1).rstrip() + "\n",
            results,
            *table(["exit code", "meaning"], codes),
            "",
            verbs.rstrip(),
            "",
            "## Examples\n",
            examples,
            "",
        ]
    )


# The stages.


def stages() -> str:
    """What every stage makes from what, and where the released tables come from."""
    from flows.cli.build import BY_USERS
    from flows.common.code import project_root
    from flows.pipeline import STAGES
    from flows.release.flow import AT_ONCE, BY_SHARD, NOT_MADE, PERSONAL

    lines = [
        "# Stages\n",
        NOTE,
        "A stage is a pure function from the config, the seed and declared tables to declared tables. Stages never "
        "import each other: they meet in these tables. `flows/pipeline.py` says which waits for which. A stage *by "
        "users* runs once for each shard of users; the others run once.\n",
    ]
    for stage in STAGES.values():
        source = Path(inspect.getfile(stage.run)).relative_to(project_root()).as_posix()
        how = "by users" if stage.name in BY_USERS else "once"
        lines += [
            f"## {stage.name}\n",
            f"{first_line(stage.run)} Runs {how}; `{stage.run.__name__}` in `{source}`.\n",
            f"Reads: {_read_text(stage.reads)}.\n",
            f"Writes: {', '.join(f'`{declared.name}`' for declared in stage.writes)}.\n",
        ]
    sources = [[f"`{name}`", stage, f"`{own}`"] for name, (stage, own) in {**BY_SHARD, **AT_ONCE}.items()]
    sources += [[f"`{name}`, what users own", stage, f"`{own}`"] for name, (stage, own) in PERSONAL.items()]
    sources += [[f"`{name}`", "none yet: declared, without rows", ""] for name in NOT_MADE]
    lines += [
        "## release\n",
        "`publish_run` in `flows/release/flow.py` takes the released tables from the parts, writes them to a staging "
        "folder, judges that folder from its files alone, and gives it its name.\n",
        *table(["released table", "from stage", "its table there"], sources),
        "",
    ]
    return "\n".join(lines)


def _read_text(reads: Mapping[str, str]) -> str:
    if not reads:
        return "nothing but the config"
    by_stage: dict[str, list[str]] = {}
    for name, stage in reads.items():
        by_stage.setdefault(stage, []).append(f"`{name}`")
    told = ((", ".join(names), stage.replace("*", " (all shards)")) for stage, names in by_stage.items())
    return "; ".join(f"{names} of {stage}" for names, stage in told)


# The excerpts of the README.


def with_excerpts(readme: str) -> str:
    """The README with what stands between its markers made anew."""
    tables = smoke_tables()
    task = _telling_task(tables)
    for name, text in (("timeline", timeline_excerpt(task["user_id"])), ("task", task_excerpt(task, tables))):
        begin, end = f"<!-- {name}: written by docs/generate.py -->\n", f"<!-- end of {name} -->"
        before, found, rest = readme.partition(begin)
        if not found or end not in rest:
            raise ValueError(f"README.md lacks the markers `{begin.strip()}` and `{end}`")
        readme = f"{before}{begin}```text\n{text}```\n{end}{rest.partition(end)[2]}"
    return readme


@functools.cache
def smoke_tables() -> dict[str, pa.Table]:
    """Every table of every stage for the preset `smoke`, all people in one shard."""
    from flows.common.config import load_config
    from flows.common.draws import Draws
    from flows.common.stage import Context, Shard
    from flows.pipeline import STAGES

    data = load_config("smoke").data
    tables: dict[str, pa.Table] = {}
    for name, stage in STAGES.items():
        context = Context(data, Draws(data.seed, name), Shard(0, data.users))
        tables |= stage.run(context, {read: tables[read] for read in stage.reads})
    return tables


def _telling_task(tables: Mapping[str, pa.Table]) -> dict[str, Any]:
    """The first `act` task of those with an option that a reader of stale values takes, and with most constraints."""
    answers = [row for row in tables["answers"].to_pylist() if row["family_true"] == "act"]
    chosen = max(answers, key=lambda row: (_names_failure(row, "stale_value"), row["strata"]["constraint_count"]))
    return next(row for row in tables["tasks"].to_pylist() if row["task_id"] == chosen["task_id"])


def _names_failure(answer: Mapping[str, Any], failure: str) -> bool:
    return any(failure in option["failures"] for option in answer["options"])


def timeline_excerpt(user: str) -> str:
    """What `habitus preview` prints of the user, cut short."""
    from flows.cli.preview import preview

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        preview("smoke", sets=(), seed=None, users=None, user=user, weeks=2)
    lines = printed.getvalue().splitlines()
    log = next(place for place, line in enumerate(lines) if line.startswith("from the log")) + 2
    return "\n".join(lines[: log + SHOWN]) + "\n  …\n"


def task_excerpt(task: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
    """The task as an agent gets it, and behind it what is sealed."""
    answer = next(row for row in tables["answers"].to_pylist() if row["task_id"] == task["task_id"])
    constraints = [row for row in tables["constraints"].to_pylist() if row["task_id"] == task["task_id"]]
    lines = [
        f"{task['task_id']}  {task['family']}  asked {task['asked_at']:%Y-%m-%d %H:%M} UTC",
        f"  “{task['request']}”",
        *(f"  {option['option_id']}  {option['label']}" for option in task["options"]),
        f"  tools: {', '.join(task['tool_ids'])}",
        "",
        "sealed:",
    ]
    for row in constraints:
        kind = f"{row['status']}, {row['implicitness_measured']}, {len(row['evidence_event_ids'])} lines of evidence"
        lines.append(f"  {row['dimension']} {row['operator']} {row['value']}  ({kind})")
    for option in answer["options"]:
        meaning = "right" if option["is_gold"] else ", ".join(option["failures"])
        lines.append(f"  {option['option_id']}  {meaning}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
